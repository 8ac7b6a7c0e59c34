from django.db import migrations, models


def check_before_paying(apps, schema_editor):
    """Stages that were never at the marketplace; of others, workers know the terms: a lead changes the setting."""
    stages = apps.get_model("hits", "Stage").objects.filter(crowd=True, approval="automatic", auto_approval_seconds=0)
    stages.filter(hit_type_id="", earlier_hit_types=[]).update(auto_approval_seconds=259_200)


class Migration(migrations.Migration):

    dependencies = [
        ('hits', '0070_draft_terms'),
    ]

    operations = [
        migrations.AddField(
            model_name='assignment',
            name='approve_at',
            field=models.DateTimeField(help_text='It did not pass, and is approved then unless a lead decides; empty: not by time.', null=True),
        ),
        migrations.AddField(
            model_name='stage',
            name='unchecked_answers',
            field=models.PositiveSmallIntegerField(db_default=5, default=5, help_text='So many answers of one worker that did not pass are approved by time; further ones wait.'),
        ),
        migrations.AlterField(
            model_name='stage',
            name='approval',
            field=models.CharField(choices=[('automatic', 'Approved once checked'), ('review', 'Approved by a lead')], default='automatic', max_length=10),
        ),
        migrations.AlterField(
            model_name='stage',
            name='auto_approval_seconds',
            field=models.PositiveIntegerField(default=0, help_text='What waits for a lead is approved after that; 0: the marketplace approves all at once.'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(condition=models.Q(('approve_at__isnull', False)), fields=['stage', 'worker'], name='assignment_by_time_limit'),
        ),
        migrations.RunPython(check_before_paying, migrations.RunPython.noop),
    ]
