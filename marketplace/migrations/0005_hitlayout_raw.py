from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0004_fill_email_keys")]

    operations = [migrations.AddField("hitlayout", "raw", models.BooleanField(default=False))]
