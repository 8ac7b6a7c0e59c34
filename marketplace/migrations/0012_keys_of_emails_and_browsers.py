from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0011_panel_counts_approved'),
    ]

    operations = [
        migrations.AddField(
            model_name='worker',
            name='email_change_key',
            field=models.CharField(blank=True, db_default='', default='', max_length=32),
        ),
        migrations.AddField(
            model_name='panelentry',
            name='browser_key',
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
    ]
