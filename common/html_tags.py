"""Where the start tags, attributes and scripts of an HTML text stand, so that single values can be exchanged in it.

The text around them stays as it is, byte for byte: a page written anew by a parser would not be its author's.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape
from html.parser import HTMLParser
from itertools import accumulate
from re import compile as pattern

_NAME = pattern(r"<[^\s/>]*")
_ATTRIBUTE = pattern(r"""([^\s/>=][^\s/>=]*)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s>"']?[^\s>]*))?""")
# Their content is no markup.
SCRIPT, STYLE = "script", "style"


@dataclass(frozen=True)
class Attribute:
    """`start` and `end` enclose the value with its quotes; both are None when there is no value."""

    name: str
    value: str
    name_start: int
    start: int | None
    end: int | None


@dataclass(frozen=True)
class Tag:
    """A start tag; `start` and `end` enclose it."""

    name: str
    start: int
    end: int
    attributes: Sequence[Attribute]

    def attribute(self, name: str) -> Attribute | None:
        return next((each for each in self.attributes if each.name == name), None)

    def value(self, name: str) -> str:
        found = self.attribute(name)
        return found.value if found else ""


@dataclass(frozen=True)
class Region:
    """The content of a script or style element."""

    name: str
    start: int
    end: int


class Page(HTMLParser):
    """The start tags and regions of a text; `top` is where a script can be put in before all others.

    What begins at `rest` is `unfinished` when it is half a tag.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=False)
        self.html = html
        self.tags: list[Tag] = []
        self.regions: list[Region] = []
        self.ends: list[tuple[str, int]] = []
        self.top = 0
        self._lines = _lines(html)
        self._opened: tuple[str, int] | None = None
        self.feed(html)
        # Not closed: what is left is text, or half a tag, over which the parser would take very long.
        self.unfinished = self.rawdata[:1] == "<" and self.rawdata[1:2].isalpha()
        self.rest = len(html) - len(self.rawdata)

    def _position(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """`<![`: a comment to browsers, and to the library a reason to give up."""
        return self.parse_bogus_comment(i)

    def handle_decl(self, decl: str) -> None:
        if not self.tags:
            self.top = self._position() + len(decl) + len("<!>")

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self._start(tag)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        found = self._start(tag)
        if tag in (SCRIPT, STYLE):
            self._opened = (tag, found.end)

    def handle_endtag(self, tag: str) -> None:
        self.ends.append((tag, self._position()))
        if self._opened and self._opened[0] == tag:
            self.regions.append(Region(tag, self._opened[1], self._position()))
            self._opened = None

    def depth(self, without: Collection[str]) -> int:
        """How deep the elements are nested at most; those in `without` count for nothing.

        An end tag closes one element of its name, or none.
        """
        steps = [(tag.start, tag.name, 1) for tag in self.tags if tag.name not in without]
        steps += [(place, name, -1) for name, place in self.ends if name not in without]
        open_of: dict[str, int] = {}
        deepest = depth = 0
        for _, name, step in sorted(steps):
            if step > 0 or open_of.get(name):
                open_of[name] = open_of.get(name, 0) + step
                depth += step
            deepest = max(deepest, depth)
        return deepest

    def _start(self, name: str) -> Tag:
        raw = self.get_starttag_text() or ""
        start = self._position()
        tag = Tag(name, start, start + len(raw), tuple(_attributes(raw, start)))
        self.tags.append(tag)
        if name in ("html", "head"):
            self.top = tag.end
        return tag


def _lines(html: str) -> list[int]:
    """Where each line starts; the parser counts line feeds only."""
    return [0, *accumulate(len(line) + 1 for line in html.split("\n"))]


def _attributes(raw: str, offset: int) -> Iterator[Attribute]:
    name = _NAME.match(raw)
    end = len(raw) - (2 if raw.endswith("/>") else 1)
    for found in _ATTRIBUTE.finditer(raw, name.end() if name else 0, end):
        value = found[2]
        bare = value or ""
        if len(bare) > 1 and bare[0] in "\"'" and bare[-1] == bare[0]:
            bare = bare[1:-1]
        yield Attribute(
            found[1].lower(),
            unescape(bare),
            offset + found.start(),
            None if value is None else offset + found.start(2),
            None if value is None else offset + found.end(2),
        )


class Changes:
    """Exchanges in a text, made all at once."""

    def __init__(self, html: str) -> None:
        self._html = html
        self._made: list[tuple[int, int, str]] = []

    def replace(self, start: int, end: int, text: str) -> None:
        self._made.append((start, end, text))

    def set(self, tag: Tag, name: str, value: str) -> None:
        """Give the tag this attribute."""
        quoted = f'"{escape(value)}"'
        found = tag.attribute(name)
        if found is None:
            place = tag.start + 1 + len(tag.name)
            self.replace(place, place, f" {name}={quoted}")
        elif found.start is None or found.end is None:
            place = found.name_start + len(name)
            self.replace(place, place, f"={quoted}")
        else:
            self.replace(found.start, found.end, quoted)

    def drop(self, tag: Tag, name: str) -> None:
        found = tag.attribute(name)
        if found is not None:
            self.replace(found.name_start, found.end or found.name_start + len(name), "")

    def made(self) -> str:
        written: list[str] = []
        place = 0
        for start, end, text in sorted(self._made, key=lambda change: change[:2]):
            written += [self._html[place:start], text]
            place = end
        return "".join(written) + self._html[place:]
