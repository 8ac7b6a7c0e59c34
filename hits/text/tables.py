"""Reads tables that people write, such as those of `stages.toml`, by pydantic models; every fault at once.

The fields of a model say what each value must be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

Words = Annotated[str, StringConstraints(strip_whitespace=True)]


class Table(BaseModel):
    """A field's description says what its value must be, in words that follow its place.

    A validator that has more to say raises ValueError with its own sentences. `lists` has the model of each field that
    is a list of tables.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    lists: ClassVar[Mapping[str, type[Table]]] = {}

    @classmethod
    def refusal_of(cls, key: str) -> str:
        """Why the table cannot hold a key of this name."""
        alike = get_close_matches(key, cls.model_fields, n=1, cutoff=0.75)
        return " to ".join(["is unknown: remove it or correct its spelling", *alike])


Read = TypeVar("Read", bound=Table)


def read(
    model: type[Read], given: Mapping[str, Any], faults: list[str], place: str, places: Mapping[str, str] | None = None
) -> Read:
    """The table, without the values that do not fit. Adds to `faults` those that are not there yet.

    It stands at `place` of what was given; `places` has the tables where the values of some keys stand instead.
    """
    try:
        return model.model_validate(given)
    except ValidationError as refusal:
        errors: list[Any] = refusal.errors()
    # A list that is told to be too short may only lack its wrong tables, which are told by themselves.
    inner = {error["loc"][0] for error in errors if len(error["loc"]) > 2 and error["loc"][0] in model.lists}
    for error in errors:
        key, *inside = error["loc"]
        if key in inner and not inside:
            continue
        where = f"{(places or {}).get(key, place)}.{key}".lstrip(".")
        if key in model.lists and len(inside) > 1:
            read(model.lists[key], given[key][inside[0]], faults, f"{where}[{inside[0]}]")
        else:
            said = [f"{where} {sentence}" for sentence in _sentences(model, given, error)]
            faults += [fault for fault in said if fault not in faults]
    wrong = {error["loc"][0] for error in errors}
    return model.model_construct(**{key: value for key, value in given.items() if key not in wrong})


def _sentences(model: type[Table], given: Mapping[str, Any], error: Mapping[str, Any]) -> Sequence[str]:
    key, kind, context = error["loc"][0], error["type"], error.get("ctx", {})
    if kind == "extra_forbidden" and len(error["loc"]) == 1:
        return [model.refusal_of(key)]
    if kind == "string_too_long":
        return [f"has {len(error['input'])} characters, the limit is {context['max_length']}"]
    if kind == "too_long":
        return [f"holds {context['actual_length']}, the limit is {context['max_length']}"]
    if kind == "value_error" and context["error"].args:
        return [str(sentence) for sentence in context["error"].args]
    return [f"{model.model_fields[key].description}, not {given.get(key)!r:.60}"]


def must(what: str, default: Any = ..., **limits: Any) -> Any:
    """A field; without a default it has to be there."""
    return Field(default, description=f"must {what}", **limits)


def text(longest: int, default: Any = ...) -> Any:
    return must("be a text that is not blank", default, min_length=1 if default is ... else 0, max_length=longest)


def whole(low: int, high: int, default: Any = ...) -> Any:
    return must(f"be a whole number from {low:,} to {high:,}", default, strict=True, ge=low, le=high)


def truth(default: bool) -> Any:
    return must("be true or false", default, strict=True)


def one_of(allowed: Sequence[str], default: Any = ...) -> Any:
    return must(f"be one of {', '.join(allowed)}", default, pattern=f"^({'|'.join(allowed)})$")


def named(pattern: str, what: str) -> Any:
    return must(f"be {what}", max_length=60, pattern=f"^{pattern}$")
