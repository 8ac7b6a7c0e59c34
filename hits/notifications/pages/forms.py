"""Forms of these pages: they read what a person typed; verbs judge it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User

from common.second_factor import device_of
from common.second_factor_forms import OwnerForm


class NoticeAddressForm(OwnerForm):
    email = forms.EmailField(
        required=False,
        label="Your e-mail address",
        help_text="A link is sent there first. Leave it empty to get no e-mail.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    field_order = ["email", "password", "code"]

    def __init__(self, user: User, *arguments: Any, **options: Any) -> None:
        super().__init__(user, *arguments, **options)
        if device_of(user) is None:
            del self.fields["code"]
