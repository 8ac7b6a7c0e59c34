"""Reads a form, {"show": [display, ...], "ask": [field, ...], "layout"?}, with every fault; and its JSON Schema.

`python -m hits.protocols.form.schema` prints the JSON Schema, which stands in docs/form.schema.json.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache
from typing import Annotated, Any, Union

from pydantic import Field as Setting_
from pydantic import create_model

from hits.protocols.base import Json
from hits.protocols.form import displays, fields, filling
from hits.protocols.form.displays import Display
from hits.protocols.form.fields import Field
from hits.protocols.form.parts import Item, Kind
from hits.text.tables import Table, must, one_of, read

MOST_DISPLAYS, MOST_FIELDS = 20, 40
LONGEST = 200_000
# Of `{column}` in all texts together: each may stand for a long value.
MOST_NAMED = 200
MOST_FAULTS = 200
BESIDE, BELOW = "beside", "below"


class _Lists(Table):
    show: list[Any] = must(f"be a list of at most {MOST_DISPLAYS} displays", [], max_length=MOST_DISPLAYS)
    ask: list[Any] = must(f"be a list of 1 to {MOST_FIELDS} fields", min_length=1, max_length=MOST_FIELDS)
    layout: str = one_of((BESIDE, BELOW), BESIDE)


@dataclass(frozen=True)
class Form:
    """With `layout` "beside", the questions stand beside what is shown, where there is room; else below it."""

    show: tuple[Display, ...]
    ask: tuple[Field, ...]
    layout: str

    @cached_property
    def shown_columns(self) -> tuple[str, ...]:
        return tuple(sorted({name for part in (*self.show, *self.ask) for name in part.columns()}))

    @cached_property
    def gold_columns(self) -> tuple[str, ...]:
        return tuple(sorted({name for field in self.ask for name in field.gold_columns().values()}))

    def asked_about(self, units: Iterable[str]) -> list[Field]:
        """The fields to which these units belong: a unit is a field's key, or begins with it and a slash."""
        keys = {unit.partition("/")[0] for unit in units}
        return [field for field in self.ask if field.key in keys]

    def as_json(self) -> Json:
        """As it is kept: without what is a default anyway."""
        return {
            "show": [_kept(part) for part in self.show],
            "ask": [_kept(part) for part in self.ask],
            **({"layout": self.layout} if self.layout != BESIDE else {}),
        }

    def item(self, columns: Mapping[str, Any], worker: str = "", media: Mapping[str, Json] | None = None) -> Item:
        return Item(columns, self.shown_columns, worker, media or {})


def _kept(part: Kind) -> Json:
    return {"kind": getattr(part, "kind", ""), **part.model_dump(mode="json", exclude_defaults=True)}


def form_of(given: Any) -> Form:
    """The form of settings that were taken once."""
    # As a key of what was read before, this takes a fifth of the time of JSON: tables ask for each of their rows.
    return _of_packed(marshal.dumps(given))


@lru_cache(maxsize=128)
def _of_packed(packed: bytes) -> Form:
    form, faults = read_form(marshal.loads(packed))
    if form is None:
        raise ValueError(" ".join(faults))
    return form


