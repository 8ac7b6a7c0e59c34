"""Between the verbs and the marketplace: a process that dies at a call, a lost reply, silence, a late read.

For the gateway of the real marketplace and for the stand-in alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest

from hits.mturk.errors import RefusedError, UnreachableError
from tests.hits.crashes import MOMENTS, Killed

REFUSAL, SILENCE = "refusal", "silence"
TROUBLES = [*MOMENTS, REFUSAL, SILENCE]

CHANGING = (
    "create_hit_type",
    "create_hit",
    "add_assignments",
    "set_expiration",
    "delete_hit",
    "approve",
    "reject",
    "send_bonus",
    "ensure_qualification_type",
    "grant",
    "revoke",
)
READING = ("hit", "all_hits", "reviewable_pages", "assignment", "bonuses")


class BrokenCalls:
    """`trouble` is one of TROUBLES, or empty. Silence goes on; the others happen to one call that changes something.

    Within `late`, lists of answers are those of earlier reads.
    """

    def __init__(self) -> None:
        self.trouble = ""
        self._made: set[str] = set()
        self._late: int | None = None
        self._replies: dict[str, list[Any]] = {}

    def install(self, gateway: type, patch: pytest.MonkeyPatch) -> None:
        for name in CHANGING:
            patch.setattr(gateway, name, self._breaking(getattr(gateway, name)))
        for name in READING:
            patch.setattr(gateway, name, self._answered(getattr(gateway, name)))
        patch.setattr(gateway, "assignments", self._lagging(getattr(gateway, "assignments")))  # noqa: B009

    @contextmanager
    def late(self, which: int) -> Iterator[None]:
        self._late = which
        try:
            yield
        finally:
            self._late = None

    def _breaking(self, real: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(real)
        def call(*given: Any, **named: Any) -> Any:
            self._answer()
            moment, self.trouble = self.trouble, ""
            asked = f"{real.__name__} {given[1:]} {named}"
            # What was carried out before is not refused when it is asked again.
            if moment == REFUSAL and asked not in self._made:
                raise RefusedError("RequestError", "This is not possible.")
            if moment == "before the call":
                raise Killed
            result = real(*given, **named)
            self._made.add(asked)
            if moment == "after the call":
                raise Killed
            if moment == "reply lost":
                raise UnreachableError("The reply was lost.")
            return result

        return call

    def _answered(self, real: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(real)
        def call(*given: Any, **named: Any) -> Any:
            self._answer()
            return real(*given, **named)

        return call

    def _lagging(self, real: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(real)
        def call(gateway: Any, hit_id: str) -> Any:
            self._answer()
            replies = self._replies.setdefault(hit_id, [[]])
            if self._late is not None:
                return replies[self._late % len(replies)]
            reply = real(gateway, hit_id)
            if reply != replies[-1]:
                replies.append(reply)
            return reply

        return call

    def _answer(self) -> None:
        if self.trouble == SILENCE:
            raise UnreachableError("The marketplace does not answer.")
