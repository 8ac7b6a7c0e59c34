"""Forms of these pages: they read what a person typed; verbs judge it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm

from hits.accounts.verbs import passwords
from hits.accounts.verbs.api_tokens import MOST_DAYS
from hits.models import ApiToken
from hits.views.forms import whole_number


class TokenForm(forms.Form):
    name = forms.CharField(max_length=60, label="Name", help_text="What uses it, such as “nightly export”.")
    scope = forms.ChoiceField(label="It may", choices=ApiToken.Scope.choices)
    days = forms.IntegerField(label="Days until it expires", min_value=1, max_value=MOST_DAYS, widget=whole_number())


class NewPasswordForm(PasswordChangeForm):
    """Of a lead who is signed in; the present password is asked for again."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["old_password"].label = "Present password"
        self.fields["old_password"].widget.attrs.pop("autofocus", None)
        self.fields["new_password1"].help_text = "At least 10 characters, and not a common password."
        self.fields["new_password2"].label = "New password once more"
        self.fields["new_password2"].help_text = ""


class LinkedPasswordForm(SetPasswordForm):
    """Behind a link: the link says whose it is."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["new_password1"].help_text = "At least 10 characters, and not a common password."
        self.fields["new_password2"].label = "New password once more"
        self.fields["new_password2"].help_text = ""

    def save(self, commit: bool = True) -> Any:
        """Called by Django's view."""
        passwords.set_by_link(self.user, self.cleaned_data["new_password1"])
        return self.user


class ForgottenForm(forms.Form):
    email = forms.EmailField(
        label="Your e-mail address",
        help_text="The one of your account, to which notices are sent.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
