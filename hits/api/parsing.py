"""JSON bodies: what no database can keep and what no program means is refused before a view sees it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from typing import Any

from rest_framework import parsers
from rest_framework.exceptions import ParseError

DEEPEST = 32
_UNWANTED = re.compile("[\x00\ud800-\udfff]")


class JSONParser(parsers.JSONParser):
    """Raises ParseError, also for what `check` refuses."""

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        try:
            found: dict[str, Any] = super().parse(stream, media_type, parser_context)
        except RecursionError as error:
            raise ParseError(too_deep()) from error
        check(found)
        return found


def too_deep() -> str:
    return f"Brackets are nested too deep: at most {DEEPEST} levels are read."


def check(value: Any) -> None:
    """Raises ParseError for nesting beyond `DEEPEST`, for texts with NUL or half of a surrogate pair, and for numbers
    beyond all that a float holds.

    Level by level, because Python's own recursion has an end.
    """
    level, depth = [value], 0
    while level:
        if depth > DEEPEST:
            raise ParseError(too_deep())
        inner: list[Any] = []
        for one in level:
            if isinstance(one, str):
                if found := _UNWANTED.search(one):
                    raise ParseError(f"A text holds U+{ord(found[0]):04X}, which is no character: remove it.")
            elif isinstance(one, float) and not isfinite(one):
                raise ParseError("A number is too large to be kept: write a smaller one.")
            elif isinstance(one, dict):
                inner += one.keys()
                inner += one.values()
            elif isinstance(one, list):
                inner += one
        level, depth = inner, depth + 1
