import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0009_operator_accounts'),
    ]

    operations = [
        migrations.CreateModel(
            name='PoolLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('link_id', models.CharField(max_length=64)),
                ('uses', models.PositiveIntegerField()),
                ('used', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField()),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pool_links', to='marketplace.requester')),
                ('type', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pool_links', to='marketplace.qualificationtype')),
            ],
        ),
        migrations.CreateModel(
            name='PoolJoin',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('joined_at', models.DateTimeField()),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pool_joins', to='marketplace.worker')),
                ('link', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='joins', to='marketplace.poollink')),
            ],
        ),
        migrations.AddConstraint(
            model_name='poollink',
            constraint=models.UniqueConstraint(fields=('requester', 'link_id'), name='one_row_for_each_pool_link'),
        ),
        migrations.AddConstraint(
            model_name='poollink',
            constraint=models.CheckConstraint(condition=models.Q(('used__lte', models.F('uses'))), name='pool_link_used_within_uses'),
        ),
        migrations.AddConstraint(
            model_name='pooljoin',
            constraint=models.UniqueConstraint(fields=('link', 'worker'), name='worker_joins_once_by_a_pool_link'),
        ),
    ]
