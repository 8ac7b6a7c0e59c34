"""What is wrong with a file: every fault at once, each with its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hits.refusals import Refusal

LISTED = 1000
_SHOWN = 5


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


class FormatErrors(Refusal):
    """The file was refused: `errors` lists the first 1,000 faults, `rest` counts those that are not listed."""

    error_code = "file_refused"
    http_status = 400

    def __init__(self, errors: Sequence[Fault], rest: int = 0) -> None:
        self.errors = list(errors)
        self.rest = rest
        shown = [str(fault) for fault in self.errors[:_SHOWN]]
        hidden = self.count - len(shown)
        super().__init__("\n".join(shown + ([f"and {hidden:,} more"] if hidden else [])))

    @property
    def count(self) -> int:
        """All faults, listed or not."""
        return len(self.errors) + self.rest

    def details(self) -> dict[str, Any]:
        return {"faults": [vars(fault) for fault in self.errors], "fault_count": self.count}


@dataclass
class Faults:
    """Collects faults and refuses the file at the end, if there are any."""

    listed: list[Fault] = field(default_factory=list)
    rest: int = 0

    @property
    def count(self) -> int:
        return len(self.listed) + self.rest

    def add(self, line: int | None, place: str, message: str) -> None:
        if len(self.listed) < LISTED:
            self.listed.append(Fault(line, place, message))
        else:
            self.rest += 1

    def refuse(self) -> None:
        """Raises FormatErrors if a fault was added."""
        if self.listed:
            raise FormatErrors(self.listed, self.rest)
