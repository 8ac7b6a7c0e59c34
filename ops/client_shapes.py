"""Write the types of the client's answers from the API's own description: `python -m ops.client_shapes`.

`client/annotate_client/shapes.py` has a TypedDict for each component that ROOTS names or that those refer to. A test
compares the file with the description of a running server, so a shape that changes is written anew.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ops.surroundings import ROOT

TARGET = ROOT / "client" / "annotate_client" / "shapes.py"
#: What the client reads as more than plain JSON.
ROOTS = (
    "AgreementShape",
    "AnswerShape",
    "BatchShape",
    "BudgetRequestShape",
    "ItemShape",
    "LeasedItem",
    "LeasedItems",
    "ModelHome",
    "ProjectDetailShape",
    "ProjectShape",
    "QuoteShape",
    "ReleaseDetailShape",
    "ReleaseShape",
    "RunShape",
    "StageForModel",
    "StageShape",
    "StoredAnswers",
    "UploadDetailShape",
)
HEAD = '''"""Answers of the API as types, made from its OpenAPI description by `python -m ops.client_shapes`.

Nothing here is written by hand. Amounts of money are texts with two decimals, moments are ISO 8601 in UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired
'''
WIDTH = 120
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
REFERENCE = "#/components/schemas/"

Schema = Mapping[str, Any]


def description() -> dict[str, Any]:
    """The OpenAPI document of this source tree."""
    command = [sys.executable, "-m", "django", "spectacular", "--format", "openapi-json"]
    command += ["--settings", "tests.settings.annotate"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def written(document: Schema, roots: Sequence[str] = ROOTS) -> str:
    """The module, as `ruff format` leaves it. Raises KeyError for a component that is not there."""
    components: Schema = document["components"]["schemas"]
    parts = [_typed_dict(name, components[name], components) for name in _needed(roots, components)]
    optional = any("NotRequired[" in part for part in parts)
    head = HEAD if optional else HEAD[: HEAD.index("\nif TYPE_CHECKING")].replace("TYPE_CHECKING, ", "")
    return "\n\n".join([head, *parts])


def _needed(roots: Sequence[str], components: Schema) -> list[str]:
    """The roots and what they refer to, each after what it refers to."""
    found: dict[str, None] = {}

    def add(name: str) -> None:
        if name not in found:
            for other in _references(components[name]):
                if components[other].get("properties"):
                    add(other)
            found[name] = None

    for root in roots:
        add(root)
    return list(found)


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            if key == "$ref":
                yield value.removeprefix(REFERENCE)
            else:
                yield from _references(value)
    elif isinstance(schema, list):
        for one in schema:
            yield from _references(one)


def _typed_dict(name: str, schema: Schema, components: Schema) -> str:
    lines = [f"class {name}(TypedDict):"]
    if said := schema.get("description"):
        text = re.sub(r"\s+", " ", said).strip()
        if len(text) + 10 <= WIDTH:
            lines += [f'    """{text}"""', ""]
        else:
            lines += textwrap.wrap(f'"""{text}', WIDTH, initial_indent="    ", subsequent_indent="    ")
            lines += ['    """', ""]
    required = set(schema.get("required", ()))
    for field, inner in schema["properties"].items():
        kind = _type_of(inner, components)
        # Without the list of values that follows an enumeration's words.
        text = re.sub(r"\s+", " ", inner.get("description", "").split("\n\n* ")[0]).strip()
        lines += textwrap.wrap(text, WIDTH, initial_indent="    # ", subsequent_indent="    # ")
        lines.append(f"    {field}: {kind if field in required else f'NotRequired[{kind}]'}")
    return "\n".join(lines) + "\n"


def _type_of(schema: Schema, components: Schema) -> str:
    kind = _bare_type(schema, components)
    return f"{kind} | None" if schema.get("nullable") and kind != "Any" and not kind.endswith("| None") else kind


def _bare_type(schema: Schema, components: Schema) -> str:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(REFERENCE)
        # A word of a list that may grow is a text.
        return name if components[name].get("properties") else _type_of(components[name], components)
    if len(schema.get("allOf", ())) == 1:
        return _bare_type(schema["allOf"][0], components)
    if "oneOf" in schema:
        # Of the enumerations that a field may be of: of words, of the empty word, of null.
        kinds = {_type_of(one, components) for one in schema["oneOf"] if not _is_null(one, components)}
        nulls = ["None"] if any(_is_null(one, components) for one in schema["oneOf"]) else []
        return " | ".join([*sorted(kinds), *nulls])
    if schema.get("type") == "array":
        return f"list[{_type_of(schema.get('items', {}), components)}]"
    if schema.get("type") == "object":
        inner = schema.get("additionalProperties")
        return f"dict[str, {_type_of(inner, components) if isinstance(inner, Mapping) and inner else 'Any'}]"
    return PLAIN.get(schema.get("type", ""), "Any")


def _is_null(schema: Schema, components: Schema) -> bool:
    if "$ref" in schema:
        return _is_null(components[schema["$ref"].removeprefix(REFERENCE)], components)
    return bool(schema.get("enum") == [None])


def main() -> int:
    TARGET.write_text(written(description()), encoding="utf-8")
    print(f"Wrote {TARGET.relative_to(ROOT)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
