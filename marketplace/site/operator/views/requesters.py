"""Who publishes: accounts, money, keys, where their events go, and their layouts."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common import shown_once
from marketplace.models import AccessKey, Requester, Webhook
from marketplace.rules.errors import ParameterValidationError
from marketplace.site.guards import operator_required
from marketplace.site.operator import queries
from marketplace.site.operator.forms import DepositForm, KeyForm, RequesterForm, WebhookForm
from marketplace.site.operator.pages import page_of, search_words, searched, sent_token, show
from marketplace.verbs import accounts, clock, events, money
from marketplace.verbs.operators import act

SECTION = "requesters"
SORTS = {
    "newest": ("Newest", ("-pk",)),
    "name": ("Name", ("name", "pk")),
    "available": ("Least available", (F("funds") - F("held") - F("charged"), "pk")),
    "charged": ("Most spent", ("-charged", "pk")),
}


def find(customer_id: str) -> Requester:
    return get_object_or_404(Requester, customer_id=customer_id)


@require_safe
@operator_required
def index(request: HttpRequest, operator: User) -> HttpResponse:
    rows = queries.requesters(search_words(request))
    return show(request, "requesters", searched(rows, request, SORTS), SECTION)


@require_safe
@operator_required
def requester(request: HttpRequest, operator: User, customer_id: str) -> HttpResponse:
    who = find(customer_id)
    new = shown_once.taken(request)
    if made := new.get("made"):
        return show(request, made, {"requester": who, **new}, SECTION)
    context = {
        "requester": who,
        "new": new,
        "keys": page_of(who.access_keys.order_by("-active", "-pk"), request),
        "entries": list(queries.ledger(who)[:5]),
        "actions": list(queries.actions().filter(requester=who)[:10]),
        "layouts": list(who.layouts.defer("html").order_by("-pk")[: queries.LAYOUTS_SHOWN]),
        "webhook": Webhook.objects.filter(requester=who).first(),
        "hits": queries.hits_of(who, clock.now()),
    }
    return show(request, "requester", context, SECTION)


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def new(request: HttpRequest, operator: User) -> HttpResponse:
    """A requester with its first key, whose secret the page behind the form shows and nothing shows again."""
    form = RequesterForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return show(request, "requester_new", {"form": form}, SECTION, status=400 if form.errors else 200)
    name, balance = form.cleaned_data["name"], form.cleaned_data["balance"]
    now = clock.now()
    with act(operator, f"Added the requester {name} with ${balance:,.2f}", now, token=sent_token(request)) as action:
        key = accounts.create_requester(name, balance, now)
        action.requester = key.requester
    return _show_key(request, key)


def _show_key(request: HttpRequest, key: AccessKey) -> HttpResponse:
    said = {"access_key_id": key.access_key_id, "secret": key.secret}
    return shown_once.leading_to(request, _address(key.requester), made="key_made", key=said)


def _address(who: Requester) -> str:
    return reverse("operator:requester", args=[who.customer_id])


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def new_key(request: HttpRequest, operator: User, customer_id: str) -> HttpResponse:
    who = find(customer_id)
    form = KeyForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        context = {"form": form, "requester": who}
        return show(request, "key_new", context, SECTION, status=400 if form.errors else 200)
    with act(operator, "", clock.now(), token=sent_token(request), requester=who) as action:
        key = accounts.add_key(who, form.cleaned_data["label"])
        action.about = f"Made the access key {key.access_key_id}"
    return _show_key(request, key)


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def revoke_key(request: HttpRequest, operator: User, pk: int) -> HttpResponse:
    key = get_object_or_404(AccessKey.objects.select_related("requester"), pk=pk)
    if request.method != "POST":
        return show(request, "key_revoke", {"key": key, "requester": key.requester}, SECTION)
    now = clock.now()
    with act(operator, f"Revoked the access key {key.access_key_id}", now, requester=key.requester):
        accounts.revoke_key(key, now)
    messages.success(request, f"The key {key.access_key_id} is revoked. It signs nothing any more.")
    return redirect("operator:requester", key.requester.customer_id)


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def deposit(request: HttpRequest, operator: User, customer_id: str) -> HttpResponse:
    """Asks for an amount, then shows what it will change, then does it: once for each form."""
    who = find(customer_id)
    given = request.POST if request.method == "POST" else request.GET
    form = DepositForm(given if "amount" in given else None)
    context: dict[str, Any] = {"form": form, "requester": who}
    if not form.is_valid():
        return show(request, "deposit", context, SECTION, status=400 if form.errors else 200)
    amount = form.cleaned_data["amount"]
    if request.method != "POST":
        return show(request, "deposit_confirm", context | {"amount": amount, "after": who.available + amount}, SECTION)
    now = clock.now()
    with act(operator, f"Deposited ${amount:,.2f}", now, token=sent_token(request), requester=who):
        money.deposit(who, amount, now)
    messages.success(request, f"Deposited ${amount:,.2f} for {who.name}.")
    return redirect("operator:requester", who.customer_id)


@require_safe
@operator_required
def ledger(request: HttpRequest, operator: User, customer_id: str) -> HttpResponse:
    """Every movement of the requester's money, the newest first, from one entry on back."""
    who = find(customer_id)
    before = request.GET.get("before", "")
    rows = queries.ledger(who)
    if before.isascii() and before.isdecimal() and len(before) < 19:
        rows = rows.filter(pk__lt=int(before))
    entries = list(rows[: queries.LEDGER_ROWS + 1])
    more = len(entries) > queries.LEDGER_ROWS
    context = {"requester": who, "entries": entries[: queries.LEDGER_ROWS], "more": more, "before": before}
    return show(request, "ledger", context, SECTION)


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def webhook(request: HttpRequest, operator: User, customer_id: str) -> HttpResponse:
    """Where the requester's events go. A new address gets a new secret, which is shown once."""
    who = find(customer_id)
    before = Webhook.objects.filter(requester=who).first()
    form = WebhookForm(request.POST or None, initial={"url": before.url if before else ""})
    context = {"form": form, "requester": who, "webhook": before}
    if request.method != "POST" or not form.is_valid():
        return show(request, "webhook", context, SECTION, status=400 if form.errors else 200)
    now = clock.now()
    try:
        with act(operator, "Set the webhook", now, token=sent_token(request), requester=who):
            made = events.set_webhook(who, form.cleaned_data["url"], now)
    except ParameterValidationError as refusal:
        form.add_error("url", refusal.message)
        return show(request, "webhook", context, SECTION, status=400)
    if before is not None and before.secret == made.secret:
        messages.success(request, "The webhook is on. Its address and secret are as before.")
        return redirect("operator:requester", who.customer_id)
    said = {"url": made.url, "secret": made.secret}
    return shown_once.leading_to(request, _address(who), made="webhook_made", webhook=said)


@require_POST
@operator_required
def stop_webhook(request: HttpRequest, operator: User, customer_id: str) -> HttpResponse:
    who = find(customer_id)
    with act(operator, "Switched the webhook off", clock.now(), requester=who):
        events.stop_webhook(who)
    messages.success(request, "The webhook is off. Nothing more is sent to it.")
    return redirect("operator:requester", who.customer_id)
