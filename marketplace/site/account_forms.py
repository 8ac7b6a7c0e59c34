"""Forms about an account: signing up and in, address, password, place, deletion."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from common.names import name_fault, plain_name
from marketplace.models import Invitation, Worker
from marketplace.rules.errors import AlreadyDone, EmailTaken, RequestError
from marketplace.site.forms import country_choices
from marketplace.site.places import subdivisions
from marketplace.site.saying import said
from marketplace.verbs import access, clock

_TAKEN = _("This name is taken. Choose another.")
_ODD_NAME = _("Use visible letters of one script, and not dots alone. Letters that only look Latin are refused.")
_EMAIL_TAKEN = _("This address has an account. Sign in, or choose a new password if it is lost.")


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": _("No account has this name and password. Look for capital letters, then try again."),
        "inactive": _("This account is closed."),
    }


class NewPasswordForm(SetPasswordForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["new_password1"].help_text = _("At least 8 characters.")
        self.fields["new_password2"].label = _("The new password once more")
        self.fields["new_password2"].help_text = ""

    def save(self, commit: bool = True) -> Any:
        user = super().save(commit=False)
        access.keep_password(user)
        return user


class ChangePasswordForm(NewPasswordForm, PasswordChangeForm):
    """Asks for the old one first."""


class SignUpForm(forms.Form):
    """With `invitation` the account joins by it; an invitation for one address takes no other. `joins` is done with
    the account that is made, or there is none.
    """

    username = forms.CharField(
        label=_("Username"),
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        help_text=_("To sign in with. Requesters never see it."),
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )
    password = forms.CharField(
        label=_("Password"),
        help_text=_("At least 8 characters."),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    email = forms.EmailField(
        label=_("E-mail (optional)"),
        required=False,
        help_text=_("One account for one address. Requesters never see it."),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    country = forms.ChoiceField(
        label=_("Country you live in"),
        choices=country_choices,
        help_text=_("Some work is only for certain countries."),
        widget=forms.Select(attrs={"autocomplete": "country"}),
    )

    def __init__(
        self,
        *args: Any,
        invitation: Invitation | None = None,
        joins: Callable[[Worker], None] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.invitation, self.joins = invitation, joins
        email = self.fields["email"]
        if settings.MARKETPLACE_MAIL:
            email.required = True
            email.label = _("E-mail")
            email.help_text = _("We write to it once, to confirm it. One account for one address.")
        if invitation is not None and invitation.email:
            email.required = True
            email.label = _("E-mail")
            email.help_text = _("The address that the invitation went to.")

    def clean_username(self) -> str:
        username = plain_name(self.cleaned_data["username"])
        if name_fault(username):
            raise forms.ValidationError(_ODD_NAME)
        if get_user_model().objects.filter(username__iexact=username).exists():
            raise forms.ValidationError(_TAKEN)
        return username

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        if email and access.email_is_taken(email):
            raise forms.ValidationError(_EMAIL_TAKEN)
        return email

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
        """The new worker; None, with an error in the form, when somebody was faster or the invitation is not theirs."""
        data = self.cleaned_data
        try:
            return access.sign_up(
                data["username"],
                data["password"],
                email=data["email"],
                country=data["country"],
                now=clock.now(),
                invitation=self.invitation,
                joins=self.joins,
            )
        except EmailTaken:
            self.add_error("email", _EMAIL_TAKEN)
        except AlreadyDone:
            self.add_error("username", _TAKEN)
        except RequestError as refusal:
            self.add_error("email" if self.invitation and self.invitation.email else None, said(refusal.message))
        return None


class PlaceForm(forms.Form):
    """Where the worker lives: the country while it is not given, then the part of it."""

    country = forms.ChoiceField(choices=country_choices, label=_("Country you live in"))
    subdivision = forms.ChoiceField(label=_("State or part of the country"), required=False)

    def __init__(self, worker: Worker, data: QueryDict | None = None) -> None:
        super().__init__(data, initial={"subdivision": worker.subdivision})
        self.worker = worker
        parts = subdivisions(worker.country)
        if worker.country:
            del self.fields["country"]
        if parts:
            self.fields["subdivision"] = forms.ChoiceField(
                label=_("State or part of the country"), required=False, choices=[("", _("— none —")), *parts.items()]
            )
        else:
            del self.fields["subdivision"]

    def save(self) -> None:
        data = self.cleaned_data
        if "country" in data:
            # Only while there is none: a country decides about work, so that changing it is for the operator.
            Worker.objects.filter(pk=self.worker.pk, country="", erased_at=None).update(
                country=data["country"], subdivision=""
            )
        elif "subdivision" in data:
            unchanged = Worker.objects.filter(pk=self.worker.pk, country=self.worker.country)
            unchanged.update(subdivision=data["subdivision"])


class ForgotForm(forms.Form):
    email = forms.EmailField(
        label=_("E-mail address of your account"), widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )


class OwnPasswordForm(forms.Form):
    """Something that asks for the password again."""

    password = forms.CharField(
        label=_("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, worker: Worker, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.worker = worker

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not self.worker.user.check_password(password):
            raise forms.ValidationError(_("This is not the password of your account."))
        return password


class EmailForm(OwnPasswordForm):
    email = forms.EmailField(
        label=_("New e-mail address"),
        required=False,
        help_text=_("Empty: no address."),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    field_order = ["email", "password"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if settings.MARKETPLACE_MAIL:
            email = self.fields["email"]
            email.required = True
            email.help_text = _("It counts as soon as you open the link that we send there.")

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        if email and access.email_is_taken(email, but=self.worker):
            raise forms.ValidationError(_("Another account has this address."))
        return email


class DeleteForm(forms.Form):
    """The last question before an account is deleted: the password, or the worker id where there is none."""

    secret = forms.CharField(strip=True)
    lose = forms.BooleanField(required=True)

    def __init__(self, worker: Worker, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.worker = worker
        secret = self.fields["secret"]
        if worker.user.has_usable_password():
            secret.label = _("Your password")
            secret.widget = forms.PasswordInput(attrs={"autocomplete": "current-password"})
        else:
            secret.label = _("Type your Worker ID, %(worker_id)s") % {"worker_id": worker.worker_id}
            secret.widget = forms.TextInput(attrs={"autocomplete": "off"})
        if worker.owed or worker.waiting_count:
            self.fields["lose"].label = _("I give up the money that I have not been paid yet")
        else:
            del self.fields["lose"]

    def clean_secret(self) -> str:
        secret: str = self.cleaned_data["secret"]
        if self.worker.user.has_usable_password():
            if not self.worker.user.check_password(self.data.get(self.add_prefix("secret"), "")):
                raise forms.ValidationError(_("This is not the password of your account."))
        elif secret.upper() != self.worker.worker_id:
            raise forms.ValidationError(_("This is not your Worker ID."))
        return secret
