"""Forms of these pages: they read what a person typed; verbs judge it."""

from __future__ import annotations

from django import forms

from hits.payments.models import LONGEST_REASON as LONGEST_REQUEST
from hits.views.forms import MoneyField


class DecisionForm(forms.Form):
    reason = forms.CharField(required=False, max_length=LONGEST_REQUEST, label="Reason")


class MayBudgetForm(forms.Form):
    """0: not at all."""

    may_budget = MoneyField(what="an amount")
