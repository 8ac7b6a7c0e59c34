"""What a scorer of continuations reads."""

from __future__ import annotations

Pair = tuple[str, str]
"""A context and an answer that may continue it."""
