"""Recipes, projects, owners and budgets."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from hits.api.shapes.base import MoneyField, Shape
from hits.api.shapes.computations import OptionShape
from hits.api.shapes.stages import StageShape
from hits.domain.plugins import faults_of
from hits.models import Project, Stage


class RecipeStageShape(Shape):
    key = serializers.CharField()
    title = serializers.CharField()
    protocol = serializers.CharField()
    crowd = serializers.BooleanField(help_text="People are asked; else a program makes the items.")
    reward = MoneyField()
    answers = serializers.IntegerField()


class RecipeShape(Shape):
    name = serializers.CharField()
    title = serializers.CharField()
    version = serializers.CharField()
    description = serializers.CharField()
    options = serializers.DictField(help_text="Each with the value that a project gets unless it says otherwise.")
    described = serializers.DictField(child=OptionShape(), help_text="What the options mean, by name.")
    stages = RecipeStageShape(many=True)


class PluginFaults(Shape):
    faults = serializers.ListField(child=serializers.CharField(), help_text="A sentence each, which names the folder.")


class AccountShape(Shape):
    budget = MoneyField()
    reserved = MoneyField()
    paid = MoneyField()
    left = MoneyField()


class NewProject(Shape):
    name = serializers.CharField(max_length=120)
    recipe = serializers.CharField(max_length=60)
    budget = MoneyField()
    contact_email = serializers.EmailField(help_text="Workers see it on every task page.")
    options = serializers.DictField(required=False, default=dict, help_text="Replaces options of the recipe.")
    seed = serializers.IntegerField(
        required=False, min_value=0, max_value=2**31 - 1, help_text="Drawn at random when it is not given."
    )


class ProjectShape(Shape):
    id = serializers.IntegerField()
    slug = serializers.CharField(help_text="Names the project in addresses.")
    name = serializers.CharField()
    recipe = serializers.CharField()
    contact_email = serializers.EmailField()
    created_at = serializers.DateTimeField()
    account = AccountShape()


class OwnerShape(Shape):
    username = serializers.CharField(max_length=150)


class Budget(Shape):
    budget = MoneyField()
    confirm = MoneyField(
        required=False,
        help_text="The same amount once more: wanted for more than ten times the budget, or a change of over $1,000.",
    )


class ProjectDetailShape(ProjectShape):
    seed = serializers.IntegerField()
    options = serializers.DictField()
    owners = serializers.SerializerMethodField()
    stages = serializers.SerializerMethodField()
    faults = serializers.SerializerMethodField(help_text="Why its recipe or a stage's task cannot be used now.")

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_faults(self, project: Project) -> list[str]:
        return faults_of(project, self._stages(project))

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_owners(self, project: Project) -> list[str]:
        return list(project.owners.order_by("username").values_list("username", flat=True))

    @extend_schema_field(StageShape(many=True))
    def get_stages(self, project: Project) -> list[dict[str, Any]]:
        return list(StageShape(self._stages(project), many=True).data)

    def _stages(self, project: Project) -> list[Stage]:
        """Read once for all fields."""
        if not hasattr(self, "_read"):
            self._read = list(project.stages.select_related("summary").order_by("position"))
        return self._read
