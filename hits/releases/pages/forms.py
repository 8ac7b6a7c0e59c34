"""Forms of these pages: they read what a person typed; verbs judge it."""

from __future__ import annotations

from typing import Any

from django import forms

from hits.formats.outputs.licences import LICENCES, OWN
from hits.releases.rules.release_cards import LONGEST, RELEASED, TEXTS


class ReleaseCardForm(forms.Form):
    """What the card of releases states. `hits.releases.rules.release_cards` judges it: here a line end counts as two
    signs.
    """

    licence = forms.ChoiceField(
        required=False,
        label="Licence",
        choices=[
            ("", "None stated"),
            *((one.spdx, f"{one.spdx} – {one.title}") for one in LICENCES.values()),
            (OWN, "Terms of our own"),
        ],
        help_text="What others may do with the data. Without one they may take it that they may do nothing.",
    )
    terms = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"maxlength": LONGEST["terms"], "rows": 4}),
        label="Terms of our own",
        help_text=f"Their text, which the release has as a file too. With “Terms of our own” only; at most "
        f"{LONGEST['terms']:,} characters.",
    )

    single_answers = forms.ChoiceField(
        required=False,
        label="Single answers",
        choices=[("", "Not in releases"), (RELEASED, "Released, with pseudonyms of workers")],
        help_text="Of train and dev, what each worker answered to each item. Answers of test are never told.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, asked in TEXTS.items():
            lines = {"rows": 5 if name == "citation" else 3, "spellcheck": "false" if name == "citation" else "true"}
            widget: forms.Widget = forms.Textarea(attrs={"maxlength": asked.longest, **lines})
            if name == "language":
                widget = forms.TextInput(attrs={"maxlength": asked.longest})
            field = forms.CharField(required=False, label=asked.label, help_text=asked.help, widget=widget)
            self.fields[name] = field


class ResultsForm(forms.Form):
    file = forms.FileField(
        label="File of results",
        help_text="CSV of Mechanical Turk, Turkle or Figure Eight, or the long table as CSV or JSON Lines.",
    )
