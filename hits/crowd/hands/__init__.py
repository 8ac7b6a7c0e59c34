"""How simulated people do tasks: a module of this package for each kind of task, found and never listed.

A module is named after the protocol and holds `answer(person, screen, key) -> Answer | None`: what this person puts
into the form of this screen. It raises NotATaskError for a page of another kind, and returns None where the key does
not know what is asked. Whoever wants simulated people for a new kind of task adds a module; without one they leave it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from hits.crowd.key import AnswerKey
from hits.crowd.people import Person
from hits.crowd.task_page import NotATaskError, Screen


@dataclass(frozen=True)
class Answer:
    """`item` names what was asked, the same for everybody; `fields` are those of the form that the person filled in.

    `tries` is what the person sends first, in this order, and replaces where the page refuses it.
    """

    item: str
    fields: dict[str, str]
    tries: tuple[dict[str, str], ...] = ()


Hand = Callable[[Person, Screen, AnswerKey], Answer | None]


@cache
def hands() -> dict[str, Hand]:
    """By the name of the protocol, in alphabetical order."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}").answer for name in names}


def answer(person: Person, screen: Screen, key: AnswerKey) -> Answer | None:
    """What the hand says that knows this kind of page. Raises NotATaskError when none does."""
    for hand in hands().values():
        try:
            return hand(person, screen, key)
        except NotATaskError:
            continue
    raise NotATaskError(f"The page is none of {', '.join(hands())}.")
