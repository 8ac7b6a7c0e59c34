"""What blocks and grants share: carry out written intents to grant or revoke a qualification.

Both calls are harmless to repeat, and one that is refused holds up no other: its row says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import QuerySet
from django.utils import timezone

from hits.core.jobs.leases import Held
from hits.core.jobs.outbox import carry_out
from hits.models import Block, Grant, Project
from hits.mturk.errors import (
    GoneError,
    MarketplaceError,
    NotYetError,
    RefusedError,
    UnreachableError,
    WrongStateError,
)
from hits.mturk.gateway import Gateway
from hits.publishing.rules.hit_types import own_qualification
from hits.publishing.rules.marketplace_account import gateway, sentence

Row = TypeVar("Row", Block, Grant)
Outcome = None | MarketplaceError


@dataclass(frozen=True)
class QualificationCalls(Generic[Row]):
    """A kind of row and its states: `give` and `take` wait for a call, `given` and `taken` are what it leads to.

    `taken_at` is the column that says when, `key` names a row's qualification, `value` is what it is granted with, and
    `reason` is what the worker reads who loses it.
    """

    give: str
    given: str
    take: str
    taken: str
    taken_at: str
    reason: str
    key: Callable[[Row], str]
    value: Callable[[Row], int] = lambda row: 1

    def carry_out(self, project: Project, rows: QuerySet[Row], held: Held) -> Iterator[int]:
        """Make the calls that rows wait for, also of those written meanwhile; yields how many each round made.

        Raises UnreachableError when the marketplace does not answer, or NotYetError; what was made is recorded.
        """
        market = gateway()
        types: dict[str, str | MarketplaceError] = {}
        tried = set[tuple[int, str]]()
        waiting = rows.filter(state__in=[self.give, self.take]).select_related("worker").order_by("id")

        def untried() -> list[Row]:
            todo = [row for row in waiting.all() if (row.pk, row.state) not in tried]
            tried.update((row.pk, row.state) for row in todo)
            for key in sorted({self.key(row) for row in todo}):
                types[key] = _type_id(project, key, market)
            return todo

        yield from carry_out(
            market,
            held,
            rows=untried,
            call=lambda row: self._call(row, types[self.key(row)], market),
            record=lambda outcomes: sum(self._record(row, outcome) for row, outcome in outcomes),
            stop_at=(UnreachableError, NotYetError),
        )

    def _call(self, row: Row, made: str | MarketplaceError, market: Gateway) -> None:
        if isinstance(made, MarketplaceError):
            raise made
        if row.state == self.give:
            market.grant(made, row.worker.worker_id, self.value(row))
        else:
            _revoke(market, made, row.worker.worker_id, self.reason)

    def _record(self, row: Row, outcome: Outcome) -> int:
        """A row that turned meanwhile stays as it is: the other call comes next."""
        standing = type(row)._default_manager.filter(pk=row.pk, state=row.state)
        if row.state == self.give and isinstance(row, Grant):
            # Another value that was written meanwhile is still to be told.
            standing = standing.filter(value=row.value)
        if isinstance(outcome, UnreachableError | NotYetError):
            return 0
        if isinstance(outcome, MarketplaceError):
            standing.update(error=sentence(outcome))
            return 0
        if row.state == self.give:
            return standing.update(state=self.given, error="")
        return standing.update(state=self.taken, error="", **{self.taken_at: timezone.now()})


def _type_id(project: Project, key: str, market: Gateway) -> str | MarketplaceError:
    try:
        return own_qualification(project, key, market)
    except RefusedError as error:
        return error


def _revoke(market: Gateway, qualification: str, worker_id: str, reason: str) -> None:
    """A worker who does not hold it any more, never did, or is not there at all, is what was wanted."""
    try:
        market.revoke(qualification, worker_id, reason)
    except (GoneError, WrongStateError):
        pass
    except RefusedError as error:
        if "Granted" not in error.message and "does not exist" not in error.message:
            raise
