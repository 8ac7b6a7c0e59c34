"""All that is wrong with a page, and a corrected copy of it: for whoever brings old templates.

The copy is what browsers make of the page, written anew: the same elements, fields, texts and placeholders. It passes
the check, or it is not offered.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from re import compile as pattern
from typing import Any

import html5lib
from html5lib.serializer import HTMLSerializer
from html5lib.treebuilders import getTreeBuilder
from html5lib.treewalkers import getTreeWalker

from common.html_pages import VOID, Fault, unusual
from common.html_tags import SCRIPT, STYLE, Changes, Page
from common.html_templates import CANNOT_BE_SHOWN, PLACEHOLDER, placeholder_names, size_of, template_faults

# Bytes of a page in a question, or of a layout.
MOST_BYTES = 65_535
# Larger pages, by that, are measured and not read: the time may grow with the square of the size.
_MOST_READ = 2
# A copy may get larger while it is written.
_MOST_WRITTEN = 4 * MOST_BYTES
# Of the tree that html5lib makes; it has no types.
Element = Any
_DATA_ADDRESS = pattern(r"""data:[\w.+-]+/[^\s"'()<>]+""")
_SPACE = pattern(r"\s\s+")
# As a comment, and in a textarea or a title, where there are none, as text.
_SHELTER = pattern(r"(?:<!--|&lt;!--)raw:(\$\{[^}]*\})(?:-->|--&gt;)")
_DRAWINGS = ("svg", "math")
_CONTROLS = frozenset({"button", "fieldset", "input", "object", "output", "select", "textarea"})
_IN_TABLES = frozenset({"table", "thead", "tbody", "tfoot", "tr", "colgroup"})
_KEEP_SPACE = frozenset({"pre", "textarea", "listing", "plaintext", "xmp", SCRIPT, STYLE})
# The reader of HTML drops a line feed that follows them.
_DROP_LINE_FEED = frozenset({"pre", "textarea", "listing"})
# A page that is corrected may show one more fault; after so many times it is given up.
_TIMES = 3


@dataclass(frozen=True)
class Share:
    """What takes `size` bytes of a page, in so many places."""

    what: str
    size: int
    places: int


@dataclass(frozen=True)
class Report:
    """What there is to say about a page.

    `shares` is filled for a page that is too large. `corrected` is empty when there is nothing to correct or no copy to
    offer; `left` is then what a copy would still have against it. A page may have `most` bytes.
    """

    size: int
    faults: Sequence[Fault]
    shares: Sequence[Share] = ()
    corrected: str = ""
    squeezed: bool = False
    left: Sequence[str] = ()
    most: int = MOST_BYTES

    @property
    def too_large(self) -> bool:
        return self.size > self.most

    @property
    def passes(self) -> bool:
        return not self.faults and not self.too_large


def look_at(html: str, raw: bool = False, most: int = MOST_BYTES) -> Report:
    """All that keeps a page of at most so many bytes from being a layout or an HTMLQuestion; `raw` as for layouts."""
    size = size_of(html)
    large = size > most
    shares = _shares(html, size) if large else ()
    read = size - sum(share.size for share in shares if share.what == PICTURES)
    if read > _MOST_READ * most:
        left = [_too_large(size, most), "It was too large to be read for other errors."]
        return Report(size, (), shares, left=left, most=most)
    faults = _all_faults(html, raw)
    if not faults and not large:
        return Report(size, faults, most=most)
    return _with_copy(Report(size, faults, shares, most=most), html, raw)


def _all_faults(html: str, raw: bool) -> list[Fault]:
    """With those that a `<script/>` or `<textarea/>` hides, which swallows what follows it."""
    found = template_faults(html, raw)
    closed = _closed(html)
    if found and closed != html:
        known = {(each.line, each.text) for each in found}
        found += [each for each in template_faults(closed, raw) if (each.line, each.text) not in known]
    return sorted(found, key=lambda each: (each.line, each.column))


def _with_copy(report: Report, html: str, raw: bool) -> Report:
    copy, left = _corrected(html, raw, report.most, squeeze=False)
    squeezed = False
    if size_of(copy) > report.most:
        smaller, still_left = _corrected(html, raw, report.most, squeeze=True)
        squeezed = not still_left
        copy, left = (smaller, []) if squeezed else (copy, left)
    return replace(report, corrected="" if left else copy, squeezed=squeezed, left=left)


def _against(copy: str, faults: Sequence[Fault], html: str, most: int) -> list[str]:
    """Why a copy cannot be offered; nothing when it can."""
    left = [str(each) for each in faults]
    if size_of(copy) > most:
        left.append(_too_large(size_of(copy), most))
    if set(placeholder_names(copy)) != set(placeholder_names(html)) or "raw:${" in copy:
        left.append("A placeholder would be lost: it stands in the name of an element or an attribute.")
    return left


