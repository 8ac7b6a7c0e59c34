"""Pages with ${placeholders}, filled in with the values of a row.

Values never become markup or script, unless the page is raw: then they are put in as they are, as Mechanical Turk did.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from re import compile as pattern
from types import MappingProxyType
from typing import TypeVar

from common.html_pages import OWN_FORMS, Fault, html_faults, position
from common.html_tags import SCRIPT, Page, Region, Tag

PLACEHOLDER = pattern(r"\$\{([A-Za-z_][A-Za-z0-9_.-]*)\}")
_PLAIN = pattern(r"[A-Za-z0-9\u0080-\U0010ffff]")
# Two line ends of JavaScript's own are no plain characters there.
_PLAIN_IN_SCRIPT = pattern(r"[A-Za-z0-9 _.,\u0080-\u2027\u202a-\U0010ffff]")
_ADDRESSES = frozenset({"action", "formaction", "href", "src", "poster", "data", "xlink:href"})
_NOT_IN = frozenset({"style", "srcdoc", "srcset"})
# The reader of HTML drops a line feed that follows them.
_DROP_LINE_FEED = ("pre", "textarea", "listing")
_OF_THE_HEAD = frozenset({"html", "head", "title", "meta", "link", "base", "style", "script"})
_SCHEME = pattern(r"\s*([A-Za-z][A-Za-z0-9+.-]*)\s*:")
CANNOT_BE_SHOWN = pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")

_Part = TypeVar("_Part", Region, Tag)

TEXT, AFTER_TAG, QUOTED, BARE, IN_SCRIPT, AS_IT_IS = "text", "after tag", "quoted", "bare", "script", "as it is"
# No elements stand in these.
_ONLY_TEXT = "only text"
_OF_TEXT_ALONE = frozenset({"textarea", "title", "option", "xmp", "noscript"})
NO_MARKUP: Mapping[str, str] = MappingProxyType({})


class NotFilledError(ValueError):
    """The page cannot be filled in with these values; the message says why. `missing`: placeholders without a value."""

    def __init__(self, message: str, missing: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.missing = missing


class TooLargeError(NotFilledError):
    """Filled in, the page has more bytes than it may have."""


@dataclass(frozen=True)
class Placeholder:
    name: str
    start: int
    end: int
    place: str
    # At the beginning of a link or another address.
    leads: bool = False


def size_of(html: str) -> int:
    """Bytes."""
    return len(html.encode("utf-8", "surrogatepass"))


def placeholder_names(html: str) -> list[str]:
    return list(dict.fromkeys(PLACEHOLDER.findall(html)))


def template_faults(html: str, raw: bool = False) -> list[Fault]:
    """All that is wrong with a page as a template, besides its size."""
    if not html.strip():
        return [Fault(1, 0, "The page is empty.")]
    found = [
        Fault(*position(html, bad.start()), "This character cannot be shown.") for bad in CANNOT_BE_SHOWN.finditer(html)
    ]
    # Whatever stands there later: the page around it must hold together by itself.
    found += html_faults(PLACEHOLDER.sub(lambda found: " " * len(found[0]), html) if raw else html)
    if not raw:
        found += _misplaced(html)
    return sorted(found, key=lambda each: (each.line, each.column))


def _misplaced(html: str) -> Iterator[Fault]:
    page = Page(html)
    for found in PLACEHOLDER.finditer(html):
        try:
            _place(page, found[1], found.start())
        except NotFilledError as refusal:
            yield Fault(*position(html, found.start()), str(refusal))


def with_form(html: str) -> str:
    """The page inside a form with a Submit button, as Mechanical Turk showed layouts.

    A page with a form of its own, or an element that is one, stays as it is. Old scripts know the names.
    """
    page = Page(html)
    if any(tag.name in OWN_FORMS for tag in page.tags):
        return html
    start, end = _body(page)
    opening = '<form name="mturk_form" id="mturk_form" method="post">'
    closing = '<p><input type="submit" id="submitButton" value="Submit"></p></form>'
    return html[:start] + opening + html[start:end] + closing + html[end:]


def _body(page: Page) -> tuple[int, int]:
    """Where the content of the page begins and ends."""
    end = next((place for name, place in page.ends if name in ("body", "html")), len(page.html))
    for tag in page.tags:
        if tag.name == "body":
            return tag.end, max(tag.end, end)
    for name, place in page.ends:
        if name == "head":
            start = page.html.find(">", place) + 1
            return start, max(start, end)
    first = next((tag.start for tag in page.tags if tag.name not in _OF_THE_HEAD), None)
    start = page.top if first is None else first
    return start, max(start, end)


def filled(
    html: str, values: Mapping[str, str], most: int, raw: bool = False, markup: Mapping[str, str] = NO_MARKUP
) -> str:
    """The page with every placeholder replaced by its value, so that a browser shows exactly the value.

    In text and attributes it is escaped as HTML, in scripts as inside a JavaScript string; `raw` puts it in as it is,
    so that its markup and entities count. `markup` has sanitised HTML by name, which stands for the value wherever
    elements may stand. The page may then have `most` bytes. Raises NotFilledError when a value is missing, or is an
    address that would run a script. Values that the page has no place for are passed over: files have columns that are
    not shown.
    """
    found = _placeholders(html, raw)
    _compare([placeholder.name for placeholder in found], values)
    written: list[str] = []
    place = size = 0
    for placeholder in found:
        # Counted on the way: thousands of places for one long value would not fit into the memory.
        if size + len(values[placeholder.name]) > most:
            raise TooLargeError(_too_large(most))
        is_markup = placeholder.place == TEXT and placeholder.name in markup
        value = markup[placeholder.name] if is_markup else _value(placeholder, values[placeholder.name])
        size += len(value)
        written += [html[place : placeholder.start], value]
        place = placeholder.end
    page = "".join(written) + html[place:]
    if len(page.encode()) > most:
        raise TooLargeError(_too_large(most))
    return page


def _too_large(most: int) -> str:
    return f"The page filled in has more than {most:,} bytes; no more are allowed."


def _compare(wanted: list[str], values: Mapping[str, str]) -> None:
    missing = [name for name in dict.fromkeys(wanted) if name not in values]
    if missing:
        raise NotFilledError(f"There is no value for {', '.join(missing)}.", missing)
    for name in dict.fromkeys(wanted):
        if CANNOT_BE_SHOWN.search(values[name]):
            raise NotFilledError(f"The value of {name} has a character that cannot be shown.")


@lru_cache(maxsize=32)
def _placeholders(html: str, raw: bool) -> tuple[Placeholder, ...]:
    """Kept: a template is filled in with many rows, and finding its places takes longer than that."""
    page = None if raw else Page(html)
    places = []
    for found in PLACEHOLDER.finditer(html):
        place, leads = (AS_IT_IS, False) if page is None else _place(page, found[1], found.start())
        places.append(Placeholder(found[1], found.start(), found.end(), place, leads))
    return tuple(places)


def _place(page: Page, name: str, start: int) -> tuple[str, bool]:
    """What is around a placeholder, and whether an address begins with it."""
    region = _last_before(page.regions, start)
    if region is not None and start < region.end:
        if region.name != SCRIPT:
            raise _refusal(name, "a style sheet")
        return IN_SCRIPT, False
    tag = _last_before(page.tags, start)
    if tag is not None and start < tag.end:
        return _place_in_tag(page, tag, name, start)
    if tag is not None and tag.end == start and tag.name in _DROP_LINE_FEED:
        return AFTER_TAG, False
    if page.html[start - 1 : start] == "<" or page.html[start - 2 : start] == "</":
        raise _refusal(name, "the name of an element")
    if tag is not None and tag.name in _OF_TEXT_ALONE and "</" not in page.html[tag.end : start]:
        return _ONLY_TEXT, False
    return TEXT, False


def _last_before(parts: Sequence[_Part], start: int) -> _Part | None:
    """The last of the parts that begins at `start` or before; they stand in order."""
    at = bisect_right(parts, start, key=lambda part: part.start)
    return parts[at - 1] if at else None


def _place_in_tag(page: Page, tag: Tag, name: str, start: int) -> tuple[str, bool]:
    for attribute in tag.attributes:
        if attribute.start is None or attribute.end is None or not attribute.start <= start < attribute.end:
            continue
        if attribute.name in _NOT_IN or attribute.name.startswith("on"):
            raise _refusal(name, f"the attribute {attribute.name}")
        begins = attribute.value.lstrip().startswith(f"${{{name}}}")
        place = QUOTED if page.html[attribute.start] in "\"'" else BARE
        return place, begins and attribute.name in _ADDRESSES
    raise _refusal(name, f"the tag <{tag.name}> outside a value")


def _refusal(name: str, where: str) -> NotFilledError:
    return NotFilledError(f"The placeholder {name} stands in {where}, where data could do harm; move it.")


def _value(placeholder: Placeholder, value: str) -> str:
    if placeholder.leads:
        # Browsers pass over white space and control characters in front of and inside a scheme.
        scheme = _SCHEME.match("".join(char for char in value if char > " "))
        if scheme and scheme[1].lower() not in ("http", "https", "mailto"):
            raise NotFilledError(f"The value of {placeholder.name} is an address that starts with {scheme[1][:20]}:.")
    if placeholder.place == AS_IT_IS:
        return value
    if placeholder.place == IN_SCRIPT:
        return "".join(char if _PLAIN_IN_SCRIPT.match(char) else f"\\u{ord(char):04x}" for char in value)
    if placeholder.place == BARE:
        # White space and signs would end the value.
        return "".join(char if _PLAIN.match(char) else f"&#{ord(char)};" for char in value)
    text = escape(value, quote=placeholder.place == QUOTED).replace("\r", "&#13;")
    return f"\n{text}" if placeholder.place == AFTER_TAG else text
