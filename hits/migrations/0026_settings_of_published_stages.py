from django.db import migrations, models
from django.db.models import F, OuterRef, Subquery, Sum

import hits.models.fields


def take_over(apps, schema_editor):
    """Every HIT so far was published with what its stage has; fees follow from what its answers were reserved at."""
    hit, stage = apps.get_model("hits", "Hit").objects, apps.get_model("hits", "Stage").objects
    its_stage = stage.filter(pk=OuterRef("stage"))
    hit.update(
        reward=Subquery(its_stage.values("reward")), assignment_seconds=Subquery(its_stage.values("assignment_seconds"))
    )
    approved = apps.get_model("hits", "Assignment").objects.filter(state="Approved").order_by()
    fees = approved.values_list("stage", "worker").annotate(fees=Sum(F("hit__unit_cost") - F("hit__reward")))
    stats = apps.get_model("hits", "WorkerStat").objects
    for stage_pk, worker, sum_of_fees in fees:
        stats.filter(stage=stage_pk, worker=worker).update(fees=sum_of_fees)


class Migration(migrations.Migration):
    dependencies = [("hits", "0025_columns_of_imports")]

    operations = [
        migrations.AddField(
            model_name="stage",
            name="earlier_hit_types",
            field=models.JSONField(
                default=list,
                help_text="Those of HITs that were published before the reward, a time or a requirement changed.",
            ),
        ),
        migrations.AlterField(
            model_name="stage",
            name="hit_type_id",
            field=models.CharField(blank=True, help_text="Of the next HITs; empty until it is made.", max_length=64),
        ),
        migrations.AddField(
            model_name="workerstat",
            name="fees",
            field=hits.models.fields.DollarField(
                default=0, help_text="The marketplace's, for the approved answers, $."
            ),
        ),
        migrations.AddField(
            model_name="hit",
            name="reward",
            field=hits.models.fields.DollarField(
                default=0, help_text="Of one assignment, $: what workers of this HIT see, whatever the stage pays later."
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="hit",
            name="assignment_seconds",
            field=models.PositiveIntegerField(default=600, help_text="Time for one assignment of this HIT."),
            preserve_default=False,
        ),
        migrations.RunPython(take_over, migrations.RunPython.noop),
    ]
