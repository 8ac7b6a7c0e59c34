from django.db import migrations, models

AT_ONCE = 10


def summarize(apps, schema_editor):
    """Runs of agreement get what is drawn of them over time, which was read from their logs before."""
    ComputationRun = apps.get_model("hits", "ComputationRun")
    runs = ComputationRun.objects.filter(key__endswith="-agreement", state="done", summary__isnull=True)
    for run in runs.order_by("pk").only("log").iterator(chunk_size=AT_ONCE):
        report = next((entry["report"] for entry in reversed(run.log) if "report" in entry), None)
        if report:
            ComputationRun.objects.filter(pk=run.pk).update(summary=_summary(report))


def _summary(report):
    units = [
        {
            "unit": unit["unit"],
            "figures": {
                name: {part: unit["figures"][name][part] for part in ("value", "low", "high")}
                for name in ("alpha", "pairwise")
                if name in unit["figures"]
            },
        }
        for unit in report["units"]
        if unit.get("figures")
    ]
    return {"harvested": report["harvested"], "units": units}


class Migration(migrations.Migration):
    dependencies = [
        ("hits", "0042_computed_values"),
    ]

    operations = [
        migrations.AddField(
            model_name="computationrun",
            name="summary",
            field=models.JSONField(
                help_text="What of its log is read of many runs together; the computation writes it.", null=True
            ),
        ),
        migrations.RunPython(summarize, migrations.RunPython.noop),
    ]
