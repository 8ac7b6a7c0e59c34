"""How simulated people answer a form: what is right is the same for everybody, and who errs takes another answer.

No key is needed. A field whose text has to fit an expression is known to nobody.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from hits.crowd import marking
from hits.crowd.answering import Answer
from hits.crowd.html import Node
from hits.crowd.key import AnswerKey
from hits.crowd.people import Person, choose
from hits.crowd.task_page import Screen

WORDS = ("It", "says", "so", "in", "what", "is", "shown", "and", "nothing", "else")
RUBBISH = ("good",)


def answer(person: Person, screen: Screen, key: AnswerKey) -> Answer | None:
    form = screen.node("div", "data-form-task")
    # The same for everybody, in whatever order choices are shown.
    item = f"form {' '.join(sorted(set(screen.page.text().split())))}"
    fields: dict[str, str] = {}
    for section in form.all("div", "data-field"):
        found = _answered(person, section, f"{item} {section.attributes['data-field']}")
        if found is None:
            return None
        fields |= found
    return Answer(item, fields)


def _answered(person: Person, section: Node, place: str) -> dict[str, str] | None:
    """The fields of one question; None where nobody could know what to write."""
    kind = section.attributes["data-kind"]
    if kind == "ranking":
        return _order(person, [node.attributes["name"] for node in section.all("input", "name")], place)
    if kind == "any":
        return _boxes(person, section, place)
    if kind == "spans":
        return _spans(person, section, place)
    if radios := section.all("input", type="radio"):
        of_name: dict[str, list[str]] = {}
        for node in radios:
            of_name.setdefault(node.attributes["name"], []).append(node.attributes["value"])
        return {name: choose(values, person, f"{place} {name}") for name, values in of_name.items()}
    if select := section.first("select", "name"):
        values = [node.attributes["value"] for node in select.all("option") if node.attributes["value"]]
        return {select.attributes["name"]: choose(values, person, place)}
    [control] = section.all("textarea", "name") or section.all("input", "name")
    return _written(person, kind, control, place)


def _boxes(person: Person, section: Node, place: str) -> dict[str, str]:
    """One box, and as many more as there have to be."""
    names = sorted(node.attributes["name"] for node in section.all("input", "name"))
    first = choose(names, person, place)
    least = int(section.all("div", "data-least")[0].attributes["data-least"])
    return dict.fromkeys([first, *(name for name in names if name != first)][: max(1, least)], "yes")


def _spans(person: Person, section: Node, place: str) -> dict[str, str]:
    name = section.all("div", "data-marking")[0].attributes["data-marking"]
    said = marking.marked(person, section, place)
    return {name: json.dumps(said)} if said else {f"{name}.nothing": "yes"}


def _order(person: Person, names: Sequence[str], place: str) -> dict[str, str]:
    first = choose(sorted(names), person, place)
    rest = [name for name in sorted(names) if name != first]
    return {name: str(number) for number, name in enumerate([first, *rest], 1)}


def _written(person: Person, kind: str, control: Node, place: str) -> dict[str, str] | None:
    name, limits = control.attributes["name"], control.attributes
    if kind == "date":
        return {name: limits.get("min") or limits.get("max") or "2026-01-01"}
    if kind in ("number", "slider"):
        return {name: _number(person, limits, place)}
    if "data-pattern" in limits:
        return None
    least = max(1, int(limits.get("data-least-words", "0")))
    text = " ".join(
        (RUBBISH if person.writes_junk else WORDS)[n % (1 if person.writes_junk else len(WORDS))] for n in range(least)
    )
    while len(text) < int(limits.get("data-least", "0")):
        text += "."
    return {name: text[: int(limits.get("maxlength", "2000"))]}


def _number(person: Person, limits: dict[str, str], place: str) -> str:
    """The least or a step more, which fits whatever the step is."""
    low, high, step = (limits.get(f"data-{name}", "") for name in ("low", "high", "step"))
    if not low:
        return high or "1"
    next_one = float(low) + (float(step) if step not in ("", "any") else 1)
    return choose([low] if high and next_one > float(high) else [low, f"{next_one:g}"], person, place)
