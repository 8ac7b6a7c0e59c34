"""A value of JSON in a cell of a table."""

from __future__ import annotations

import json
from typing import Any


def as_text(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
