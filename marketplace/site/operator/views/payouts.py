"""What workers are owed, and marking it as paid: draft, look, pay, exactly once."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import F, Sum
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from marketplace.models import Payout
from marketplace.models.fields import CENT, MoneyField
from marketplace.site.guards import operator_required
from marketplace.site.operator import queries
from marketplace.site.operator.forms import OwedForm, UndoForm
from marketplace.site.operator.pages import page_of, paged, sent_token, show
from marketplace.site.pages import csv_file, kept_query
from marketplace.verbs import clock, payouts

SECTION = "owed"
COLUMNS = ("worker id", "name", "e-mail", "outside id", "amount", "currency")
CURRENCY = "USD"
_LINES_AT_ONCE = 500


def find(pk: int) -> Payout:
    return get_object_or_404(Payout.objects.select_related("reverses"), pk=pk)


def _chosen(form: OwedForm) -> tuple[Any, str]:
    """The workers that a search means, and the search in words."""
    search, minimum = form.cleaned_data["q"].strip(), form.cleaned_data["minimum"] or CENT
    rows = queries.search_workers(payouts.owing(minimum), search)
    said = [f"owed at least ${minimum:,.2f}"]
    if search:
        # An address or a name stays out of the record.
        said.append("found by a search")
    return rows, ", ".join(said)


@require_safe
@operator_required
def owed(request: HttpRequest, operator: User) -> HttpResponse:
    form = OwedForm(request.GET)
    good = form.is_valid()
    rows = _chosen(form)[0] if good else payouts.owing()
    sums = rows.aggregate(total=Sum(F("earned") - F("paid"), output_field=MoneyField()))
    context = {
        "form": form,
        "page": page_of(rows.select_related("user").order_by((F("earned") - F("paid")).desc(), "pk"), request),
        "query": kept_query(request),
        "total": sums["total"] or Decimal("0.00"),
        "draft": Payout.objects.filter(state=Payout.State.DRAFT).order_by("-pk").first(),
    }
    return show(request, "owed", context, SECTION, status=200 if good else 400)


@require_POST
@operator_required
def draft(request: HttpRequest, operator: User) -> HttpResponse:
    form = OwedForm(request.POST)
    if not form.is_valid():
        raise Http404
    rows, scope = _chosen(form)
    made = payouts.draft(operator, rows, scope, clock.now(), sent_token(request))
    return redirect("operator:payout", made.pk)


@require_safe
@operator_required
def index(request: HttpRequest, operator: User) -> HttpResponse:
    rows = Payout.objects.select_related("reverses").order_by("-pk")
    return show(request, "payouts", {**paged(rows, request)}, SECTION)


@require_safe
@operator_required
def payout(request: HttpRequest, operator: User, pk: int) -> HttpResponse:
    run = find(pk)
    lines = run.lines.select_related("worker__user", "undone_by").order_by("pk")
    context = {
        "payout": run,
        **paged(lines, request),
        "reversals": list(run.reversals.order_by("pk")),
        "can_undo": run.state == Payout.State.PAID and not run.reverses_id and lines.filter(undone_by=None).exists(),
    }
    return show(request, "payout", context, SECTION)


@require_POST
@operator_required
def pay(request: HttpRequest, operator: User, pk: int) -> HttpResponse:
    find(pk)
    paid = payouts.pay(operator, pk, clock.now())
    messages.success(
        request, f"Marked as paid: {paid.workers:,} worker{'s' * (paid.workers != 1)}, ${paid.total:,.2f}."
    )
    return redirect("operator:payout", pk)


@require_POST
@operator_required
def drop(request: HttpRequest, operator: User, pk: int) -> HttpResponse:
    find(pk)
    payouts.drop(operator, pk, clock.now())
    messages.success(request, "The draft is dropped. Nothing was paid.")
    return redirect("operator:owed")


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def undo(request: HttpRequest, operator: User, pk: int, line_pk: int | None = None) -> HttpResponse:
    """Take back what is left of a run, or one line of it, by a counter-run with a reason."""
    run = find(pk)
    left = run.lines.filter(undone_by=None).select_related("worker__user")
    if line_pk is not None:
        left = left.filter(pk=line_pk)
    form = UndoForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        context = {"payout": run, "form": form, "line": left.first() if line_pk else None} | _sums(left)
        return show(request, "payout_undo", context, SECTION, status=400 if form.errors else 200)
    made = payouts.undo(operator, pk, form.cleaned_data["reason"], clock.now(), sent_token(request), line_pk)
    messages.success(request, f"Taken back by run {made.pk}. The amounts are owed again.")
    return redirect("operator:payout", made.pk)


def _sums(lines: Any) -> dict[str, Any]:
    return {"left": lines.count(), "left_total": lines.aggregate(total=Sum("amount"))["total"]}


@require_safe
@operator_required
def payroll(request: HttpRequest, operator: User, pk: int) -> StreamingHttpResponse:
    """A line for each worker."""
    run = find(pk)
    name = f"payout-{run.pk}{'-draft' if run.state == Payout.State.DRAFT else ''}.csv"
    return csv_file(name, COLUMNS, _rows(run))


def _rows(payout: Payout) -> Iterator[tuple[str | Decimal, ...]]:
    lines = payout.lines.select_related("worker__user", "worker__panel_entry").order_by("pk")
    for line in lines.iterator(chunk_size=_LINES_AT_ONCE):
        worker = line.worker
        # Most workers did not come through a panel.
        entry = getattr(worker, "panel_entry", None)
        outside_id = entry.outside_id if entry else ""
        yield worker.worker_id, worker.user.username, worker.user.email, outside_id, line.amount, CURRENCY
