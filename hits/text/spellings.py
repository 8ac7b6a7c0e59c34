"""How a file may name a choice: the one place that says so, for gold answers and for suggestions."""

from __future__ import annotations

from collections.abc import Iterable


def meant(said: str, choices: Iterable[tuple[str, str, str]]) -> str | None:
    """The id of the choice that is meant by its text, its id or its number, of (id, text, number); None where none is.

    A text comes first: where the choices are numbers themselves, "2" is the choice that says 2.
    """
    known = list(choices)
    for spelling in (1, 0, 2):
        for one in known:
            if said == one[spelling]:
                return one[0]
    return None
