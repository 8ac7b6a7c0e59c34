"""The webhooks of a project, and for each what was and is to be sent to it.

Security behavior: who may not change a webhook sees its host alone, for a path may hold a secret of the receiver. The
secret that signs is shown once (`common.shown_once`), to whoever made it.
"""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from common import shown_once
from hits import forms, tasks
from hits.domain import keyset, webhook_events
from hits.flow.setup import webhooks as flow
from hits.models import Project, Webhook, WebhookDelivery
from hits.refusals import Refusal
from hits.views import paging
from hits.views.guard import PAGE, VERB, LeadRequest, for_project

State = WebhookDelivery.State
SHOWN = {"": "All", **dict(State.choices)}


def _hook(project: Project, pk: int) -> Webhook:
    return get_object_or_404(project.webhooks.select_related("project", "created_by"), pk=pk)


@for_project(PAGE)
def index(request: HttpRequest, project: Project) -> HttpResponse:
    return _index(request, project, forms.WebhookForm())


def _index(request: HttpRequest, project: Project, form: forms.WebhookForm, status: int = 200) -> HttpResponse:
    hooks = list(project.webhooks.standing().order_by("pk"))
    waiting = WebhookDelivery.objects.filter(webhook__in=hooks, state=State.WAITING).order_by().values_list("webhook")
    numbers = dict(waiting.annotate(number=Count("pk")))
    context = {
        "project": project,
        "hooks": hooks,
        "listed": [(hook, numbers.get(hook.pk, 0)) for hook in hooks],
        "form": form,
    }
    return render(request, "webhooks/index.html", context, status=status)


@for_project(VERB)
def add(request: LeadRequest, project: Project) -> HttpResponse:
    """Leads to the page of the new webhook, with its secret on it."""
    form = forms.WebhookForm(request.POST)
    if form.is_valid():
        try:
            row, secret = flow.add(project, user=request.user, **form.cleaned_data)
        except Refusal as refusal:
            _explain(form, refusal)
        else:
            return shown_once.leading_to(request, _address(row), secret=secret)
    return _index(request, project, form, 400)


def _explain(form: forms.WebhookForm, refusal: Refusal) -> None:
    """Each fault beside its field. Raises what is no refusal of this form's, such as ArchivedError."""
    if isinstance(refusal, flow.WebhookRefusedError):
        for field, sentence in refusal.faults:
            form.add_error(field, sentence)
    elif isinstance(refusal, flow.TooManyWebhooksError | flow.WebhookOffError):
        form.add_error(None, str(refusal))
    else:
        raise refusal


@for_project(PAGE)
def webhook(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    return _page(request, project, _hook(project, pk), new=shown_once.taken(request))


def _address(row: Webhook) -> str:
    return reverse("webhook", args=[row.project.slug, row.pk])


def _page(request: HttpRequest, project: Project, row: Webhook, status: int = 200, **more: Any) -> HttpResponse:
    show = request.GET.get("show", "")
    show = show if show in SHOWN else ""
    rows: QuerySet[WebhookDelivery] = row.deliveries.all()
    page = paging.by_id(rows.filter(state=show) if show else rows, request.GET, newest_first=True)
    context = {
        "project": project,
        "hook": row,
        "page": page,
        "shown": [(one, webhook_events.about(one.body), _indented(one.body)) for one in page.rows],
        "show": show,
        "hours": settings.WEBHOOK_HOURS,
        "filters": [(name, label, _number(rows, name)) for name, label in SHOWN.items()],
        "form": forms.WebhookForm(initial={"address": row.address, "events": row.events}),
        **more,
    }
    return render(request, "webhooks/webhook.html", context, status=status)


def _number(rows: QuerySet[WebhookDelivery], state: str) -> str:
    return keyset.counted(rows.filter(state=state) if state else rows)


def _indented(body: str) -> str:
    return json.dumps(json.loads(body), indent=2, ensure_ascii=False)


@for_project(VERB)
def change(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    row = _hook(project, pk)
    if wanted := request.POST.get("switch"):
        return _switched(request, row, active=wanted == "on")
    form = forms.WebhookForm(request.POST)
    if form.is_valid():
        try:
            flow.change(row, request.user, **form.cleaned_data)
        except Refusal as refusal:
            _explain(form, refusal)
        else:
            tasks.announce()
            messages.success(request, "The webhook is changed.")
            return redirect("webhook", project.slug, pk)
    return _page(request, project, row, 400, form=form)


def _switched(request: LeadRequest, row: Webhook, *, active: bool) -> HttpResponse:
    try:
        flow.change(row, request.user, active=active)
    except flow.WebhookOffError as refusal:
        messages.error(request, str(refusal))
    else:
        tasks.announce()
        said = "on: what waits is sent." if active else "off: nothing is written down for it, and what waits waits on."
        messages.success(request, f"The webhook is {said}")
    return redirect("webhook", row.project.slug, row.pk)


@for_project(VERB)
def rotate(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    row = _hook(project, pk)
    try:
        secret = flow.rotate(row, request.user)
    except flow.WebhookOffError as refusal:
        messages.error(request, str(refusal))
        return redirect("webhook", project.slug, pk)
    return shown_once.leading_to(request, _address(row), secret=secret, rotated=True)


@for_project(VERB)
def try_out(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    row = _hook(project, pk)
    try:
        flow.try_out(row, request.user)
    except (flow.WebhookOffError, flow.TryWaitsError) as refusal:
        messages.error(request, str(refusal))
    else:
        tasks.announce()
        messages.success(
            request, "A test event is on its way. Look at the page again in a moment: its row says how it went."
        )
    return redirect("webhook", project.slug, pk)


@for_project(VERB)
def end(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    row = _hook(project, pk)
    if flow.end(row, request.user):
        messages.success(request, f"The webhook to {row.host} is ended. Nothing more is sent to it.")
    else:
        messages.info(request, "It had ended already.")
    return redirect("webhooks", project.slug)


@for_project(VERB)
def send_again(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    rows = WebhookDelivery.objects.filter(webhook__project=project).select_related("webhook__project")
    row = get_object_or_404(rows, pk=pk)
    try:
        flow.send_again(row, request.user)
    except (flow.WebhookOffError, flow.WaitsAlreadyError) as refusal:
        messages.error(request, str(refusal))
    else:
        tasks.announce()
        messages.success(request, "The message is on its way once more.")
    return redirect("webhook", project.slug, row.webhook_id)
