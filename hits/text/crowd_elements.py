"""Attributes of crowd elements, the controls that Mechanical Turk's own templates are written with."""

from __future__ import annotations

import json
from re import compile as pattern
from typing import Any

_BARE_NAME = pattern(r"([{,]\s*)(\w+)\s*:")


def categories(text: str) -> tuple[str, ...]:
    """As the crowd elements read the attribute: JSON, also with single quotes, or a list with commas."""
    if text.strip().startswith("${"):
        # Known only with the row.
        return ()
    found = _parsed(text)
    if isinstance(found, list):
        return tuple(one if isinstance(one, str) else json.dumps(one) for one in found)
    return tuple(part.strip() for part in text.split(",") if part.strip())


def exclusion(text: str) -> tuple[str, ...]:
    """The choice that none of the categories fits; empty where there is none."""
    found = _parsed(text)
    said = found.get("text") if isinstance(found, dict) else None
    return (said,) if isinstance(said, str) and said else ()


def entity_labels(text: str) -> tuple[str, ...]:
    """Of a crowd-entity-annotation: its labels are objects, or texts."""
    found = _parsed(text)
    labels = [one.get("label") if isinstance(one, dict) else one for one in found] if isinstance(found, list) else []
    return tuple(one for one in labels if isinstance(one, str))


def _parsed(text: str) -> Any:
    quoted = text.replace("'", '"')
    for spelled in (text, quoted, _BARE_NAME.sub(r'\1"\2":', quoted)):
        try:
            return json.loads(spelled)
        except (ValueError, RecursionError):
            continue
    return None
