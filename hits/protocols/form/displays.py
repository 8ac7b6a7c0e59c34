"""The kinds of display: what a form shows, in order, before it asks. `KINDS` at the end has them all.

A display is a table {"kind", "heading"?, ...}: the fields of its class say which settings it has and what they must be.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from hits.protocols.base import Json
from hits.protocols.form import addresses, filling
from hits.protocols.form.parts import (
    LONGEST_TEXT,
    Fault,
    Filled,
    Item,
    Kind,
    Part,
    Plain,
    column,
    part_lines,
    words,
)
from hits.protocols.optional import Setting
from hits.text.tables import must

MOST_PARTS, MOST_FACTS, MOST_ROWS, MOST_TURNS, MOST_CELLS = 4, 40, 100, 200, 20
LONGEST_SPEAKER = 100
COLUMNS_HELP = "{column} stands for the value of that column."
HEADING = Setting("heading", "Heading", "text", "Above it; may be empty.")


class Display(Kind):
    """What a kind of display does besides having settings."""

    heading: Filled = words(200, "")

    @abstractmethod
    def shown(self, item: Item) -> Json:
        """What its template shows of the item, as plain JSON."""

    def page(self, item: Item) -> Json:
        return {
            "template": self.template,
            "kind": getattr(self, "kind", ""),
            "heading": item.fill(self.heading),
            **self.shown(item),
        }

    def texts(self) -> Iterator[str]:
        yield self.heading

    def sources(self, item: Item) -> dict[str, set[str]]:
        """The origins that the page has to load from, by the directive of its policy."""
        return {}

    @property
    def media_column(self) -> str:
        """The column whose values may name uploaded files; empty without one."""
        return ""


class Text(Display):
    kind: Literal["text"] = "text"
    text: Filled = words(LONGEST_TEXT)

    title = "Text"
    template = "form/show/text.html"
    new: ClassVar[Json] = {"text": "Write here what is shown."}
    inputs = (HEADING, Setting("text", "Text", "text", COLUMNS_HELP, rows=4))

    def texts(self) -> Iterator[str]:
        yield from (self.heading, self.text)

    def shown(self, item: Item) -> Json:
        return {"text": item.fill(self.text)}


class Markdown(Display):
    """A text in Markdown of the form, or a column whose values are Markdown."""

    kind: Literal["markdown"] = "markdown"
    text: Filled = words(LONGEST_TEXT, "")
    column: Plain = column("")

    title = "Text in Markdown"
    template = "form/show/markdown.html"
    new: ClassVar[Json] = {"text": "Write **here** what is shown."}
    inputs = (
        HEADING,
        Setting("text", "Text in Markdown", "text", "{column} stands for that column's value, as plain text.", rows=5),
        Setting(
            "column", "Or the column whose values are Markdown", "text", "A column of your file; empty: the text above."
        ),
    )

    def faults(self) -> Iterator[Fault]:
        if bool(self.text) == bool(self.column):
            yield "text", "must be there, or `column`, and not both"
        for name in sorted(filling.unreached(self.text)):
            yield "text", f"must name {{{name}}} in its words: no value can stand in an address or a title"

    def texts(self) -> Iterator[str]:
        yield from (self.heading, self.text)

    def columns(self) -> set[str]:
        return super().columns() | ({self.column} if self.column else set())

    def shown(self, item: Item) -> Json:
        if self.column:
            return {"html": filling.of_markdown(item.said(self.column))}
        return {"html": filling.markdown(self.text, item.columns)}


class Conversation(Display):
    """Turns of a conversation: a column with a JSON list of {"speaker", "text"}."""

    kind: Literal["conversation"] = "conversation"
    column: Plain = column()

    title = "Conversation"
    template = "form/show/conversation.html"
    new: ClassVar[Json] = {"column": "conversation"}
    inputs = (
        HEADING,
        Setting("column", "Column", "text", 'Its values are JSON: [{"speaker": "Ada", "text": "Hello."}, ...].'),
    )

    def columns(self) -> set[str]:
        return super().columns() | {self.column}

    def shown(self, item: Item) -> Json:
        try:
            turns = _turns(item.columns.get(self.column))
        except ValueError:
            return {"turns": [], "instead": f"[{self.column}]"}
        speakers = list(dict.fromkeys(turn["speaker"] for turn in turns))
        return {"turns": [{**turn, "side": speakers.index(turn["speaker"]) % 2} for turn in turns]}

    def item_faults(self, item: Item) -> Iterator[str]:
        if self.column in item.columns:
            try:
                _turns(item.columns[self.column])
            except ValueError as error:
                yield f"The column {self.column!r:.60} holds no conversation: it {error}."


def _turns(value: Any) -> list[Json]:
    found = filling.listed(value)
    if not 1 <= len(found) <= MOST_TURNS:
        raise ValueError(f"has {len(found)} turns instead of 1 to {MOST_TURNS}")
    for number, turn in enumerate(found, 1):
        if not isinstance(turn, dict) or not all(isinstance(turn.get(name), str) for name in ("speaker", "text")):
            raise ValueError(f"has no texts `speaker` and `text` in turn {number}")
    return [
        {"speaker": turn["speaker"][:LONGEST_SPEAKER], "text": turn["text"][: filling.LONGEST_CELL]} for turn in found
    ]


class SideBySide(Display):
    """Two or more texts side by side; below one another where the screen is narrow."""

    lists = {"parts": Part}
    kind: Literal["side_by_side"] = "side_by_side"
    parts: tuple[Part, ...] = must(
        f"be a list of 2 to {MOST_PARTS} objects of heading and text", min_length=2, max_length=MOST_PARTS
    )

    title = "Texts side by side"
    template = "form/show/side_by_side.html"
    new: ClassVar[Json] = {"parts": ["Left | First text", "Right | Second text"]}
    inputs = (
        HEADING,
        Setting(
            "parts",
            "Texts, one a line",
            "lines",
            f"2 to {MOST_PARTS}, each as heading | text. {COLUMNS_HELP}",
            rows=3,
            lines=part_lines,
        ),
    )

    def texts(self) -> Iterator[str]:
        yield self.heading
        for part in self.parts:
            yield from (part.heading, part.text)

    def shown(self, item: Item) -> Json:
        return {"parts": [{"heading": item.fill(part.heading), "text": item.fill(part.text)} for part in self.parts]}


class TableOf(Display):
    """Rows of a heading and a text, or a column with a JSON list of rows, which are lists or objects."""

    lists = {"rows": Part}
    kind: Literal["table"] = "table"
    rows: tuple[Part, ...] = must(
        f"be a list of at most {MOST_FACTS} objects of heading and text", (), max_length=MOST_FACTS
    )
    column: Plain = column("")

    title = "Table"
    template = "form/show/table.html"
    new: ClassVar[Json] = {"rows": ["First | text", "Second | text"]}
    inputs = (
        HEADING,
        Setting("rows", "Rows, one a line", "lines", f"heading | text. {COLUMNS_HELP}", rows=4, lines=part_lines),
        Setting("column", "Or a column", "text", 'Its values are JSON: [["a", "b"], ["1", "2"]] or [{"a": 1}, ...].'),
    )

    def faults(self) -> Iterator[Fault]:
        if bool(self.rows) == bool(self.column):
            yield "rows", "must be there, or `column`, and not both"

    def texts(self) -> Iterator[str]:
        yield self.heading
        for row in self.rows:
            yield from (row.heading, row.text)

    def columns(self) -> set[str]:
        return super().columns() | ({self.column} if self.column else set())

    def shown(self, item: Item) -> Json:
        if not self.column:
            return {"head": [], "facts": [[item.fill(row.heading), item.fill(row.text)] for row in self.rows]}
        try:
            head, rows = _cells(item.columns.get(self.column))
        except ValueError:
            return {"head": [], "rows": [], "instead": f"[{self.column}]"}
        return {"head": head, "rows": rows}

    def item_faults(self, item: Item) -> Iterator[str]:
        if self.column and self.column in item.columns:
            try:
                _cells(item.columns[self.column])
            except ValueError as error:
                yield f"The column {self.column!r:.60} holds no table: it {error}."


def _cells(value: Any) -> tuple[list[str], list[list[str]]]:
    """The head and the rows; the first of several lists is the head."""
    found = filling.listed(value)
    if not 1 <= len(found) <= MOST_ROWS:
        raise ValueError(f"has {len(found)} rows instead of 1 to {MOST_ROWS}")
    if all(isinstance(row, dict) for row in found):
        names = list(dict.fromkeys(name for row in found for name in row))
        rows = [[filling.said(row.get(name)) for name in names] for row in found]
    elif all(isinstance(row, list) for row in found):
        names, *rows = ([filling.said(cell) for cell in row] for row in found)
    else:
        raise ValueError("has rows that are neither all lists nor all objects")
    if max(map(len, [names, *rows])) > MOST_CELLS:
        raise ValueError(f"has a row of more than {MOST_CELLS} cells")
    return names, rows


class _Addressed(Display):
    """Something at the https address that a column holds, or an uploaded file that the column names."""

    column: Plain = column()

    directive: ClassVar[str] = ""
    takes: ClassVar[tuple[str, ...]] = ("image", "audio", "video")

    def columns(self) -> set[str]:
        return super().columns() | {self.column}

    @property
    def media_column(self) -> str:
        return self.column

    def uploaded(self, item: Item) -> Json | None:
        return item.media.get(item.said(self.column))

    def address(self, item: Item) -> str:
        """Empty where the item has none that a page may load."""
        if file := self.uploaded(item):
            return str(file["address"]) if file["kind"] in self.takes else ""
        try:
            addresses.origin_of(item.said(self.column))
        except ValueError:
            return ""
        return item.said(self.column)

    def item_faults(self, item: Item) -> Iterator[str]:
        if self.column not in item.columns:
            return
        told = item.said(self.column)[:60]
        if file := self.uploaded(item):
            yield from (f"The column {self.column!r:.60} names {told!r}, {why}." for why in self._file_faults(file))
            return
        try:
            addresses.origin_of(item.said(self.column))
        except ValueError as error:
            more = "" if "://" in told else ", and no uploaded file has this name"
            yield f"The column {self.column!r:.60} holds no address of this kind: {told!r} {error}{more}."

    def _file_faults(self, file: Json) -> Iterator[str]:
        if file["kind"] not in self.takes:
            yield f"which is {_CALLED[file['kind']]}: show it as such"
        if file["others"]:
            yield f"which can mean {' or '.join(file['others'])}: write the folder too"

    def sources(self, item: Item) -> dict[str, set[str]]:
        address = self.address(item) if self.directive else ""
        if not address:
            return {}
        return {self.directive: {"'self'" if self.uploaded(item) else addresses.origin_of(address)}}


_CALLED = {"image": "a picture", "audio": "a sound", "video": "a video"}
ADDRESS = Setting(
    "column", "Column with the address", "text", "An address with https://, or the name of a file on the page “Media”."
)


class Link(_Addressed):
    kind: Literal["link"] = "link"
    text: Filled = words(200)

    title = "Link"
    template = "form/show/link.html"
    new: ClassVar[Json] = {"column": "link", "text": "Words of the link"}
    inputs = (
        HEADING,
        ADDRESS,
        Setting("text", "Words of the link", "text", "Workers click on them; the page opens in another tab."),
    )

    def texts(self) -> Iterator[str]:
        yield from (self.heading, self.text)

    def shown(self, item: Item) -> Json:
        return {"address": self.address(item), "text": item.fill(self.text), "column": self.column}


class _Medium(_Addressed):
    description: Filled = words(500)

    def texts(self) -> Iterator[str]:
        yield from (self.heading, self.description)

    def shown(self, item: Item) -> Json:
        return {"address": self.address(item), "description": item.fill(self.description), "column": self.column}


DESCRIPTION = Setting(
    "description", "What it is", "text", "For those who do not see or hear it. It must not give the answer away."
)


class Image(_Medium):
    kind: Literal["image"] = "image"
    title, template, directive, takes = "Image", "form/show/image.html", "img-src", ("image",)
    new: ClassVar[Json] = {"column": "image", "description": "What it is"}
    inputs = (HEADING, ADDRESS, DESCRIPTION)

    def shown(self, item: Item) -> Json:
        """With the picture's size, so that nothing on the page moves when it has come."""
        file = self.uploaded(item) or {}
        return {**super().shown(item), "width": file.get("width", 0), "height": file.get("height", 0)}


class Audio(_Medium):
    kind: Literal["audio"] = "audio"
    # The same container may hold either: a browser plays what is in it.
    title, template, directive, takes = "Sound", "form/show/audio.html", "media-src", ("audio", "video")
    new: ClassVar[Json] = {"column": "audio", "description": "What it is"}
    inputs = (HEADING, ADDRESS, DESCRIPTION)


class Video(_Medium):
    kind: Literal["video"] = "video"
    title, template, directive, takes = "Video", "form/show/video.html", "media-src", ("audio", "video")
    new: ClassVar[Json] = {"column": "video", "description": "What it is"}
    inputs = (HEADING, ADDRESS, DESCRIPTION)


_ALL: Sequence[type[Display]] = (
    Text, Markdown, Conversation, SideBySide, TableOf, Link, Image, Audio, Video,
)  # fmt: skip
KINDS: Mapping[str, type[Display]] = {kind.model_fields["kind"].default: kind for kind in _ALL}
