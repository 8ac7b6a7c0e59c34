"""A passage of our own writing, as long and as full of names as a real one. Square brackets mark the mentions."""

from __future__ import annotations

import re
from typing import Any

MARKED = """\
([Lowland Post]) -- A flood gate that has kept the old quarter of [Veere] dry since 1974 failed to close on Sunday \
night, and [Annika de Wit] had eleven minutes to decide what to do about it. The duty engineer, alone in the control \
room of the [Scheldt Water Board], watched the pressure fall on her screen and rang [Pieter Maas], the harbour master, \
at home. "She didn't say good evening," [Maas] recalled. "She said: how many boats, and how heavy?"

Within minutes four trawlers lay side by side across the mouth of the harbour, their hulls pressed against the gate \
by the tide that [Annika de Wit] had been told to fear. Water reached the steps of the [Grote Kerk] and no further. \
On Monday the [Scheldt Water Board] said that a bolt made by [Hollander Staal] had sheared; the company, based in \
[Rotterdam], promised to test every gate between [Veere] and [Vlissingen].
@highlight
Gate in [Veere] jams minutes before spring tide
@highlight
[Pieter Maas] sends four trawlers to hold back the sea
@highlight
[Hollander Staal] will test its bolts all the way to [Vlissingen]
"""
QUERY = (
    "“I build things out of concrete for a living, and that night it was fishermen who saved us,” @placeholder told "
    "the council, which gave her a standing ovation."
)


def _unmark(marked: str) -> tuple[str, list[list[int]]]:
    text, mentions = "", []
    for piece in re.split(r"(\[[^]]+])", marked):
        if piece.startswith("["):
            mentions.append([len(text), len(text) + len(piece) - 3])
            piece = piece[1:-1]
        text += piece
    return text, mentions


TEXT, MENTIONS = _unmark(MARKED)
DOCUMENT: dict[str, Any] = {"text": TEXT, "entities": MENTIONS, "source": "Our own sample"}


def places(name: str) -> list[str]:
    """The field values of all mentions with that surface, in reading order."""
    return [f"{start}-{end}" for start, end in MENTIONS if TEXT[start : end + 1] == name]


def answers(name: str) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "text": name} for start, end in MENTIONS if TEXT[start : end + 1] == name]


ITEM: dict[str, Any] = {"query": QUERY, "answers": answers("Annika de Wit")}

PEOPLE = [{"id": "annika", "text": "Annika de Wit"}, {"id": "pieter", "text": "Pieter Maas"}]
CANDIDATES = [
    {"id": "c0", "text": "Four trawlers in the mouth of the harbour."},
    {"id": "c1", "text": "Fishing boats that lay against the gate."},
    {"id": "c2", "text": "A new bolt."},
    {"id": "c3", "text": "Boats boats the gate."},
]
