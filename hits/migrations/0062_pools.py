import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("hits", "0061_model_annotators"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Pool',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.SlugField(help_text='As requirements of stages name it.', max_length=60, unique=True)),
                ('name', models.CharField(max_length=80)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('archived_at', models.DateTimeField(help_text='Since when no stage can ask for it; empty: it is in use.', null=True)),
                ('fetched_at', models.DateTimeField(help_text='When the marketplace was last asked who holds it.', null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pools', to='hits.project')),
            ],
            options={
                'ordering': ['name', 'id'],
            },
        ),
        migrations.CreateModel(
            name='PoolLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('note', models.CharField(blank=True, help_text='Whom it is for, as leads read it.', max_length=80)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('name', models.CharField(help_text='As the marketplace counts its uses; no secret.', max_length=40, unique=True)),
                ('qualification_type_id', models.CharField(max_length=64)),
                ('uses', models.PositiveSmallIntegerField(help_text='How many people it lets in.')),
                ('expires_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to='hits.pool')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='PoolUse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('pool', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uses', to='hits.pool')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='used_pools', to='hits.project')),
            ],
        ),
        migrations.AddConstraint(
            model_name='pool',
            constraint=models.UniqueConstraint(models.F('project'), models.F('name'), name='pool_name_once_a_project'),
        ),
        migrations.AddConstraint(
            model_name='poollink',
            constraint=models.UniqueConstraint(models.F('pool'), models.F('number'), name='pool_link_number_once_a_pool'),
        ),
        migrations.AddConstraint(
            model_name='poollink',
            constraint=models.CheckConstraint(condition=models.Q(('number__gte', 2)), name='pool_link_number_above_one'),
        ),
        migrations.AddConstraint(
            model_name='pooluse',
            constraint=models.UniqueConstraint(models.F('pool'), models.F('project'), name='pool_used_once_a_project'),
        ),
    ]
