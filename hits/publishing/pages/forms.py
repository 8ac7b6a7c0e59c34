"""Forms of these pages: they read what a person typed; verbs judge it."""

from __future__ import annotations

from django import forms

MOST_ITEMS = 10_000_000


class PublishForm(forms.Form):
    """What the quote page showed: the verb refuses when it is no longer so."""

    items = forms.IntegerField(min_value=1, max_value=MOST_ITEMS)
    total = forms.DecimalField(max_digits=12, decimal_places=2)
    confirmation = forms.UUIDField()


class HowManyForm(forms.Form):
    items = forms.IntegerField(min_value=1, max_value=MOST_ITEMS, required=False)
