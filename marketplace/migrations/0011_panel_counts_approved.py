from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0010_pool_links'),
    ]

    operations = [
        # People of panels that are there were told that submitting is enough.
        migrations.AddField(
            model_name='panel',
            name='counts_approved',
            field=models.BooleanField(db_default=False, default=True),
        ),
    ]
