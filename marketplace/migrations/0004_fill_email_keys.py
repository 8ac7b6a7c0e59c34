from typing import Any

from django.db import migrations

from marketplace.rules.addresses import email_key


def fill_email_keys(apps: Any, schema_editor: Any) -> None:
    """Addresses from before one address had one account: the oldest account of several keeps it for itself."""
    workers = apps.get_model("marketplace", "Worker").objects
    taken = set(workers.filter(email_key__isnull=False).values_list("email_key", flat=True))
    for worker in workers.filter(email_key=None).exclude(user__email="").select_related("user").order_by("pk"):
        key = email_key(worker.user.email)
        if key not in taken:
            taken.add(key)
            workers.filter(pk=worker.pk).update(email_key=key)


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0003_fill_earned")]

    operations = [migrations.RunPython(fill_email_keys, migrations.RunPython.noop, elidable=True)]
