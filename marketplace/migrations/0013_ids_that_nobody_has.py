import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0012_keys_of_emails_and_browsers'),
    ]

    operations = [
        migrations.AddField(
            model_name='qualification',
            name='unknown_id',
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
        migrations.AddField(
            model_name='workerblock',
            name='unknown_id',
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
        migrations.AlterField(
            model_name='qualification',
            name='worker',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='qualifications', to='marketplace.worker'),
        ),
        migrations.AlterField(
            model_name='workerblock',
            name='worker',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='marketplace.worker'),
        ),
        migrations.AddConstraint(
            model_name='qualification',
            constraint=models.UniqueConstraint(condition=models.Q(('unknown_id', ''), _negated=True), fields=('type', 'unknown_id'), name='one_qualification_per_unknown_id'),
        ),
        migrations.AddConstraint(
            model_name='workerblock',
            constraint=models.UniqueConstraint(condition=models.Q(('unknown_id', ''), _negated=True), fields=('requester', 'unknown_id'), name='one_block_per_unknown_id'),
        ),
    ]
