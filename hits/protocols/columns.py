"""The columns of a row, of protocols whose items are the rows of a table.

Document and item hold {"columns": {name: value}}; those of the item count where both have one.
"""

from __future__ import annotations

from hits.protocols.base import Json

SHOWN = 20


def columns_of(document: Json, item: Json) -> Json:
    return {**(document.get("columns") or {}), **(item.get("columns") or {})}


def named(document: Json, item: Json, spelled: str) -> str:
    """The columns of an item as a lead writes them, for a hint: `spelled` has one %s; the first SHOWN of them."""
    names = ", ".join(spelled % name for name in list(columns_of(document, item))[:SHOWN])
    return f"Columns of an item: {names}." if names else ""
