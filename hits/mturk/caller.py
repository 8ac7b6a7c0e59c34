"""One call of the marketplace: its turn, its attempts, its deadline, its figures."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from hits.mturk.calls import Calls, Ending
from hits.mturk.concurrency import Concurrency
from hits.mturk.errors import (
    AlreadyDoneError,
    AlreadyExistsError,
    CredentialsError,
    MarketplaceError,
    ThrottledError,
    UnreachableError,
    from_boto,
)
from hits.mturk.limiter import Limiter
from hits.mturk.repeats import REPEATS, Repeat

# Attempts whose outcome is unknown. Throttled ones do nothing and are repeated until the deadline.
MOST_ATTEMPTS = 4
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 8.0


@dataclass
class _Call:
    """How far one call has come. `latest`: no attempt begins after it (monotonic), for an answer may take a while."""

    operation: str
    latest: float
    attempts: int = 0
    throttled: int = 0
    faults: int = 0

    def may_go_on(self, error: MarketplaceError) -> bool:
        if isinstance(error, ThrottledError):
            return True
        passing = isinstance(error, UnreachableError) and not isinstance(error, CredentialsError)
        return passing and self.faults < MOST_ATTEMPTS and REPEATS[self.operation] is not Repeat.NEVER

    def pause(self) -> float:
        """Seconds before the next attempt: exponential, with full jitter, so that callers do not come back at once."""
        tries = self.throttled + self.faults - 1
        return random.uniform(0, min(LONGEST_PAUSE, FIRST_PAUSE * 2**tries))


class Caller:
    """All calls of one account from one process. Safe to share between threads."""

    def __init__(
        self,
        client: Any,
        limiter: Limiter,
        calls: Calls,
        concurrency: Concurrency,
        *,
        timeout_seconds: float,
        deadline_seconds: float,
    ) -> None:
        self._client = client
        self._names: dict[str, str] = client.meta.method_to_api_mapping
        self._limiter, self._calls, self._concurrency = limiter, calls, concurrency
        self._patience = max(0.0, deadline_seconds - timeout_seconds)

    def call(self, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The marketplace's answer. Raises a MarketplaceError, at the deadline an UnreachableError."""
        call = _Call(operation, time.monotonic() + self._patience)
        problem: MarketplaceError | None = None
        while (rate := self._limiter.wait_for_turn(call.latest)) is not None:
            try:
                return self._attempt(call, arguments, rate)
            except MarketplaceError as error:
                problem = error
                self._note(call, error)
                if not call.may_go_on(error):
                    raise
            time.sleep(max(0.0, min(call.pause(), call.latest - time.monotonic())))
        raise _too_late(call, problem) from problem

    def _attempt(self, call: _Call, arguments: dict[str, Any], rate: float) -> dict[str, Any]:
        again, call.attempts = call.attempts > 0, call.attempts + 1
        began, ending = time.monotonic(), Ending.FAILED
        try:
            reply: dict[str, Any] = getattr(self._client, call.operation)(**arguments)
            ending = Ending.DONE
            return reply
        except (ClientError, BotoCoreError) as cause:
            error = from_boto(cause)
            ending = _ending(error)
            raise error from cause
        finally:
            seconds = time.monotonic() - began
            self._calls.count(self._names[call.operation], ending, seconds=seconds, again=again, rate=rate)
            if ending is Ending.DONE or ending is Ending.REFUSED:
                self._concurrency.succeeded()

    def _note(self, call: _Call, error: MarketplaceError) -> None:
        if isinstance(error, ThrottledError):
            call.throttled += 1
            self._limiter.throttled()
        elif isinstance(error, UnreachableError):
            call.faults += 1
            self._concurrency.faulted()


def _ending(error: MarketplaceError) -> Ending:
    if isinstance(error, ThrottledError):
        return Ending.THROTTLED
    if isinstance(error, AlreadyExistsError | AlreadyDoneError):
        return Ending.DONE
    return Ending.FAILED if isinstance(error, UnreachableError) else Ending.REFUSED


def _too_late(call: _Call, problem: MarketplaceError | None) -> UnreachableError:
    if call.faults:
        # An attempt before may have been carried out: the outcome is unknown, whatever came last.
        return UnreachableError(f"The marketplace did not answer in time: {problem}")
    if problem:
        return ThrottledError(str(problem))
    return ThrottledError("Too many calls wait for the marketplace: this one had no turn in time and was not made.")
