"""Calls to the marketplace that rows wait for: each has its effect exactly once, whatever crashes.

A row says what is to be asked, and is committed before it is asked. Its call is made outside of any transaction, and
what came of it is written down in one transaction together with the money. So a crash at any point leaves rows without
an outcome, and the next run makes their calls again: with the row's own token (`hits.core.models.intents.Intent`), or
because the call is harmless to repeat.

Each user supplies which rows wait, the call of one row, and how outcomes are written down. Calls that are not the
marketplace's, such as those of webhooks, bring a runner of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any, Protocol, TypeVar

from django.db.models import Model, Q, QuerySet
from django.utils import timezone

from hits.core.jobs.leases import Held
from hits.mturk.errors import InsufficientFundsError, MarketplaceError, NotYetError, UnreachableError
from hits.publishing.rules.marketplace_account import sentence

Row = TypeVar("Row")
Result = TypeVar("Result")
Kept = TypeVar("Kept", bound=Model)
Passing = tuple[type[MarketplaceError], ...]

# So many rows in one round: a pause and a lost lease are noticed between two rounds.
CHUNK = 200
# Renewed while calls are made; after a crash a process of another machine waits so long at most.
LEASE_SECONDS = 30
# These say nothing about a row: its call is made again.
PASSING: Passing = (UnreachableError, NotYetError, InsufficientFundsError)
WAIT_FOR_MONEY = timedelta(minutes=1)
SHORTEST_WAIT, LONGEST_WAIT = timedelta(seconds=5), timedelta(minutes=4)


class Runner(Protocol):
    """Makes the calls of one round side by side; the marketplace's gateway is one."""

    def run(
        self, work: Callable[[Row], Result], rows: Sequence[Row], *, beat: Callable[[], object] | None = None
    ) -> list[tuple[Row, Result | MarketplaceError]]:
        """What `work` came to for each row, in their order. `beat` is called every few seconds meanwhile."""


def carry_out(
    runner: Runner,
    held: Held,
    *,
    rows: Callable[[], Sequence[Row]],
    call: Callable[[Row], Result],
    record: Callable[[Sequence[tuple[Row, Result | MarketplaceError]]], int],
    stop_at: Passing = (UnreachableError,),
) -> Iterator[int]:
    """Make the calls that wait, round by round; yields how many rows each round settled.

    `rows` gives those of the next round, none when all is done: what waits longer it must leave out. `call` runs in
    threads side by side and touches no table. `record` writes down what came of each call.
    Raises the first error of `stop_at`, after its round is written down, and LeaseLostError.
    """
    while waiting := rows():
        outcomes = runner.run(call, waiting, beat=held.renew)
        yield record(outcomes)
        for _, outcome in outcomes:
            if isinstance(outcome, stop_at):
                raise outcome
        held.renew()


def mark_sent(rows: QuerySet[Any], **columns: Any) -> None:
    """Write down that the calls of these Intent rows are sent now, before they are."""
    rows.filter(attempted_at=None).update(attempted_at=timezone.now())
    if columns:
        rows.update(**columns)


def standing(rows: QuerySet[Kept], keys: Iterable[int]) -> dict[int, Kept]:
    """Those of `rows` that still wait, locked, by key.

    A process whose lease ran out may bring outcomes that another has recorded: each row is recorded once.
    """
    locked = rows.select_for_update(of=("self",)).filter(pk__in=list(keys)).order_by("pk")
    return {row.pk: row for row in locked}


# Waiting


def is_due() -> Q:
    """Of rows with a column `not_before`."""
    return Q(not_before=None) | Q(not_before__lte=timezone.now())


def longer_wait(waited: timedelta) -> timedelta:
    """How long to wait for reads that lag: as long again as it has waited, within bounds."""
    return min(max(waited, SHORTEST_WAIT), LONGEST_WAIT)


def why_it_waits(error: MarketplaceError) -> str:
    """A passing error as a sentence, and what makes it go on."""
    if isinstance(error, InsufficientFundsError):
        return f"{sentence(error)} Add money to the marketplace account: it goes on by itself then."
    return f"{sentence(error)} It goes on by itself when the marketplace is back."
