"""What was posted for a page's fields, as values: whatever the page would have let through is checked again."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hits.protocols.base import AnswerRefusedError
from hits.protocols.given_settings import printed
from hits.protocols.html_page.controls import Field
from hits.protocols.html_page.template import Template

CROWD_ANSWER = "taskAnswers"
LONGEST_VALUE = 20_000
LONGEST_ANSWER = 200_000
MOST_POSTED = 1000
MOST_VALUES = 200
LARGEST = 1e15
SHOWN_NAMES = 5


class NotTakenError(ValueError):
    """The value is none of its field. The message goes on from the field's name."""


def values_of(template: Template, columns: Mapping[str, Any], posted: Mapping[str, str]) -> dict[str, Any]:
    """The value of each field of the page that was answered, boxes and lists also where nothing is chosen.

    What the page has no field for is passed over. Raises AnswerRefusedError with every fault.
    """
    given = _given(template, posted)
    faults, names, found = [], [], dict[str, Any]()
    for field in template.fields.values():
        try:
            value = checked(template, columns, field, given.get(field.name))
        except NotTakenError as error:
            faults.append(f"The field {field.name!r:.70} {error}.")
            names.append(field.name)
            continue
        if value is not None:
            found[field.name] = value
    if not faults and not any(value != [] for value in found.values()):
        faults.append(_nothing(posted, template))
        names = []
    if faults:
        raise AnswerRefusedError(faults, names)
    return found


def _nothing(posted: Mapping[str, str], template: Template) -> str:
    strange = [name for name in posted if name not in template.fields and name != CROWD_ANSWER]
    if not strange:
        return "Nothing is answered yet. Answer a question."
    listed = ", ".join(f"{printed(name)!r:.40}" for name in strange[:SHOWN_NAMES])
    return f"None of the page's fields is answered. What was sent, such as {listed}, is no field of the page."


# What came for each field


def _given(template: Template, posted: Mapping[str, str]) -> dict[str, Any]:
    """By field: a text, what a crowd element says, or a text by value for the parts of one that came flattened."""
    if len(posted) > MOST_POSTED or sum(len(name) + len(value) for name, value in posted.items()) > LONGEST_ANSWER:
        raise AnswerRefusedError([f"The answer is longer than {LONGEST_ANSWER:,} characters. Shorten what you wrote."])
    found: dict[str, Any] = {}
    for name, text in posted.items():
        if template.crowd and name == CROWD_ANSWER:
            found |= {key: value for key, value in _object(text).items() if key in template.fields}
        elif name in template.fields:
            found[name] = text
        elif template.crowd and (own := _parent(name, template.fields)):
            parts = found.setdefault(own, {})
            if isinstance(parts, dict):
                parts[name[len(own) + 1 :]] = text
    return found


def _object(text: str) -> dict[str, Any]:
    """The one object in the list that a crowd-form sends."""
    try:
        found = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], dict):
        return found[0]
    raise AnswerRefusedError(["The answer is not what a crowd-form sends: a JSON list of one object."])


def _no_number(text: str) -> None:
    raise ValueError(text)


def _parent(name: str, fields: Mapping[str, Field]) -> str:
    """The field of which `name.part` is a part; the longest, as names may have dots themselves."""
    return max((own for own in fields if name.startswith(f"{own}.")), key=len, default="")


# Values


def checked(template: Template, columns: Mapping[str, Any], field: Field, given: Any) -> Any:
    """The value of a field; None where nothing was said. Raises NotTakenError."""
    value = _READERS[field.kind](field, given)
    if not template.is_strict:
        return value
    if field.required and value in (None, []):
        raise NotTakenError("is not answered yet")
    known = {_single(option) for option in template.options(field, columns)}
    for one in value if isinstance(value, list) else [value]:
        if known and one is not None and _single(one) not in known:
            raise NotTakenError(f"has the value {one!r:.60}, which is none of its choices")
    return value


def _single(text: str) -> str:
    """As browsers squeeze what is written in a choice."""
    return " ".join(printed(text).split())


def _text(given: Any) -> str | None:
    """A text as it can be kept; None for a blank one."""
    if given is None:
        return None
    if not isinstance(given, str):
        raise NotTakenError("has no text as its value")
    if len(given) > LONGEST_VALUE:
        raise NotTakenError(f"has more than {LONGEST_VALUE:,} characters")
    return printed(given.encode("utf-8", "replace").decode()) or None


def _one(field: Field, given: Any) -> str | None:
    if isinstance(given, dict):
        if set(given) == {"label"}:
            return _text(given["label"])
        chosen = _ticked(given)
        if len(chosen) > 1:
            raise NotTakenError("has more than one choice")
        return chosen[0] if chosen else None
    return _text(given)


def _several(field: Field, given: Any) -> list[str]:
    if isinstance(given, dict):
        return _ticked(given)
    values: Sequence[Any] = given if isinstance(given, list) else _parted(field, _text(given))
    if len(values) > MOST_VALUES:
        raise NotTakenError(f"has more than {MOST_VALUES} values")
    return [text for value in values if (text := _text(value)) is not None]


def _parted(field: Field, text: str | None) -> list[str]:
    if text is None:
        return []
    return text.split("|") if field.parted else [text]


def _ticked(given: Mapping[str, Any]) -> list[str]:
    """Of {value: whether it is chosen}, as crowd elements send it; in a flattened answer as texts."""
    if len(given) > MOST_VALUES:
        raise NotTakenError(f"has more than {MOST_VALUES} values")
    chosen = []
    for value, is_on in given.items():
        if is_on not in (True, False, "true", "false"):
            raise NotTakenError(f"says neither true nor false of {value!r:.60}")
        if is_on in (True, "true") and (text := _text(value)) is not None:
            chosen.append(text)
    return chosen


def _number(field: Field, given: Any) -> int | float | None:
    text = _text(str(given) if type(given) in (int, float) else given)
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not abs(number) <= LARGEST:
        raise NotTakenError(f"must be a number, not {text!r:.60}")
    return int(number) if number.is_integer() else number


_READERS: dict[str, Callable[[Field, Any], Any]] = {
    "one": _one,
    "several": _several,
    "number": _number,
    "text": lambda field, given: _text(given),
    "line": lambda field, given: _text(given),
}
