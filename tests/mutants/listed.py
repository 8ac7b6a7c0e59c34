"""The faults of `mutants.toml`, and how one is planted in a tree of files."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("mutants.toml")


class NotApplicableError(Exception):
    """The snippet does not stand exactly once in its file: the list has to follow the code."""


@dataclass(frozen=True)
class Mutant:
    """`before` stands once in `file`, and `after` takes its place. `tests` are where that is noticed first."""

    name: str
    file: str
    before: str
    after: str
    wrong: str
    tests: tuple[str, ...]

    def mutated(self, root: Path) -> str:
        """The file's text with the fault. Raises NotApplicableError."""
        path = root / self.file
        text = path.read_text() if path.exists() else ""
        if (count := text.count(self.before)) != 1:
            raise NotApplicableError(f"{self.file} holds the snippet {count} times.")
        return text.replace(self.before, self.after)

    @contextmanager
    def planted(self, root: Path) -> Iterator[None]:
        """Within, the file has the fault. Raises NotApplicableError."""
        path, mutated = root / self.file, self.mutated(root)
        original = path.read_bytes()
        path.write_text(mutated)
        try:
            yield
        finally:
            path.write_bytes(original)


def listed() -> list[Mutant]:
    found = tomllib.loads(LIST.read_text())
    return [Mutant(name, **{**columns, "tests": tuple(columns["tests"])}) for name, columns in found.items()]
