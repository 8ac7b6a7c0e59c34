"""A model's side of the API: taking items, answering them, going on."""

from __future__ import annotations

from decimal import Decimal

import pytest

from annotate_client import api, models
from annotate_client.errors import NotFoundError
from annotate_client.models import GivenItem, ModelAnswer, ModelAnswersRefusedError, ModelClient
from tests.client.scripted import Answer, Server, refusal, serving

TOKEN = "model_only-for-tests"
FEW_SECONDS = 0.5


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(models, "FIRST_PAUSE", 0.01)


def given(*keys: int) -> Answer:
    return Answer(body={"items": [{"id": key, "key": f"k{key}", "leased_until": "", "task": {}} for key in keys]})


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
