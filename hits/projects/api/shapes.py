"""Shapes of projects and their members."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from hits.api.paging import PageQuery
from hits.api.shapes import MoneyField, Shape
from hits.judging.api.shapes import OptionShape
from hits.models import Membership, Project, Stage
from hits.payments.models import LONGEST_REASON
from hits.projects.models import LONGEST_SEARCH, LONGEST_TAG, MOST_TAGS
from hits.projects.rules.plugins import faults_of
from hits.projects.rules.project_rows import check_visible
from hits.projects.verbs import project_files
from hits.stages.api.shapes import StageShape


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


class ProjectQuery(PageQuery):
    find = serializers.CharField(
        required=False,
        default="",
        max_length=LONGEST_SEARCH,
        help_text="Words of the name, the recipe, a tag or an owner.",
    )
    state = serializers.ChoiceField(
        Project.State.choices,
        required=False,
        default="",
        help_text="`draft`: nothing was started; `archived`: the archived ones, else left out.",
    )


class AccountShape(Shape):
    budget = MoneyField()
    reserved = MoneyField()
    paid = MoneyField()
    left = MoneyField()


class NewProject(Shape):
    name = serializers.CharField(max_length=120, validators=[check_visible])
    recipe = serializers.CharField(max_length=60, required=False)
    recipe_file = serializers.CharField(
        required=False,
        trim_whitespace=False,
        max_length=project_files.MOST_BYTES,
        help_text="In place of `recipe` and `options`: what `recipe-file/` of a project answers, changed as you like.",
    )
    budget = MoneyField()
    contact_email = serializers.EmailField(help_text="Workers see it on every task page.")
    options = serializers.DictField(required=False, help_text="Replaces options of the recipe.")
    seed = serializers.IntegerField(
        required=False, min_value=0, max_value=2**31 - 1, help_text="Drawn at random when it is not given."
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if ("recipe" in given) == ("recipe_file" in given):
            raise serializers.ValidationError({"recipe": ["Send either recipe or recipe_file."]})
        if "recipe_file" in given and "options" in given:
            raise serializers.ValidationError({"options": ["The options of a recipe_file stand in the file."]})
        return given


class NewClone(Shape):
    name = serializers.CharField(max_length=120, validators=[check_visible])
    budget = MoneyField()
    items = serializers.BooleanField(default=False, help_text="What was imported comes with it; answers never do.")
    splits = serializers.BooleanField(default=False, help_text="What was released keeps its split in the new project.")


class Tags(Shape):
    tags = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST_TAG),
        max_length=MOST_TAGS,
        help_text="Words; one with a space in it counts as two.",
    )


class ProjectShape(Shape):
    id = serializers.IntegerField()
    slug = serializers.CharField(help_text="Names the project in addresses.")
    name = serializers.CharField()
    recipe = serializers.CharField()
    contact_email = serializers.EmailField()
    tags = serializers.SerializerMethodField(help_text="Words to find it by.")
    created_at = serializers.DateTimeField()
    archived_at = serializers.DateTimeField(
        allow_null=True, help_text="Since when nothing in it changes; null: it is in use."
    )
    role = serializers.ChoiceField(Membership.Role.choices, help_text="Yours in this project.")
    account = AccountShape()

    def get_tags(self, project: Project) -> list[str]:
        return project.tags.split()


class Budget(Shape):
    budget = MoneyField()
    confirm = MoneyField(
        required=False,
        help_text="The same amount once more: wanted for ten times the budget or more, or a change of over $1,000.",
    )
    why = serializers.CharField(
        required=False, default="", max_length=LONGEST_REASON, help_text="For the owner, where one has to be asked."
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
        return list(project.owners.values_list("username", flat=True))

    @extend_schema_field(StageShape(many=True))
    def get_stages(self, project: Project) -> list[dict[str, Any]]:
        return list(StageShape(self._stages(project), many=True).data)

    def _stages(self, project: Project) -> list[Stage]:
        """Read once for all fields."""
        if not hasattr(self, "_read"):
            self._read = list(project.stages.select_related("summary").order_by("position"))
        return self._read


class InvitationToken(Shape):
    token = serializers.CharField(max_length=100, help_text="The last part of the link.")


class Accepted(Shape):
    project = serializers.CharField(help_text="The slug of the project that you are a member of now.")
