"""Compensations: paying somebody who could not submit, and what became of it."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits import forms, tasks
from hits.domain.commitments import BalanceTooLowError
from hits.domain.payment_totals import payment_totals
from hits.domain.restorations import NotReconciledError
from hits.flow.payments import compensating
from hits.models import BudgetExceededError, Compensation, Project
from hits.views import jobs, paging
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, for_project
from hits.views.payments import said_of_budget


@for_project(PAGE)
def compensations(request: HttpRequest, project: Project) -> HttpResponse:
    totals = payment_totals(project.compensations.all())
    chosen = request.GET.get("state", "")
    chosen = chosen if chosen in Compensation.State.values else ""
    rows = project.compensations.select_related("created_by")
    counts = [(value, name, totals.counts.get(value, 0)) for value, name in Compensation.State.choices]
    context = {
        "project": project,
        "totals": totals,
        "page": paging.by_id(rows.filter(state=chosen) if chosen else rows, request.GET, newest_first=True),
        "filters": [("", "All", totals.count), *counts],
        "chosen": chosen,
    }
    return render(request, "payments/compensations.html", context)


@for_project(FORM)
def new(request: LeadRequest, project: Project) -> HttpResponse:
    """The form; then, without `confirmation`, its price, which changes nothing; with it, the order."""
    initial = {"worker_id": request.GET.get("worker", "")[:64]}
    form = forms.CompensationForm(request.POST if request.method == "POST" else None, initial=initial)
    if not form.is_valid() or "change" in request.POST:
        return _form(request, project, form)
    try:
        quote = compensating.quote(project, **form.cleaned_data)
    except compensating.PaymentRefusedError as error:
        for name, said in error.faults.items():
            form.add_error(name, said)
        return _form(request, project, form)
    if "confirmation" in request.POST:
        done = _order(request, project, quote)
        if done:
            return done
        quote = compensating.quote(project, **form.cleaned_data)
    context = {"project": project, "quote": quote, "confirmation": uuid.uuid4()}
    status = 409 if "confirmation" in request.POST else 200
    return render(request, "payments/compensation_price.html", context, status=status)


def _form(request: HttpRequest, project: Project, form: forms.CompensationForm) -> HttpResponse:
    refused = form.is_bound and bool(form.errors)
    context = {"project": project, "form": form}
    return render(request, "payments/new_compensation.html", context, status=400 if refused else 200)


def _order(request: LeadRequest, project: Project, quote: compensating.CompensationQuote) -> HttpResponse | None:
    """Order what the page said; None, with a message, when it is no longer so."""
    form = forms.PaymentConfirmation(request.POST)
    if not form.is_valid():
        messages.error(request, "This confirmation is incomplete. Here is the price as it stands.")
        return None
    total, confirmation = form.cleaned_data["total"], str(form.cleaned_data["confirmation"])
    try:
        row = compensating.order(
            project, quote.worker_id, f"{quote.amount:.2f}", quote.reason, total, confirmation, request.user
        )
    except (compensating.PriceChangedError, compensating.AlreadyOfferedError) as error:
        messages.warning(request, f"{error} Nothing was paid.")
        return None
    except BudgetExceededError as error:
        messages.error(request, f"{said_of_budget(error)} Nothing was paid.")
        return None
    except (BalanceTooLowError, NotReconciledError) as error:
        messages.error(request, f"{error} Nothing was paid.")
        return None
    said = f"A HIT for {row.worker_id} alone is being made."
    jobs.start(request, tasks.send_compensations, project.pk, said=said)
    return redirect("compensation", project.slug, row.pk)


@for_project(PAGE)
def compensation(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    row = get_object_or_404(project.compensations.select_related("created_by", "project"), pk=pk)
    is_open = row.state in (Compensation.State.PLANNED, Compensation.State.OFFERED)
    context = {
        "project": project,
        "row": row,
        "total": row.amount + row.fee,
        "is_open": is_open,
        "is_withdrawn": is_open and compensating.is_over(row),
        "certain_at": compensating.certain_at(row.expires_at) if row.expires_at else None,
        "address": compensating.task_address(row),
        "letter": compensating.letter(row) if row.state == Compensation.State.OFFERED else "",
    }
    return render(request, "payments/compensation.html", context)


@for_project(VERB)
def withdraw(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    row = get_object_or_404(project.compensations, pk=pk)
    try:
        compensating.withdraw(row, request.user)
    except compensating.NotWithdrawableError as error:
        messages.info(request, str(error))
        return redirect("compensation", project.slug, row.pk)
    said = "The offer is being withdrawn. If the worker submits it before it is closed, it is paid all the same."
    jobs.start(request, tasks.send_compensations, project.pk, said=said)
    return redirect("compensation", project.slug, row.pk)
