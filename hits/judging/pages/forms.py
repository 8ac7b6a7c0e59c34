"""Forms of these pages: they read what a person typed; verbs judge it."""

from __future__ import annotations

from django import forms


class AnswersFileForm(forms.Form):
    """What a model elsewhere made of its files."""

    file = forms.FileField(label="File", widget=forms.FileInput(attrs={"accept": ".json,.jsonl,application/json"}))
