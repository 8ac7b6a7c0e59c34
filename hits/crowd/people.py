"""Who is in the crowd and what each of them does. Pure, and a function of the seed.

Every draw depends on (seed, worker, item) alone, so the order in which HITs come changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hits.crowd.key import Truth
from hits.crowd.task_page import Choice

SPREAD = 0.05  # of the accuracy from person to person, either way
HONEST_SECONDS = (25.0, 60.0)
SPAMMER_SECONDS = (1.0, 3.0)

Kind = Literal["worker", "spammer"]


@dataclass(frozen=True)
class Person:
    """`accuracy` means nothing for a spammer, who clicks any name at random. `seconds` is the time for one HIT."""

    name: str
    kind: Kind
    seed: int
    accuracy: float
    seconds: float
    returns: float


def draw(seed: int, *names: str) -> float:
    """A number in [0, 1) that only the arguments decide."""
    digest = hashlib.sha256("\x1f".join([str(seed), *names]).encode()).digest()
    return int.from_bytes(digest[:7], "big") / (1 << 56)


def gather(seed: int, workers: int, spammers: int, accuracy: float, returns: float) -> list[Person]:
    """`workers` people, `spammers` of them spammers, who come first. Raises ValueError for impossible numbers."""
    if workers < 1 or not 0 <= spammers <= workers:
        raise ValueError(f"There can be no {spammers} spammers among {workers} workers.")
    for name, share in (("accuracy", accuracy), ("returns", returns)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} must be a share from 0 to 1, not {share}.")
    return [_person(seed, number, number <= spammers, accuracy, returns) for number in range(1, workers + 1)]


def _person(seed: int, number: int, spams: bool, accuracy: float, returns: float) -> Person:
    name = f"crowd-{seed}-{number:02}"
    low, high = SPAMMER_SECONDS if spams else HONEST_SECONDS
    own = accuracy + SPREAD * (2 * draw(seed, name, "accuracy") - 1)
    return Person(
        name=name,
        kind="spammer" if spams else "worker",
        seed=seed,
        accuracy=min(1.0, max(0.0, own)),
        seconds=low + (high - low) * draw(seed, name, "seconds"),
        returns=0.0 if spams else returns,
    )


def gives_back(person: Person, item: str) -> bool:
    """Whether the person would rather not do this one, when it comes for the first time."""
    return draw(person.seed, person.name, item, "return") < person.returns


def choose(person: Person, item: str, choices: Sequence[Choice], truth: Truth) -> Choice:
    """The name that this person clicks. Choices must not be empty."""
    if person.kind == "spammer":
        return _one_of(_one_a_group(choices), person, item, "random")
    right = _right(choices, truth)
    groups = {choice.group for choice in right}
    wrong = [choice for choice in choices if choice.group not in groups]
    knows = draw(person.seed, person.name, item, "knows") < person.accuracy
    return _one_of((right if knows else wrong) or choices, person, item, "which")


def _right(choices: Sequence[Choice], truth: Truth) -> list[Choice]:
    by_place = [choice for choice in choices if choice.value in truth.spans]
    return by_place or [choice for choice in choices if choice.text in truth.texts]


def _one_a_group(choices: Sequence[Choice]) -> list[Choice]:
    """Somebody who does not read sees names, not how often each is mentioned."""
    first: dict[str, Choice] = {}
    for choice in choices:
        first.setdefault(choice.group, choice)
    return list(first.values())


def _one_of(choices: Sequence[Choice], person: Person, item: str, purpose: str) -> Choice:
    return choices[int(draw(person.seed, person.name, item, purpose) * len(choices))]
