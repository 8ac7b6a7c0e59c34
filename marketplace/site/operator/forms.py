"""What an operator fills in."""

from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import Q

from marketplace.models import HitType, QualificationType, Worker
from marketplace.rules import limits
from marketplace.rules.countries import COUNTRIES

LARGEST_DEPOSIT = Decimal("1000000.00")


def _amount(label: str, help_text: str = "", smallest: str = "0.01", **more: Any) -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        help_text=help_text,
        min_value=Decimal(smallest),
        max_value=LARGEST_DEPOSIT,
        decimal_places=2,
        **more,
    )


class RequesterForm(forms.Form):
    name = forms.CharField(max_length=200, help_text="Workers see it beside each HIT.")
    balance = _amount("First deposit in dollars", "What may be spent. More can be added at any time.", smallest="0")


class DepositForm(forms.Form):
    amount = _amount("Amount in dollars")


class KeyForm(forms.Form):
    label = forms.CharField(
        max_length=100, required=False, help_text="Where it will be used, such as “publishing script”. Optional."
    )


class StandingForm(forms.ModelForm):
    """Saves its own columns only: a worker's counters move while the form is open."""

    country = forms.ChoiceField(choices=[("", "— not given —"), *COUNTRIES.items()], required=False)
    subdivision = forms.RegexField(
        r"^[A-Za-z0-9]{0,2}$",
        required=False,
        label="State or subdivision",
        help_text="Two letters, such as CA.",
        error_messages={"invalid": "Write the two letters of the state, such as CA, or nothing."},
    )

    class Meta:
        model = Worker
        fields = ["country", "subdivision", "adult", "masters"]
        labels = {"adult": "Agreed to see content for adults", "masters": "Masters"}
        help_texts = {"masters": "Workers of long and proven standing. Some HITs are for them only."}

    def clean_subdivision(self) -> str:
        subdivision: str = self.cleaned_data["subdivision"]
        return subdivision.upper()

    def said(self) -> str:
        """What is set, for the record; where somebody lives stays out of it."""
        names = {"adult": "adult content", "masters": "Masters"}
        parts = [f"{names[name]} {'on' if self.cleaned_data[name] else 'off'}" for name in names]
        if {"country", "subdivision"} & set(self.changed_data):
            parts.append("location")
        return ", ".join(parts)

    def save(self, commit: bool = True) -> Worker:
        worker: Worker = super().save(commit=False)
        worker.save(update_fields=list(self.Meta.fields))
        return worker


class OwedForm(forms.Form):
    q = forms.CharField(
        label="Worker",
        max_length=100,
        required=False,
        widget=forms.TextInput(attrs={"type": "search", "placeholder": "ID, name or e-mail"}),
    )
    minimum = _amount("Owed at least ($)", required=False)


