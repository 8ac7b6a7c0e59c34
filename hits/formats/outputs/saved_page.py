"""A page of a task as a file that can be read by itself: styles inside, nothing that runs, loads or is sent.

Security: what a lead or a row brought into the page is parsed, and only elements and attributes of the lists below are
written again. There is no form element, so nothing can be sent; a policy in the page's head forbids browsers to load
or run anything all the same. Crowd elements, which scripts draw at the marketplace, become the controls that they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

import html5lib
import nh3

from common.html_pages import CROWD_ELEMENTS
from hits.text.crowd_elements import categories, entity_labels, exclusion

# Address of a medium to what stands for it in the file; None where it is left out.
Medium = Callable[[str], str | None]
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; form-action 'none'"
_NOTE = "margin: 0; padding: 8px 16px; border-bottom: 1px solid; font: 14px sans-serif"
_NOT_KEPT = frozenset({"script", "noscript", "template", "iframe", "object", "embed", "link", "meta", "base", "style"})
_MEDIA = {"img": "picture", "audio": "sound", "video": "video", "source": "source"}
_TAGS = frozenset(
    """
    a abbr address article aside audio b bdi bdo blockquote br button caption center cite classification-target
    code col colgroup data dd del details dfn div dl dt em
    fieldset figcaption figure font footer full-instructions h1 h2 h3 h4 h5 h6 header hr i img input ins kbd
    label legend li main mark meter nav negative-example ol optgroup option output p positive-example pre
    progress q rp rt ruby s samp section select short-instructions small span strike strong sub summary sup
    table tbody td textarea tfoot th thead time tr tt u ul var video wbr
    """.split()  # noqa: SIM905 - a list of them would be as long as the module
)
_EVERYWHERE = {"class", "id", "role", "title", "lang", "dir", "hidden", "style"}
_ATTRIBUTES: Mapping[str, set[str]] = {
    "*": _EVERYWHERE,
    "a": {"href"},
    "audio": {"src", "controls"},
    "button": {"disabled"},
    "col": {"span"},
    "colgroup": {"span"},
    "details": {"open"},
    "fieldset": {"disabled"},
    "font": {"color", "size"},
    "img": {"src", "alt", "width", "height"},
    "input": {
        *("type", "name", "value", "checked", "disabled", "min", "max", "step", "placeholder", "required", "maxlength"),
        *("size", "readonly"),
    },
    "label": {"for"},
    "meter": {"value", "min", "max"},
    "ol": {"start", "reversed"},
    "optgroup": {"label"},
    "option": {"value", "selected", "disabled"},
    "output": {"for"},
    "progress": {"value", "max"},
    "select": {"name", "multiple", "size", "required", "disabled"},
    "table": {"border", "cellpadding", "cellspacing", "width"},
    "td": {"colspan", "rowspan", "width", "align", "valign"},
    "textarea": {"name", "rows", "cols", "placeholder", "maxlength", "required", "readonly", "disabled"},
    "th": {"colspan", "rowspan", "scope", "width", "align", "valign"},
    "time": {"datetime"},
    "video": {"src", "controls", "width", "height"},
}
_DATA = re.compile(r"data:(image|audio|video)/[a-z0-9.+-]+;base64,[A-Za-z0-9+/=]*")
# What could load something, or reach out of its place in the sheet.
_LOADS = re.compile(r"url\s*\(|image-set|@import|expression|</|\\", re.IGNORECASE)
_WITH_SCRIPTS, _WITHOUT_SCRIPTS = (re.compile(rf"\(\s*scripting\s*:\s*{one}\s*\)") for one in ("enabled", "none"))
# A hint that belongs to a page that is scrolled within its frame.
_WHOLE = ".answer::after, .paper::after { content: none !important; }"
_RULES = re.compile(r"@import[^;{]*;?|(?:url|image-set)\s*\([^)]*\)?", re.IGNORECASE)


def saved(html: str, *, title: str, note: str, styles: Iterable[str], medium: Medium) -> str:
    """The whole file. `note` is a sentence above the page, and `styles` are sheets besides those in the page itself."""
    tree = html5lib.parse(html, treebuilder="etree", namespaceHTMLElements=False)
    sheets = [*styles, *(sheet.text or "" for sheet in tree.iter("style")), _WHOLE]
    body = tree.find("body")
    _draw(body)
    _strip(body, medium)
    inside = html5lib.serialize(body, tree="etree", omit_optional_tags=False, quote_attr_values="always")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            *(f"<style>\n{_own_sheet(sheet)}\n</style>" for sheet in sheets if sheet.strip()),
            "</head>",
            "<body>",
            f'<p style="{_NOTE}">{escape(note)}</p>',
            _clean(inside),
            "</body>",
            "</html>",
            "",
        ]
    )


def _own_sheet(sheet: str) -> str:
    """Without anything that is loaded, and without an end of the element that it stands in. What workers saw with
    scripts is shown to readers who have none.
    """
    shown = _WITHOUT_SCRIPTS.sub("(max-width: 0px)", _WITH_SCRIPTS.sub("(min-width: 0px)", sheet))
    return _RULES.sub("", shown).replace("</", "<\\/")


def _clean(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS | CROWD_ELEMENTS,
        clean_content_tags={"script", "style"},
        attributes={name: set(of) for name, of in _ATTRIBUTES.items()},
        attribute_filter=_attribute,
        generic_attribute_prefixes={"aria-"},
        url_schemes={"data"},
        link_rel=None,
    )


def _attribute(tag: str, name: str, value: str) -> str | None:
    if name == "src":
        return value if _DATA.fullmatch(value) else None
    if name == "href":
        return value if value.startswith("#") else None
    if name == "style":
        return None if _LOADS.search(value) else value
    return value


# The tree: elements are those of `xml.etree`, which html5lib makes.


def _strip(parent: Any, medium: Medium) -> None:
    """Take out what runs, loads or is not seen, and put words in the place of media that are not in the file."""
    for child in list(parent):
        if (
            not isinstance(child.tag, str)
            or child.tag in _NOT_KEPT
            or bool(child.tag == "input" and child.get("type", "").lower() == "hidden")
        ):
            _replace(parent, child, [])
            continue
        _strip(child, medium)
        if child.tag in _MEDIA:
            _with_medium(parent, child, medium)
        elif child.tag == "a":
            _with_address(child)


def _with_medium(parent: Any, element: Any, medium: Medium) -> None:
    address = element.get("src", "")
    found = medium(address) if address else None
    if found:
        element.set("src", found)
    elif address:
        described = element.get("alt") or element.get("aria-label") or ""
        said = ": ".join(part for part in (described, address if "://" in address else "") if part)
        words = parent.makeelement("span", {})
        words.text = f"[{_MEDIA[element.tag]}, not in this file{f': {said}' if said else ''}]"
        _replace(parent, element, [words])


def _with_address(element: Any) -> None:
    """A link leads nowhere; where it led is text."""
    address = element.get("href", "")
    if address.startswith(("https:", "http:")) and address not in "".join(element.itertext()):
        words = element.makeelement("span", {})
        words.text = f" ({address})"
        element.append(words)


def _replace(parent: Any, child: Any, by: Sequence[Any]) -> None:
    """Keeps the text behind the child."""
    at, tail = list(parent).index(child), child.tail or ""
    parent.remove(child)
    for number, one in enumerate(by):
        parent.insert(at + number, one)
    if by:
        by[-1].tail = tail
    elif at:
        before = parent[at - 1]
        before.tail = (before.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail


# Crowd elements


def _draw(parent: Any) -> None:
    """The plain controls that each crowd element stands for, within it: the sheet of crowd elements goes by these."""
    for element in list(parent.iter()):
        draw = _DRAWN.get(element.tag) if isinstance(element.tag, str) else None
        if draw:
            draw(element)
    for group in list(parent.iter("crowd-radio-group")):
        for one in group.iter("input"):
            one.set("name", group.get("name") or "choice")


def _field(element: Any, tag: str, attributes: Mapping[str, str]) -> None:
    given = {name: element.get(name) for name in _LIMITS if element.get(name) is not None}
    control = element.makeelement(tag, {"name": element.get("name", ""), **given, **attributes})
    if tag == "textarea":
        control.text = element.get("value") or "".join(element.itertext()).strip()
    label = element.makeelement("label", {})
    label.text = element.get("label", "")
    for child in list(element):
        element.remove(child)
    element.text = None
    element.extend([label, control])


def _tick(element: Any, kind: str) -> None:
    element.append(_ticked(element, kind, element.get("name", ""), element.get("value", "on")))
    label, words = element[-1], element[-1][1]
    words.text, element.text = element.text, None
    for child in list(element)[:-1]:
        element.remove(child)
        words.append(child)
    assert label is element[0]


def _ticked(element: Any, kind: str, name: str, value: str) -> Any:
    label = element.makeelement("label", {"class": "crowd-tick"})
    label.append(element.makeelement("input", {"type": kind, "name": name, "value": value}))
    label.append(element.makeelement("span", {}))
    return label


def _headed(element: Any, text: str) -> None:
    if text:
        heading = element.makeelement("div", {"class": "crowd-label"})
        heading.text, heading.tail, element.text = text, element.text, None
        element.insert(0, heading)


def _classifier(element: Any) -> None:
    _headed(element, element.get("header", ""))
    if element.get("src"):
        element.append(element.makeelement("img", {"src": element.get("src"), "alt": "Picture"}))
    choices = element.makeelement("fieldset", {})
    several = element.tag.endswith("-multi-select")
    for category in categories(element.get("categories", "")) + exclusion(element.get("exclusion-category", "")):
        choices.append(_ticked(element, "checkbox" if several else "radio", element.get("name", ""), category))
        choices[-1][1].text = category
    element.append(choices)


def _annotation(element: Any) -> None:
    _headed(element, element.get("header", ""))
    for words in (", ".join(entity_labels(element.get("labels", ""))), element.get("text", "")):
        element.append(element.makeelement("p", {}))
        element[-1].text = words


def _button(element: Any) -> None:
    element.tag = "button"
    element.set("class", f"crowd-button crowd-{element.get('variant', '')}")


_LIMITS = ("placeholder", "value", "min", "max", "step", "maxlength", "rows")
_DRAWN: Mapping[str, Callable[[Any], None]] = {
    "crowd-button": _button,
    **dict.fromkeys(("crowd-checkbox", "crowd-toggle-button"), lambda element: _tick(element, "checkbox")),
    **dict.fromkeys((name for name in CROWD_ELEMENTS if "classifier" in name), _classifier),
    "crowd-card": lambda element: _headed(element, element.get("heading", "")),
    "crowd-entity-annotation": _annotation,
    "crowd-input": lambda element: _field(element, "input", {"type": element.get("type", "text")}),
    "crowd-radio-button": lambda element: _tick(element, "radio"),
    "crowd-radio-group": lambda element: _headed(element, element.get("label", "")),
    "crowd-modal": lambda element: _headed(element, element.get("link-text", "")),
    "crowd-slider": lambda element: _field(element, "input", {"type": "range"}),
    "crowd-tab": lambda element: _headed(element, element.get("header", "")),
    "crowd-text-area": lambda element: _field(element, "textarea", {}),
}
