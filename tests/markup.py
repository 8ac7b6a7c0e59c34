"""Pages in tests. A template may be broken into lines wherever a browser shows no difference."""

from __future__ import annotations

from typing import Any


def squeezed(reply: Any) -> str:
    """The markup of a page with single spaces, and with none between two tags."""
    return " ".join(reply.content.decode().split()).replace("> <", "><")
