"""How simulated people answer a page that somebody wrote: what is right is the same for everybody, and who errs takes
another answer. They run no script: what crowd elements would send, they send themselves.

No key is needed.
"""

from __future__ import annotations

import json

from hits.crowd.answering import Answer
from hits.crowd.html import Node
from hits.crowd.key import AnswerKey
from hits.crowd.people import Person, choose
from hits.crowd.task_page import NotATaskError, Screen
from hits.text.crowd_elements import categories, entity_labels

WORDS, RUBBISH = "It says so in what is shown", "good"
CLASSIFIERS = tuple(f"crowd-{of}classifier{more}" for of in ("", "image-") for more in ("", "-multi-select"))
NO_FIELDS = ("hidden", "submit", "button", "reset", "image", "file")


def answer(person: Person, screen: Screen, key: AnswerKey) -> Answer | None:
    if screen.check_url:
        raise NotATaskError("The page is not one that a requester wrote.")
    item = f"page {' '.join(screen.page.text().split())}"
    plain = dict(_plain(person, screen.page, item))
    crowd = _crowd(person, screen.page, item)
    if not any(screen.page.first(tag) for tag in ("crowd-form", "crowd-entity-annotation")):
        return Answer(item, plain) if plain else None
    return Answer(item, {"taskAnswers": json.dumps([plain | crowd])})


def _plain(person: Person, page: Node, item: str) -> list[tuple[str, str]]:
    """HTML's own controls; one box of each name, at most."""
    choices: dict[str, list[str]] = {}
    written = []
    for control in page.walk():
        name, kind = control.attributes.get("name", ""), control.attributes.get("type", "")
        if not name or control.tag not in ("input", "textarea", "select", "button") or kind in NO_FIELDS:
            continue
        if kind in ("radio", "checkbox") or control.tag == "button":
            choices.setdefault(name, []).append(control.attributes.get("value", "on"))
        elif control.tag == "select":
            options = [option.attributes.get("value", option.text()).strip() for option in control.all("option")]
            choices[name] = [value for value in options if value]
        else:
            written.append((name, _written(person, control, f"{item} {name}")))
    chosen = [(name, choose(values, person, f"{item} {name}")) for name, values in choices.items() if values]
    return written + chosen


def _crowd(person: Person, page: Node, item: str) -> dict[str, object]:
    """By name, as a crowd-form says it."""
    found: dict[str, object] = {}
    for tag in ("crowd-radio-button", "crowd-checkbox", "crowd-toggle-button"):
        boxes = [(node.attributes["name"], node.attributes.get("value", "on")) for node in page.all(tag, "name")]
        if boxes:
            right = choose([f"{name} {value}" for name, value in boxes], person, f"{item} {tag}")
            for name, value in boxes:
                found.setdefault(name, {})[value] = f"{name} {value}" == right  # type: ignore[index]
    for tag in CLASSIFIERS:
        for node in page.all(tag, "name"):
            options = categories(node.attributes.get("categories", ""))
            if options:
                label = choose(options, person, f"{item} {node.attributes['name']}")
                found[node.attributes["name"]] = {"labels": [label]} if "multi" in tag else {"label": label}
    for node in page.all("crowd-entity-annotation"):
        name, text = node.attributes.get("name") or "annotations", node.attributes.get("text", "")
        labels = entity_labels(node.attributes.get("labels", ""))
        if labels and text.strip():
            label, end = choose(labels, person, f"{item} {name}"), len(text.split(maxsplit=1)[0])
            found[name] = {"entities": [{"endOffset": end, "label": label, "startOffset": 0}]}
    for tag in ("crowd-input", "crowd-text-area", "crowd-slider"):
        for node in page.all(tag, "name"):
            found[node.attributes["name"]] = _written(person, node, f"{item} {node.attributes['name']}")
    return found


def _written(person: Person, control: Node, place: str) -> str:
    limits = control.attributes
    if limits.get("type") in ("number", "range") or control.tag == "crowd-slider":
        low, high = limits.get("min") or "0", limits.get("max") or "10"
        return choose([low, high], person, place)
    text = RUBBISH if person.writes_junk else WORDS
    return text[: int(limits.get("maxlength") or limits.get("max-length") or 2000)]
