"""Forms of these pages: they read what a person typed; verbs judge it."""

from __future__ import annotations

from typing import Any

from django import forms

from hits.publishing.verbs.publishing import MOST_HOURS
from hits.views.forms import MoneyField, whole_number


class NewStageForm(forms.Form):
    """Of a stage that a lead adds; `hits.stages.verbs.custom_stages` judges it.

    The task is `protocol` or, of a ready-made one, `protocol/name`.
    """

    title = forms.CharField(
        max_length=120, label="Name of the stage", help_text="Leads see it; files are named after it."
    )
    protocol = forms.ChoiceField(label="Task")
    source = forms.ChoiceField(label="Its items are made of", required=False)
    each = forms.ChoiceField(
        label="One item for",
        choices=[("item", "each kept item"), ("answer", "each answer to it that counts")],
        required=False,
        help_text="Of the rows of a file: each row.",
    )
    draws = forms.IntegerField(
        label="Only a sample of",
        min_value=0,
        required=False,
        widget=whole_number(),
        help_text="So many items, which you draw when there are enough. Empty: all of them, as they come.",
    )
    answers = forms.IntegerField(label="Answers an item", min_value=1, max_value=100, initial=3, widget=whole_number())
    reward = MoneyField(label="Reward for an answer, $", initial="0.10")
    hit_title = forms.CharField(
        max_length=128,
        label="Title",
        help_text="Workers choose by it in the marketplace's list; each stage has its own.",
    )
    hit_description = forms.CharField(
        max_length=2000, label="Description", help_text="Two sentences: what is done, and how long it takes."
    )

    def __init__(
        self, *arguments: Any, protocols: list[tuple[str, str]], sources: list[tuple[str, str]], **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self.fields["protocol"].choices = protocols  # type: ignore[attr-defined]
        self.fields["protocol"].initial = protocols[0][0] if protocols else None
        self.fields["source"].choices = [("", "each row of the imported file"), *sources]  # type: ignore[attr-defined]

    @property
    def table(self) -> dict[str, Any]:
        """As `stages.toml` writes it."""
        given = self.cleaned_data
        protocol, _, ready = given["protocol"].partition("/")
        names = ("title", "answers", "hit_title", "hit_description")
        return {name: given[name] for name in names} | {
            "protocol": protocol,
            "ready": ready,
            "reward": f"{given['reward']:.2f}",
            "draws": given["draws"] or 0,
            # Rows of a file have no answers.
            "input": {"stage": given["source"], "each": (given["each"] if given["source"] else "") or "item"},
        }


class ExtendForm(forms.Form):
    """`ends` is the closing time that the page showed, so that sending the form twice adds the hours once."""

    hours = forms.IntegerField(min_value=1, max_value=MOST_HOURS, initial=72, label="Hours to add")
    ends = forms.DateTimeField(required=False, widget=forms.HiddenInput)


class RuleForm(forms.Form):
    """What the confirmation page showed: the verb refuses when another rule was saved since."""

    text = forms.CharField(required=False, strip=False)
    again = forms.CharField(max_length=5, required=False)
    note = forms.CharField(max_length=200, required=False)
    seen = forms.IntegerField(min_value=1)
