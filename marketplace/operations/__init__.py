"""What each operation of the API means: one function per operation, found by scanning this package."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from marketplace.models import Requester


@dataclass(frozen=True)
class Call:
    """The frame of one call: its operation, who calls, and the time that it counts as.

    `lag` is how long ago that is, for a read that tests made stale.
    """

    operation: str
    requester: Requester
    now: datetime
    lag: timedelta = timedelta(0)


Perform = Callable[[Call, dict[str, Any]], dict[str, Any]]
_registry: dict[str, Perform] = {}


def operation(name: str) -> Callable[[Perform], Perform]:
    """Register a function as the operation `name`; it gets checked parameters and returns API members."""

    def register(perform: Perform) -> Perform:
        if name in _registry:
            raise ValueError(f"two functions claim the operation {name}")
        _registry[name] = perform
        return perform

    return register


@cache
def offered() -> dict[str, Perform]:
    """All operations that this marketplace offers, by name."""
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        importlib.import_module(module.name)
    return _registry


def find(name: str) -> Perform:
    """The function of an operation that the service model knows."""
    return offered()[name]
