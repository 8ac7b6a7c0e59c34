"""Forms of these pages: they read what a person typed; verbs judge it."""

from __future__ import annotations

from typing import Any

from django import forms

from hits.formats.inputs.qualification_test import Details
from hits.views.forms import MoneyField, whole_number
from hits.workers.rules.block_proposals import LONGEST_WHY
from hits.workers.verbs.blocking import LONGEST_REASON as LONGEST_BLOCK_REASON
from hits.workers.verbs.blocking import MOST_HOURS as MOST_PAUSE_HOURS


class ScreeningForm(forms.Form):
    """Of a test of a stage's workers; `hits.stages.verbs.custom_stages` judges it."""

    items_per_hit = forms.IntegerField(
        label="Items of the test",
        min_value=1,
        max_value=20,
        initial=8,
        widget=whole_number(),
        help_text="With a gold answer, for each worker.",
    )
    screening_share = forms.IntegerField(
        label="Percent that has to be right", min_value=1, max_value=100, initial=75, widget=whole_number()
    )
    practice_items = forms.IntegerField(
        label="Items to practise on before",
        min_value=0,
        max_value=10,
        initial=3,
        widget=whole_number(),
        help_text="With what was right after each; 0: none. A column “explanation” of your file says why.",
    )
    draws = forms.IntegerField(
        label="At most so many rows for both",
        min_value=0,
        required=False,
        widget=whole_number(),
        help_text="The others stay in the stage, for instance as check questions. Empty: all with a gold answer.",
    )
    answers = forms.IntegerField(
        label="Workers a HIT",
        min_value=1,
        max_value=100,
        initial=9,
        widget=whole_number(),
        help_text="From 10 on the marketplace's fee is twice as high. Places can be published again.",
    )
    reward = MoneyField(
        label="Reward for the test, $", initial="0.50", help_text="Of practice and test together, whatever the result."
    )
    screening_retries = forms.IntegerField(
        label="Tries after a failed one", min_value=0, max_value=5, initial=0, widget=whole_number()
    )
    screening_hours = forms.IntegerField(
        label="Hours until another try", min_value=1, max_value=720, initial=24, widget=whole_number()
    )

    def table(self, stage: str) -> dict[str, Any]:
        """As `stages.toml` writes it, of the tested stage with that key."""
        given = dict(self.cleaned_data)
        return {
            **given,
            "reward": f"{given['reward']:.2f}",
            "screening_share": given["screening_share"] / 100,
            "draws": given["draws"] or 0,
            "input": {"stage": stage, "each": "known"},
        }


class WorkersForm(forms.Form):
    """The workers to block, by their marketplace ids, and the dollars that the page showed for answers again."""

    workers = forms.MultipleChoiceField()
    tell = forms.BooleanField(required=False)
    cost = forms.DecimalField(min_value=0, max_digits=12, decimal_places=2)

    def __init__(self, known: list[str], *arguments: Any) -> None:
        super().__init__(*arguments)
        self.fields["workers"].choices = [(worker_id, worker_id) for worker_id in known]  # type: ignore[attr-defined]


class BlockByHandForm(forms.Form):
    """The reasons for the project and for the workers, and the dollars that the page showed for answers again.

    The workers are read from the address.
    """

    reason = forms.CharField(
        max_length=LONGEST_BLOCK_REASON,
        label="Reason",
        help_text="For you and the others of the project; the worker does not see it. It stays with the block.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    tell = forms.BooleanField(
        required=False, initial=True, label="Write to the workers why, and what happens to their answers"
    )
    told = forms.CharField(
        required=False,
        max_length=LONGEST_WHY,
        label="Why, as the workers read it",
        help_text="It stands in the message below. Empty only where you do not write to them.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    cost = forms.DecimalField(min_value=0, max_digits=12, decimal_places=2)

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("tell") and "told" in given and not given["told"]:
            self.add_error("told", "Write why, for the workers to read, or untick the box above.")
        return given


class PauseForm(forms.Form):
    hours = forms.IntegerField(
        min_value=1, max_value=MOST_PAUSE_HOURS, initial=24, label="Hours", widget=whole_number()
    )
    reason = forms.CharField(
        required=False,
        max_length=LONGEST_BLOCK_REASON,
        label="Reason",
        help_text="For you and the others of the project; the worker does not see it.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class QualificationTestForm(forms.Form):
    """What a lead types about a test; a verb judges it. The key is typed once, and left out where it is given."""

    title = forms.CharField(label="Title", help_text="Workers see it in the list of qualifications.")
    key = forms.CharField(
        label="Short name",
        help_text="Lower-case words joined by hyphens, such as reading-test. Stages and recipes name the test by it.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    description = forms.CharField(
        label="Description",
        help_text="Workers read it before they begin: what the test is about and which work it opens.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    pass_mark = forms.IntegerField(label="Pass mark, %", initial=80, widget=whole_number())
    minutes = forms.IntegerField(label="Time for the test, minutes", initial=15, widget=whole_number())
    retry_days = forms.IntegerField(
        label="Another try after, days",
        required=False,
        help_text="Empty: each worker has one attempt only.",
        widget=whole_number(),
    )

    def __init__(self, *arguments: Any, key: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._key = key
        if key:
            del self.fields["key"]

    def details(self) -> Details:
        return Details(**{"key": self._key, **self.cleaned_data})
