"""The account at the marketplace: the gateway to it, what it has available, and what its answers mean for all calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import TypeVar

from django.conf import settings

from hits.mturk.errors import AlreadyDoneError, GoneError, MarketplaceError
from hits.mturk.gateway import Gateway, Limits
from hits.payments.rules.commitments import BalanceTooLowError, planned_cost
from hits.publishing.models import Hit
from hits.publishing.rules.restorations import refuse_unreconciled, why_calls_wait

# The API has no other.
REGION = "us-east-1"
# Simultaneous calls of a process: as many as its threads make, and some to spare.
CONNECTIONS = 8
# So long may the marketplace's reads lack what it has told before, such as an answer that it has listed.
READS_LAG = timedelta(minutes=15)
There = TypeVar("There")
Otherwise = TypeVar("Otherwise")


_reconciles: ContextVar[bool] = ContextVar("reconciles", default=False)


def gateway() -> Gateway:
    """Of this account. After a restore it makes no call until the two sides agree: it is as if nobody answered."""
    reconciles = _reconciles.get()
    market = _made(reconciles)
    market.closed = "" if reconciles else why_calls_wait()
    return market


@contextmanager
def reconciling() -> Iterator[None]:
    """Within, `gateway` makes calls after a restore too."""
    token = _reconciles.set(True)
    try:
        yield
    finally:
        _reconciles.reset(token)


@cache
def _made(reconciles: bool) -> Gateway:
    """One for reconciling, one for all else: what closes this one does not close that one."""
    return Gateway(
        settings.MTURK_ENDPOINT_URL,
        region=REGION,
        redis_url=settings.REDIS_URL,
        limits=Limits(
            connections=CONNECTIONS,
            timeout_seconds=settings.MTURK_TIMEOUT_SECONDS,
            deadline_seconds=settings.MTURK_DEADLINE_SECONDS,
            calls_a_second=settings.MTURK_CALLS_A_SECOND,
            most_calls_a_second=settings.MTURK_MOST_CALLS_A_SECOND,
        ),
    )


# The next gateway is made from the settings as they are then.
gateway.cache_clear = _made.cache_clear  # type: ignore[attr-defined]


def balance() -> Decimal | None:
    """Dollars that the marketplace account has available; None when the marketplace does not answer."""
    try:
        return gateway().balance().available
    except MarketplaceError:
        return None


def refuse_beyond_balance(needed: Decimal) -> None:
    """A silent marketplace stops nothing: calls wait for it. Raises BalanceTooLowError, Refused (not_reconciled)."""
    refuse_unreconciled()
    available = balance() if needed else None
    planned = planned_cost()
    if available is not None and needed > available - planned:
        raise BalanceTooLowError(needed, available, planned)


def if_there(call: Callable[[], There], otherwise: Otherwise) -> There | Otherwise:
    """What the call of the marketplace returns, or `otherwise` where it is about something that is gone."""
    try:
        return call()
    except GoneError:
        return otherwise


def end_at(market: Gateway, hit: Hit, until: datetime) -> datetime:
    """Have the marketplace close the HIT then; one that is over or gone stays so."""
    with suppress(AlreadyDoneError, GoneError):
        market.set_expiration(hit.hit_id or "", until)
    return until


def sentence(error: MarketplaceError) -> str:
    """What the marketplace said, with its full stop: another sentence follows."""
    text = str(error).rstrip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
