"""Known answers to a page's fields: which column holds that of which field, and whether an answer is the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from hits.protocols.html_page.answers import NotTakenError, checked
from hits.protocols.html_page.controls import Field
from hits.protocols.html_page.template import Template

LONGEST_COLUMN = 200
SHOWN_NAMES = 5
Columns = Mapping[str, Any]
Gold = Mapping[str, str]
"""The column by the name of the field."""


def gold_lines(gold: Any) -> list[str]:
    return [f"{field} = {column}" for field, column in gold.items()] if isinstance(gold, Mapping) else list(gold)


def read_gold(given: Any, template: Template) -> tuple[dict[str, str], list[str]]:
    """The setting as it is kept, from an object or from lines such as `answer = right answer`, and what is wrong."""
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif isinstance(given, list) and all(isinstance(line, str) and "=" in line for line in given):
        pairs = [tuple(line.split("=", 1)) for line in given]
    else:
        return {}, [f"gold must be an object, or lines such as answer = right answer, not {given!r:.60}."]
    if not all(isinstance(part, str) for pair in pairs for part in pair):
        return {}, ["gold must have the names of a field and of a column in each line."]
    pairs = [(field.strip(), column.strip()) for field, column in pairs]
    return dict(pairs), [*_doubled([field for field, _ in pairs]), *_faults(dict(pairs), template)]


def _doubled(names: Sequence[str]) -> Iterator[str]:
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"gold names the field {name!r:.70} more than once: it has one gold answer."


def _faults(gold: Gold, template: Template) -> Iterator[str]:
    for name, column in gold.items():
        field = template.fields.get(name)
        if field is None:
            there = ", ".join(list(template.fields)[:SHOWN_NAMES])
            yield f"gold names the field {name!r:.70}, which the page does not have. There are: {there}."
        elif field.kind == "text":
            yield f"gold names the field {name!r:.70}, a written text, which is not compared with another."
        if not 1 <= len(column) <= LONGEST_COLUMN:
            yield f"gold must name a column of 1 to {LONGEST_COLUMN} characters for the field {name!r:.70}."
        elif column in template.columns:
            yield f"gold must not take gold answers from the column {column!r:.60}, which workers see."


def judged(template: Template, columns: Columns, gold: Gold, name: str, value: Any) -> bool | None:
    """Whether the value of a field is the known one; None where none is known. A list is so in any order."""
    known = values(template, columns, {name: gold[name]} if name in gold else {})
    return bool(_squeezed(value) == _squeezed(known[name])) if name in known else None


def values(template: Template, columns: Columns, gold: Gold) -> dict[str, Any]:
    """The known answers by the names of their fields, as the values of answers."""
    found = {}
    for name, column in gold.items():
        if (said := _said(columns, column)) is not None:
            with suppress(NotTakenError):
                found[name] = _known(template, columns, template.fields[name], said)
    return found


def missing(columns: Columns, gold: Gold) -> list[str]:
    return [
        f"Gold answers stand in the column {column!r:.60}, which is missing: add it, or correct the task."
        for column in dict.fromkeys(gold.values())
        if column not in columns
    ]


def item_faults(template: Template, columns: Columns, gold: Gold) -> Iterator[str]:
    """The known answers that nobody can give."""
    for name, column in gold.items():
        if (said := _said(columns, column)) is not None:
            try:
                _known(template, columns, template.fields[name], said)
            except NotTakenError as error:
                yield f"The gold answer {said!r:.60} of the column {column!r:.60} is none: {name!r:.70} {error}."


def _said(columns: Columns, column: str) -> Any:
    """None where the row has no known answer."""
    value = columns.get(column)
    return None if value is None or not str(value).strip() else value


def _known(template: Template, columns: Columns, field: Field, said: Any) -> Any:
    """As the value of an answer. Several values are a list, or are parted by bars. Raises NotTakenError."""
    if field.kind == "several":
        values = said if isinstance(said, list) else str(said).split("|")
        return checked(template, columns, field, [str(one).strip() for one in values])
    return checked(template, columns, field, said if field.kind == "parts" else str(said).strip())


def _squeezed(value: Any) -> Any:
    """As browsers squeeze what is written in a choice, and lists in one order."""
    if isinstance(value, list):
        return sorted(" ".join(one.split()) for one in value)
    return " ".join(value.split()) if isinstance(value, str) else value
