"""Pages that a requester wrote: what is wrong with one as HTML, and how it is put to work in a frame.

A marketplace shows such pages to its workers, and a requester wants to know before publishing what it would refuse.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from re import compile as pattern
from typing import Any
from urllib.parse import urljoin, urlsplit

import html5lib
from html5lib.constants import E as _MESSAGES

from common.html_tags import SCRIPT, STYLE, Changes, Page, Tag

# What a browser would repair by moving or dropping something. Small slips that change nothing, such as a bare
# ampersand or a missing document type, are let pass: many pages have them.
_FATAL = pattern(
    r"^(eof-in-.*|.*-but-got-eof|unexpected-EOF-.*|.*end-tag.*|adoption-agency-.*|missing-end-tags?"
    r"|non-void-element-with-trailing-solidus|unexpected-start-tag|unexpected-start-tag-ignored"
    r"|unexpected-start-tag-implies-(end-tag|table-voodoo)|unexpected-char-implies-table-voodoo"
    r"|unexpected-cell-in-table-body|unexpected-form-in-table|unexpected-start-tag-in-select)$"
)
_HARMLESS = frozenset({"expected-doctype-but-got-eof", "expected-doctype-but-got-end-tag"})
# Of a call's answer; the operator's page and the command `checkhtml` show all.
_SHOWN = 200
# The checker needs time with the square of these.
_DEEPEST = 300
_MOST_ATTRIBUTES = 300
_CLOSED_BY_OTHERS = frozenset(
    ["p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "option", "optgroup", "rp", "rt"]
)
VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
CROWD_ELEMENTS = frozenset(
    f"crowd-{name}"
    for name in (
        "alert",
        "badge",
        "button",
        "card",
        "checkbox",
        "classifier",
        "classifier-multi-select",
        "entity-annotation",
        "fab",
        "form",
        "icon-button",
        "image-classifier",
        "image-classifier-multi-select",
        "input",
        "instructions",
        "modal",
        "radio-button",
        "radio-group",
        "slider",
        "tab",
        "tabs",
        "text-area",
        "toast",
        "toggle-button",
    )
)
# An element that sends itself: a page with one needs no form.
ANNOTATION = "crowd-entity-annotation"
OWN_FORMS = ("form", "crowd-form", ANNOTATION)
# Elements with which workers draw on a picture.
_DRAWING = frozenset(
    f"crowd-{name}"
    for name in (
        "bounding-box",
        "instance-segmentation",
        "keypoint",
        "line",
        "polygon",
        "polyline",
        "semantic-segmentation",
    )
)
_OF_PICTURES = ("crowd-image-classifier", "crowd-image-classifier-multi-select")
_HELPERS = "externalHIT_v1.js"
_OUR_SCRIPTS = (_HELPERS, "crowd-html-elements.js")
_SUBMIT_PATH = "/mturk/externalsubmit"
# Attributes that name files and pages.
_FILES = ("src", "href", "poster", "data")
_IMPORT = pattern(r"""@import\s+(?:url\(\s*)?["']?(https?://[^\s"'()]+)""")
_MOST_ELSEWHERE = 100
# The browser reports an error at once, upon which pages load their script from a second place.
_NO_ADDRESS = "//:"
_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a page; line and column as the checker counts them, lines from 1."""

    line: int
    column: int
    text: str

    def __str__(self) -> str:
        return f"[{self.line},{self.column}] {self.text}"


class _Checker(html5lib.HTMLParser):  # type: ignore[misc]  # html5lib has no types
    """Says nothing of end tags that move nothing, `</input>` or a `</p>` too many: tools make such pages."""

    def parseError(self, errorcode: str = "XXX-undefined-error", datavars: Any = None) -> None:
        if errorcode == "unexpected-end-tag":
            name = datavars["name"]
            # Where no paragraph is open, the parser has just opened an empty one for the tag to close.
            if name in VOID or (name == "p" and self.tree.openElements[-1].name == "p"):
                return
        super().parseError(errorcode, datavars)


def shown_faults(found: Sequence[Fault]) -> str:
    """The faults in one text for a call's answer, the first 200 of them."""
    more = (
        f" And {len(found) - _SHOWN} more: the operator's command checkhtml lists all." if len(found) > _SHOWN else ""
    )
    return " ".join(str(each) for each in found[:_SHOWN]) + more


def html_faults(html: str) -> list[Fault]:
    """All that a browser would have to repair, and crowd elements that are not offered, in the order of the page."""
    page = Page(html)
    beyond = unusual(page)
    if beyond is not None:
        return [beyond]
    parser = _Checker(namespaceHTMLElements=False)
    document = parser.parse(html)
    found = [
        Fault(line, column, _MESSAGES.get(code, code) % values)
        for (line, column), code, values in parser.errors
        if _FATAL.match(code) and code not in _HARMLESS
    ]
    return sorted([*found, *_not_offered(page, document)], key=lambda each: (each.line, each.column))


def unusual(page: Page) -> Fault | None:
    """What the checker would take minutes for. Nobody writes such pages by hand."""
    if page.unfinished:
        return Fault(
            *position(page.html, page.rest), "Unexpected end of file in a tag: it is not closed, or a quote in it."
        )
    for tag in page.tags:
        if len(tag.attributes) > _MOST_ATTRIBUTES:
            text = f"An element has more than {_MOST_ATTRIBUTES} attributes."
            return Fault(*position(page.html, tag.start), text)
    if page.depth(_CLOSED_BY_OTHERS | VOID) > _DEEPEST:
        return Fault(1, 0, f"The elements are nested more than {_DEEPEST} deep.")
    return None


def _not_offered(page: Page, document: Any) -> list[Fault]:
    """Crowd elements that are not offered, each where it comes first."""
    names = {node.tag for node in document.iter() if isinstance(node.tag, str)}
    unknown = {name for name in names if name.startswith("crowd-")} - CROWD_ELEMENTS
    first: dict[str, int] = {}
    for tag in page.tags:
        if tag.name in unknown:
            first.setdefault(tag.name, tag.start)
    return [Fault(*position(page.html, place), _refusal_of(name)) for name, place in first.items()]


def _refusal_of(name: str) -> str:
    drawing = name in _DRAWING
    instead = ", ".join(f"<{one}>" for one in (_OF_PICTURES if drawing else sorted(CROWD_ELEMENTS)))
    why = (
        ", because nothing can be drawn on pictures here; what asks about whole pictures is"
        if drawing
        else "; taken are"
    )
    return f"<{name}> is not offered{why} {instead}."


def position(html: str, at: int) -> tuple[int, int]:
    """Line and column of a place in the text."""
    return html.count("\n", 0, at) + 1, at - (html.rfind("\n", 0, at) + 1)


@dataclass(frozen=True)
class Surroundings:
    """What a page needs in its frame: where answers go, whose they are, where our scripts are (with a / at the end).

    A preview has no `worker_id`. `accept_first` and `not_sent` are what our scripts say in a preview; without them they
    speak English.
    """

    submit_url: str
    assignment_id: str
    scripts: str
    worker_id: str = ""
    accept_first: str = ""
    not_sent: str = ""


def fit_into_frame(html: str, around: Surroundings) -> str:
    """The page with its submit addresses, its assignmentId and workerId, and Amazon's scripts exchanged for ours.

    Addresses without a scheme (`//host/file`) get https: they were written for a site that had it. Everything else
    stays as it was written. Scripts of ours come first: one does the same for forms that scripts make, and switches
    submitting off in a preview; another has the functions that Amazon's frame gave to every page. A page that loads
    scripts or style sheets from elsewhere begins with one that waits for them a limited time.
    """
    page = Page(html)
    changes = Changes(html)
    ours = {"assignmentId": around.assignment_id} | ({"workerId": around.worker_id} if around.worker_id else {})
    named = {tag.value("name") for tag in page.tags if tag.name == "input"}
    missing = "".join(_hidden(name, value) for name, value in ours.items() if name not in named)
    for tag in page.tags:
        if tag.name == "form" and is_submit(tag.value("action")):
            changes.set(tag, "action", around.submit_url + _fields_of(tag.value("action")))
            changes.set(tag, "method", "post")
            changes.replace(tag.end, tag.end, missing)
        elif tag.name in ("button", "input") and tag.attribute("formaction") and is_submit(tag.value("formaction")):
            changes.set(tag, "formaction", around.submit_url + _fields_of(tag.value("formaction")))
        elif tag.name == "script":
            _exchange_script(changes, tag, around)
        for name in _FILES:
            address = tag.value(name).strip()
            if address.startswith("//") and not _is_here(address) and not _script_of_ours(tag):
                changes.set(tag, name, f"https:{address}")
        if tag.name == "input" and tag.value("name") in ours:
            changes.set(tag, "value", ours[tag.value("name")])
    elsewhere = _elsewhere(changes.made(), around)
    changes.replace(page.top, page.top, _first_scripts(around, elsewhere))
    return changes.made()


def is_submit(address: str) -> bool:
    """Amazon's submit address on whatever host, ours, or none at all."""
    try:
        path = urlsplit(address.strip()).path
    except ValueError:
        return False
    return not address.strip() or path.rstrip("/").lower() == _SUBMIT_PATH


def _fields_of(address: str) -> str:
    """The fields of an answer that stand in the address, with their question mark."""
    query = urlsplit(address.strip()).query
    return f"?{query}" if query else ""


def _hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{name}" value="{value}">'


def _exchange_script(changes: Changes, tag: Tag, around: Surroundings) -> None:
    ours = _script_of_ours(tag)
    if ours:
        changes.set(tag, "src", around.scripts + ours)
        # They belong to the file that was meant.
        changes.drop(tag, "integrity")
        changes.drop(tag, "crossorigin")


def _script_of_ours(tag: Tag) -> str:
    """The script of ours that takes the place of a file; empty when none does."""
    file = tag.value("src").partition("?")[0].rpartition("/")[2].lower() if tag.name == "script" else ""
    return next((name for name in _OUR_SCRIPTS if name.lower() == file), "")


def _is_here(address: str) -> bool:
    try:
        return urlsplit(address).hostname in _THIS_MACHINE
    except ValueError:
        return False


def _elsewhere(html: str, around: Surroundings) -> list[dict[str, str]]:
    """The scripts and style sheets that a page takes from elsewhere: the address of each, what names it in the page,
    and what would stand there without it.
    """
    page = Page(html)
    base = next((tag.value("href").strip() for tag in page.tags if tag.name == "base" and tag.value("href")), "")
    found = []
    for tag in page.tags:
        name = "src" if tag.name == SCRIPT else "href"
        named = tag.attribute(name)
        is_sheet = tag.name == "link" and "stylesheet" in tag.value("rel").lower().split()
        if named and named.value.strip() and named.start is not None and (tag.name == SCRIPT or is_sheet):
            kind = SCRIPT if tag.name == SCRIPT else STYLE
            found.append((named.value.strip(), kind, html[named.name_start : named.end], f'{name}="{_NO_ADDRESS}"'))
    for region in page.regions:
        if region.name == STYLE:
            imports = _IMPORT.finditer(html, region.start, region.end)
            found += [(one[1], STYLE, one[1], _NO_ADDRESS) for one in imports]
    addresses = {}
    for address, kind, written, instead in found:
        try:
            address = urljoin(base, address)
        except ValueError:
            continue
        if address.lower().startswith(("http://", "https://")) and not address.startswith(around.scripts):
            addresses[written] = {"address": address, "kind": kind, "written": written, "instead": instead}
    return list(addresses.values())[:_MOST_ELSEWHERE]


def _first_scripts(around: Surroundings, elsewhere: Sequence[Mapping[str, str]]) -> str:
    said = {"data-accept-first": around.accept_first, "data-not-sent": around.not_sent}
    words = "".join(f' {name}="{escape(text)}"' for name, text in said.items() if text)
    first = f'<script src="{around.scripts}outside.js" data-addresses="{escape(json.dumps(elsewhere))}"></script>'
    return (first if elsewhere else "") + (
        f'<script src="{around.scripts}task.js" data-submit-url="{around.submit_url}" '
        f'data-assignment-id="{around.assignment_id}" data-worker-id="{around.worker_id}"{words}></script>'
        f'<script src="{around.scripts}{_HELPERS}"></script>'
    )
