"""What was posted for a page's fields, as values: whatever the page would have let through is checked again."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from re import ASCII
from re import compile as pattern
from typing import Any

from hits.protocols.base import AnswerRefusedError
from hits.protocols.given_settings import printed
from hits.protocols.html_page.controls import RESERVED, Field, unit_of
from hits.protocols.html_page.template import Template

CROWD_ANSWER = "taskAnswers"
LONGEST_VALUE = 20_000
LONGEST_ANSWER = 200_000
MOST_POSTED = 1000
MOST_VALUES = 200
LARGEST = 1e15
SHOWN_NAMES = 5
# As it is kept, and as files of answers and of gold answers have it.
_PART = pattern(r"(\d{1,9})-(\d{1,9}) (.+)", ASCII)


class NotTakenError(ValueError):
    """The value is none of its field. The message goes on from the field's name."""


def values_of(template: Template, columns: Mapping[str, Any], posted: Mapping[str, str]) -> dict[str, Any]:
    """By unit, the value of each field of the page that was answered, boxes and lists also where nothing is chosen.

    What the page has no field for is kept as a text where scripts may have made it; else nobody but a worker past the
    page can have sent it, and it is passed over. Raises AnswerRefusedError with every fault.
    """
    fields = template.posted(columns)
    given, unknown = _given(template, fields, posted)
    faults, names, found = [], [], dict[str, Any]()
    for name, field in fields.items():
        try:
            value = checked(template, columns, field, given.get(name))
        except NotTakenError as error:
            faults.append(f"The field {field.name!r:.70} {error}.")
            names.append(field.name)
            continue
        if value is not None:
            found[field.unit] = value
    if not template.is_strict:
        found |= {unit_of(name): text for name, said in unknown.items() if (text := _text(said, LONGEST_ANSWER))}
    if not faults and not any(value != [] for value in found.values()):
        faults.append(_nothing(list(unknown)))
        names = []
    if faults:
        raise AnswerRefusedError(faults, names)
    return found


def _nothing(strange: Sequence[str]) -> str:
    if not strange:
        return "Nothing is answered yet. Answer a question."
    listed = ", ".join(f"{printed(name)!r:.40}" for name in strange[:SHOWN_NAMES])
    return f"None of the page's fields is answered. What was sent, such as {listed}, is no field of the page."


# What came for each field


def _given(
    template: Template, fields: Mapping[str, Field], posted: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """By field: a text, what a crowd element says, or a text by value for the parts of one that came flattened; and by
    name, the texts of what the page has no field for.
    """
    if len(posted) > MOST_POSTED or sum(len(name) + len(value) for name, value in posted.items()) > LONGEST_ANSWER:
        raise AnswerRefusedError([f"The answer is longer than {LONGEST_ANSWER:,} characters. Shorten what you wrote."])
    found: dict[str, Any] = {}
    unknown: dict[str, str] = {}
    for sent, text in posted.items():
        # Browsers write the line ends of a name so.
        name = sent.replace("\r\n", "\n")
        if template.crowd and name == CROWD_ANSWER:
            for key, value in _object(text).items():
                if key in fields:
                    found[key] = value
                else:
                    unknown[key] = value if isinstance(value, str) else _json(value)
        elif name in fields:
            found[name] = text
        elif template.crowd and (own := _parent(name, fields)):
            parts = found.setdefault(own, {})
            if isinstance(parts, dict):
                parts[name[len(own) + 1 :]] = text
        else:
            unknown[name] = text
    unknown = {name: text for name, text in unknown.items() if name not in RESERVED | template.buttons}
    if len(unknown) > MOST_POSTED:
        raise AnswerRefusedError([f"The answer has more than {MOST_POSTED:,} fields that the page does not have."])
    return found, unknown


def _object(text: str) -> dict[str, Any]:
    """The one object in the list that a crowd-form sends."""
    try:
        found = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], dict):
        return found[0]
    raise AnswerRefusedError(["The answer is not what a crowd-form sends: a JSON list of one object."])


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise AnswerRefusedError(["The answer has lists within lists that are too deep."]) from None


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
        if field.kind == "parts" and one is not None:
            one = one.partition(" ")[2]
        if known and one is not None and _single(one) not in known:
            raise NotTakenError(f"has the value {one!r:.60}, which is none of its choices")
    return value


def _single(text: str) -> str:
    """As browsers squeeze what is written in a choice."""
    return " ".join(printed(text).split())


def _text(given: Any, longest: int = LONGEST_VALUE) -> str | None:
    """A text as it can be kept; None for a blank one."""
    if given is None:
        return None
    if not isinstance(given, str):
        raise NotTakenError("has no text as its value")
    if len(given) > longest:
        raise NotTakenError(f"has more than {longest:,} characters")
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
    if isinstance(given, dict) and set(given) == {"labels"}:
        given = given["labels"]
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


def _parts(field: Field, given: Any) -> list[str]:
    """Each as `start-end label`. A crowd-form sends objects, a plain or a flattened form their JSON."""
    given = _read(given)
    entities = _read(given["entities"]) if isinstance(given, dict) and "entities" in given else given
    if entities is None:
        return []
    if not isinstance(entities, list) or len(entities) > MOST_VALUES:
        raise NotTakenError(f"has no list of at most {MOST_VALUES} marked parts")
    return [_part(one) for one in entities]


def _read(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return given.split("|") if given.strip() else None


def _part(one: Any) -> str:
    if isinstance(one, str) and (found := _PART.fullmatch(one.strip())):
        one = {"startOffset": int(found[1]), "endOffset": int(found[2]), "label": found[3]}
    if isinstance(one, dict):
        start, end, label = one.get("startOffset"), one.get("endOffset"), _text(one.get("label"))
        if label and type(start) is int and type(end) is int and 0 <= start < end <= LARGEST:
            return f"{start}-{end} {label}"
    raise NotTakenError(f"has a marked part that cannot be read: {one!r:.80}")


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
    "parts": _parts,
    "number": _number,
    "text": lambda field, given: _text(given),
    "line": lambda field, given: _text(given),
}
