from typing import Any

from django.db import migrations

from marketplace.rules.qualifications import wants


def take_off_the_offer(apps: Any, schema_editor: Any) -> None:
    """Types of which HITs only ask that they are not held, from before workers could no longer ask for them."""
    types = apps.get_model("marketplace", "QualificationType").objects
    rows = types.filter(requester__isnull=False, test=None, auto_granted=False, is_requestable=True)
    for kind in rows.exclude(required_by=None).iterator():
        asked = kind.required_by.values_list("requirements", flat=True)
        if not any(wants(requirements, kind.qualification_type_id) for requirements in asked):
            types.filter(pk=kind.pk).update(is_requestable=False)


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0007_panel_visit_parameter")]

    operations = [migrations.RunPython(take_off_the_offer, migrations.RunPython.noop, elidable=True)]
