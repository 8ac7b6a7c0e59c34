from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('hits', '0023_words_of_deletion'),
    ]

    operations = [
        migrations.AlterField(
            model_name='bonus',
            name='error',
            field=models.TextField(blank=True, help_text='What the marketplace said last, when it was not yes.'),
        ),
        migrations.AlterField(
            model_name='compensation',
            name='attempted_at',
            field=models.DateTimeField(help_text='First time that the call was sent.', null=True),
        ),
        migrations.AlterField(
            model_name='compensation',
            name='error',
            field=models.TextField(blank=True, help_text='What the marketplace said last, when it was not yes.'),
        ),
        migrations.AlterField(
            model_name='extension',
            name='error',
            field=models.TextField(blank=True, help_text='What the marketplace said last, when it was not yes.'),
        ),
        migrations.AlterField(
            model_name='hit',
            name='attempted_at',
            field=models.DateTimeField(help_text='First time that the call was sent.', null=True),
        ),
        migrations.AlterField(
            model_name='hit',
            name='error',
            field=models.TextField(blank=True, help_text='What the marketplace said last, when it was not yes.'),
        ),
    ]
