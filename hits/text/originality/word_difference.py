"""What of a text went and what came, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

# A word or a run of other signs, each with the space behind it: so a changed phrase is one run and not one a word.
_TOKEN = re.compile(r"[\w'’]+\s*|[^\w\s'’]+\s*|\s+")


@dataclass(frozen=True)
class Run:
    """Words one after another that are in both texts, in the first alone, or in the second alone."""

    kind: Literal["same", "gone", "new"]
    text: str


def difference(before: str, after: str) -> list[Run]:
    """The runs in reading order, what went before what came in its place.

    Those that are the same and gone make up the first text, those that are the same and new the second. By the
    longest matching blocks (Ratcliff and Obershelp, as difflib has it); quadratic, so texts are to be short.
    """
    return [run for run in _runs(_TOKEN.findall(before), _TOKEN.findall(after)) if run.text]


def _runs(old: list[str], new: list[str]) -> Iterator[Run]:
    for what, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            yield Run("same", "".join(old[start:end]))
        else:
            yield Run("gone", "".join(old[start:end]))
            yield Run("new", "".join(new[new_start:new_end]))
