from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("hits", "0054_indexes_of_early_databases"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="ledgerentry",
            index=models.Index(fields=["project", "kind", "id"], name="entry_by_kind"),
        ),
        migrations.AddIndex(
            model_name="ledgerentry",
            index=models.Index(fields=["project", "created_at"], name="entry_by_day"),
        ),
    ]
