"""One line a scenario, for the screen and for the document."""

from __future__ import annotations

from tests.faults.scenarios import Outcome

COLUMNS = ("scenario", "items", "kills", "calls", "duplicates", "missing", "lost", "stuck", "cents", "seconds")
HEAD = f"{COLUMNS[0]:18}" + "".join(f"{name:>11}" for name in COLUMNS[1:])


def figures(outcome: Outcome) -> list[int]:
    found = outcome.verdict
    counts = (found.duplicates, found.missing, found.lost, found.stuck, found.money)
    return [found.items, outcome.kills, outcome.calls, *map(len, counts), round(outcome.seconds)]


def line(outcome: Outcome) -> str:
    numbers = "".join(f"{number:>11,}" for number in figures(outcome))
    return f"{outcome.name:18}{numbers}   {'ok' if outcome.fine else 'WRONG'}"
