"""The few forms that a worker fills in outside of tasks."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from marketplace.models import Concern, Worker
from marketplace.rules import limits
from marketplace.site import places


def country_choices() -> list[tuple[str, Any]]:
    return [("", _("— choose —")), *places.countries().items()]


class ProfileForm(forms.ModelForm):
    """What a sandbox lets a worker set about itself."""

    country = forms.ChoiceField(label=_("Country"), choices=country_choices, required=False)
    subdivision = forms.RegexField(
        r"^[A-Za-z0-9]{0,2}$",
        label=_("State or subdivision"),
        required=False,
        help_text=_("Two letters, such as CA."),
        error_messages={"invalid": _("Write the two letters of the state, such as CA, or nothing.")},
    )

    class Meta:
        model = Worker
        fields = [
            "country",
            "subdivision",
            "percent_approved_override",
            "number_approved_override",
            "adult",
            "masters",
        ]
        labels = {
            "percent_approved_override": _("Percent of answers approved"),
            "number_approved_override": _("Number of answers approved"),
            "adult": _("Agreed to see content for adults"),
            "masters": _("Masters"),
        }
        help_texts = {
            "percent_approved_override": _("0 to 100. Empty: as it really is."),
            "number_approved_override": _("Empty: as it really is."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        percent = self.fields["percent_approved_override"]
        percent.widget.attrs["max"] = 100

    def save(self, commit: bool = True) -> Worker:
        """Write the form's own columns only: the worker's counters and money move while it is open."""
        worker: Worker = self.instance
        worker.save(update_fields=self.Meta.fields)
        return worker

    def clean_percent_approved_override(self) -> int | None:
        percent: int | None = self.cleaned_data["percent_approved_override"]
        if percent is not None and percent > 100:
            raise forms.ValidationError(_("At most 100 percent can be approved."))
        return percent

    def clean_subdivision(self) -> str:
        subdivision: str = self.cleaned_data["subdivision"]
        return subdivision.upper()


class ReportForm(forms.Form):
    reason = forms.ChoiceField(
        label=_("What is wrong"),
        choices=[("", _("— choose —")), *Concern.Reason.choices],
        error_messages={"required": _("Choose what is wrong."), "invalid_choice": _("Choose one of the reasons.")},
    )
    text = forms.CharField(
        label=_("In your words (optional)"),
        required=False,
        max_length=limits.CONCERN,
        help_text=_("Where, and what exactly. The people who run this marketplace read it; the requester does not."),
        widget=forms.Textarea(attrs={"rows": 5}),
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("reason") == Concern.Reason.OTHER and not cleaned.get("text"):
            self.add_error("text", _("Say in a few words what is wrong."))
        return cleaned


class DisputeForm(forms.Form):
    text = forms.CharField(
        label=_("Why the rejection is wrong"),
        max_length=limits.CONCERN,
        help_text=_("What the task asked for, and how your answer meets it."),
        widget=forms.Textarea(attrs={"rows": 6}),
        error_messages={"required": _("Say in a few words why the rejection is wrong.")},
    )
