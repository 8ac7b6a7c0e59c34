"""What a recipe's reader hands to the import, and what its release is built from: plain rows, no database."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class SourceItem:
    """`key` is unique within the project; `data` is what the first stage's protocol asks."""

    key: str
    data: Json


@dataclass(frozen=True)
class SourceDocument:
    """A text with its items. `line` and `place` say where it stood in the file."""

    key: str
    origin: str
    data: Json
    items: tuple[SourceItem, ...]
    line: int | None = None
    place: str = ""


@dataclass(frozen=True)
class ChainItem:
    """An item of the first stage and the stages whose standing verdict keeps it, without a gap, in order."""

    document_key: str
    key: str
    origin: str
    purpose: str
    document: Json
    data: Json
    kept_in: tuple[str, ...]


@dataclass(frozen=True)
class ReleaseContent:
    """Files by name, and what the manifest says about them."""

    files: dict[str, bytes]
    counts: dict[str, int]
    left_out: dict[str, int] = field(default_factory=dict)
    statistics: Json = field(default_factory=dict)
    notes: tuple[str, ...] = ()
