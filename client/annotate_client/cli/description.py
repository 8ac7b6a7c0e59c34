"""The OpenAPI description of a server, as the command line reads it: operations with their parameters and names."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

Schema = Mapping[str, Any]

JSON, FORM = "application/json", "multipart/form-data"
#: What the caller chooses so that a call that is sent twice counts once; the command line draws it.
CONFIRMATION = "confirmation"
#: Parts of addresses that name nothing by themselves: the segment before them does.
PLAIN_PARTS = frozenset({"slug", "key", "id", "number"})


@dataclass(frozen=True)
class Parameter:
    """`place` is `path`, `query`, `body` or `file`. `schema` has its references resolved."""

    name: str
    place: str
    schema: Schema
    required: bool

    @property
    def help(self) -> str:
        """Without the list of values that follows an enumeration's words."""
        return re.split(r"(?:^|\n\n)\* ", self.schema.get("description", ""))[0].strip().removesuffix(".")

    @property
    def is_list(self) -> bool:
        """Of single values, so that each may be an option of its own."""
        kinds = ("string", "integer", "number")
        return self.schema.get("type") == "array" and self.schema["items"].get("type") in kinds


@dataclass(frozen=True)
class Quote:
    """The operation that shows what another one would do. `gives`: fields of that other one which it answers with;
    `names` has those fields and parameters that it calls otherwise.
    """

    operation: Operation
    gives: Sequence[str]
    names: Mapping[str, str]


@dataclass(frozen=True)
class Look:
    """A call that reads one thing: `parts` are those of its address."""

    operation: Operation
    parts: Mapping[str, Any]

    @property
    def command(self) -> str:
        return " ".join(["annotate", *self.operation.words, *map(str, self.parts.values())])


class Operation:
    """One method of one address. `words` are what it is called by: a group and a name, or a name alone."""

    def __init__(self, description: Description, method: str, path: str, raw: Schema) -> None:
        self.id = str(raw["operationId"])
        self.method = method.upper()
        # Relative to /api/, as `Api` takes it.
        self.path = path.removeprefix("/api/")
        self.tag = raw.get("tags", [""])[0]
        self.summary = str(raw.get("summary", ""))
        self._description = description
        self._raw = raw

    @cached_property
    def words(self) -> tuple[str, ...]:
        group = self._description.group_of(self.id)
        rest = self.id.removeprefix(f"{group}_") if group else self.id
        return tuple(part.replace("_", "-") for part in (group, rest) if part)

    @cached_property
    def bodies(self) -> dict[str, Schema]:
        """By content type, of those that are sent from here."""
        content = self._raw.get("requestBody", {}).get("content", {})
        return {kind: self._description.resolved(content[kind]["schema"]) for kind in (JSON, FORM) if kind in content}

    @cached_property
    def parameters(self) -> list[Parameter]:
        """Those of the path in the order of the address, then files, body, query; a field has one name once."""
        given = []
        for raw in self._raw.get("parameters", ()):
            schema = {"description": raw.get("description", ""), **self._description.resolved(raw["schema"])}
            given.append(Parameter(raw["name"], raw["in"], schema, bool(raw.get("required"))))
        path = {one.name: one for one in given if one.place == "path"}
        ordered = [path[name] for name in self.path_names]
        query = [one for one in given if one.place == "query"]
        return [*ordered, *self._fields(), *query]

    @property
    def path_names(self) -> list[str]:
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]

    def metavar(self, name: str) -> str:
        """What a part of the address names: {key} of `stages/{key}/` is a STAGE."""
        parts = self.path.split("/")
        noun = parts[parts.index(f"{{{name}}}") - 1] if name in PLAIN_PARTS else name
        return singular(noun).upper()

    @property
    def answers(self) -> dict[int, Schema]:
        """The shape of each answer below 300 that is JSON."""
        found: dict[int, Schema] = {}
        for status, answer in self._raw["responses"].items():
            schema = answer.get("content", {}).get(JSON, {}).get("schema")
            if int(status) < 300 and schema is not None:
                found[int(status)] = self._description.resolved(schema)
        return found

    @property
    def answer(self) -> Schema:
        return next(iter(self.answers.values()), {})

    @property
    def content_type(self) -> str:
        """Of a file that it answers with; empty where it answers with JSON or with nothing."""
        good = [answer for status, answer in self._raw["responses"].items() if int(status) < 300]
        kinds = [kind for answer in good for kind in answer.get("content", {})]
        return "" if not kinds or JSON in kinds else kinds[0]

    @property
    def is_paged(self) -> bool:
        return {"results", "next"} <= set(self.answer.get("properties", {}))

    @property
    def is_for_models(self) -> bool:
        """Whether it takes a model's token, and a lead's does not open it."""
        return self._raw.get("security") == [{"modelAuth": []}]

    @property
    def is_repeatable(self) -> bool:
        """Whether a second call does no harm."""
        return self.method == "GET" or any(one.name == CONFIRMATION for one in self.parameters)

    @property
    def quote(self) -> Quote | None:
        said = self._raw.get("x-quote")
        return Quote(self._description.operations[said["operation"]], said["gives"], said["names"]) if said else None

    @property
    def done(self) -> tuple[str, Any] | None:
        """A field of what is looked at for how far it is, and its value when it is done."""
        said = self._raw.get("x-done")
        return (said["field"], said["value"]) if said else None

    def undone(self, status: int) -> str:
        """Why an answer with this status is none with what was called for; empty for others."""
        return str(self._raw.get("x-undone", {}).get(str(status), ""))

    def _fields(self) -> Iterator[Parameter]:
        """Of all bodies that it takes; required is what each of them requires."""
        fields: dict[str, Schema] = {}
        for body in self.bodies.values():
            fields.update(body.get("properties", {}))
        for name, raw in fields.items():
            schema = self._description.resolved(raw)
            if schema.get("readOnly"):
                continue
            required = all(name in body.get("required", ()) for body in self.bodies.values())
            is_file = FORM in self.bodies and schema.get("format") in ("uri", "binary")
            yield Parameter(name, "file" if is_file else "body", schema, required)