class UndoForm(forms.Form):
    reason = forms.CharField(
        label="Why it is taken back",
        max_length=500,
        help_text="Shown to the workers concerned, and kept: name nobody.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class ResolveForm(forms.Form):
    """`choices` are the decisions that are open at this moment."""

    decision = forms.ChoiceField(label="What happens")
    note = forms.CharField(
        label="Your answer",
        max_length=limits.CONCERN,
        help_text="The worker reads it under Messages.",
        widget=forms.Textarea(attrs={"rows": 4}),
    )

    def __init__(self, *args: Any, choices: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        decision = self.fields["decision"]
        assert isinstance(decision, forms.ChoiceField)
        decision.choices = choices


class WebhookForm(forms.Form):
    url = forms.CharField(
        label="Address",
        max_length=500,
        help_text="Events of all HITs of this requester are posted to it as JSON. It must be https.",
        widget=forms.URLInput,
    )


class LayoutForm(forms.Form):
    name = forms.CharField(max_length=limits.LAYOUT_NAME)
    html = forms.CharField(
        label="HTML",
        strip=False,
        help_text="A whole page. ${name} stands for what a HIT brings along.",
        widget=forms.Textarea(attrs={"rows": 16, "class": "mono", "spellcheck": "false"}),
    )
    raw = forms.BooleanField(
        label="Insert values as markup",
        required=False,
        help_text="Elements and entities in them then work. Scripts in them run in the frame, which reaches "
        "nothing outside of it. Without the tick, values are shown as text.",
    )

    def clean_html(self) -> str:
        # Browsers send two characters for each line end; they would count as size.
        return str(self.cleaned_data["html"]).replace("\r\n", "\n")


class InvitationForm(forms.Form):
    note = forms.CharField(max_length=200, required=False, help_text="For whom it is. Only operators see it.")
    email = forms.EmailField(
        label="Only for this e-mail address",
        required=False,
        help_text="Optional. The link then works once, with this address only.",
    )
    uses = forms.IntegerField(
        label="How many people may join",
        min_value=1,
        max_value=1_000_000,
        required=False,
        initial=1,
        help_text="Empty: any number.",
    )
    days = forms.IntegerField(
        label="Days that it is open",
        min_value=1,
        max_value=3650,
        required=False,
        initial=14,
        help_text="Empty: for good.",
    )
    qualification = forms.CharField(
        label="Qualification for whoever joins",
        max_length=64,
        required=False,
        help_text="Its ID, from the requester. Optional.",
    )
    value = forms.IntegerField(
        label="Value of the qualification", min_value=-2_147_483_648, max_value=2_147_483_647, required=False, initial=1
    )

    def clean_qualification(self) -> QualificationType | None:
        type_id = self.cleaned_data["qualification"].strip()
        if not type_id:
            return None
        found = QualificationType.objects.filter(qualification_type_id=type_id, requester__isnull=False).first()
        if found is None:
            raise forms.ValidationError("No requester has a qualification type with this ID.")
        return found


class EraseForm(forms.Form):
    confirmation = forms.CharField(
        label="Type the worker ID to confirm", max_length=64, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )

    def __init__(self, *args: Any, worker_id: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.worker_id = worker_id

    def clean_confirmation(self) -> str:
        typed: str = self.cleaned_data["confirmation"].strip().upper()
        if typed != self.worker_id:
            raise forms.ValidationError("This is not the ID of this worker. Nothing was deleted.")
        return typed


class PanelForm(forms.Form):
    name = forms.CharField(max_length=100, help_text="Where the people come from.")
    slug = forms.SlugField(
        label="Link", max_length=50, help_text="Small letters, digits and hyphens: it becomes /panel/<i>word</i>/."
    )
    parameter = forms.CharField(
        label="Parameter with the outside ID",
        max_length=50,
        initial="PARTICIPANT_ID",
        help_text="The panel puts it at the end of the link.",
    )
    visit_parameter = forms.CharField(
        label="Parameter with the visit's ID",
        max_length=50,
        required=False,
        initial="SESSION_ID",
        help_text="A value that is new to a person begins another visit, from which HITs are counted. Empty, or not in "
        "the link: another visit begins when the person comes again after going back.",
    )
    terms = forms.CharField(
        max_length=20_000, help_text="What people agree to when they come in.", widget=forms.Textarea(attrs={"rows": 8})
    )
    completion_url = forms.CharField(
        label="Completion address",
        max_length=1000,
        help_text="Where people go when they are done. {outside_id} stands for theirs.",
        widget=forms.URLInput,
    )
    screened_out_url = forms.CharField(
        label="Screened-out address",
        max_length=1000,
        required=False,
        help_text="Where people go when the panel is closed. Optional.",
        widget=forms.URLInput,
    )
    group = forms.CharField(
        label="HIT group to begin with",
        max_length=64,
        required=False,
        help_text="A HIT type or group ID. Empty: the list of HITs.",
    )
    finish_after = forms.IntegerField(
        label="HITs after which people are done",
        min_value=1,
        max_value=1_000_000,
        required=False,
        help_text="Empty: when they say so.",
    )
    counts_approved = forms.BooleanField(
        label="Count approved HITs only",
        required=False,
        initial=True,
        help_text="Annotate approves within minutes what passes its check; an empty answer earns no completion. "
        "Switch it off where requesters read every answer before they approve it: people would wait for that.",
    )
    country = forms.ChoiceField(
        label="Country of its people", choices=[("", "— not known —"), *COUNTRIES.items()], required=False
    )
    signed = forms.BooleanField(
        label="Links must be signed",
        required=False,
        help_text="Outside IDs can be guessed and visits' IDs changed; a signature cannot.",
    )

    def clean_group(self) -> HitType | None:
        wanted = self.cleaned_data["group"].strip()
        if not wanted:
            return None
        found = HitType.objects.filter(Q(hit_type_id=wanted) | Q(hit_group_id=wanted)).first()
        if found is None:
            raise forms.ValidationError("There is no HIT group with this ID.")
        return found
