"""Steps of the recipe for a questionnaire of one's own: a row of a table is an item, and its votes are released."""

from __future__ import annotations

from hits.protocols.form.protocol import protocol
from hits.recipes.source import Collected, ReleaseContent
from hits.recipes.table_rows import TABLE, mark, next_items, read_documents, release_of

__all__ = ["TABLE", "build_release", "mark", "next_items", "read_documents"]

STAGE = "ask"


def build_release(collected: Collected) -> ReleaseContent:
    return release_of(collected, STAGE, protocol.levels(collected.settings(STAGE)))
