"""The columns of a row, of protocols whose items are the rows of a table.

Document and item hold {"columns": {name: value}}; those of the item count where both have one.
"""

from __future__ import annotations

from hits.protocols.base import Json


def columns_of(document: Json, item: Json) -> Json:
    return {**(document.get("columns") or {}), **(item.get("columns") or {})}
