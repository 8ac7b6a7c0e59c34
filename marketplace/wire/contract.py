"""The API's contract, compiled once from botocore's service model: checks requests, shapes responses.

A reader turns one JSON value into a Python value (timestamps become aware datetimes) and collects
the constraints that it breaks; a writer turns a Python value into JSON values, dropping what the
model does not know.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any

import botocore.loaders
from botocore.model import ServiceModel, Shape

from marketplace.rules.errors import WireError

Reader = Callable[[Any, str, list[str]], Any]
Writer = Callable[[Any], Any]

_INTEGERS = {"integer": ("an Integer", 2**31), "long": ("a Long", 2**63)}
_SPOKEN: tuple[tuple[type, str], ...] = (
    (int, "NUMBER_VALUE"),
    (float, "NUMBER_VALUE"),
    (str, "STRING_VALUE"),
    (list, "START_ARRAY"),
    (dict, "START_OBJECT"),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Operation:
    name: str
    read: Callable[[Any], dict[str, Any]]
    write: Callable[[dict[str, Any]], dict[str, Any]]


@cache
def service_model() -> ServiceModel:
    """botocore's own model of the service, the one that every client of it follows."""
    loader = botocore.loaders.create_loader()
    return ServiceModel(loader.load_service_model("mturk", "service-2"), "mturk")


@cache
def target_prefix() -> str:
    return f"{service_model().metadata['targetPrefix']}."


@cache
def operation(name: str) -> Operation:
    """The compiled operation; raises WireError for a name that the API does not have."""
    if name not in _operation_names():
        raise WireError("UnknownOperationException", f"The operation {name} is not part of this API.")
    model = service_model().operation_model(name)
    if model.input_shape is None or model.output_shape is None:
        raise TypeError(f"{name} has no input or output in the service model")
    reader, writer = _reader(model.input_shape), _writer(model.output_shape)

    def read(body: Any) -> dict[str, Any]:
        problems: list[str] = []
        parameters: dict[str, Any] = reader(body, "", problems)
        if problems:
            noun = "error" if len(problems) == 1 else "errors"
            text = f"{len(problems)} validation {noun} detected: " + "; ".join(problems)
            raise WireError("ValidationException", text)
        return parameters

    return Operation(name, read, writer)


@cache
def _operation_names() -> frozenset[str]:
    return frozenset(service_model().operation_names)


def lower_camel(name: str) -> str:
    """The spelling of a member in the texts of validation errors: only its first letter is lowered."""
    return name[:1].lower() + name[1:]


# -- requests ---------------------------------------------------------------------------------------


def _reader(shape: Shape) -> Reader:
    makers: dict[str, Callable[[Any], Reader]] = {
        "structure": _structure_reader,
        "list": _list_reader,
        "string": _string_reader,
        "integer": _integer_reader,
        "long": _integer_reader,
        "boolean": _boolean_reader,
        "timestamp": _timestamp_reader,
    }
    return makers[shape.type_name](shape)


def _structure_reader(shape: Any) -> Reader:
    members = [
        (name, lower_camel(name), name in shape.required_members, _reader(member))
        for name, member in shape.members.items()
    ]

    def read(value: Any, path: str, problems: list[str]) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _unreadable(f"{_spoken(value)} can not be converted to a structure.")
        found: dict[str, Any] = {}
        for name, camel, required, reader in members:
            given = value.get(name)
            where = f"{path}.{camel}" if path else camel
            if given is not None:
                found[name] = reader(given, where, problems)
            elif required:
                problems.append(f"Value null at '{where}' failed to satisfy constraint: Member must not be null")
        return found

    return read


def _list_reader(shape: Any) -> Reader:
    reader = _reader(shape.member)

    def read(value: Any, path: str, problems: list[str]) -> list[Any]:
        if not isinstance(value, list):
            raise _unreadable(f"{_spoken(value)} can not be converted to a list.")
        if None in value:
            raise _unreadable(f"The list at '{path}' holds a null.")
        return [reader(item, f"{path}.{number}.member", problems) for number, item in enumerate(value, 1)]

    return read


def _string_reader(shape: Any) -> Reader:
    constraints = _string_constraints(shape)

    def read(value: Any, path: str, problems: list[str]) -> str:
        if not isinstance(value, str):
            raise _unreadable(f"{_spoken(value)} can not be converted to a String.")
        _refuse_unwritable(value, path)
        for holds, text in constraints:
            if not holds(value):
                problems.append(f"Value '{value}' at '{path}' failed to satisfy constraint: {text}")
        return value

    return read


