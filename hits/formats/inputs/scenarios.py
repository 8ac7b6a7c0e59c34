"""Everyday scenarios to tell stories about: plain text, one scenario a line, with a hint behind a bar if you like.

    baking a cake | Think of a cake that you made at home.
    planting a tree

A scenario's key is made of its words ("baking-a-cake"), so that it stays the same wherever its line stands; scenarios
that differ in case, space or punctuation alone are the same one. Blank lines at the end of the file mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from hits.formats.files.faults import Fault, Faults, FormatErrors
from hits.formats.files.reading import MAX_BYTES, Progress, Row, first_character, quoted, text_lines, told

__all__ = ["Fault", "FormatErrors", "Scenario", "read"]

# A story's key is its scenario's key and more, and keys end at 200 characters.
LONGEST_SCENARIO = 100
LONGEST_HINT = 500
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Scenario:
    """`hint` is empty where none is given. `line` is where it stands, and takes no part in comparison, as `place`."""

    key: str
    scenario: str
    hint: str = ""
    line: int | None = field(default=None, compare=False)
    place: str = field(default="", compare=False)


def read(stream: BinaryIO, *, max_bytes: int = MAX_BYTES, progress: Progress | None = None) -> list[Scenario]:
    """Every scenario of the file in UTF-8, or FormatErrors with every fault and no scenario.

    `progress` is called with the number of scenarios checked so far, every 1,000 and at the end.
    """
    faults = Faults()
    if first_character(stream) in ("<", "{", "["):
        faults.add(1, "", "looks like XML or JSON: write plain text, one scenario a line")
        faults.refuse()
    seen: dict[str, int] = {}
    lines = _lines(text_lines(stream, max_bytes, faults))
    found = [_scenario(Row(faults, line), words, seen) for line, words in told(lines, progress)]
    if not found and not faults.count:
        faults.add(None, "", "the file holds no scenario: write one a line")
    faults.refuse()
    return found


def _lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """(line, words); blank lines at the end of the file are none."""
    blank = 0
    for number, line in enumerate(lines, 1):
        if words := line.strip():
            yield from ((earlier, "") for earlier in range(number - blank, number))
            yield number, words
            blank = 0
        else:
            blank += 1


def _scenario(row: Row, line: str, seen: dict[str, int]) -> Scenario:
    if not line:
        row.say("", "is blank: write a scenario in it, or remove it")
        return Scenario("", "", "", row.line)
    name, bar, hint = (part.strip() for part in line.partition("|"))
    scenario = row.text(name, "scenario", LONGEST_SCENARIO)
    key = _NO_WORD.sub("-", scenario.casefold()).strip("-")
    if scenario and not key:
        row.say("scenario", f"{quoted(scenario)} holds no word")
    elif len(key) > LONGEST_SCENARIO >= len(scenario):
        # Letters without regard to case may be three of one.
        row.say("scenario", f"{quoted(scenario)} is too long without regard to case: shorten it")
    elif key in seen:
        row.say("scenario", f"{quoted(scenario)} is the same as that of line {seen[key]}: remove one of the two")
    if key:
        seen.setdefault(key, row.line)
    return Scenario(key, scenario, row.text(hint, "hint", LONGEST_HINT) if hint else "", row.line)
