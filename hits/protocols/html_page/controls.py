"""The fields that a page of a requester asks for: its controls, as HTML's own and crowd elements bring them.

Read from the page as it is written: fields that scripts make are known when an answer brings them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import unescape
from typing import Literal

from common.html_tags import Page, Tag
from hits.text.crowd_elements import categories, entity_labels, exclusion

# How the values of a field are read: one of several choices, a list, labelled parts of a text, a number,
# a written text, anything short.
Kind = Literal["one", "several", "parts", "number", "text", "line"]
LEVELS: dict[Kind, str] = {
    "one": "nominal",
    "several": "set",
    "parts": "set",
    "number": "interval",
    "text": "text",
    "line": "nominal",
}
# What the marketplace itself fills in or keeps.
RESERVED = frozenset({"assignmentId", "hitId", "workerId", "turkSubmitTo"})
LONGEST_UNIT = 60


@dataclass(frozen=True)
class Control:
    """One control of the page, by the tag at which it begins. `shape` says what kind of control it is.

    `options` are the values that it can send, placeholders and all; empty where it can send anything.
    """

    tag: Tag
    name: str
    shape: Literal["radio", "box", "select", "list", "parts", "button", "number", "text", "line", "file"]
    options: tuple[str, ...] = ()
    required: bool = False


@dataclass(frozen=True)
class Field:
    """All controls of one name; `options` as those of a control, `parted` where several values come parted by bars."""

    name: str
    kind: Kind
    options: tuple[str, ...] = ()
    required: bool = False
    parted: bool = False

    @property
    def unit(self) -> str:
        return unit_of(self.name)


def unit_of(name: str) -> str:
    """What the labels of a field are called: its name; of a long one, the beginning and a digest."""
    if is_plain(name):
        return name
    digest = sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    shown = "".join(char if char.isprintable() else " " for char in name).split()
    return f"{' '.join(shown)[: LONGEST_UNIT - 9]}~{digest}"


def is_plain(name: str) -> bool:
    return 1 <= len(name) <= LONGEST_UNIT and name.isprintable() and name == name.strip()


def controls(page: Page) -> list[Control]:
    """In the order of the page; those without a name, and the marketplace's own, are left out."""
    groups = list(_ranges(page, "crowd-radio-group"))
    found = (_control(page, tag, groups) for tag in page.tags)
    return [one for one in found if one and one.name and one.name not in RESERVED]


def fields(page: Page) -> dict[str, Field]:
    by_name: dict[str, list[Control]] = {}
    for one in controls(page):
        by_name.setdefault(one.name, []).append(one)
    found = {name: _field(name, those) for name, those in by_name.items()}
    return {name: field for name, field in found.items() if field}


def _field(name: str, those: Sequence[Control]) -> Field | None:
    """None for a button that is the only one of its name: it says the same in every answer."""
    shapes = {one.shape for one in those}
    if shapes == {"button"} and len(those) == 1:
        return None
    known = all(one.options for one in those)
    options = tuple(dict.fromkeys(value for one in those for value in one.options)) if known else ()
    required = any(one.required for one in those)
    if shapes in ({"radio"}, {"button"}) and len(those) > 1 or shapes == {"select"} and len(those) == 1:
        return Field(name, "one", options, required)
    if len(those) == 1 and shapes & {"parts", "number", "text", "line"}:
        [shape] = shapes
        kept = options if shape == "parts" else ()
        return Field(name, shape, kept, required, parted=shape == "parts")  # type: ignore[arg-type]  # one of these
    # A radio button with a name of its own: what is required is one of its group.
    required = required and shapes != {"radio"}
    return Field(name, "several", options, required, parted=len(those) > 1 or shapes == {"list"})


def ranges(page: Page, names: Iterable[str]) -> list[tuple[Tag, int]]:
    """The elements of these names that do not hold one another, as (start tag, where the end tag begins)."""
    return sorted((found for name in names for found in _ranges(page, name)), key=lambda found: found[0].start)


def _ranges(page: Page, name: str) -> Iterator[tuple[Tag, int]]:
    ends = [place for found, place in page.ends if found == name]
    for tag in page.tags:
        if tag.name == name:
            yield tag, next((place for place in ends if place >= tag.end), len(page.html))


def _control(page: Page, tag: Tag, groups: Sequence[tuple[Tag, int]]) -> Control | None:
    name, required = tag.value("name"), _is_on(tag, "required")
    value = (tag.value("value") or "on",)
    match tag.name:
        case "input":
            return _input(tag, name, required)
        case "textarea" | "crowd-text-area":
            return Control(tag, name, "text", (), required)
        case "select":
            several = tag.attribute("multiple") is not None
            return Control(tag, name, "list" if several else "select", _options(page, tag), required)
        case "button":
            is_sent = tag.value("type").lower() not in ("button", "reset")
            return Control(tag, name, "button", (tag.value("value"),)) if is_sent else None
        case "crowd-input":
            return Control(tag, name, "number" if tag.value("type") == "number" else "line", (), required)
        case "crowd-slider":
            return Control(tag, name, "number")
        case "crowd-checkbox" | "crowd-toggle-button":
            return Control(tag, name, "box", value, required)
        case "crowd-radio-button":
            group = next((group for group, end in groups if group.start < tag.start < end), None)
            inherited = group.value("name") if group else ""
            return Control(tag, name or inherited, "radio", value, bool(group and _is_on(group, "required")))
        case "crowd-classifier" | "crowd-image-classifier":
            return Control(tag, name, "select", categories(tag.value("categories")), required=True)
        case "crowd-classifier-multi-select" | "crowd-image-classifier-multi-select":
            options = categories(tag.value("categories"))
            return Control(tag, name, "list", options and options + exclusion(tag.value("exclusion-category")))
        case "crowd-entity-annotation":
            return Control(tag, name or "annotations", "parts", entity_labels(tag.value("labels")))
    return None


def _input(tag: Tag, name: str, required: bool) -> Control | None:
    kind = tag.value("type").strip().lower()
    match kind:
        case "radio" | "checkbox":
            options = (tag.value("value") if tag.attribute("value") else "on",)
            return Control(tag, name, "radio" if kind == "radio" else "box", options, required)
        case "submit":
            return Control(tag, name, "button", (tag.value("value"),))
        case "button" | "reset" | "image":
            return None
        case "number" | "range":
            return Control(tag, name, "number", (), required)
        case "file":
            return Control(tag, name, "file")
    return Control(tag, name, "line", (), required)


def _options(page: Page, select: Tag) -> tuple[str, ...]:
    end = next((place for name, place in page.ends if name == "select" and place > select.start), len(page.html))
    return tuple(_option(page.html, tag) for tag in page.tags if tag.name == "option" and select.end <= tag.start < end)


def _option(html: str, tag: Tag) -> str:
    """Its value, or else what is written in it."""
    if tag.attribute("value"):
        return tag.value("value")
    return unescape(html[tag.end :].partition("<")[0])


def _is_on(tag: Tag, name: str) -> bool:
    found = tag.attribute(name)
    return found is not None and found.value != "false"
