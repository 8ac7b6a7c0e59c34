"""The figures and the word of an item that a program made."""

from __future__ import annotations

from hits.domain.plugins import making_protocol_of
from hits.models import Item


def count(item: Item) -> None:
    """Write down the figures and the word of an item that a program made, of its data as they are; it is not saved."""
    protocol = making_protocol_of(item.stage)
    item.figures, item.conclusion = protocol.figures(item.data), protocol.word(item.data)
