"""A value of JSON in a cell of a table."""

from __future__ import annotations

import json
from typing import Any

# One for all: `json.dumps` makes one at each call, which takes longer than a short value itself.
_encoded = json.JSONEncoder(ensure_ascii=False).encode


def as_text(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else _encoded(value)
