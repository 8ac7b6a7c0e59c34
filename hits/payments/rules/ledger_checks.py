"""A project's own books: the account, its entries and the rows that the entries stand for, compared in the database.

Money is reserved by a batch for its new HITs (`created_with`) and extensions (`places`); every later movement names
its HIT. So for each HIT: what was reserved for it, and its entries, add up to its places that are still to be paid.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.db.models import (
    Case,
    Count,
    Exists,
    Expression,
    ExpressionWrapper,
    F,
    IntegerField,
    Model,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from hits.answers.models import Assignment
from hits.core.models.fields import DollarField
from hits.items.models import Item
from hits.payments.models import Bonus, Compensation, LedgerEntry
from hits.payments.rules import answer_reserves
from hits.payments.rules.ledger_differences import Difference
from hits.projects.models import Project
from hits.publishing.models import Batch, Extension, Hit

ZERO = Decimal("0.00")
Kind = LedgerEntry.Kind
UNSETTLED = (Hit.State.PLANNED, Hit.State.SENT, Hit.State.LIVE)
SETTLED = (Assignment.State.APPROVED, Assignment.State.REJECTED)
OPEN_BONUS = (Bonus.State.PLANNED, Bonus.State.SENT)
OPEN_COMPENSATION = (Compensation.State.PLANNED, Compensation.State.OFFERED)
Figure = tuple[str, Decimal, Decimal]
# Column of the export and where it is read.
ENTRY_COLUMNS = {
    "id": "id",
    "created_at": "created_at",
    "kind": "kind",
    "stage": "stage__key",
    "reserved": "reserved",
    "paid": "paid",
    "fee": "fee",
    "batch": "batch",
    "hit": "hit__hit_id",
    "assignment": "assignment__assignment_id",
    "worker": "assignment__worker__worker_id",
    "bonus": "bonus",
    "bonus_assignment": "bonus__assignment__assignment_id",
    "bonus_worker": "bonus__worker__worker_id",
    "compensation": "compensation",
    "compensation_worker": "compensation__worker_id",
    "note": "note",
}


def figures(project: Project) -> list[Figure]:
    """(what, one sum, the sum that must equal it), in dollars."""
    account = project.account
    account.refresh_from_db()
    reserved, paid = account.sums()
    return [
        ("Reserved: the account, its entries", account.reserved, reserved),
        ("Paid: the account, its entries", account.paid, paid),
        ("Reserved: entries, what is still to be paid", reserved, still_to_pay(project)),
        ("Paid: entries, approved answers and paid bonuses", paid, paid_for(project)),
    ]


def still_to_pay(project: Project) -> Decimal:
    """Dollars reserved by right: open places, answers under review, what is set aside, payments to be made."""
    hits = with_places(Hit.objects.filter(stage__project=project))
    return (
        _sum(hits, _dollars(F("unit_cost") * F("to_pay")))
        + answer_reserves.total(Item.objects.filter(stage__project=project))
        + _sum(_of(project, Bonus).filter(state__in=OPEN_BONUS), _cost())
        + _sum(_of(project, Compensation).filter(state__in=OPEN_COMPENSATION), _cost())
    )


def paid_for(project: Project) -> Decimal:
    """Dollars, fees included, of every answer, bonus and compensation that is paid."""
    approved = Assignment.objects.filter(stage__project=project, state=Assignment.State.APPROVED)
    return (
        _sum(approved, F("hit__unit_cost"))
        + _sum(_of(project, Bonus).filter(state=Bonus.State.PAID), _cost())
        + _sum(_of(project, Compensation).filter(state=Compensation.State.PAID), _cost())
    )


def held_there() -> Decimal:
    """Dollars that the marketplace holds for all projects of this installation, as the rows tell.

    It holds the price of every place that is not approved or rejected, until the HIT is deleted.
    """
    there = Hit.objects.filter(hit_id__isnull=False, deleted_at=None)
    settled = _number(Assignment.objects.filter(hit=OuterRef("pk"), state__in=SETTLED), Count("pk"))
    open_places = there.annotate(open_places=F("max_assignments") - settled)
    offered = Compensation.objects.filter(state=Compensation.State.OFFERED)
    return _sum(open_places, _dollars(F("unit_cost") * F("open_places"))) + _sum(offered, _cost())


def with_places(hits: QuerySet[Hit]) -> QuerySet[Hit]:
    """HITs with `to_pay` (answers that money is reserved for by right), `settled` and `waiting` answers."""
    answers = Assignment.objects.filter(hit=OuterRef("pk"))
    extensions = Extension.objects.filter(hit=OuterRef("pk"))
    # A rejection that is being taken back costs again from the decision on.
    taken_back = answers.filter(state=Assignment.State.REJECTED, decision=Assignment.State.APPROVED)
    counted = hits.annotate(
        settled=_number(answers.filter(state__in=SETTLED), Count("pk")),
        waiting=_number(answers.filter(state=Assignment.State.SUBMITTED), Count("pk")),
        coming=_number(extensions.filter(state=Extension.State.PLANNED), Sum("places")),
        taken_back=_number(taken_back, Count("pk")),
    )
    open_places = Case(
        When(state__in=UNSETTLED, then=F("max_assignments") - F("settled")),
        When(state=Hit.State.CLOSED, then=F("waiting")),
        default=Value(0),
        output_field=IntegerField(),
    )
    return counted.annotate(to_pay=open_places + F("coming") + F("taken_back"))


def differences(project: Project) -> Iterator[Difference]:
    """Every row of the books that does not agree with another."""
    for what, one, other in figures(project)[:2]:
        if one != other:
            yield Difference("account_sums", what.split(":")[0].lower(), f"${one:,.2f}", f"${other:,.2f}")
    yield from _answers(project)
    yield from _paid_payments(project, Bonus, "bonus")
    yield from _paid_payments(project, Compensation, "compensation")
    yield from _batches(project)
    yield from _hits(project)
    yield from _set_aside(project)
    yield from _reserved_payments(project, Bonus, "bonus", OPEN_BONUS)
    yield from _reserved_payments(project, Compensation, "compensation", OPEN_COMPENSATION)


def _answers(project: Project) -> Iterator[Difference]:
    settling = LedgerEntry.objects.filter(assignment=OuterRef("pk"), kind=Kind.SETTLE)
    approved = Assignment.objects.filter(stage__project=project, state=Assignment.State.APPROVED)
    for row in approved.filter(~Exists(settling)).select_related("stage", "hit").iterator():
        yield about_answer("answer_not_paid", row, "no entry")
    entries = project.ledger.filter(kind=Kind.SETTLE).select_related("stage", "assignment__stage", "assignment__hit")
    unapproved = Q(assignment=None) | ~Q(assignment__state=Assignment.State.APPROVED)
    for entry in entries.filter(unapproved).iterator():
        if entry.assignment is None:
            yield Difference("paid_without_approval", f"entry {entry.pk}", "no answer")
        else:
            yield about_answer("paid_without_approval", entry.assignment, entry.assignment.state)
    moved = entries.filter(~unapproved).annotate(left_over=_dollars(F("paid") + F("reserved")))
    wrong = ~Q(paid=F("assignment__hit__unit_cost")) | ~Q(left_over=Decimal(0))
    for entry in moved.filter(wrong).iterator():
        assert entry.assignment is not None
        cost = entry.assignment.hit.unit_cost
        yield about_answer("paid_another_amount", entry.assignment, f"${entry.paid:,.2f} instead of ${cost:,.2f}")


def about_answer(kind: str, row: Assignment, books: str, there: str = "", passing: bool = False) -> Difference:
    """Needs the row's `stage` and `hit`."""
    return Difference(kind, f"answer {row.assignment_id}", books, there, row.stage.key, row.hit.item_id, passing)


