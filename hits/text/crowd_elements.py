"""Attributes of crowd elements, the controls that Mechanical Turk's own templates are written with."""

from __future__ import annotations

import json


def categories(text: str) -> tuple[str, ...]:
    """As the crowd elements read the attribute: JSON, also with single quotes, or a list with commas."""
    if text.strip().startswith("${"):
        # Known only with the row.
        return ()
    for spelled in (text, text.replace("'", '"')):
        try:
            found = json.loads(spelled)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, list):
            return tuple(one if isinstance(one, str) else json.dumps(one) for one in found)
    return tuple(part.strip() for part in text.split(",") if part.strip())
