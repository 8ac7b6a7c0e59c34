"""The known value of a unit, as tables of results show it, is the one with which an answer is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hits.protocols import get
from hits.protocols.optional import KnownValuesProtocol

NAMES = ["multiple_choice", "labelling", "clickable_entity", "staged_choice", "spans"]
FOLDER = Path("hits/protocols")


def sample(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / name / "sample.json").read_text())
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_compared_unit_of_the_sample_has_its_known_value(name: str) -> None:
    protocol, given = get(name), sample(name)
    assert isinstance(protocol, KnownValuesProtocol)
    settings = protocol.settings(given.get("settings", {}))
    checked = protocol.check(given["document"], given["item"], settings, given["fields"], given.get("worker", ""))
    compared = [label for label in checked.labels if label.correct is not None]
    known = protocol.known_values(given["document"], given["item"], settings)
    assert compared and {label.unit for label in compared} == set(known)
    for label in compared:
        right = known[label.unit]
        assert label.correct is (label.value == right or (isinstance(right, list) and label.value in right))


def test_where_several_choices_are_right_each_of_them_is_known() -> None:
    protocol = get("multiple_choice")
    assert isinstance(protocol, KnownValuesProtocol)
    item = {"choices": [{"id": name, "text": name.upper()} for name in "abc"], "gold": ["a", "C"]}
    assert protocol.known_values({}, item, protocol.settings({})) == {"choice": ["a", "c"]}
    several = protocol.settings({"several": True})
    assert protocol.known_values({}, item, several) == {"a/chosen": "yes", "b/chosen": "no", "c/chosen": "yes"}
    assert protocol.known_values({}, {**item, "gold": []}, several) == {}
