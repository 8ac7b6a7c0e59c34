from django.db import migrations, models
from django.db.models.functions import Lower


def find_by_keys(apps, schema_editor):
    """What was imported before can be found by its key; its unused columns were refused then."""
    apps.get_model("hits", "Document").objects.update(found_by=Lower("key"))


class Migration(migrations.Migration):

    dependencies = [
        ('hits', '0024_intents'),
    ]

    operations = [
        migrations.AddField(
            model_name='document',
            name='found_by',
            field=models.CharField(default='', help_text='The key and the columns that the task does not use, casefolded and cut: what a search looks in.', max_length=600),
        ),
        migrations.AddField(
            model_name='project',
            name='mapping',
            field=models.JSONField(default=dict, help_text='The column of an imported file by field, as it was confirmed last; empty for a field left out.'),
        ),
        migrations.AddField(
            model_name='upload',
            name='mapping',
            field=models.JSONField(help_text='The column of the file by field, as a lead confirmed it; null: by the names of the columns.', null=True),
        ),
        migrations.AlterField(
            model_name='upload',
            name='state',
            field=models.CharField(choices=[('mapping', 'Waits for its columns'), ('queued', 'Waiting'), ('reading', 'Reading and checking'), ('storing', 'Storing'), ('done', 'Imported'), ('refused', 'Refused, nothing imported'), ('stopped', 'Stopped, nothing imported'), ('failed', 'Failed, nothing imported')], default='queued', max_length=8),
        ),
        migrations.RunPython(find_by_keys, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name='document',
            index=models.Index(fields=['project', 'found_by'], name='document_by_found_by'),
        ),
    ]
