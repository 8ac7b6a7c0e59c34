"""One line a scenario, for the screen and for the document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tests.faults.scenarios import SCENARIOS, Outcome

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
    """Put the lines into the table between the two marks of a Markdown document; others that stand there stay.

    Raises ValueError when the marks are not there.
    """
    text = file.read_text()
    found = _FIGURES.search(text)
    if found is None:
        raise ValueError(f"{file} has no place for the figures.")
    rows = {cells[0]: cells for cells in map(_cells, found[0].splitlines()[2:])}
    rows |= {outcome.name: [outcome.name, *(f"{number:,}" for number in figures(outcome))] for outcome in outcomes}
    order = [*SCENARIOS, *rows]
    lines = [
        [*COLUMNS],
        ["---", *["--:"] * (len(COLUMNS) - 1)],
        *sorted(rows.values(), key=lambda c: order.index(c[0])),
    ]
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    file.write_text(text[: found.start()] + table + text[found.end() :])


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("| ").split("|")]
