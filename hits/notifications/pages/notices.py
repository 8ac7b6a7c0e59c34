"""A person's notices of all projects, which of them are wanted where, and the address for letters."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.debug import sensitive_post_parameters

from common.second_factor import device_of
from common.second_factor_forms import OwnerForm
from hits.accounts.verbs.sign_in import confirm_owner
from hits.core import keyset
from hits.models import Notice, Project
from hits.notifications.rules import notices
from hits.notifications.verbs import notice_addresses, writing_notices
from hits.refusals import Refused
from hits.views import paging
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, guarded

NEWEST_FIRST = keyset.Order(field="told_at", falling=True, read=keyset.moment)


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


@guarded(PAGE)
def index(request: LeadRequest) -> HttpResponse:
    return _page(request)


def _page(request: LeadRequest, status: int = 200, **bound: object) -> HttpResponse:
    """`bound` puts a refused form in the place of the empty one."""
    slug = request.GET.get("project", "")
    rows = notices.seen_by(request.user, slug).select_related("project")
    page: keyset.Page[Notice] = keyset.page(rows, NEWEST_FIRST, **paging.places(request.GET))
    mine = Project.objects.visible_to(request.user).filter(archived_at=None)
    context = {
        "page": page,
        # Not now: what is told between this page and the press of the button stays new.
        "until": page.rows[0].told_at.isoformat() if page.rows else "",
        "some_new": page.before is None and rows.filter(notices.NEW).exists(),
        "projects": list(mine.order_by("name").values_list("slug", "name")),
        "project_slug": slug,
        "choices": notices.choices_of(request.user),
        "has_mail": bool(settings.MAIL),
        "why_no_email": notices.why_no_email(request.user),
        # Without a mail server no address can be confirmed; one that is there can still be removed.
        "takes_address": settings.MAIL or bool(request.user.email),
        "address_form": NoticeAddressForm(request.user, initial={"email": request.user.email}),
        **bound,
    }
    return render(request, "notifications/index.html", context, status=status)


def _back(slug: str) -> HttpResponse:
    return redirect(f"{reverse('notices')}{'?' + urlencode({'project': slug}) if slug else ''}")


@guarded(VERB)
def mark_seen(request: LeadRequest) -> HttpResponse:
    slug = request.POST.get("project", "")
    try:
        until = keyset.moment(request.POST.get("until", ""))
    except ValueError:
        messages.error(request, "The page was not complete. Try again; nothing was changed.")
        return _back(slug)
    writing_notices.mark_seen(request.user, until, slug)
    messages.success(request, "These notices are marked as seen.")
    return _back(slug)


@guarded(VERB)
def choose(request: LeadRequest) -> HttpResponse:
    kinds = Notice.Kind.values
    page, email = (set(request.POST.getlist(name)) for name in ("page", "email"))
    if not settings.MAIL:
        # The page offers no e-mail then: what was chosen stays for a mail server that comes.
        email = {one.kind for one in notices.choices_of(request.user) if one.by_email}
    writing_notices.choose(request.user, {kind: (kind in page, kind in email) for kind in kinds})
    messages.success(request, "Saved.")
    return _back("")


@sensitive_post_parameters()
@guarded(VERB)
def ask_address(request: LeadRequest) -> HttpResponse:
    """Send a link to the address; without one, no letters go out any more."""
    form = NoticeAddressForm(request.user, request.POST)
    if not form.is_valid():
        return _page(request, 400, address_form=form)
    address = form.cleaned_data["email"]
    try:
        confirm_owner(request.user, form.cleaned_data["password"], form.cleaned_data.get("code", ""))
        if not address:
            notice_addresses.remove(request.user)
            messages.success(request, "Your address is removed. No notices are sent by e-mail.")
            return _back("")
        notice_addresses.ask(request.user, address)
    except Refused as refusal:
        form.add_error(getattr(refusal, "field", "") or "email", str(refusal))
        return _page(request, refusal.http_status, address_form=form)
    messages.success(request, f"A link was sent to {address}. Open it to confirm the address.")
    return _back("")


@guarded(FORM)
def address(request: LeadRequest, token: str) -> HttpResponse:
    """What the link in a letter opens; pressing its button makes the address the person's."""
    try:
        if request.method == "POST":
            said = notice_addresses.confirm(request.user, token)
            messages.success(request, f"Notices are sent to {said} from now on.")
            return _back("")
        found, refusal = notice_addresses.find(request.user, token), None
    except Refused as error:
        found, refusal = "", error
    return render(
        request, "notifications/address.html", {"address": found, "refusal": refusal}, status=404 if refusal else 200
    )
