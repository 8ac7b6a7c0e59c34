"""The models that are registered to answer in a project: what leads read of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from rest_framework import serializers

from hits.api.shapes import Shape, UsernameField
from hits.core.lists import listing
from hits.core.targets import PROJECT, Target
from hits.models import ModelAnnotator

TAG = "People and models"
MOST_COST = Decimal(1000)
MODEL = Target(
    "model",
    ModelAnnotator,
    "models/<int:pk>/",
    lambda project: project.model_annotators.select_related("created_by"),
)


class CostField(serializers.DecimalField):
    """Dollars to a millionth, as text."""

    def __init__(self, **options: Any) -> None:
        bounds = {"min_value": Decimal(0), "max_value": MOST_COST, "allow_null": True}
        super().__init__(**{"max_digits": 10, "decimal_places": 6, "normalize_output": True, **bounds, **options})


class OwnModel(Shape):
    id = serializers.IntegerField()
    name = serializers.CharField()
    version = serializers.CharField()
    cost_per_answer = CostField(help_text="Dollars; null: not stated.")


class ModelShape(OwnModel):
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True, help_text="Its token opens nothing since then.")


class RegisteredModel(ModelShape):
    token = serializers.CharField(help_text="It is shown once and nowhere kept.")


listing(
    "models.list",
    "The models that are or were registered to answer",
    tag=TAG,
    on=PROJECT,
    route="models/",
    gives=ModelShape,
    rows=MODEL.rows,
)