def _too_large(size: int, most: int) -> str:
    return f"It would have {size:,} bytes; at most {most:,} are allowed."


# -- what takes the space ------------------------------------------------------------------------------

PICTURES = "pictures and other files inside the page (data: addresses)"


def _shares(html: str, size: int) -> tuple[Share, ...]:
    """What takes the space, the largest share first; nothing is counted twice."""
    rest, counted = html, []
    for what, found in (
        (PICTURES, lambda text: (each.span() for each in _DATA_ADDRESS.finditer(text))),
        ("comments", _comments),
        ("style sheets inside the page", lambda text: _regions(text, STYLE)),
        ("scripts inside the page", lambda text: _regions(text, SCRIPT)),
        (
            "white space that a browser shows as one space",
            lambda text: ((each.start() + 1, each.end()) for each in _SPACE.finditer(text)),
        ),
    ):
        spans = list(found(rest))
        counted.append(Share(what, sum(size_of(rest[start:end]) for start, end in spans), len(spans)))
        rest = _without(rest, spans)
    counted.append(Share("texts and tags", size - sum(share.size for share in counted), 1))
    return tuple(sorted((share for share in counted if share.size), key=lambda share: -share.size))


def _comments(text: str) -> Iterator[tuple[int, int]]:
    end = 0
    while (start := text.find("<!--", end)) >= 0 and (close := text.find("-->", start)) >= 0:
        end = close + len("-->")
        yield start, end


def _regions(text: str, name: str) -> Iterator[tuple[int, int]]:
    return ((region.start, region.end) for region in Page(text).regions if region.name == name)


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    kept, place = [], 0
    for start, end in spans:
        kept.append(text[place:start])
        place = end
    return "".join(kept) + text[place:]


# -- the corrected copy -----------------------------------------------------------------------------------


def _corrected(html: str, raw: bool, most: int, squeeze: bool) -> tuple[str, list[str]]:
    """The page written anew until it passes, and what is still against it."""
    copy = CANNOT_BE_SHOWN.sub("", html)
    faults: list[Fault] = []
    for _ in range(_TIMES):
        beyond = unusual(Page(copy))
        if beyond is not None:
            return "", [str(beyond)]
        copy = _closed(copy)
        copy = _SHELTER.sub(r"\1", _written_anew(_sheltered(copy), squeeze)) if raw else _written_anew(copy, squeeze)
        faults = template_faults(copy, raw)
        if not faults:
            break
    return copy, _against(copy, faults, html, most)


def _sheltered(html: str) -> str:
    """The placeholders of a raw layout that stand in the text as comments: these may stand anywhere, in tables too."""
    page = Page(html)
    spans = [*_comments(html), *((tag.start, tag.end) for tag in page.tags)]
    spans = sorted([*spans, *((region.start, region.end) for region in page.regions)])
    # A comment may stand in a script: the furthest end of all that began before counts.
    reached = list(accumulate((end for _, end in spans), max))
    changes = Changes(html)
    for found in PLACEHOLDER.finditer(html):
        before = bisect_right(spans, (found.start(), len(html)))
        if not before or reached[before - 1] <= found.start():
            changes.replace(found.start(), found.end(), f"<!--raw:{found[0]}-->")
    return changes.made()


def _closed(html: str) -> str:
    """`<x/>` as `<x></x>`, as its author meant it; browsers leave x open.

    Not in drawings, where it means that, and not where end tags enough for it follow: then it was left open on purpose.
    """
    page = Page(html)
    changes = Changes(html)
    spare = _spare_ends(page)
    ends = [place for name, place in page.ends if name in _DRAWINGS]
    drawn_until = 0
    for tag in page.tags:
        if tag.name in _DRAWINGS:
            drawn_until = next(iter(ends[bisect_left(ends, tag.end) :][:1]), tag.end)
        itself = html[tag.end - 2 : tag.end] == "/>" and tag.start >= drawn_until
        if itself and tag.name not in VOID and not spare.get(tag.name):
            changes.replace(tag.end, tag.end, f"</{tag.name}>")
    return changes.made()


def _spare_ends(page: Page) -> dict[str, bool]:
    """The names of elements that have more end tags than start tags which are not closed in themselves."""
    balance: dict[str, int] = {}
    for tag in page.tags:
        if page.html[tag.end - 2 : tag.end] != "/>":
            balance[tag.name] = balance.get(tag.name, 0) - 1
    for name, _ in page.ends:
        balance[name] = balance.get(name, 0) + 1
    return {name: left > 0 for name, left in balance.items()}


