"""What is wrong with a file: every fault at once, each with its place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from common.cutting import cut
from hits.refusals import Refusal

LISTED = 1000
# A file may have endless names, and a task may say anything about it.
LONGEST_PLACE, LONGEST_MESSAGE = 200, 600
_SHOWN = 5
# Of a group, as many lines are named.
_LINES_SHOWN = 5
Kind: TypeAlias = tuple[str, str]
_INDEX = re.compile(r"\[[0-9]+\]")


def counted(count: int, word: str) -> str:
    """1 fault, 2,000 faults."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


@dataclass(frozen=True)
class Fault:
    """`line` counts from 1 and is None where a line says nothing; `place` is a path such as qas[0].answers[1]."""

    line: int | None
    place: str
    message: str

    def __str__(self) -> str:
        where = [f"line {self.line}"] if self.line is not None else []
        where += [self.place] if self.place else []
        return f"{', '.join(where)}: {self.message}" if where else self.message


@dataclass(frozen=True)
class FaultGroup:
    """Faults that say the same of the same kind of place; `lines` are theirs, each once, in the order of the file."""

    place: str
    message: str
    lines: tuple[int, ...]
    count: int

    @property
    def where(self) -> str:
        """The first few line numbers: '3, 7, 9, 12, 15 and 15 more'; empty without any."""
        hidden = len(self.lines) - _LINES_SHOWN
        return ", ".join(f"{line:,}" for line in self.lines[:_LINES_SHOWN]) + (
            f" and {hidden:,} more" if hidden > 0 else ""
        )

    def __str__(self) -> str:
        if len(self.lines) < 2:
            return str(Fault(self.lines[0] if self.lines else None, self.place, self.message))
        said = f"`{self.place}` {self.message}" if self.place else self.message
        where = f"{len(self.lines):,} lines: {self.where}"
        # After what to do about it, which follows a colon, more words would be read as a part of that.
        return f"{said} ({where})" if ":" in self.message else f"{said} in {where}"


def grouped(faults: Iterable[Fault]) -> list[FaultGroup]:
    """In the order of the first fault of each; places that differ in an index alone are of one kind: choices[…]."""
    found: dict[Kind, list[int | None]] = {}
    for fault in faults:
        found.setdefault(_kind(fault), []).append(fault.line)
    return [
        FaultGroup(*key, tuple(dict.fromkeys(line for line in lines if line is not None)), len(lines))
        for key, lines in found.items()
    ]


def _kind(fault: Fault) -> Kind:
    return _INDEX.sub("[…]", fault.place), fault.message


class FormatErrors(Refusal):
    """The file was refused: `errors` lists 1,000 faults at most, `rest` counts those that are not listed."""

    error_code = "file_refused"
    http_status = 400

    def __init__(self, errors: Sequence[Fault], rest: int = 0) -> None:
        self.errors = list(errors)
        self.rest = rest
        shown = grouped(self.errors)[:_SHOWN]
        hidden = self.count - sum(group.count for group in shown)
        super().__init__("\n".join([*map(str, shown), *([f"and {hidden:,} more"] if hidden else [])]))

    @property
    def count(self) -> int:
        """All faults, listed or not."""
        return len(self.errors) + self.rest

    def details(self) -> dict[str, Any]:
        return {"faults": [vars(fault) for fault in self.errors], "fault_count": self.count}


@dataclass
class Faults:
    """Collects faults and refuses the file at the end, if there are any.

    The list ends at 1,000. A kind of fault that comes later and is not in it takes the place of one of the kind that is
    there most often: so a lead learns of all kinds at once.
    """

    listed: list[Fault] = field(default_factory=list)
    rest: int = 0
    _kinds: Counter[Kind] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        return len(self.listed) + self.rest

    def add(self, line: int | None, place: str, message: str) -> None:
        fault = Fault(line, cut(place, LONGEST_PLACE), cut(message, LONGEST_MESSAGE))
        if len(self.listed) < LISTED:
            self.listed.append(fault)
        else:
            self.rest += 1
            self._put_if_new(fault)

    def _put_if_new(self, fault: Fault) -> None:
        self._kinds = self._kinds or Counter(map(_kind, self.listed))
        kind = _kind(fault)
        if kind in self._kinds or len(self._kinds) == len(self.listed):
            return
        ((most, _),) = self._kinds.most_common(1)
        last = max(i for i, one in enumerate(self.listed) if _kind(one) == most)
        self.listed = [*self.listed[:last], *self.listed[last + 1 :], fault]
        self._kinds[most] -= 1
        self._kinds[kind] += 1

    def refuse(self) -> None:
        """Raises FormatErrors if a fault was added."""
        if self.listed:
            raise FormatErrors(self.listed, self.rest)
