"""One line a scenario, for the screen and for the document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tests.faults.scenarios import Outcome

COLUMNS = ("scenario", "items", "kills", "calls", "duplicates", "missing", "lost", "stuck", "money", "seconds")
HEAD = f"{COLUMNS[0]:18}" + "".join(f"{name:>11}" for name in COLUMNS[1:])
_FIGURES = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- end of figures -->)", re.DOTALL)


def figures(outcome: Outcome) -> list[int]:
    found = outcome.verdict
    counts = (found.duplicates, found.missing, found.lost, found.stuck, found.money)
    return [found.items, outcome.kills, outcome.calls, *map(len, counts), round(outcome.seconds)]


def line(outcome: Outcome) -> str:
    numbers = "".join(f"{number:>11,}" for number in figures(outcome))
    return f"{outcome.name:18}{numbers}   {'ok' if outcome.fine else 'WRONG'}"


def write(outcomes: Sequence[Outcome], file: Path) -> None:
    """Put the table between the two marks in a Markdown document. Raises ValueError when they are not there."""
    rows = [[outcome.name, *(f"{number:,}" for number in figures(outcome))] for outcome in outcomes]
    rule = ["---", *["--:"] * (len(COLUMNS) - 1)]
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in ([*COLUMNS], rule, *rows))
    text, found = _FIGURES.subn(lambda _: table, file.read_text())
    if not found:
        raise ValueError(f"{file} has no place for the figures.")
    file.write_text(text)