_TreeBuilder: Any = getTreeBuilder("etree", fullTree=True)


class _Builder(_TreeBuilder):  # type: ignore[misc]  # html5lib has no types
    """Notes which form each field belongs to: in a table the tree does not tell, and browsers know it all the same."""

    def reset(self) -> None:
        super().reset()
        self.owners: list[tuple[Element, Element]] = []

    def insertElementNormal(self, token: Any) -> Any:
        return self._noted(super().insertElementNormal(token))

    def insertElementTable(self, token: Any) -> Any:
        return self._noted(super().insertElementTable(token))

    def _noted(self, made: Any) -> Any:
        if made.name in _CONTROLS and self.formPointer is not None:
            self.owners.append((made._element, self.formPointer._element))
        return made


def _written_anew(html: str, squeeze: bool) -> str:
    parser = html5lib.HTMLParser(tree=_Builder, namespaceHTMLElements=False)
    document: Element = parser.parse(html)
    _keep_fields_in_their_forms(document, parser.tree.owners)
    _keep_placeholders_in_the_body(document)
    for element in document.iter():
        if element.tag in _DROP_LINE_FEED and (element.text or "").startswith("\n"):
            element.text = f"\n{element.text}"
    if squeeze:
        _squeeze(document)
    serializer = HTMLSerializer(
        quote_attr_values="always", omit_optional_tags=False, resolve_entities=False, use_trailing_solidus=False
    )
    written: list[str] = []
    size = 0
    for piece in serializer.serialize(getTreeWalker("etree")(document)):
        written.append(piece)
        size += len(piece)
        # Badly nested bold and italics multiply themselves.
        if size > _MOST_WRITTEN:
            break
    return "".join(written)


def _keep_placeholders_in_the_body(document: Element) -> None:
    """Sheltered placeholders outside the body are put into it: a text that fills one may stand there alone."""
    body = document.find("html/body")
    if body is None:
        return
    before: list[Element] = []
    behind: list[Element] = []
    for parent in (document, *document.findall("html"), *document.findall("html/head")):
        is_behind = False
        for child in list(parent):
            is_behind = is_behind or child is body or child.find("body") is not None
            if not isinstance(child.tag, str) and (child.text or "").startswith("raw:"):
                _take_out(child, parent)
                (behind if is_behind else before).append(child)
    if before:
        before[-1].tail, body.text = body.text, None
        body[:0] = before
    body.extend(behind)


def _keep_fields_in_their_forms(document: Element, owners: Sequence[tuple[Element, Element]]) -> None:
    """Forms that begin between the rows of a table are put before it; their fields name them."""
    parents = {child: parent for parent in document.iter() for child in parent}
    taken = {element.get("id") for element in document.iter()}
    for number, (control, form) in enumerate(owners):
        if form in _above(control, parents) or control not in parents or form not in parents:
            continue
        if not form.get("id"):
            form.set("id", next(name for name in (f"form{n}" for n in range(number, 10**6)) if name not in taken))
            taken.add(form.get("id"))
        control.set("form", form.get("id", ""))
    for form in [element for element in document.iter("form") if parents[element].tag in _IN_TABLES]:
        table = [element for element in _above(form, parents) if element.tag == "table"][-1]
        _take_out(form, parents[form])
        around = parents[table]
        around.insert(list(around).index(table), form)
        parents[form] = around


def _above(element: Element, parents: dict[Element, Element]) -> list[Element]:
    found = []
    while element in parents:
        element = parents[element]
        found.append(element)
    return found


def _take_out(child: Element, parent: Element) -> None:
    """Remove an element and leave the text behind it."""
    place = list(parent).index(child)
    tail, child.tail = child.tail or "", None
    if place:
        before = parent[place - 1]
        before.tail = (before.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail
    parent.remove(child)


def _squeeze(document: Element) -> None:
    """Leave out comments, and write white space as one character where a browser shows it as one."""
    for parent in list(document.iter()):
        for child in list(parent):
            if not isinstance(child.tag, str) and not (child.text or "").startswith("raw:"):
                _take_out(child, parent)
    _squeeze_texts(document)


def _squeeze_texts(document: Element) -> None:
    open_elements = [(document, False)]
    while open_elements:
        element, kept = open_elements.pop()
        kept = kept or element.tag in _KEEP_SPACE
        if not kept:
            element.text = _single(element.text)
        for child in element:
            if not kept:
                child.tail = _single(child.tail)
            open_elements.append((child, kept))


def _single(text: str | None) -> str | None:
    return None if text is None else _SPACE.sub(lambda found: "\n" if "\n" in found[0] else " ", text)
