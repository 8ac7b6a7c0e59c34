"""What passes between simulated people and the kinds of task that they do.

A protocol's folder may hold `simulated.py` with `answer(person, screen, key) -> Answer | None`: what this person puts
into the form of this screen. It raises NotATaskError for a page of another kind, and returns None where the key does
not know what is asked. Simulated people leave tasks whose protocol brings none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

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


# By the name of the protocol; `hits.protocols.simulated` finds them.
Answering = Mapping[str, Callable[[Person, Screen, AnswerKey], Answer | None]]


def answer(person: Person, screen: Screen, key: AnswerKey, answering: Answering) -> Answer | None:
    """What the protocol says that knows this kind of page. Raises NotATaskError when none does."""
    for kind in answering.values():
        try:
            return kind(person, screen, key)
        except NotATaskError:
            continue
    raise NotATaskError(f"The page is none of {', '.join(answering)}.")
