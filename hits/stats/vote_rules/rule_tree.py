"""A written vote rule as a tree, and what is wrong with a text that is none. `rule_text` describes the language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

NUMERIC = (">=", "<=")
HEADERS = {
    "answers missing": ("wait", "judge what is there"),
    "value missing": ("counts as nothing", "counts as another value"),
}


@dataclass(frozen=True, order=True)
class RuleFault:
    """`line` and `column` count from 1; the message says what to write instead."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"


class RuleTextError(ValueError):
    """The text is no rule; `faults` names each fault, in the order of the text."""

    def __init__(self, faults: Sequence[RuleFault]) -> None:
        self.faults = tuple(sorted(faults))
        super().__init__("; ".join(map(str, self.faults)))


@dataclass(frozen=True)
class Claim:
    """How many workers said one of the `values` of a unit; `negated` where they said another one.

    Without values it counts the workers who said the same, whatever it was. `number` belongs to at least, at most and
    exactly. `columns` are those of the claim, its unit and its values.
    """

    quantifier: str
    number: int | None
    unit: str
    values: tuple[str, ...]
    negated: bool = False
    columns: tuple[int, ...] = field(default=(), compare=False, repr=False)

    @property
    def named(self) -> tuple[str, ...]:
        return self.values


@dataclass(frozen=True)
class Computed:
    """What was computed from the answers to the item and to others: the `aggregate` of a unit, or its `confidence`.

    `sign` is =, !=, in, >= or <=; the last two compare with a number. `columns` are those of the claim, of
    its unit and of its values.
    """

    what: str
    unit: str
    sign: str
    values: tuple[str, ...]
    columns: tuple[int, ...] = field(default=(), compare=False, repr=False)

    @property
    def named(self) -> tuple[str, ...]:
        """The values that an answer can be; a number to compare with is none."""
        return () if self.sign in NUMERIC else self.values


@dataclass(frozen=True)
class And:
    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Or:
    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    part: Condition


Condition = Claim | Computed | And | Or | Not


@dataclass(frozen=True)
class Conclusion:
    """`word` may be empty where the item is dropped."""

    kept: bool
    word: str


@dataclass(frozen=True)
class Line:
    conclusion: Conclusion
    condition: Condition
    number: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True)
class RuleText:
    """A rule that was read; `answers` are wanted an item, `each` is empty where the item is judged as a whole."""

    answers: int
    lines: tuple[Line, ...]
    otherwise: Conclusion
    each: str = ""
    answers_missing: str = HEADERS["answers missing"][0]
    value_missing: str = HEADERS["value missing"][0]

    @property
    def waits(self) -> bool:
        """Whether nothing is concluded before all wanted answers are there."""
        return self.answers_missing == HEADERS["answers missing"][0]

    @property
    def counts_missing(self) -> bool:
        """Whether who did not say a unit counts as having said another value."""
        return self.value_missing == HEADERS["value missing"][1]


def leaves(condition: Condition) -> Iterator[Claim | Computed]:
    """Every claim of the condition of either kind, in the order of the text."""
    return (node for node in nodes(condition) if isinstance(node, Claim | Computed))


def computed(condition: Condition) -> Iterator[Computed]:
    """Every claim of the condition about something computed, in the order of the text."""
    return (node for node in nodes(condition) if isinstance(node, Computed))


def nodes(condition: Condition) -> Iterator[Condition]:
    """The condition and everything in it."""
    yield condition
    inner = (condition.part,) if isinstance(condition, Not) else getattr(condition, "parts", ())
    for part in inner:
        yield from nodes(part)