def _paid_payments(project: Project, model: type[Bonus] | type[Compensation], name: str) -> Iterator[Difference]:
    """`name` is the entry's column and begins the kinds."""
    booked = LedgerEntry.objects.filter(**{name: OuterRef("pk")}, kind=_paying(name))
    rows = _of(project, model).filter(state="paid").annotate(booked=_money(booked, "paid"), cost=_cost())
    for row in rows.exclude(booked=F("cost")).iterator():
        yield Difference(f"{name}_not_booked", f"{name} {row.pk}", f"${row.booked:,.2f} instead of ${row.cost:,.2f}")
    entries = project.ledger.filter(kind=_paying(name)).select_related(name)
    for entry in entries.exclude(**{f"{name}__state": "paid"}).iterator():
        row = getattr(entry, name)
        said = f"{name} {row.pk}" if row else f"entry {entry.pk}"
        yield Difference(f"{name}_without_payment", said, row.get_state_display() if row else "no row")


def _paying(name: str) -> str:
    return Kind.BONUS if name == "bonus" else Kind.COMPENSATION


def _reserved_payments(
    project: Project, model: type[Bonus] | type[Compensation], name: str, states: tuple[str, ...]
) -> Iterator[Difference]:
    entries = LedgerEntry.objects.filter(**{name: OuterRef("pk")})
    due = Case(When(state__in=states, then=_cost()), default=Value(0), output_field=DollarField())
    rows = _of(project, model).annotate(booked=_money(entries, "reserved"), due=due)
    for row in rows.exclude(booked=F("due")).iterator():
        said = f"${row.booked:,.2f} instead of ${row.due:,.2f}"
        yield Difference("payment_reservation", f"{name} {row.pk}", said)


