"""A model's side of the API: taking items, answering them, going on."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from annotate_client import api, models
from annotate_client.errors import AnnotateError, NotFoundError
from annotate_client.models import (
    GivenItem,
    ModelAnswer,
    ModelAnswerError,
    ModelAnswersRefusedError,
    ModelClient,
    NotGivenAgainWarning,
)
from tests.client.scripted import Answer, Server, refusal, serving

TOKEN = "model_only-for-tests"
FEW_SECONDS = 0.5


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(models, "FIRST_PAUSE", 0.01)


def given(*keys: int, leased: int = 0, free: str | None = None, too_often: int = 0) -> Answer:
    items = [{"id": key, "key": f"k{key}", "leased_until": "", "task": {}} for key in keys]
    return Answer(body={"items": items, "leased": leased, "next_free_at": free, "not_given_again": too_often})


def good(item: GivenItem) -> ModelAnswer:
    return ModelAnswer({"mood": "good"}, confidence=0.9, cost=Decimal("0.0004"))


def answered(server: Server) -> list[list[int]]:
    """The items that were answered, call by call."""
    sent = [asked for asked in server.asked if asked.path.endswith("/answers/")]
    return [[answer["item"] for answer in asked.json["answers"]] for asked in sent]


def test_what_is_there_is_answered_until_nothing_is_left() -> None:
    new = [Answer(body={"new": count, "unchanged": 0}) for count in (2, 1)]
    with serving(given(1, 2), new[0], given(3), new[1], given()) as server:
        assert ModelClient(server.address, TOKEN).run("ask", good, count=2, lease_seconds=60) == 3
    assert answered(server) == [[1, 2], [3]]
    assert server.asked[0].json == {"count": 2, "lease_seconds": 60}
    assert server.asked[1].json["answers"][0] == {
        "item": 1, "fields": {"mood": "good"}, "confidence": 0.9, "milliseconds": None, "cost": "0.0004",
    }  # fmt: skip
    assert {asked.headers["Authorization"] for asked in server.asked} == {f"Model {TOKEN}"}


def test_a_stage_says_how_an_answer_looks() -> None:
    told = {"key": "ask/it", "title": "Ask", "fields": [{"name": "mood"}]}
    with serving(Answer(body=told)) as server:
        assert ModelClient(server.address, TOKEN).stage("ask/it") == told
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("GET", "/api/model/stages/ask%2Fit/")
    with serving(refusal(404, "not_found", "There is no such stage.")) as server, pytest.raises(NotFoundError):
        ModelClient(server.address, TOKEN).stage("none")


def test_what_was_predicted_is_stored_before_an_exception_ends_it() -> None:
    def fails_at_the_third(item: GivenItem) -> ModelAnswer:
        if item["id"] == 3:
            raise KeyError("weights")
        return good(item)

    fails = pytest.raises(KeyError, match="weights")
    with serving(given(1, 2, 3, 4), Answer(body={"new": 2, "unchanged": 0})) as server, fails:
        ModelClient(server.address, TOKEN).run("ask", fails_at_the_third)
    assert answered(server) == [[1, 2]]
    with serving(given(3)) as server, pytest.raises(KeyError):
        ModelClient(server.address, TOKEN).run("ask", fails_at_the_third)
    assert answered(server) == []


def test_leased_items_are_waited_for_and_the_report_says_so_once() -> None:
    told: list[str] = []
    busy = given(leased=5, free="2026-03-02T10:10:00Z")
    with serving(busy, busy, given(7), Answer(body={"new": 1, "unchanged": 0}), given()) as server:
        found = ModelClient(server.address, TOKEN).run("ask", good, progress=lambda one: told.append(str(one)))
    assert (found, answered(server)) == (1, [[7]])
    assert told == [
        "Waiting for ask: 5 items are leased, the next is free at 2026-03-02T10:10:00Z",
        "Answering ask (1 new answers)",
    ]


def test_it_warns_of_items_that_are_not_given_any_more() -> None:
    with serving(given(leased=2, too_often=5)) as server, pytest.warns(NotGivenAgainWarning, match="5 items of ask"):
        assert ModelClient(server.address, TOKEN).run("ask", good) == 0


class Scalar:
    """A number as numpy has them: no subclass of float, and no JSON."""

    def __float__(self) -> float:
        return 0.5


def test_numbers_of_other_libraries_are_sent_as_numbers() -> None:
    said = ModelAnswer({"mood": "good"}, confidence=Scalar(), milliseconds=41.6).about(7)
    assert (said["confidence"], type(said["confidence"]), said["milliseconds"]) == (0.5, float, 42)


@pytest.mark.parametrize("name", ["confidence", "milliseconds"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1, 1e12, "0.5", "sure", [0.5], {}])
def test_what_is_no_number_of_its_range_is_named_with_its_item(name: str, value: Any) -> None:
    wrong = ModelAnswer({"mood": "good"}, **{name: value})
    told = pytest.raises(AnnotateError, match=f"The {name} .* of the answer to item 8 is no number from 0 to")
    with serving(Answer(body={"new": 1, "unchanged": 0})) as server, told as caught:
        ModelClient(server.address, TOKEN).answer("ask", [(7, ModelAnswer({"mood": "good"})), (8, wrong)])
    assert isinstance(caught.value, ModelAnswerError) and server.asked == []
    assert (caught.value.item, caught.value.name, repr(caught.value.value)) == (8, name, repr(value))


def test_what_comes_a_little_later_is_answered_too() -> None:
    with serving(given(), given(), given(7), Answer(body={"new": 1, "unchanged": 0}), given()) as server:
        assert ModelClient(server.address, TOKEN).run("ask", good, idle_seconds=FEW_SECONDS) == 1
    assert answered(server) == [[7]]


def test_answers_whose_receipt_was_lost_are_sent_again_and_items_are_not_taken_twice() -> None:
    with serving(Answer(drop=True), Answer(body={"new": 0, "unchanged": 1})) as server:
        stored = ModelClient(server.address, TOKEN).answer("ask", [(1, ModelAnswer({"mood": "bad"}))])
    assert stored == {"new": 0, "unchanged": 1}
    assert answered(server) == [[1], [1]]
    with serving(Answer(drop=True), given(1)) as server, pytest.raises(Exception, match="No answer"):
        ModelClient(server.address, TOKEN).take("ask")
    assert len(server.asked) == 1


FAULTS = [{"code": "does_not_fit", "message": "Choose one answer.", "items": [2, 3]}]


def test_refused_answers_are_named_and_the_others_are_stored() -> None:
    refused = refusal(400, "model_answers_refused", "Nothing was stored.", {"faults": FAULTS})
    told = pytest.raises(ModelAnswersRefusedError, match=r"Choose one answer\. \(items 2, 3\)")
    with serving(given(1, 2, 3), refused, Answer(body={"new": 1, "unchanged": 0})) as server, told as caught:
        ModelClient(server.address, TOKEN).run("ask", good)
    assert answered(server) == [[1, 2, 3], [1]]
    assert (caught.value.code, caught.value.items) == ("model_answers_refused", {2, 3})