class Description:
    """Of one server. Raises KeyError and TypeError for what is no description."""

    def __init__(self, document: Schema) -> None:
        self._components = document["components"]["schemas"]
        self.tags: dict[str, str] = {tag["name"]: tag.get("description", "") for tag in document.get("tags", ())}
        made = [
            Operation(self, method, path, raw)
            for path, methods in document["paths"].items()
            for method, raw in methods.items()
        ]
        self.operations = {one.id: one for one in made}
        # How many operations begin with these words, and the words between slashes of all addresses.
        self._shared = Counter(prefix for one in made for prefix in _prefixes(one.id))
        self._nouns = {part.replace("-", "_") for one in made for part in one.path.split("/")}

    def group_of(self, name: str) -> str:
        """The noun that an operation begins with, such as `pools` of `pools_add_best`; empty where it has none.

        It is the longest beginning that other operations share or that stands in an address, and no operation itself.
        """
        for prefix in _prefixes(name):
            if prefix not in self.operations and (self._shared[prefix] > 1 or prefix in self._nouns):
                return prefix
        return ""

    @cached_property
    def by_words(self) -> dict[tuple[str, ...], Operation]:
        return {one.words: one for one in self.operations.values()}

    def resolved(self, schema: Schema) -> dict[str, Any]:
        """Without references and without the wrappers that a description or null takes."""
        if "$ref" in schema:
            return self.resolved(self._components[schema["$ref"].rpartition("/")[2]])
        for wrapper in ("allOf", "oneOf"):
            inner = [self.resolved(one) for one in schema.get(wrapper, ())]
            # One choice of several is that of the empty word or of null.
            inner = [one for one in inner if one.get("enum") not in ([None], [""]) and one.get("maxLength") != 0]
            if len(inner) == 1:
                rest = {key: value for key, value in schema.items() if key != wrapper}
                return {**inner[0], **rest}
        return {**schema, "items": self.resolved(schema["items"])} if "items" in schema else dict(schema)

    def reader_of(self, made: Operation, parts: Mapping[str, Any], row: Mapping[str, Any]) -> Look | None:
        """The call that reads what another one answered with; None where there is none."""
        if isinstance(see := row.get("see"), str):
            return self._look_at(see)
        values = {**parts, **{name: row[name] for name in ("id", "number") if name in row}}
        for one in self.operations.values():
            is_same = one.method == "GET" and bool(one.answer) and one.answer in made.answers.values()
            if is_same and all(name in values for name in one.path_names):
                return Look(one, {name: values[name] for name in one.path_names})
        # Its shape may tell more: what was made has its id below, or above what was done to it.
        near = {f"{made.path}{{id}}/", f"{made.path.rstrip('/').rpartition('/')[0]}/"} if "id" in row else set()
        for one in self.operations.values():
            if one.method == "GET" and one.path in near and "id" in one.path_names:
                return Look(one, {name: values[name] for name in one.path_names})
        return None

    def _look_at(self, address: str) -> Look | None:
        """By the address that an answer names."""
        given = urlsplit(address).path.partition("/api/")[2].split("/")
        for one in self.operations.values():
            pairs = list(zip(one.path.split("/"), given, strict=False))
            is_long = len(pairs) == len(given) == one.path.count("/") + 1
            if one.method == "GET" and is_long and all(part[:1] == "{" or part == value for part, value in pairs):
                return Look(one, {part[1:-1]: value for part, value in pairs if part.startswith("{")})
        return None


def read(content: bytes) -> Description:
    """Raises ValueError for what is no description of an Annotate."""
    try:
        return Description(json.loads(content))
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("What the server answered is no description of an Annotate: is the address right?") from error


def singular(noun: str) -> str:
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    return noun.removesuffix("s") if len(noun) > 1 and not noun.endswith("ss") else noun


def _prefixes(name: str) -> list[str]:
    """The longest first, without the whole."""
    words = name.split("_")
    return ["_".join(words[:length]) for length in range(len(words) - 1, 0, -1)]
