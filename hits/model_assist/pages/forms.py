"""Forms of these pages: they read what a person typed; verbs judge it."""

from __future__ import annotations

from typing import Any

from django import forms

from hits.model_assist.verbs.model_annotators import MOST_COST
from hits.model_assist.verbs.routing import LEAST_AUDIT, MOST_AUDIT, WHY_AUDIT, Condition
from hits.views.forms import MoneyField, whole_number


class RegisterModelForm(forms.Form):
    """`hits.model_assist.verbs.model_annotators` judges it."""

    name = forms.CharField(max_length=60, label="Name", help_text="Of the model, such as “small-bert”.")
    version = forms.CharField(
        max_length=40, label="Version", help_text="What answers differently is another version: they are compared."
    )
    cost_per_answer = MoneyField(
        what="a cost",
        required=False,
        decimal_places=6,
        max_value=MOST_COST,
        label="Cost of an answer, $",
        help_text="Of answers that state none themselves; up to six decimals. Nothing is paid from here. May be empty.",
    )


class RoutingForm(forms.Form):
    """When models decide; `hits.model_assist.verbs.routing` judges it."""

    models = forms.TypedMultipleChoiceField(label="Models", coerce=int, widget=forms.CheckboxSelectMultiple)
    least = forms.IntegerField(
        label="So many have to say the same",
        min_value=1,
        widget=whole_number(),
        help_text="More than half of those that you choose.",
    )
    confidence = forms.FloatField(
        label="Each with a confidence of at least, in percent",
        min_value=0,
        max_value=100,
        widget=whole_number(),
        help_text="As the models state it. An answer without a confidence decides nothing.",
    )
    audit = forms.FloatField(
        label="Of these items, sent to people all the same, in percent",
        min_value=100 * LEAST_AUDIT,
        max_value=100 * MOST_AUDIT,
        widget=whole_number(),
        help_text="Drawn at random: they show how often the models are wrong.",
        error_messages={
            bound: f"Give {100 * LEAST_AUDIT:g} to {100 * MOST_AUDIT:g} percent. {WHY_AUDIT}"
            for bound in ("min_value", "max_value")
        },
    )

    def __init__(self, *arguments: Any, models: list[tuple[int, str]], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields["models"].choices = models  # type: ignore[attr-defined]

    def condition(self) -> Condition:
        given = self.cleaned_data
        return Condition(tuple(given["models"]), given["least"], given["confidence"] / 100, given["audit"] / 100)


class SuggestionsForm(forms.Form):
    file = forms.FileField(label="File of suggestions", help_text="CSV, TSV, JSON Lines or a workbook.")


class PrioritiesForm(forms.Form):
    file = forms.FileField(label="File of priorities", help_text="CSV, TSV, JSON Lines or a workbook.")
