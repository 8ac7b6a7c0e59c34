"""Requests for money: who asks for what, an owner's decision, and how high each member may set the budget."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from hits import tasks
from hits.accounts.rules.lead_limits import narrowest
from hits.models import BudgetRequest, Membership, Project
from hits.payments.jobs import approve_request
from hits.payments.models import LONGEST_REASON as LONGEST_REQUEST
from hits.payments.rules.budget_requests import find, limit_of
from hits.payments.verbs import requesting_budget
from hits.refusals import Refusal
from hits.views import jobs, paging
from hits.views.guard import PAGE, VERB, LeadRequest, for_project


class DecisionForm(forms.Form):
    reason = forms.CharField(required=False, max_length=LONGEST_REQUEST, label="Reason")


@for_project(PAGE)
def requests(request: LeadRequest, project: Project) -> HttpResponse:
    return _page(request, project)


def _page(request: HttpRequest, project: Project, status: int = 200, **bound: object) -> HttpResponse:
    """`bound` has what was refused of a decision."""
    rows = project.budget_requests.select_related("asked_by", "decided_by", "stage", "batch")
    room = narrowest(project)
    context = {
        "project": project,
        "room": room.said_to(request.user) if room else "",  # type: ignore[arg-type]
        "waiting": list(rows.filter(state=BudgetRequest.State.WAITING).order_by("id")),
        "page": paging.by_id(rows.exclude(state=BudgetRequest.State.WAITING), request.GET, newest_first=True),
        "members": project.memberships.with_users().filter(role=Membership.Role.MANAGER),
        "limit": limit_of(project, request.user),  # type: ignore[arg-type]
        **bound,
    }
    return render(request, "projects/budget_requests.html", context, status=status)


@for_project(VERB)
def approve(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    row = _row(project, pk)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return _page(request, project, 400, refused=row.pk, fault=" ".join(map(str, form.errors["reason"])))
    try:
        batch = approve_request(row, request.user, form.cleaned_data["reason"])
    except Refusal as refusal:
        return _page(request, project, refusal.http_status, refused=row.pk, fault=str(refusal))
    if batch is None:
        messages.success(request, f"The budget is now ${row.budget:,.2f}, or as high as it was.")
    else:
        said = "The budget is raised and the batch is being published. You may close this page: it goes on."
        jobs.start(request, tasks.publish_batch, batch.pk, said=said)
    return redirect("budget-requests", project.slug)


@for_project(VERB)
def decline(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    row = _row(project, pk)
    try:
        requesting_budget.decline(row, request.user, request.POST.get("reason", ""))
    except Refusal as refusal:
        return _page(request, project, refusal.http_status, refused=row.pk, fault=str(refusal))
    messages.success(request, "The request is declined. The person who asked gets a notice.")
    return redirect("budget-requests", project.slug)


@for_project(VERB)
def withdraw(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    row = _row(project, pk)
    try:
        requesting_budget.withdraw(row, request.user)
    except Refusal as refusal:
        return _page(request, project, refusal.http_status, refused=row.pk, fault=str(refusal))
    messages.success(request, "The request is withdrawn.")
    return redirect("budget-requests", project.slug)


def _row(project: Project, pk: int) -> BudgetRequest:
    row = find(project, pk)
    if row is None:
        raise Http404
    return row
