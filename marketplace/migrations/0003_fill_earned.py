from typing import Any

from django.db import migrations
from django.db.models import OuterRef, Subquery, Sum


def fill_earned(apps: Any, schema_editor: Any) -> None:
    """What workers had earned before it was kept beside them: the rewards of their approved answers."""
    workers = apps.get_model("marketplace", "Worker").objects
    approved = apps.get_model("marketplace", "Assignment").objects.filter(status="Approved", worker=OuterRef("pk"))
    rewards = approved.order_by().values("worker").annotate(sum=Sum("hit__hit_type__reward")).values("sum")
    paid_for = workers.filter(earned=0, approved_count__gt=0).annotate(sum=Subquery(rewards))
    paid_for.filter(sum__isnull=False).update(earned=Subquery(rewards))


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0002_complete")]

    operations = [migrations.RunPython(fill_earned, migrations.RunPython.noop, elidable=True)]
