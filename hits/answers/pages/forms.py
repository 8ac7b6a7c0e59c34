"""Forms of these pages: they read what a person typed; verbs judge it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict

from hits.views.forms import LinesField
from hits.views.paging import id_of


class AnswersForm(forms.Form):
    """The answers that were ticked; more than a page of them was never on the screen."""

    answers = forms.TypedMultipleChoiceField(coerce=int)

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data)
        self._ticked = data.getlist("answers") if data else []
        self.fields["answers"].choices = [(pk, pk) for pk in self._ticked if id_of(pk)]  # type: ignore[attr-defined]

    @property
    def is_unreadable(self) -> bool:
        """Whether something is ticked, and not everything of it is an id."""
        return bool(self._ticked) and "answers" in self.errors


class ApproveManyForm(forms.Form):
    """What the page showed: how many answers, of blocked workers too, for how much, and the last that was there."""

    count = forms.IntegerField(min_value=1)
    of_blocked = forms.IntegerField(min_value=0, required=False)
    cost = forms.DecimalField(min_value=0, max_digits=12, decimal_places=2)
    until = forms.IntegerField(min_value=1, max_value=2**63 - 1)


class RejectForm(AnswersForm):
    feedback = LinesField(max_length=1000, widget=forms.Textarea(attrs={"rows": 2}))


class ReasonForm(forms.Form):
    """Of one rejection: a reason that was offered, or one in other words in its place."""

    reason = LinesField(max_length=1000, required=False)
    feedback = LinesField(max_length=1000, required=False)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        given["feedback"] = given.get("feedback") or given.get("reason")
        if not given["feedback"] and not self.errors:
            raise forms.ValidationError("No reason is given.")
        return given