def _string_constraints(shape: Any) -> list[tuple[Callable[[str], bool], str]]:
    constraints: list[tuple[Callable[[str], bool], str]] = []
    metadata = shape.metadata
    if (most := metadata.get("max")) is not None:
        constraints.append((lambda value: len(value) <= most, f"Member must have length less than or equal to {most}"))
    if (least := metadata.get("min")) is not None:
        text = f"Member must have length greater than or equal to {least}"
        constraints.append((lambda value: len(value) >= least, text))
    if (pattern := metadata.get("pattern")) is not None:
        # Python's $ would let a trailing line feed through.
        matches = re.compile(pattern.removeprefix("^").removesuffix("$"), re.ASCII).fullmatch
        text = f"Member must satisfy regular expression pattern: {pattern}"
        constraints.append((lambda value: matches(value) is not None, text))
    if shape.enum:
        allowed = frozenset(shape.enum)
        text = f"Member must satisfy enum value set: [{', '.join(shape.enum)}]"
        constraints.append((lambda value: value in allowed, text))
    return constraints


def _refuse_unwritable(value: str, path: str) -> None:
    """Characters that JSON can carry and no database or XML file can."""
    if "\x00" in value:
        raise _unreadable(f"The text at '{path}' holds a NUL character.")
    if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        raise _unreadable(f"The text at '{path}' holds half a surrogate pair.")


def _integer_reader(shape: Any) -> Reader:
    kind, bound = _INTEGERS[shape.type_name]
    least, most = shape.metadata.get("min"), shape.metadata.get("max")

    def read(value: Any, path: str, problems: list[str]) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not -bound <= value < bound:
            raise _unreadable(f"{_spoken(value)} can not be converted to {kind}.")
        if most is not None and value > most:
            problems.append(_out_of_range(value, path, f"less than or equal to {most}"))
        if least is not None and value < least:
            problems.append(_out_of_range(value, path, f"greater than or equal to {least}"))
        return value

    return read


def _out_of_range(value: int, path: str, rule: str) -> str:
    return f"Value '{value}' at '{path}' failed to satisfy constraint: Member must have value {rule}"


def _boolean_reader(shape: Any) -> Reader:
    def read(value: Any, path: str, problems: list[str]) -> bool:
        if not isinstance(value, bool):
            raise _unreadable(f"{_spoken(value)} can not be converted to a Boolean.")
        return value

    return read


def _timestamp_reader(shape: Any) -> Reader:
    def read(value: Any, path: str, problems: list[str]) -> datetime:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _unreadable(f"{_spoken(value)} can not be converted to a Timestamp in epoch seconds.")
        try:
            return _EPOCH + timedelta(milliseconds=round(value * 1000))
        except OverflowError as error:
            raise _unreadable(f"{_spoken(value)} is no Timestamp: it is out of range.") from error

    return read


def _unreadable(message: str) -> WireError:
    return WireError("SerializationException", message)


def _spoken(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE_VALUE" if value else "FALSE_VALUE"
    for kind, word in _SPOKEN:
        if isinstance(value, kind):
            return word
    return "NULL_VALUE"


# -- responses --------------------------------------------------------------------------------------


def _writer(shape: Shape) -> Writer:
    makers: dict[str, Callable[[Any], Writer]] = {
        "structure": _structure_writer,
        "list": _list_writer,
        "timestamp": lambda shape: epoch_seconds,
        "string": lambda shape: _write_string,
    }
    return makers.get(shape.type_name, lambda shape: _as_it_is)(shape)


def _structure_writer(shape: Any) -> Writer:
    members = [(name, _writer(member)) for name, member in shape.members.items()]

    def write(value: dict[str, Any]) -> dict[str, Any]:
        return {name: writer(value[name]) for name, writer in members if value.get(name) is not None}

    return write


def _list_writer(shape: Any) -> Writer:
    writer = _writer(shape.member)
    return lambda values: [writer(value) for value in values]


def epoch_seconds(moment: datetime) -> float:
    return round(moment.timestamp(), 3)


def _write_string(value: str | Decimal) -> str:
    return f"{value:.2f}" if isinstance(value, Decimal) else value


def _as_it_is(value: Any) -> Any:
    return value
