"""Suggestions and priorities, as a program sends them and reads what became of them."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from hits import protocols
from hits.models import Stage, Suggestion
from tests.hits import factories as make
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import HOME

CHOOSE = HOME + "stages/choose/"


@pytest.fixture
def choosing(river_stage: Stage) -> Stage:
    options = protocols.get("multiple_choice").settings({"question": "Which way?", "choices": ["North", "East"]})
    row = make.stage(
        river_stage.project, key="choose", protocol="multiple_choice", settings=options, suggestions="half"
    )
    for number in range(3):
        document = make.document(river_stage.project, data={"text": f"Flag {number}."})
        make.item(row, key=f"flag-{number}", document=document, data={})
    return row


def one(item: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"item": item, "field": "choice", "value": value, **more}


def test_they_are_sent_and_read_with_the_item(api: APIClient, choosing: Stage) -> None:
    given = [one("flag-0", "north", score=0.25, model="m-1"), one("flag-1", "East")]
    answer = api.post(CHOOSE + "suggestions/", {"suggestions": given}, format="json")
    assert (answer.status_code, answer.json()) == (200, {"new": 2, "replaced": 0})
    answer = api.post(CHOOSE + "suggestions/", {"suggestions": given[:1]}, format="json")
    assert answer.json() == {"new": 0, "replaced": 1}
    item = choosing.items.get(key="flag-0")
    assert api.get(f"{CHOOSE}items/{item.pk}/").json()["suggestions"] == [
        {"field": "choice", "value": "north", "score": 0.25, "model": "m-1"}
    ]


def test_every_fault_is_named_with_its_place_and_nothing_is_kept(api: APIClient, choosing: Stage) -> None:
    make.hit(choosing.items.get(key="flag-2"))
    given = [
        one("flag-0", "west"),
        one("flag-1", "north", score=1.5),
        {**one("flag-1", "north"), "field": "mood"},
        one("flag-1", "east"),
        one("flag-2", "east"),
        one("nowhere", "east"),
    ]
    error = refused(api.post(CHOOSE + "suggestions/", {"suggestions": given}, format="json"), 400, "file_refused")
    assert [(fault["line"], fault["place"]) for fault in error["details"]["faults"]] == [
        (None, "suggestions[0].value"),
        (None, "suggestions[1].score"),
        (None, "suggestions[2].field"),
        (None, "suggestions[3].field"),
        (None, "suggestions[4].item"),
        (None, "suggestions[5].item"),
    ]
    assert not Suggestion.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"suggestions": []},
        {"suggestions": "x"},
        {"suggestions": [{"item": "flag-0", "field": "choice"}]},
        {"suggestions": [one("flag-0", "north", score="high")]},
        {"suggestions": [one("flag-0", "north", sure=1)]},
        {"suggestions": [one("flag-0", "north")] * 5001},
    ],
)
def test_what_has_another_shape_is_refused(api: APIClient, choosing: Stage, body: dict[str, Any]) -> None:
    refused(api.post(CHOOSE + "suggestions/", body, format="json"), 400, "invalid")
    assert not Suggestion.objects.exists()


def test_a_stage_whose_task_takes_none_says_so(api: APIClient, river_stage: Stage) -> None:
    given = {"suggestions": [one("item", "north")]}
    refused(api.post(f"{HOME}stages/{river_stage.key}/suggestions/", given, format="json"), 409, "no_suggestions")
    assert api.get(f"{HOME}stages/{river_stage.key}/suggestions/").json()["fields"] == []


def test_the_report_has_both_arms_and_says_what_is_missing(api: APIClient, choosing: Stage) -> None:
    api.post(CHOOSE + "suggestions/", {"suggestions": [one("flag-0", "north")]}, format="json")
    found = api.get(CHOOSE + "suggestions/").json()
    assert {name: found[name] for name in ("suggestions", "items", "answers", "counted")} == {
        "suggestions": 1, "items": 1, "answers": 0, "counted": 0,
    }  # fmt: skip
    (field,) = found["fields"]
    (line,) = field["lines"]
    assert field["field"] == "choice" and line["suggestions"] == "all"
    assert line["shown"] == line["hidden"] == {"same": 0, "of": 0, "share": None}
    assert line["difference"] is None and line["followed_interval"] is None and line["over_workers"] is None
    assert line["why"] == "No answer that counts is in yet."


def test_priorities_are_changed_and_lists_are_ordered_by_them(api: APIClient, choosing: Stage) -> None:
    given = {"priorities": [{"item": "flag-2", "priority": 0.5}, {"item": "flag-0", "priority": -1}]}
    answer = api.patch(CHOOSE + "items/", given, format="json")
    assert (answer.status_code, answer.json()) == (200, {"changed": 2})
    listed = api.get(CHOOSE + "items/?sort=-priority").json()["results"]
    assert [(item["key"], item["priority"]) for item in listed] == [("flag-2", 0.5), ("flag-0", -1.0)]
    given = {"priorities": [{"item": "flag-2", "priority": None}]}
    assert api.patch(CHOOSE + "items/", given, format="json").json() == {"changed": 1}
    assert choosing.items.get(key="flag-2").priority is None


def test_priorities_that_cannot_be_are_named_and_change_nothing(api: APIClient, choosing: Stage) -> None:
    make.hit(choosing.items.get(key="flag-1"))
    given = {"priorities": [{"item": "flag-0", "priority": 1}, {"item": "flag-1", "priority": 2},
                            {"item": "flag-0", "priority": 3}]}  # fmt: skip
    error = refused(api.patch(CHOOSE + "items/", given, format="json"), 400, "file_refused")
    assert [fault["place"] for fault in error["details"]["faults"]] == ["priorities[1].item", "priorities[2].item"]
    for body in ({}, {"priorities": []}, {"priorities": [{"item": "flag-0", "priority": "soon"}]}):
        refused(api.patch(CHOOSE + "items/", body, format="json"), 400, "invalid")
    assert set(choosing.items.values_list("priority", flat=True)) == {None}
