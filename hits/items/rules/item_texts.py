"""The first words of what a worker reads of an item, and of what it asks, for lists; and what a search looks in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hits.items.models import Item
from hits.projects.rules.plugins import settings_of, usable_protocol
from hits.protocols.base import Json, TaskProtocol
from hits.protocols.columns import columns_of
from hits.protocols.optional import RowsProtocol, ShowingProtocol
from hits.stages.models import Stage
from hits.text.language.passages import MARKER

LONGEST = 240
LONGEST_SEARCH = 100
# Of a document, the first of these that it has is what is read. A row has columns instead.
TEXTS = ("text", "passage", "scenario")
# What names an item, and what says nothing to readers.
NAMES = ("key", "key_field")
BLANK = "@placeholder"


@dataclass(frozen=True)
class ItemTexts:
    """Those of one stage's items. `shown` are the columns that its task shows; empty where it names none."""

    protocol: TaskProtocol | None
    shown: tuple[str, ...]

    @classmethod
    def of(cls, stage: Stage) -> ItemTexts:
        protocol = usable_protocol(stage)
        if isinstance(protocol, ShowingProtocol):
            return cls(protocol, tuple(protocol.shown_columns(settings_of(stage))))
        if isinstance(protocol, RowsProtocol):
            return cls(protocol, tuple(protocol.named_columns(settings_of(stage))))
        return cls(protocol, ())

    def text(self, item: Item, longest: int = LONGEST) -> str:
        """The document's text, or the columns of the row that the task shows; its name where nothing can be read."""
        document = item.document.data
        texts: list[Any] = [text_of_document(document)]
        if not any(texts) or isinstance(self.protocol, RowsProtocol):
            columns = columns_of(document, item.data)
            texts = [columns.get(name) for name in self.shown or columns] if columns else texts
        text = " · ".join(str(text) for text in texts if text not in (None, ""))
        return shortened(text.replace(MARKER, "•"), longest) or item.document.key

    def asked(self, item: Item) -> str:
        """The item's own question; empty where all items of the stage are asked the same."""
        return shortened(_asked(item.data), LONGEST)


def text_of_document(document: Json) -> str:
    """What is read of it; empty where it has no text."""
    return next((document[name] for name in TEXTS if isinstance(document.get(name), str)), "")


def _asked(data: Json) -> str:
    if data.get("query"):
        return str(data["query"]).replace(BLANK, "____")
    if isinstance(questions := data.get("questions"), list):
        return " · ".join(str(one.get("text", "")) if isinstance(one, dict) else str(one) for one in questions)
    return str(data.get("question") or "")


def shortened(text: str, longest: int) -> str:
    """In one line, cut at a space."""
    line = " ".join(text[: 2 * longest].split())
    if len(line) <= longest:
        return line if len(text) <= 2 * longest else f"{line} …"
    return f"{line[:longest].rpartition(' ')[0] or line[:longest]} …"


@dataclass(frozen=True)
class Words:
    """What is sought: found in whichever case, across line ends, as a part of a word too."""

    sought: str

    @classmethod
    def of(cls, given: str) -> Words:
        return cls(_plain(given))

    def are_in(self, values: Sequence[Any], texts: Sequence[str] = ()) -> bool:
        """Whether any text within the values, or any of the texts, holds them."""
        return any(self.sought in _plain(text) for value in (*values, *texts) for text in _texts(value))


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            if name not in NAMES:
                yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
