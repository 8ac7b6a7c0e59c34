"""The API for models: who may call it, what a model is given, what it may answer, and what it cannot reach."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from rest_framework.test import APIClient

from annotate_client import models
from hits.api.model_tokens import ModelThrottle
from hits.core.models.fields import MICRO
from hits.model_assist.api import registered as registered_models
from hits.model_assist.api import shapes
from hits.model_assist.verbs import model_answering
from hits.models import Assignment, Item, Label, LedgerEntry, ModelAnnotator, ModelAnswer, ModelLease, Project, Stage
from hits.protocols.multiple_choice.protocol import MultipleChoice
from tests.hits import factories as make
from tests.hits import models_that_answer as asked
from tests.hits.api.test_guard import GUARDED, MODEL_ROUTES, address, world
from tests.hits.api_calls import signed_in
from tests.hits.doing import do

__all__ = ["world"]
HOME = "/api/model/"
ITEMS, ANSWERS = "/api/model/stages/ask/items/", "/api/model/stages/ask/answers/"


def client_of(token: str) -> APIClient:
    return APIClient(headers={"Authorization": f"Model {token}"})


@pytest.fixture
def asking(river: Project) -> Stage:
    return asked.stage(river)


@pytest.fixture
def registered(river: Project, asking: Stage) -> tuple[ModelAnnotator, str]:
    return asked.registered(river, "small-bert", "2", Decimal("0.0004"))


@pytest.fixture
def model(registered: tuple[ModelAnnotator, str]) -> APIClient:
    return client_of(registered[1])


def take(client: APIClient, count: int = 20, **more: Any) -> list[dict[str, Any]]:
    answer = client.post(ITEMS, {"count": count, **more}, format="json")
    assert answer.status_code == 200, answer.json()
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def unanswered(leased: int = 0, next_free_at: str | None = None, not_given_again: int = 0) -> dict[str, Any]:
    """As the API says what a model has of a stage."""
    return {"leased": leased, "next_free_at": next_free_at, "not_given_again": not_given_again}


def send(client: APIClient, *answers: dict[str, Any]) -> Any:
    return client.post(ANSWERS, {"answers": list(answers)}, format="json")


def said(item: int, choice: str = "yes", **more: Any) -> dict[str, Any]:
    return {"item": item, "fields": {"choice": choice}, **more}


# Who may call


def test_a_model_s_token_opens_the_routes_for_models_and_nothing_else(world: dict[str, Any]) -> None:
    _, token = asked.registered(Project.objects.get(slug="river"), "another", "1")
    for keyword in ("Model", "Token"):
        client = APIClient(headers={"Authorization": f"{keyword} {token}"})
        found = {(route.name, method): getattr(client, method)(address(route, world)) for route, method in GUARDED}
        assert {answer.status_code for answer in found.values()} == {401}
    assert APIClient(headers={"Authorization": f"Model {token}"}).get("/").status_code == 302
    assert client_of(token).get(HOME).status_code == 200


def test_no_other_token_opens_the_routes_for_models(world: dict[str, Any], alice: Any) -> None:
    assert {route.name for route, _ in MODEL_ROUTES} == {"model", "model-stage", "model-items", "model-answers"}
    by_session = APIClient()
    by_session.force_login(alice)
    for client in (APIClient(), signed_in(alice), by_session, client_of("model_wrong"), client_of("")):
        for route, method in MODEL_ROUTES:
            answer = getattr(client, method)(address(route, world))
            assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Model"), route.name


def test_an_ended_model_s_token_opens_nothing(model: APIClient, registered: Any) -> None:
    assert model.get(HOME).status_code == 200
    do("models.end", registered[0])
    answer = model.get(HOME)
    assert (answer.status_code, "has ended" in answer.json()["error"]["message"]) == (401, True)


def test_stages_of_other_projects_and_ones_without_a_crowd_are_not_there(model: APIClient, river: Project) -> None:
    asked.stage(make.project(), key="theirs")
    make.stage(river, key="generate", protocol="passage_queries", crowd=False, rule={})
    for key in ("theirs", "generate", "nowhere"):
        for answer in (
            model.get(f"/api/model/stages/{key}/"),
            model.post(f"/api/model/stages/{key}/items/", {}, format="json"),
            model.post(f"/api/model/stages/{key}/answers/", {"answers": [said(1)]}, format="json"),
        ):
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


def test_an_archived_project_is_answered_no_more(model: APIClient, river: Project, asking: Stage) -> None:
    (one,) = asked.items(asking, 1)
    take(model)
    Project.objects.filter(pk=river.pk).update(archived_at=timezone.now())
    for answer in (model.post(ITEMS, {}, format="json"), send(model, said(one.pk))):
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "archived")
    assert {model.get(address).status_code for address in (HOME, "/api/model/stages/ask/")} == {200}
    assert not ModelAnswer.objects.exists()


def test_calls_are_counted_by_model(model: APIClient, river: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ModelThrottle, "rate", "2/min")
    codes = [model.get(HOME).status_code for _ in range(3)]
    _, other = asked.registered(river, "another", "1")
    assert codes == [200, 200, 429] and client_of(other).get(HOME).status_code == 200


# What it is told and given


def test_it_learns_who_it_is_and_how_an_answer_looks(model: APIClient, asking: Stage) -> None:
    asked.items(asking, 2)
    home = model.get(HOME).json()
    assert (home["project"], home["model"]["name"], home["model"]["cost_per_answer"]) == (
        "river",
        "small-bert",
        "0.0004",
    )
    assert home["stages"] == [
        {"key": "ask", "title": "Ask", "protocol": "multiple_choice", "items": 0, "answered": 0, **unanswered()}
    ]
    told = model.get("/api/model/stages/ask/").json()
    assert told["units"] == {"choice": "nominal"}
    assert {"name": "choice", "kind": "one", "options": ["yes", "no"], "required": True} in told["fields"]
    assert told["example"]["task"]["question"] == "Is it good?"
    assert not ModelLease.objects.exists()


def test_a_stage_without_items_says_what_it_can(model: APIClient) -> None:
    told = model.get("/api/model/stages/ask/").json()
    assert (told["units"], told["fields"], told["example"]) == ({"choice": "nominal"}, [], None)


def test_it_is_given_what_a_worker_sees_and_no_known_answer(model: APIClient, asking: Stage) -> None:
    known = asked.item(asking, gold="no", state=Item.State.CHECK)
    asked.people_say(asked.item(asking), "no", "no", "no")
    first, second = take(model)
    assert (first["id"], first["key"]) == (known.pk, known.key)
    assert set(first) == {"id", "key", "task", "leased_until"}
    assert [choice["id"] for choice in first["task"]["choices"]] == ["yes", "no"]
    assert "gold" not in str(first) and first["task"] == second["task"]


def test_two_processes_of_one_model_are_not_given_the_same(model: APIClient, registered: Any, asking: Stage) -> None:
    rows = asked.items(asking, 5)
    mine, yours = take(model, 3), take(client_of(registered[1]), 3)
    assert [one["id"] for one in [*mine, *yours]] == [row.pk for row in rows]
    assert take(model) == []


def test_two_models_are_given_the_same(model: APIClient, river: Project, asking: Stage) -> None:
    asked.items(asking, 2)
    _, other = asked.registered(river, "another", "1")
    assert [one["id"] for one in take(model)] == [one["id"] for one in take(client_of(other))]


def test_what_was_not_answered_in_time_is_given_again_three_times_in_all(model: APIClient, asking: Stage) -> None:
    (row,) = asked.items(asking, 1)
    for _ in range(3):
        assert [one["id"] for one in take(model)] == [row.pk]
        assert take(model) == []
        ModelLease.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert take(model) == []
    # Late is better than never.
    assert send(model, said(row.pk)).json() == {"new": 1, "unchanged": 0}


def test_it_is_told_what_it_has_and_what_it_is_not_given_again(
    model: APIClient, registered: tuple[ModelAnnotator, str], river: Project, asking: Stage
) -> None:
    def told() -> dict[str, Any]:
        (stage,) = model.get(HOME).json()["stages"]
        answer = model.post(ITEMS, {"count": 1}, format="json").json()
        found = {name: answer[name] for name in unanswered()}
        assert {name: stage[name] for name in unanswered()} == found and answer["items"] == []
        return found

    rows = asked.items(asking, 3)
    assert told_of(model) == unanswered()
    first = take(model, 1)[0]["leased_until"]
    take(model, 2, lease_seconds=3600)
    assert told() == unanswered(3, first)
    for _ in range(2):
        ModelLease.objects.update(until=timezone.now() - timedelta(seconds=1))
        assert told_of(model) == unanswered(not_given_again=0)
        take(model)
    assert told() == unanswered(3, None, 3)
    ModelLease.objects.update(until=timezone.now() - timedelta(seconds=1))
    Item.objects.filter(pk=rows[0].pk).update(state=Item.State.WITHDRAWN)
    send(model, said(rows[1].pk))
    assert told() == unanswered(not_given_again=1)
    other = client_of(asked.registered(river, "another", "1")[1])
    assert told_of(other) == unanswered()
    assert do("models.give_again", registered[0])["items"] == 1
    assert [one["id"] for one in take(model)] == [rows[2].pk]


def test_what_cannot_be_shown_is_not_waited_for(
    model: APIClient, asking: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked.items(asking, 2)
    monkeypatch.setattr(MultipleChoice, "page", lambda *_: 1 / 0)
    assert take(model) == []
    assert told_of(model) == unanswered(2, None, 2)


def told_of(client: APIClient) -> dict[str, Any]:
    (stage,) = client.get(HOME).json()["stages"]
    return {name: stage[name] for name in unanswered()}


def test_an_answered_item_is_not_given_again_and_a_new_one_is(model: APIClient, asking: Stage) -> None:
    (row,) = asked.items(asking, 1)
    take(model)
    send(model, said(row.pk))
    assert take(model) == []
    later = asked.item(asking)
    assert [one["id"] for one in take(model)] == [later.pk]


def test_taken_back_items_are_given_when_they_are_here_again(model: APIClient, asking: Stage) -> None:
    gone, there = asked.items(asking, 2)
    Item.objects.filter(pk=gone.pk).update(state=Item.State.WITHDRAWN)
    assert [one["id"] for one in take(model)] == [there.pk]
    Item.objects.filter(pk=gone.pk).update(state=Item.State.NEW)
    assert [one["id"] for one in take(model)] == [gone.pk]


def test_the_queries_of_taking_do_not_grow_with_the_items(
    model: APIClient, asking: Stage, django_assert_max_num_queries: Any
) -> None:
    asked.items(asking, 30)
    with django_assert_max_num_queries(20):
        assert len(take(model, 30)) == 30


@pytest.mark.parametrize(
    "wanted", [{"count": 0}, {"count": 101}, {"count": "many"}, {"lease_seconds": 1}, {"lease_seconds": 9999}, {"n": 1}]
)
def test_no_other_number_or_time_is_taken(model: APIClient, asking: Stage, wanted: dict[str, Any]) -> None:
    asked.items(asking, 1)
    answer = model.post(ITEMS, wanted, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid")
    assert list(answer.json()["error"]["details"]) == list(wanted) and not ModelLease.objects.exists()


# What it answers


def test_an_answer_stands_apart_from_those_of_people(model: APIClient, asking: Stage, registered: Any) -> None:
    row = asked.item(asking, gold="yes")
    take(model)
    answer = send(model, said(row.pk, "no", confidence=0.75, milliseconds=41, cost="0.000001"))
    assert (answer.status_code, answer.json()) == (200, {"new": 1, "unchanged": 0})
    stored = ModelAnswer.objects.get()
    assert (stored.annotator, stored.item, stored.stage) == (registered[0], row, asking)
    assert stored.labels == [{"unit": "choice", "value": "no", "correct": False}]
    assert (stored.scored, stored.correct, stored.confidence, stored.milliseconds) == (1, 0, 0.75, 41)
    assert stored.cost == Decimal("0.000001")
    assert not (Assignment.objects.exists() or Label.objects.exists() or LedgerEntry.objects.exists())
    row.refresh_from_db()
    assert (row.state, row.stale) == (Item.State.NEW, False)


def test_without_a_cost_its_own_is_taken(model: APIClient, asking: Stage) -> None:
    (row,) = asked.items(asking, 1)
    take(model)
    send(model, said(row.pk))
    assert ModelAnswer.objects.get().cost == Decimal("0.0004")


def test_the_same_answers_again_change_nothing(model: APIClient, asking: Stage) -> None:
    rows = asked.items(asking, 2)
    take(model)
    sent = [said(row.pk, confidence=0.9) for row in rows]
    assert send(model, sent[0]).json() == {"new": 1, "unchanged": 0}
    assert send(model, *sent).json() == {"new": 1, "unchanged": 1}
    before = list(ModelAnswer.objects.values())
    assert send(model, *sent).json() == {"new": 0, "unchanged": 2}
    assert list(ModelAnswer.objects.values()) == before


@pytest.mark.parametrize("other", [{"choice": "no"}, {"confidence": 0.8}, {"milliseconds": 3}, {"cost": "0.5"}])
def test_another_answer_to_the_same_item_is_a_conflict(model: APIClient, asking: Stage, other: dict[str, Any]) -> None:
    first, second = asked.items(asking, 2)
    take(model)
    send(model, said(first.pk, confidence=0.9))
    answer = send(model, said(**{"item": first.pk, "confidence": 0.9, **other}), said(second.pk))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (409, "answered_otherwise")
    assert [(fault["code"], fault["items"]) for fault in error["details"]["faults"]] == [
        ("answered_otherwise", [first.pk])
    ]
    assert ModelAnswer.objects.count() == 1


def test_one_bad_answer_stores_none_and_every_fault_is_named_once(
    model: APIClient, river: Project, asking: Stage
) -> None:
    good, wrong, empty, also_wrong = asked.items(asking, 4)
    take(model)
    later = asked.item(asking)
    theirs = asked.item(asked.stage(river, key="other"))
    answer = send(
        model,
        said(good.pk),
        said(wrong.pk, "maybe"),
        said(empty.pk, ""),
        said(also_wrong.pk, "perhaps"),
        said(later.pk),
        said(theirs.pk),
        said(2**40),
    )
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "model_answers_refused")
    assert "6 of the answers are not accepted, so nothing was stored." in error["message"]
    assert [(fault["code"], fault["items"]) for fault in error["details"]["faults"]] == [
        ("does_not_fit", [wrong.pk, also_wrong.pk]),
        ("does_not_fit", [empty.pk]),
        ("not_given", [later.pk, theirs.pk, 2**40]),
    ]
    assert error["details"]["faults"][0]["message"] == "This is not one of the answers. Choose one of them."
    assert not ModelAnswer.objects.exists() and ModelLease.objects.count() == 4


def test_fields_that_the_task_does_not_have_are_refused_by_name(model: APIClient, asking: Stage) -> None:
    rows = asked.items(asking, 4)
    take(model)
    fields = [
        {"choice": "yes", "zzz": "<script>"},
        {"choice": "no", "chosen": "yes"},
        {"choice": "maybe", "zzz": ""},
        {"choice": "yes", "comment": "Sure.", "seconds_open": "3"},
    ]
    sent = [{"item": row.pk, "fields": given} for row, given in zip(rows, fields, strict=True)]
    faults = send(model, *sent).json()["error"]["details"]["faults"]
    assert [(fault["code"], fault["items"]) for fault in faults] == [
        ("unknown_field", [rows[0].pk, rows[2].pk]),
        ("unknown_field", [rows[1].pk]),
        ("does_not_fit", [rows[2].pk]),
    ]
    assert faults[0]["message"] == "The task has no field zzz; it has: choice, comment."
    assert not ModelAnswer.objects.exists()
    assert send(model, sent[3]).json() == {"new": 1, "unchanged": 0}


def test_two_answers_to_one_item_in_one_call_are_refused(model: APIClient, asking: Stage) -> None:
    (row,) = asked.items(asking, 1)
    take(model)
    answer = send(model, said(row.pk, "yes"), said(row.pk, "no"))
    assert answer.status_code == 400
    assert answer.json()["error"]["details"]["faults"][0]["code"] == "twice"
    assert not ModelAnswer.objects.exists()


@pytest.mark.parametrize(
    "more",
    [
        {"confidence": -0.01}, {"confidence": 1.01}, {"confidence": "nan"}, {"confidence": "sure"},
        {"milliseconds": -1}, {"milliseconds": 10**12}, {"cost": "-1"}, {"cost": "0.0000001"}, {"cost": "1e9"},
        {"fields": {"choice": ["yes"]}}, {"fields": {"choice": None}}, {"fields": "yes"},
        {"fields": {"choice": "x" * 100_001}}, {"fields": {f"f{n}": "" for n in range(501)}},
        {"item": 0}, {"item": "r1"}, {"item": 2**70}, {"wages": 1},
    ],
    ids=str,
)  # fmt: skip
def test_what_has_the_wrong_form_is_refused_by_its_place(model: APIClient, asking: Stage, more: dict[str, Any]) -> None:
    (row,) = asked.items(asking, 1)
    take(model)
    answer = send(model, {**said(row.pk), **more})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid")
    assert next(iter(more)) in str(answer.json()["error"]["details"])
    assert not ModelAnswer.objects.exists()


def test_the_documents_name_the_limits() -> None:
    text = (settings.ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    limits = {
        "fields": f"At most {model_answering.MOST_FIELDS}, with {model_answering.LONGEST_FIELDS:,} characters",
        "milliseconds": f"0 to {shapes.LONGEST_DAY:,} (a day)",
        "cost": f"at most {registered_models.MOST_COST:,}, with at most {-MICRO.as_tuple().exponent} decimals",
        "call": f"at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,} bytes",
    }
    assert {name for name, sentence in limits.items() if sentence not in text} == set()
    assert models.LONGEST_DAY == shapes.LONGEST_DAY


@pytest.mark.parametrize("answers", [[], [{"item": 1, "fields": {}}] * 101, "all", None, [1]], ids=str)
def test_no_other_number_of_answers_is_taken(model: APIClient, asking: Stage, answers: Any) -> None:
    answer = model.post(ANSWERS, {"answers": answers}, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid")


def test_a_body_that_is_too_large_is_not_read(model: APIClient, asking: Stage) -> None:
    answer = model.post(ANSWERS, b"x" * 2_700_001, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


def test_an_answer_on_which_the_task_s_code_fails_is_refused_alone_by_name(
    model: APIClient, asking: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    (row,) = asked.items(asking, 1)
    take(model)
    monkeypatch.setattr(model_answering.item_answers, "check_item", lambda *_: 1 / 0)
    fault = send(model, said(row.pk)).json()["error"]["details"]["faults"][0]
    assert (fault["code"], "own code failed" in fault["message"]) == ("does_not_fit", True)