def _batches(project: Project) -> Iterator[Difference]:
    """What a batch reserved, less what it gave back itself, against the rows that it made."""
    entries = LedgerEntry.objects.filter(batch=OuterRef("pk"), hit=None)
    hits = Hit.objects.filter(batch=OuterRef("pk"))
    extensions = Extension.objects.filter(batch=OuterRef("pk")).exclude(state__in=Extension.RELEASED)
    rows = Batch.objects.filter(stage__project=project).select_related("stage")
    rows = rows.annotate(
        booked=_money(entries, "reserved"),
        made=_dollars(
            _money(hits, F("unit_cost") * F("created_with")) + _money(extensions, F("hit__unit_cost") * F("places"))
        ),
    )
    for row in rows.exclude(booked=F("made")).iterator():
        said = f"${row.booked:,.2f} instead of ${row.made:,.2f}"
        yield Difference("batch_reservation", f"batch {row.pk}", said, stage=row.stage.key)


def _hits(project: Project) -> Iterator[Difference]:
    entries = LedgerEntry.objects.filter(hit=OuterRef("pk"))
    grown = Extension.objects.filter(hit=OuterRef("pk")).exclude(state__in=Extension.RELEASED)
    rows = with_places(Hit.objects.filter(stage__project=project)).select_related("stage")
    rows = rows.annotate(
        booked=_dollars(
            F("unit_cost") * (F("created_with") + _number(grown, Sum("places"))) + _money(entries, "reserved")
        ),
        due=_dollars(F("unit_cost") * F("to_pay")),
    )
    for row in rows.exclude(booked=F("due")).iterator():
        said = f"${row.booked:,.2f} instead of ${row.due:,.2f}"
        yield Difference("hit_reservation", f"HIT {row}", said, stage=row.stage.key, item=row.item_id)


def _set_aside(project: Project) -> Iterator[Difference]:
    for stage in project.stages.order_by("position"):
        entries = project.ledger.filter(kind=Kind.SET_ASIDE, stage=stage)
        booked = _sum(entries, F("reserved"))
        due = answer_reserves.total(stage.items.all())
        if booked != due:
            yield Difference("set_aside", stage.title, f"${booked:,.2f} instead of ${due:,.2f}", stage=stage.key)


def entry_lines(rows: QuerySet[LedgerEntry]) -> Iterator[list[Any]]:
    """The values of ENTRY_COLUMNS, a few thousand rows in memory at a time."""
    for number, created_at, *rest in rows.order_by("id").values_list(*ENTRY_COLUMNS.values()).iterator(chunk_size=2000):
        yield [number, created_at.isoformat(), *rest]


# Sums inside the database


def _of(project: Project, model: type[Bonus] | type[Compensation]) -> QuerySet[Any]:
    return model._default_manager.filter(project=project)


def _cost() -> Expression:
    """Of a bonus or a compensation."""
    return _dollars(F("amount") + F("fee"))


def _dollars(expression: Any) -> ExpressionWrapper:
    return ExpressionWrapper(expression, output_field=DollarField())


def _sum(rows: QuerySet[Any], amount: Any) -> Decimal:
    return rows.aggregate(total=Sum(_dollars(amount)))["total"] or ZERO


def _number(rows: QuerySet[Any], aggregate: Any) -> Coalesce:
    """An aggregate over the rows of each outer row, 0 without any."""
    # Grouping by a constant keeps the outer query's columns out of the inner one's GROUP BY.
    one = rows.order_by().annotate(one=Value(1)).values("one").annotate(n=aggregate).values("n")
    return Coalesce(Subquery(one, output_field=IntegerField()), Value(0))


def _money(rows: QuerySet[Model], amount: Any) -> Coalesce:
    """The dollars of each outer row's rows, 0 without any."""
    summed = Sum(_dollars(F(amount) if isinstance(amount, str) else amount))
    one = rows.order_by().annotate(one=Value(1)).values("one").annotate(total=summed).values("total")
    return Coalesce(Subquery(one, output_field=DollarField()), Value(Decimal(0), output_field=DollarField()))