def read_form(given: Any) -> tuple[Form | None, Sequence[str]]:
    """The form, or None and every fault, each a sentence that begins with its place, such as `ask[0].key`."""
    try:
        text = json.dumps(given, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None, ["form must be JSON: an object of show and ask."]
    if len(text) > LONGEST:
        return None, [f"form has {len(text):,} characters as JSON, the limit is {LONGEST:,}."]
    return _read(text)


@lru_cache(maxsize=128)
def _read(text: str) -> tuple[Form | None, Sequence[str]]:
    given = json.loads(text)
    if not isinstance(given, dict):
        return None, [f"form must be an object of show and ask, not {given!r:.60}."]
    faults: list[str] = []
    lists = read(_Lists, given, faults, "")
    sound = {name: isinstance(given.get(name), list) for name in ("show", "ask")}
    show = _parts(given["show"], "show", displays.KINDS, faults) if sound["show"] else []
    ask = _parts(given["ask"], "ask", fields.KINDS, faults) if sound["ask"] else []
    if sound["ask"]:
        faults += _key_faults(given["ask"])
        faults += _condition_faults(given["ask"], ask)
    if not faults:
        faults += _gold_faults(show, ask)
        named = sum(filling.names_in(text) for part in [*show, *ask] for text in part.texts())
        if named > MOST_NAMED:
            faults.append(f"form names columns {named:,} times, the limit is {MOST_NAMED}")
    if faults:
        more = [f"form has {len(faults) - MOST_FAULTS:,} more faults"] if len(faults) > MOST_FAULTS else []
        return None, tuple(f"{fault}." for fault in [*faults[:MOST_FAULTS], *more])
    return Form(tuple(show), tuple(ask), lists.layout), ()


def _parts(given: Sequence[Any], name: str, kinds: Mapping[str, type[Any]], faults: list[str]) -> list[Any]:
    """None in place of each that is wrong."""
    return [_part(one, f"{name}[{at}]", kinds, faults) for at, one in enumerate(given)]


def _part(given: Any, place: str, kinds: Mapping[str, type[Any]], faults: list[str]) -> Any:
    if not isinstance(given, dict):
        faults.append(f"{place} must be an object with a kind, not {given!r:.60}")
        return None
    kind = given.get("kind")
    if kind not in (*kinds,):
        alike = get_close_matches(str(kind), kinds, n=1)
        meant = f" (did you mean {alike[0]}?)" if alike else ""
        faults.append(f"{place}.kind must be one of {', '.join(kinds)}, not {kind!r:.40}{meant}")
        return None
    own: list[str] = []
    model = kinds[kind]
    part = read(model, model.completed(given), own, place)
    own = own or [f"{place}.{where} {sentence}" for where, sentence in part.faults()]
    faults += own
    return None if own else part


def _key_faults(given: Sequence[Any]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for at, one in enumerate(given):
        key = one.get("key") if isinstance(one, dict) else None
        if not isinstance(key, str):
            continue
        if key in seen:
            yield f"ask[{at}].key must differ from that of ask[{seen[key]}], which is {key!r:.40} too"
        seen.setdefault(key, at)


def _condition_faults(given: Sequence[Any], ask: Sequence[Field | None]) -> Iterator[str]:
    """What is wrong with the conditions of fields that are right by themselves."""
    keys = [str(one.get("key")) if isinstance(one, dict) else "" for one in given]
    places = {key: keys.index(key) for key in keys}
    for at, field in enumerate(ask):
        if field is None or field.shown_if is None:
            continue
        place, wanted = f"ask[{at}].shown_if", field.shown_if
        other = places.get(wanted.field)
        if other is None:
            yield f"{place}.field must be the key of a field before this one; there is no field {wanted.field!r:.40}"
        elif other >= at:
            what = "itself" if other == at else "a later one"
            yield f"{place}.field must be the key of a field before this one, and {wanted.field!r:.40} is {what}"
        elif (asked := ask[other]) is not None:
            yield from _value_faults(place, wanted.values, asked)


def _value_faults(place: str, wanted: Sequence[str], asked: Field) -> Iterator[str]:
    if not (there := asked.values()):
        yield f"{place}.field must be a field with answers to choose from, and {asked.key!r} has none"
        return
    for at, value in enumerate(wanted):
        if value not in there:
            listed = ", ".join(there[:10])
            yield f"{place}.values[{at}] must be one of the answers of {asked.key!r} ({listed}), not {value!r:.40}"


def _gold_faults(show: Sequence[Display], ask: Sequence[Field]) -> Iterator[str]:
    shown = {name for part in (*show, *ask) for name in part.columns()}
    for at, field in enumerate(ask):
        for name in field.gold_columns().values():
            if name in shown:
                yield f"ask[{at}] must not take its gold answers from the column {name!r:.60}, which workers see"


# JSON Schema


def json_schema() -> Json:
    """The JSON Schema of a form. It does not hold what depends on several values, such as keys that differ."""
    show: Any = list[_union(displays.KINDS)]  # type: ignore[misc]
    ask: Any = list[_union(fields.KINDS)]  # type: ignore[misc]
    model = create_model(
        "Form",
        __base__=Table,
        show=(show, must(f"be a list of at most {MOST_DISPLAYS}", [], max_length=MOST_DISPLAYS)),
        ask=(ask, must(f"be a list of 1 to {MOST_FIELDS}", min_length=1, max_length=MOST_FIELDS)),
        layout=(str, one_of((BESIDE, BELOW), BESIDE)),
    )
    found: Json = model.model_json_schema()
    kinds = {kind.__name__ for kind in (*displays.KINDS.values(), *fields.KINDS.values())}
    for name, definition in found["$defs"].items():
        if name in kinds:
            definition["required"] = ["kind", *definition.get("required", [])]
        if name in ("Choice", "Row"):
            definition["required"].remove("id")
        if "shown_if" in definition["properties"]:
            definition["properties"]["shown_if"]["anyOf"].append({"type": "string"})
        for setting in definition["properties"].values():
            if "$ref" in (items := setting.get("items", {})):
                setting["items"] = {"anyOf": [{"type": "string"}, items]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


def _union(kinds: Mapping[str, type[Any]]) -> Any:
    return Annotated[Union[tuple(kinds.values())], Setting_(discriminator="kind")]  # noqa: UP007


def written() -> str:
    """The JSON Schema as it stands in the documents."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(written(), end="")
