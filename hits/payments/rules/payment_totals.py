"""Sums of bonuses and of compensations."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import models

from hits.payments.models import OPEN


@dataclass(frozen=True)
class Totals:
    """Of bonuses or compensations, in dollars. `waiting` holds fees too; `counts` are rows by state."""

    paid: Decimal
    fees: Decimal
    waiting: Decimal
    counts: dict[str, int]

    @property
    def count(self) -> int:
        return sum(self.counts.values())


def payment_totals(rows: models.QuerySet[Any]) -> Totals:
    """Sums of Bonus or of Compensation rows, in one query."""
    paid = fees = waiting = Decimal(0)
    counts: dict[str, int] = {}
    sums = {"n": models.Count("id"), "amounts": models.Sum("amount"), "charged": models.Sum("fee")}
    for row in rows.order_by().values("state").annotate(**sums):
        counts[row["state"]] = row["n"]
        if row["state"] == "paid":
            paid, fees = row["amounts"], row["charged"]
        elif row["state"] in OPEN:
            waiting += row["amounts"] + row["charged"]
    return Totals(paid, fees, waiting, counts)
