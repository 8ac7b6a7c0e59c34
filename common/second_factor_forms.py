"""Forms of the second factor, and what the page shows where it is set up, renewed and taken away.

Security behavior: the key is shown until its first code was entered, and never again. Taking a second factor away needs
the password too, which is looked at before the code: a code is used up once it was asked about.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.safestring import mark_safe

from common import second_factor

WRONG_CODE = "This code is wrong, or was used before. Wait for the next one of the app."


class CodeForm(forms.Form):
    code = forms.CharField(
        max_length=40,
        label="Code",
        widget=forms.TextInput(
            attrs={"autocomplete": "one-time-code", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )


class OwnerForm(CodeForm):
    """The present password and a code: an open session alone is not enough."""

    password = forms.CharField(
        label="Present password",
        strip=False,
        max_length=1000,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    field_order = ["password", "code"]

    def __init__(self, user: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.user = user
        self.fields["code"].label = "Code of the app, or a recovery code"


class RemoveSecondFactorForm(OwnerForm):
    def clean(self) -> dict[str, Any]:
        if "password" in self.cleaned_data and not self.user.check_password(self.cleaned_data["password"]):
            self.add_error("password", "This is not your present password.")
        return self.cleaned_data


def page_context(user: Any) -> dict[str, Any]:
    """The second factor of this person, the key of an app that is being set up, and the page's three forms."""
    waiting = second_factor.waiting_device(user)
    return {
        "device": second_factor.device_of(user),
        # Drawn here from a key of our own: nothing in it comes from a visitor.
        "picture": mark_safe(second_factor.picture(waiting)) if waiting else "",
        "key": second_factor.key_text(waiting) if waiting else "",
        "confirm_form": CodeForm(auto_id="confirm_%s"),
        "codes_form": CodeForm(auto_id="codes_%s"),
        "remove_form": RemoveSecondFactorForm(user, auto_id="remove_%s"),
    }
