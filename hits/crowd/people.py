"""Who is in the crowd and what each of them is like. Pure, and a function of the seed.

Every draw depends on (seed, worker, item) alone, so the order in which HITs come changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

SPREAD = 0.05  # of the accuracy from person to person, either way
HONEST_SECONDS = (25.0, 60.0)
SPAMMER_SECONDS = (1.0, 3.0)

Kind = Literal["careful", "careless", "random", "spammer"]
T = TypeVar("T")


@dataclass(frozen=True)
class Person:
    """A `careless` one writes rubbish and reads well, a `random` one the reverse, a `spammer` does neither well.

    `accuracy` means nothing for who chooses blindly. `seconds` is the time for one HIT. Where a person does not know,
    what a model suggests is taken in a share `follows` of the cases.
    """

    name: str
    kind: Kind
    seed: int
    accuracy: float
    seconds: float
    returns: float
    follows: float = 0.0

    @property
    def writes_junk(self) -> bool:
        return self.kind in ("careless", "spammer")

    @property
    def chooses_blindly(self) -> bool:
        return self.kind in ("random", "spammer")


def draw(seed: int, *names: str) -> float:
    """A number in [0, 1) that only the arguments decide."""
    digest = hashlib.sha256("\x1f".join([str(seed), *names]).encode()).digest()
    return int.from_bytes(digest[:7], "big") / (1 << 56)


def gather(
    seed: int,
    workers: int,
    spammers: int,
    accuracy: float,
    returns: float,
    careless: int = 0,
    blind: int = 0,
    follows: float = 0.0,
) -> list[Person]:
    """`workers` people in all: the spammers first, then `careless` writers, then `blind` ones who choose at random.

    Raises ValueError for impossible numbers.
    """
    counts: dict[Kind, int] = {"spammer": spammers, "careless": careless, "random": blind}
    kinds = [kind for kind, count in counts.items() for _ in range(count)]
    if workers < 1 or min(counts.values()) < 0 or len(kinds) > workers:
        wanted = f"{spammers} spammers, {careless} careless and {blind} blind ones"
        raise ValueError(f"There can be no {wanted} among {workers} workers.")
    for name, share in (("accuracy", accuracy), ("returns", returns), ("follows", follows)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} must be a share from 0 to 1, not {share}.")
    kinds.extend("careful" for _ in range(workers - len(kinds)))
    return [_person(seed, number, kind, accuracy, returns, follows) for number, kind in enumerate(kinds, start=1)]


def _person(seed: int, number: int, kind: Kind, accuracy: float, returns: float, follows: float) -> Person:
    name = f"crowd-{seed}-{number:02}"
    low, high = SPAMMER_SECONDS if kind == "spammer" else HONEST_SECONDS
    own = accuracy + SPREAD * (2 * draw(seed, name, "accuracy") - 1)
    return Person(
        name=name,
        kind=kind,
        seed=seed,
        accuracy=min(1.0, max(0.0, own)),
        seconds=low + (high - low) * draw(seed, name, "seconds"),
        returns=0.0 if kind == "spammer" else returns,
        follows=follows,
    )


def gives_back(person: Person, item: str) -> bool:
    """Whether the person would rather not do this one, when it comes for the first time."""
    return happens(person, item, "return", person.returns)


def happens(person: Person, item: str, what: str, share: float) -> bool:
    """Whether a thing of that probability happens to this person with this item."""
    return draw(person.seed, person.name, item, what) < share


def one_of(options: Sequence[T], person: Person, item: str, purpose: str) -> T:
    """Each with the same probability. There must be one."""
    return options[int(draw(person.seed, person.name, item, purpose) * len(options))]


def choose(values: Sequence[str], person: Person, place: str) -> str:
    """One of these answers, where no key says which is right: that is the same for everybody, in whatever order they
    are shown, and who errs takes another one.
    """
    if person.chooses_blindly:
        return one_of(values, person, place, "random")
    right = sorted(values)[int(draw(0, "right", place) * len(values))]
    if happens(person, place, "knows", person.accuracy):
        return right
    return one_of([value for value in sorted(values) if value != right] or [right], person, place, "wrong")
