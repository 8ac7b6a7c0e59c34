"""The documents that people read in the product: those of docs/ that lead through a page, as HTML.

Their order is that of docs/README.md. A link to a document that is not shown here stays as words; pictures are left
out, as the pages themselves are at hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path, PurePosixPath

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

FOLDER = Path(__file__).resolve().parents[2] / "docs"
HOW_TO = "how-to"
# Of the other documents, those for who collects; the rest is for who runs the server or writes code.
FURTHER = frozenset({
    "tutorial", "tutorial-questionnaire",
    "record", "cosmos", "mcscript", "recipes", "protocols", "models",
    "roles", "verbs", "commands", "api", "marketplace", "glossary",
})  # fmt: skip
_TAGS = {
    "h1", "h2", "h3", "h4", "p", "ul", "ol", "li", "a", "strong", "em", "code", "pre", "blockquote", "hr", "br", "div",
    "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
_BOX = {"class", "tabindex", "role", "aria-label"}
_ATTRIBUTES = {
    **dict.fromkeys(("h1", "h2", "h3", "h4"), {"id"}),
    "a": {"href"},
    "div": _BOX,
    "pre": _BOX,
    "ol": {"start"},
}
_SCROLLED = 'tabindex="0" role="region" aria-label='
_HEADING = re.compile(r"h[1-4]")


@dataclass(frozen=True)
class Section:
    """A heading of the list, and below it (name, title) of each document."""

    title: str
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Guide:
    title: str
    html: str


def contents() -> list[Section]:
    """The documents that are shown, in the order and under the headings of docs/README.md."""
    names: list[tuple[str, list[str]]] = []
    for token, inline in _pairs(_reader().parse(_written(FOLDER / "README.md"))):
        if token.tag == "h2":
            names.append((inline.content, []))
        elif names:
            links = (str(one.attrs["href"]) for one in inline.children or () if one.type == "link_open")
            names[-1][1].extend(filter(None, (_name(FOLDER / "README.md", link) for link in links)))
    return [Section(title, tuple((name, _title(_files()[name])) for name in found)) for title, found in names if found]


def guide(name: str, address: Callable[[str], str]) -> Guide | None:
    """The document of that name; None where none is shown. `address` is where another one stands, by its name."""
    file = _files().get(name)
    if file is None:
        return None
    tokens = _reader().parse(_written(file))
    _lead(tokens, file, address)
    return Guide(_title(file), _html(tokens))


def _files() -> dict[str, Path]:
    """Name to file; a how-to has the name before another document."""
    further = {name: FOLDER / f"{name}.md" for name in FURTHER}
    return further | {file.stem: file for file in (FOLDER / HOW_TO).glob("*.md")}


def _written(file: Path) -> str:
    return _read(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _read(file: Path, changed: int) -> str:
    return file.read_text(encoding="utf-8")


def _reader() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _pairs(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Each block that begins, with the words in it."""
    return ((one, two) for one, two in zip(tokens, tokens[1:], strict=False) if two.type == "inline")


def _name(file: Path, href: str) -> str:
    """Of the document to which a link in a file leads, if it is shown; else empty."""
    target = PurePosixPath(file.parent.relative_to(FOLDER).as_posix(), href.partition("#")[0])
    parts = [part for part in target.parts if part != "."]
    while ".." in parts:
        place = parts.index("..")
        del parts[max(place - 1, 0) : place + 1]
    path = FOLDER.joinpath(*parts)
    return path.stem if _files().get(path.stem) == path else ""


def _lead(tokens: Sequence[Token], file: Path, address: Callable[[str], str]) -> None:
    """Give headings their ids, and links the addresses of the documents as they are shown."""
    for token, inline in _pairs(tokens):
        if _HEADING.fullmatch(token.tag):
            token.attrSet("id", heading_id(inline.content))
    for inline in (token for token in tokens if token.type == "inline"):
        inline.children = list(_linked(inline.children or (), file, address))


def _linked(tokens: Sequence[Token], file: Path, address: Callable[[str], str]) -> Iterator[Token]:
    led = True
    for token in tokens:
        if token.type == "link_open":
            href = _href(str(token.attrs["href"]), file, address)
            led = bool(href)
            token.attrs = {"href": href}
        if token.type != "image" and (led or token.type not in ("link_open", "link_close")):
            yield token


def _href(href: str, file: Path, address: Callable[[str], str]) -> str:
    if "://" in href or href.startswith("#"):
        return href
    name, _, heading = href.partition("#")
    found = _name(file, name)
    return f"{address(found)}{f'#{heading}' if heading else ''}" if found else ""


def heading_id(title: str) -> str:
    """As in the addresses of the documents: lower case, without signs, hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _title(file: Path) -> str:
    return _written(file).partition("\n")[0].removeprefix("# ").replace("`", "")


def _html(tokens: Sequence[Token]) -> str:
    """Tables and examples can be scrolled by keys where they are wider than the page."""
    reader = _reader()
    page: str = reader.renderer.render(list(tokens), reader.options, {})
    # A screen reader lists these parts by their names, so that no two have the same.
    tables, examples = count(1), count(1)
    page = re.sub("<table>", lambda _: f'<div class="table" {_SCROLLED}"Table {next(tables)}"><table>', page)
    page = re.sub("<pre>", lambda _: f'<pre {_SCROLLED}"Example {next(examples)}">', page)
    page = page.replace("</table>", "</table></div>").replace("<p></p>\n", "")
    return nh3.clean(page, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"https", "http"}, link_rel="noopener")
