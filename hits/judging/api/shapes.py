"""Agreement and computations, as the API tells them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from hits.api.shapes import JsonTextField, Shape, StateField, UsernameField
from hits.models import ComputationRun
from hits.recipes.source import Computation


class AgreementShape(Shape):
    computation = serializers.CharField(help_text="The key with which `computation-runs/` starts it.")
    run = serializers.IntegerField(allow_null=True, help_text="The newest finished run; its results are the values.")
    going_on = serializers.IntegerField(allow_null=True, help_text="A run that waits or goes on.")
    finished_at = serializers.DateTimeField(allow_null=True)
    method = serializers.CharField(help_text="By which the values of the items were found.")
    answers = serializers.IntegerField(help_text="Answers that were there when the run began.")
    since = serializers.IntegerField(help_text="Answers that came since.")
    removed = serializers.IntegerField(help_text="Imported answers that were removed since.")
    units = serializers.ListField(
        child=serializers.DictField(),
        help_text="Of each unit its level, its figures with 95 % intervals or why they are not defined, the confusion "
        "of its labels, the items that divide the workers, the workers who differ most, and what each method of "
        "aggregation makes of it, what it assumes, warnings where the answers contradict that, and which is "
        "recommended.",
    )
    texts = serializers.DictField(
        help_text="Of each unit the labels that are keys of choices, with their texts; without those that differ from "
        "item to item."
    )


class OptionShape(Shape):
    label = serializers.CharField()  # type: ignore[assignment]  # every field has an attribute of this name
    unit = serializers.CharField(help_text="What is counted.")
    help = serializers.CharField(help_text="What changes with it.")
    paper = serializers.CharField(help_text="The paper's value.")
    choices = serializers.DictField(help_text="Of a text that is one of these, each value with its words.")
    least = serializers.FloatField(allow_null=True)
    most = serializers.FloatField(allow_null=True)


class ComputationShape(Shape):
    key = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    stage = serializers.CharField(help_text="The key of the stage whose items it is about.")
    params = serializers.DictField(help_text="Each with the value that it has unless a run says otherwise.")
    options = serializers.DictField(child=OptionShape(), help_text="What the parameters mean, by name.")
    has_files = serializers.SerializerMethodField(help_text="Whether a model elsewhere can take part by files.")

    def get_has_files(self, of: Computation) -> bool:
        return of.outside is not None


class NewRun(Shape):
    computation = serializers.CharField(max_length=60)
    params = serializers.DictField(required=False, default=dict)


class FilesQuery(serializers.Serializer[Any]):
    params = JsonTextField(binary=True, default=dict, help_text="Parameters as a JSON object, without the model.")


class NewAnswers(Shape):
    file = serializers.FileField()
    params = JsonTextField(binary=True, default=dict, help_text="The same as for the files.")


class RunShape(Shape):
    id = serializers.IntegerField()
    computation = serializers.CharField(source="key")
    params = serializers.DictField()
    seed = serializers.IntegerField()
    state = StateField(ComputationRun.State)
    done = serializers.IntegerField()
    total = serializers.IntegerField()
    items = serializers.IntegerField(help_text="Items that it concluded something about.")
    error = serializers.CharField()
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class RunDetailShape(RunShape):
    log = serializers.ListField(child=serializers.DictField())


class ResultShape(Shape):
    id = serializers.IntegerField()
    item = serializers.IntegerField(source="item_id")
    key = serializers.CharField(source="item.key")
    data = serializers.DictField()  # type: ignore[assignment]


class NewDraw(Shape):
    items = serializers.IntegerField(min_value=1, max_value=1_000_000)


class DrawQuote(Shape):
    there = serializers.IntegerField(help_text="Items to draw from.")
    here = serializers.IntegerField(help_text="Items that the stage has already.")
    new = serializers.IntegerField(help_text="Items to draw from that the stage does not have yet.")
    told = serializers.DictField(help_text="What the recipe says before a draw: of queries, what a reader answered.")
    problems = serializers.ListField(child=serializers.CharField(), help_text="Sentences that stop it.")


class Drawn(Shape):
    items = serializers.IntegerField(help_text="New ones; what the stage has already is not drawn twice.")
    see = serializers.CharField()


class ChangedOptions(Shape):
    options = serializers.DictField()


class Options(ChangedOptions):
    described = serializers.DictField(child=OptionShape(), help_text="What the options mean, by name.")
