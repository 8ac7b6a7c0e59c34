from django.db import migrations, models


def count(apps, schema_editor):
    """Stages of which nothing changes any more are not counted again by themselves."""
    summaries = apps.get_model("hits", "StageSummary").objects
    for row in summaries.all():
        answers = apps.get_model("hits", "Assignment").objects.filter(stage=row.stage_id, state="Rejected")
        summaries.filter(pk=row.pk).update(rejected=answers.count())


class Migration(migrations.Migration):
    dependencies = [("hits", "0021_stages_without_crowd")]

    operations = [
        migrations.AddField(
            model_name="stagesummary",
            name="rejected",
            field=models.PositiveIntegerField(default=0, help_text="Answers that stand rejected."),
        ),
        migrations.RunPython(count, migrations.RunPython.noop),
    ]
