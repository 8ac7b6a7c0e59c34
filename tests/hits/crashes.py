"""Ends a process at a call of the gateway: before it goes out, after it was carried out, or its reply is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hits.mturk.errors import UnreachableError
from hits.mturk.gateway import Gateway

MOMENTS = ["before the call", "after the call", "reply lost"]


class Killed(BaseException):
    """No verb catches it, as none can catch SIGKILL."""


@contextmanager
def crash(method: str, moment: str) -> Iterator[list[tuple[Any, ...]]]:
    """Within, the first call of the method ends so; yields the arguments of each call that was made."""
    made: list[tuple[Any, ...]] = []
    real: Callable[..., Any] = getattr(Gateway, method)
    struck = False

    def call(self: Gateway, *arguments: Any, **named: Any) -> Any:
        nonlocal struck
        first, struck = not struck, True
        if first and moment == "before the call":
            raise Killed
        made.append(arguments)
        result = real(self, *arguments, **named)
        if first:
            raise Killed if moment == "after the call" else UnreachableError("The reply was lost.")
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Gateway, method, call)
        yield made


def interrupted(method: str, moment: str, work: Callable[[], Any]) -> None:
    """Run the verb until the crash."""
    with crash(method, moment):
        try:
            work()
        except (Killed, UnreachableError):
            return
