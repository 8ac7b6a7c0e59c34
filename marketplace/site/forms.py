"""The few forms that a worker fills in outside of tasks."""

from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db import IntegrityError, transaction

from marketplace.models import Worker
from marketplace.site.countries import COUNTRIES
from marketplace.verbs import accounts

_TAKEN = "This name is taken. Choose another."
_CHOICES = [("", "— choose —"), *COUNTRIES.items()]


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": "No account has this name and password. Look for capital letters, then try again.",
        "inactive": "This account is closed.",
    }


class SignUpForm(forms.Form):
    username = forms.CharField(
        label="Username",
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        help_text="To sign in with. Requesters never see it.",
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )
    password = forms.CharField(
        help_text="At least 8 characters.",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    email = forms.EmailField(
        label="E-mail (optional)",
        required=False,
        help_text="Only to get back into a lost account.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    country = forms.ChoiceField(
        label="Country you live in",
        choices=_CHOICES,
        help_text="Some work is only for certain countries.",
        widget=forms.Select(attrs={"autocomplete": "country"}),
    )

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        if get_user_model().objects.filter(username__iexact=username).exists():
            raise forms.ValidationError(_TAKEN)
        return username

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if "password" in cleaned:
            user = get_user_model()(username=cleaned.get("username", ""), email=cleaned.get("email", ""))
            try:
                validate_password(cleaned["password"], user)
            except forms.ValidationError as error:
                self.add_error("password", error)
        return cleaned

    def create_worker(self) -> Worker | None:
        """The new worker; None, with an error in the form, when somebody just took the name."""
        data = self.cleaned_data
        try:
            with transaction.atomic():
                worker = accounts.create_worker(data["username"], data["password"], country=data["country"])
                worker.user.email = data["email"]
                worker.user.save(update_fields=["email"])
        except IntegrityError:
            self.add_error("username", _TAKEN)
            return None
        return worker


class ProfileForm(forms.ModelForm):
    """What a sandbox lets a worker set about itself."""

    country = forms.ChoiceField(choices=_CHOICES, required=False)
    subdivision = forms.RegexField(
        r"^[A-Za-z0-9]{0,2}$",
        label="State or subdivision",
        required=False,
        help_text="Two letters, such as CA.",
        error_messages={"invalid": "Write the two letters of the state, such as CA, or nothing."},
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
            "percent_approved_override": "Percent of answers approved",
            "number_approved_override": "Number of answers approved",
            "adult": "Agreed to see content for adults",
            "masters": "Masters",
        }
        help_texts = {
            "percent_approved_override": "0 to 100. Empty: as it really is.",
            "number_approved_override": "Empty: as it really is.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        percent = self.fields["percent_approved_override"]
        percent.widget.attrs["max"] = 100

    def clean_percent_approved_override(self) -> int | None:
        percent: int | None = self.cleaned_data["percent_approved_override"]
        if percent is not None and percent > 100:
            raise forms.ValidationError("At most 100 percent can be approved.")
        return percent

    def clean_subdivision(self) -> str:
        subdivision: str = self.cleaned_data["subdivision"]
        return subdivision.upper()
