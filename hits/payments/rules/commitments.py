"""What the marketplace account will still be asked for: money that is reserved here and not yet held there."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db.models import Expression, ExpressionWrapper, F, Q, QuerySet, Sum

from hits.answers.models import Assignment
from hits.core.models.fields import DollarField
from hits.items.models import Item
from hits.payments.models import Bonus, Compensation
from hits.payments.rules import answer_reserves
from hits.publishing.models import Batch, Extension, Hit
from hits.refusals import Refusal
from hits.stages.models import Stage


class BalanceTooLowError(Refusal):
    """The marketplace account does not hold the money for it. Add money there or ask for less."""

    error_code = "balance_too_low"

    def __init__(self, needed: Decimal, balance: Decimal, planned: Decimal) -> None:
        self.needed, self.missing = needed, needed + planned - balance
        spoken_for = f", of which ${planned:,.2f} is planned for calls on their way" if planned else ""
        super().__init__(
            f"This needs ${needed:,.2f}; the marketplace account holds ${balance:,.2f}{spoken_for}. "
            f"${self.missing:,.2f} is missing: add money at the marketplace, or ask for less."
        )

    def details(self) -> dict[str, Any]:
        return {"needed": f"{self.needed:.2f}", "missing": f"{self.missing:.2f}"}


def planned_cost() -> Decimal:
    """Dollars, over all projects of this installation, for calls that are written down and not carried out, and for
    answers that items may still want.

    The account belongs to the installation, so that every project's plans count.
    """
    return sum(
        (
            _sum(
                Hit.objects.filter(batch__in=_open_batches(), state__in=[Hit.State.PLANNED, Hit.State.SENT]),
                _dollars(F("unit_cost") * F("max_assignments")),
            ),
            # Places that are opened again are held at the marketplace already: only new ones count.
            _sum(
                Extension.objects.filter(batch__in=_open_batches(), state=Extension.State.PLANNED),
                _dollars(F("hit__unit_cost") * F("assignments")),
            ),
            _sum(_taken_back(), F("hit__unit_cost")),
            answer_reserves.total(Item.objects.all()),
            _sum(Bonus.objects.filter(state__in=[Bonus.State.PLANNED, Bonus.State.SENT]), _amount_and_fee()),
            _sum(Compensation.objects.filter(state=Compensation.State.PLANNED), _amount_and_fee()),
        ),
        Decimal(0),
    )


def _open_batches() -> QuerySet[Batch]:
    """By the few batches that are not over: the HITs have no index that begins with their state."""
    return Batch.objects.exclude(state=Batch.State.PUBLISHED)


def _taken_back() -> QuerySet[Assignment]:
    decided = Assignment.objects.filter(~Q(decision=""))
    return decided.filter(state=Assignment.State.REJECTED, decision=Assignment.State.APPROVED)


def _amount_and_fee() -> ExpressionWrapper:
    return _dollars(F("amount") + F("fee"))


def _dollars(expression: Expression) -> ExpressionWrapper:
    return ExpressionWrapper(expression, output_field=DollarField())


def _sum(rows: QuerySet, amount: Expression | F) -> Decimal:
    return rows.aggregate(sum=Sum(amount))["sum"] or Decimal(0)


def short_of_money(stage: Stage, items: int, price: Decimal, limit: int) -> str:
    """Why these items wait, when the budget does not pay for them; empty when it does. `limit` items were counted."""
    left = stage.project.account.left
    if price <= left:
        return ""
    return (
        f"{counted(items, limit)} wait{'s' if items == 1 else ''} for money: ${price:,.2f} is needed and "
        f"${left:,.2f} of the budget is left. Raise the budget, and they go out by themselves."
    )


def counted(items: int, limit: int) -> str:
    """Such as "1 item", "12 items", "At least 200 items" when only so many were counted."""
    return f"{'At least ' if items >= limit else ''}{items:,} item{'' if items == 1 else 's'}"
