"""How a written answer came about, as its page noted it. It refuses nothing by itself."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping

from hits.protocols.base import Json

MOST_PASTES = 100
_SECONDS = re.compile("[0-9]{1,7}", re.ASCII)


def seconds(fields: Mapping[str, str]) -> int | None:
    """How long the page was open; None where it could not note it."""
    posted = str(fields.get("seconds_open", ""))
    return int(posted) if _SECONDS.fullmatch(posted) else None


def pastes(fields: Mapping[str, str], names: Container[str]) -> list[Json] | None:
    """[{"field", "characters"}, ...] for the fields of these names, None where the page noted nothing to be read."""
    try:
        found = json.loads(str(fields.get("pastes", "")))
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not all(_is_paste(one) for one in found):
        return None
    noted = [{"field": one["field"], "characters": one["characters"]} for one in found if one["field"] in names]
    return noted[:MOST_PASTES]


def _is_paste(one: object) -> bool:
    return (
        isinstance(one, dict)
        and isinstance(one.get("field"), str)
        and type(one.get("characters")) is int
        and 0 <= one["characters"] <= 10_000_000
    )
