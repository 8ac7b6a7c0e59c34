"""Bonuses: what was paid and what waits, one for an answer, and a file of them."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.core import signing
from django.db.models import Count, Min, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from hits import forms, tasks
from hits.domain.commitments import BalanceTooLowError
from hits.domain.payment_totals import payment_totals
from hits.domain.restorations import NotReconciledError
from hits.flow.payments import ordering
from hits.formats.faults import FormatErrors
from hits.formats.payments import MOST_BYTES, MOST_LINES, AskedBonus
from hits.models import Assignment, Blob, Bonus, BonusFile, BonusOrder, BudgetExceededError, Project
from hits.models.payments import OPEN
from hits.views import jobs, paging
from hits.views.guard import FORM, PAGE, LeadRequest, for_project
from hits.views.spreadsheet import csv_response

COLUMNS = [
    "order", "ordered_at", "ordered_by", "stage", "assignment_id", "worker_id", "amount", "fee", "reason", "state",
    "paid_at", "message",
]  # fmt: skip
SALT = "hits.bonus-file"


# What was paid


@for_project(PAGE)
def bonuses(request: HttpRequest, project: Project) -> HttpResponse:
    order = _order_asked(request, project)
    rows = _rows(project, order)
    totals = payment_totals(rows)
    chosen = request.GET.get("state", "")
    chosen = chosen if chosen in Bonus.State.values else ""
    counts = [(value, name, totals.counts.get(value, 0)) for value, name in Bonus.State.choices]
    context = {
        "project": project,
        **_progress(project),
        "order": order,
        "totals": totals,
        "page": paging.by_id(_chosen(rows, chosen), request.GET, newest_first=True),
        "filters": [("", "All", totals.count), *counts],
        "chosen": chosen,
    }
    return render(request, "payments/bonuses.html", context)


def _order_asked(request: HttpRequest, project: Project) -> BonusOrder | None:
    """The order that `?order=` names; 404 for one that is not there."""
    asked = request.GET.get("order", "")
    if not asked:
        return None
    if not (asked.isascii() and asked.isdigit() and len(asked) < 19):
        raise Http404("No such order.")
    return get_object_or_404(project.bonus_orders.select_related("created_by"), pk=int(asked))


def _rows(project: Project, order: BonusOrder | None) -> QuerySet[Bonus]:
    rows = project.bonuses.all() if order is None else project.bonuses.filter(order=order)
    return rows.select_related("assignment__hit", "assignment__stage", "worker", "order__created_by")


def _chosen(rows: QuerySet[Bonus], state: str) -> QuerySet[Bonus]:
    return rows.filter(state=state).defer("assignment__answer") if state else rows.defer("assignment__answer")


@for_project(PAGE)
def progress(request: HttpRequest, project: Project) -> HttpResponse:
    return render(request, "payments/_progress.html", {"project": project, "polled": True, **_progress(project)})


def _progress(project: Project) -> dict[str, object]:
    """How far the orders are that are not paid out yet, together, and why one waits; `running` is None without any."""
    waiting = project.bonuses.filter(state__in=OPEN)
    orders = project.bonus_orders.filter(pk__in=waiting.values("order"))
    found = orders.aggregate(orders=Count("pk"), total=Sum("total"), since=Min("created_at"))
    if not found["orders"]:
        return {"running": None, "waits_because": ""}
    said = waiting.exclude(error="").order_by("id").values_list("error", flat=True).first()
    return {"running": {**found, "done": found["total"] - waiting.count()}, "waits_because": said}


@for_project(PAGE)
def bonuses_csv(request: HttpRequest, project: Project) -> HttpResponse:
    """The rows of the page, with the same filters."""
    order = _order_asked(request, project)
    state = request.GET.get("state", "")
    rows = _chosen(_rows(project, order), state if state in Bonus.State.values else "")
    name = f"{project.slug}-bonuses{f'-{order.pk}' if order else ''}.csv"
    return csv_response(name, COLUMNS, _cells(rows.order_by("id")))


def _cells(rows: QuerySet[Bonus]) -> Iterator[list[object]]:
    for row in rows.iterator(chunk_size=2000):
        order, answer = row.order, row.assignment
        by = order.created_by.get_username() if order.created_by else ""
        yield [
            order.pk, order.created_at.isoformat(), by, answer.stage.key, answer.assignment_id, row.worker.worker_id,
            row.amount, row.fee, row.reason, row.state, row.paid_at.isoformat() if row.paid_at else "", row.error,
        ]  # fmt: skip


# One bonus


@for_project(FORM)
def pay_bonus(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    """The form; then, without `confirmation`, its price, which changes nothing; with it, the order."""
    answers = (
        Assignment.objects.from_marketplace()
        .filter(stage__project=project)
        .select_related("worker", "stage", "hit__item")
    )
    answer = get_object_or_404(answers, pk=pk)
    form = forms.BonusForm(request.POST if request.method == "POST" else None)
    if not form.is_valid() or "change" in request.POST:
        return _bonus_form(request, project, answer, form)
    asked = AskedBonus(
        None, answer.assignment_id, form.cleaned_data["amount"], form.cleaned_data["reason"], answer.worker.worker_id
    )
    try:
        new = ordering.check(project, [asked])
    except FormatErrors as error:
        for fault in error.errors:
            form.add_error(fault.place if fault.place in form.fields else None, fault.message)
        return _bonus_form(request, project, answer, form)
    if "confirmation" not in request.POST:
        return _bonus_price(request, project, answer, new)
    return _order(request, project, new) or _bonus_price(request, project, answer, new, 409)


def _bonus_form(request: HttpRequest, project: Project, answer: Assignment, form: forms.BonusForm) -> HttpResponse:
    refused = form.is_bound and bool(form.errors)
    earlier = project.bonuses.filter(assignment=answer).select_related("order__created_by").order_by("-id")
    context = {"project": project, "answer": answer, "form": form, "earlier": earlier[:10]}
    return render(request, "payments/bonus.html", context, status=400 if refused else 200)


def _bonus_price(
    request: HttpRequest, project: Project, answer: Assignment, new: Sequence[ordering.NewBonus], status: int = 200
) -> HttpResponse:
    context = {
        "project": project,
        "answer": answer,
        "bonus": new[0],
        "quote": ordering.quote(project, new),
        "confirmation": uuid.uuid4(),
    }
    return render(request, "payments/bonus_price.html", context, status=status)


def _order(
    request: LeadRequest, project: Project, new: Sequence[ordering.NewBonus], filename: str = "", digest: str = ""
) -> HttpResponse | None:
    """Order what the page said; None, with a message, when it is no longer so."""
    form = forms.PaymentConfirmation(request.POST)
    if not form.is_valid():
        messages.error(request, "This confirmation is incomplete. Here is the price as it stands.")
        return None
    total, confirmation = form.cleaned_data["total"], str(form.cleaned_data["confirmation"])
    try:
        order = ordering.order(project, new, total, confirmation, request.user, filename, digest)
    except ordering.OrderChangedError as error:
        messages.warning(request, f"{error} Nothing was paid.")
        return None
    except BudgetExceededError as error:
        messages.error(request, f"{said_of_budget(error)} Nothing was paid.")
        return None
    except (BalanceTooLowError, NotReconciledError) as error:
        messages.error(request, f"{error} Nothing was paid.")
        return None
    what = "The bonus is" if order.total == 1 else f"{order.total:,} bonuses are"
    jobs.start(request, tasks.send_bonuses, project.pk, said=f"{what} being paid. You may close this page: it goes on.")
    return redirect(f"{reverse('payments', args=[project.slug])}?order={order.pk}")


def said_of_budget(error: BudgetExceededError) -> str:
    return (
        f"This needs ${error.needed:,.2f} and ${error.left:,.2f} of the budget is left. "
        "Raise the project's budget or pay less."
    )


# A file of bonuses


@for_project(FORM)
def bonus_file(request: LeadRequest, project: Project) -> HttpResponse:
    """A file without a fault is kept, and its price is the next page. One with faults is not kept."""
    form = forms.BonusFileForm(request.POST or None, request.FILES or None)
    if request.method != "POST" or not form.is_valid():
        return _file_form(request, project, form, 400 if request.method == "POST" else 200)
    file = form.cleaned_data["file"]
    if file.size > MOST_BYTES:
        form.add_error("file", f"The file has {file.size / 1e6:,.1f} MB; at most {MOST_BYTES / 1e6:,.1f} MB are taken.")
        return _file_form(request, project, form, 400)
    content = file.read()
    if len(content) > ordering.SMALL_BYTES:
        kept = ordering.keep_file(project, file.name, content, request.user)
        jobs.start(request, tasks.work_bonus_file, kept.pk, said=f"{kept.name} is kept and is being checked.")
        return redirect("large-bonus-file", project.slug, kept.pk)
    try:
        ordering.read_file(project, content)
    except FormatErrors as error:
        return _file_form(request, project, forms.BonusFileForm(), 400, faults=error, filename=file.name)
    token = signing.dumps([project.pk, Blob.store(content).pk, file.name[-100:]], salt=SALT)
    return redirect("bonus-file-preview", project.slug, token)


def _file_form(
    request: HttpRequest, project: Project, form: forms.BonusFileForm, status: int, **more: object
) -> HttpResponse:
    context = {"project": project, "form": form, "most_lines": MOST_LINES, **more}
    return render(request, "payments/file.html", context, status=status)


@for_project(FORM)
def large_bonus_file(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    """GET shows how far the check is, then the price; POST has exactly that ordered, in the background."""
    row = get_object_or_404(project.bonus_files.select_related("project__account"), pk=pk)
    if request.method == "POST":
        form = forms.PaymentConfirmation(request.POST)
        if form.is_valid() and ordering.confirm_file(
            row, form.cleaned_data["total"], str(form.cleaned_data["confirmation"]), request.user
        ):
            said = "The bonuses are being ordered. You may close this page: it goes on."
            jobs.start(request, tasks.work_bonus_file, row.pk, said=said)
        else:
            messages.info(request, "Nothing was changed. This is how the file stands.")
        return redirect("large-bonus-file", project.slug, row.pk)
    if row.order_id:
        return redirect(f"{reverse('payments', args=[project.slug])}?order={row.order_id}")
    return render(request, "payments/large_file.html", {"project": project, **_large_file(row)})


@for_project(PAGE)
def large_bonus_file_progress(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    row = get_object_or_404(project.bonus_files, pk=pk)
    answer = render(request, "payments/_large_file.html", {"project": project, "row": row})
    if not row.is_running:
        answer["HX-Refresh"] = "true"
    return answer


def _large_file(row: BonusFile) -> dict[str, object]:
    if row.state != BonusFile.State.READY:
        return {"row": row}
    return {
        "row": row,
        "quote": ordering.quote_again(row),
        "first": ordering.first_lines(row),
        "filename": row.name,
        "confirmation": uuid.uuid4(),
    }


@for_project(FORM)
def bonus_file_preview(request: LeadRequest, project: Project, token: str) -> HttpResponse:
    """GET prices the file and changes nothing; POST orders exactly what the page said."""
    content, filename = _kept_file(project, token)
    digest = hashlib.sha256(content).hexdigest()
    try:
        new = ordering.read_file(project, content)
    except FormatErrors as error:
        return _file_form(request, project, forms.BonusFileForm(), 409, faults=error, filename=filename)
    if request.method == "POST":
        done = _order(request, project, new, filename, digest)
        if done:
            return done
    quote = ordering.quote(project, new, digest)
    context: dict[str, Any] = {
        "project": project,
        "quote": quote,
        "filename": filename,
        "first": new[:5],
        "confirmation": uuid.uuid4(),
        "nothing": Decimal(0),
    }
    return render(request, "payments/file_price.html", context, status=409 if request.method == "POST" else 200)


def _kept_file(project: Project, token: str) -> tuple[bytes, str]:
    """The signature binds the file to its project: nobody else reaches it by its number."""
    try:
        owner, pk, filename = signing.loads(token, salt=SALT)
    except signing.BadSignature as error:
        raise Http404("No such file.") from error
    if owner != project.pk:
        raise Http404("No such file.")
    return get_object_or_404(Blob, pk=pk).read(), str(filename)
