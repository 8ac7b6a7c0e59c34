"""The client's types are those that the API describes."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest

from ops import client_shapes
from ops.client_shapes import TARGET, written
from ops.stack import Stack
from ops.waiting import PATIENCE_SECONDS

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture(scope="module")
def document(stack: Stack) -> dict[str, Any]:
    with DIRECT.open(f"{stack.web_url}/api/schema/?format=json", timeout=PATIENCE_SECONDS) as answer:
        return dict(json.load(answer))


def test_they_are_what_a_running_server_describes(document: dict[str, Any]) -> None:
    assert TARGET.read_text(encoding="utf-8") == written(document), "Run python -m ops.client_shapes"


@pytest.mark.parametrize("root", client_shapes.ROOTS)
def test_no_type_is_made_that_nothing_uses(root: str) -> None:
    others = [file for file in TARGET.parent.glob("*.py") if file != TARGET]
    assert any(root in file.read_text(encoding="utf-8") for file in others)


def test_a_field_that_changes_is_noticed(document: dict[str, Any]) -> None:
    fields = document["components"]["schemas"]["QuoteShape"]["properties"]
    changed = {**fields, "total": {"type": "integer", "description": "Cents."}}
    document["components"]["schemas"]["QuoteShape"]["properties"] = changed
    try:
        assert "    # Cents.\n    total: int\n" in written(document)
    finally:
        document["components"]["schemas"]["QuoteShape"]["properties"] = fields


COMPONENTS = {
    "WordEnum": {"type": "string", "enum": ["a", "b"]},
    "NullEnum": {"enum": [None]},
    "Inner": {"type": "object", "description": "What is\ninside.", "properties": {"n": {"type": "integer"}}},
    "Outer": {
        "type": "object",
        "properties": {
            "word": {"allOf": [{"$ref": "#/components/schemas/WordEnum"}], "description": "One.\n\n* `a` - A"},
            "perhaps": {
                "oneOf": [{"$ref": "#/components/schemas/WordEnum"}, {"$ref": "#/components/schemas/NullEnum"}]
            },
            "inner": {"allOf": [{"$ref": "#/components/schemas/Inner"}], "nullable": True},
            "many": {"type": "array", "items": {"$ref": "#/components/schemas/Inner"}},
            "by_name": {"type": "object", "additionalProperties": {"type": "number"}},
            "anything": {"nullable": True},
        },
        "required": ["word", "inner", "many", "anything"],
    },
}


def test_each_kind_of_field_has_its_type() -> None:
    text = written({"components": {"schemas": COMPONENTS}}, ["Outer"])
    assert text.endswith(
        'class Inner(TypedDict):\n    """What is inside."""\n\n    n: NotRequired[int]\n\n\n'
        "class Outer(TypedDict):\n    # One.\n    word: str\n    perhaps: NotRequired[str | None]\n"
        "    inner: Inner | None\n    many: list[Inner]\n    by_name: NotRequired[dict[str, float]]\n"
        "    anything: Any\n"
    )
