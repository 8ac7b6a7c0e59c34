# The first migration got more indexes within an hour after version 0.1. PostgreSQL databases that were made before lack
# them: SQLite makes a table anew, with all its indexes, whenever one of its columns changes.

from django.db import migrations

INDEXES = {
    "item": ("item_by_stage",),
    "hit": ("hit_by_stage",),
    "assignment": (
        "assignment_by_stage",
        "assignment_reported",
        "assignment_invalid",
        "assignment_by_stage_worker",
        "assignment_by_worker",
    ),
}


def add_missing(apps, schema_editor):
    for name, wanted in INDEXES.items():
        model = apps.get_model("hits", name)
        with schema_editor.connection.cursor() as cursor:
            there = schema_editor.connection.introspection.get_constraints(cursor, model._meta.db_table)
        for index in model._meta.indexes:
            if index.name not in wanted:
                continue
            columns = [model._meta.get_field(field).column for field in index.fields]
            found = there.get(index.name)
            if found and found["columns"] != columns:
                schema_editor.remove_index(model, index)
                found = None
            if not found:
                schema_editor.add_index(model, index)


class Migration(migrations.Migration):
    dependencies = [
        ("hits", "0053_restorations"),
    ]

    operations = [
        migrations.RunPython(add_missing, migrations.RunPython.noop),
    ]
