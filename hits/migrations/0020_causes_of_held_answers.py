from django.db import migrations, models

# How the reasons against a worker began, and the codes of their causes.
BEGINNINGS = {
    "The worker was blocked": "blocked",
    "The worker had answered this item": "answered",
    "The worker did not hold": "lacking",
    "The worker had answered in a stage": "other-part",
    "The worker held": "kept-out",
}
UNTIMELY = (
    "It was submitted ",
    "It was accepted after its HIT",
)


def name_causes(apps, schema_editor):
    rows = apps.get_model("hits", "Assignment").objects.exclude(held="")
    for beginning, code in BEGINNINGS.items():
        rows.filter(held__startswith=beginning).update(held_for=code)
    for row in rows.only("pk", "held", "held_for").iterator():
        if any(sentence in row.held for sentence in UNTIMELY):
            row.held_for = f"{row.held_for} untimely".strip()
            row.save(update_fields=["held_for"])


class Migration(migrations.Migration):

    dependencies = [
        ('hits', '0019_void_labels'),
    ]

    operations = [
        migrations.AddField(
            model_name='assignment',
            name='held_for',
            field=models.CharField(blank=True, default='', help_text='The causes of that, as codes with a space between them.', max_length=60),
        ),
        migrations.RunPython(name_causes, migrations.RunPython.noop),
    ]
