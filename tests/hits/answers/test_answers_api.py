"""Items and answers page by page, and their review."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from hits.answers.verbs import reviewing
from hits.core import keyset
from hits.models import Assignment, Item, Stage
from tests.hits import factories
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import STAGE
from tests.hits.publishing.test_publishing_api import confirm
from tests.hits.record_project import fields


def test_items_are_paged_and_chosen_by_state(api: APIClient, river_stage: Stage) -> None:
    kept = factories.items(river_stage, 3, state=Item.State.KEPT)
    factories.items(river_stage, 2)
    factories.verdict(kept[0], outcome="dropped", superseded_at=factories.NOON)
    factories.verdict(kept[0])
    first = api.get(STAGE + "items/?state=kept&limit=2").json()
    assert [row["id"] for row in first["results"]] == [kept[0].pk, kept[1].pk]
    assert "state=kept" in first["next"]
    assert [row["id"] for row in api.get(first["next"]).json()["results"]] == [kept[2].pk]
    assert first["results"][0]["verdict"]["outcome"] == "kept"
    assert first["results"][1]["verdict"] is None
    refused(api.get(STAGE + "items/?state=lost"), 400, "invalid")


def test_one_item_shows_its_whole_history(api: APIClient, river_stage: Stage) -> None:
    item = factories.item(river_stage)
    factories.hit(item, hit_id="3ONE")
    factories.verdict(item, outcome="dropped", superseded_at=factories.NOON)
    factories.verdict(item)
    found = api.get(f"{STAGE}items/{item.pk}/").json()
    assert [verdict["outcome"] for verdict in found["verdicts"]] == ["dropped", "kept"]
    assert (found["verdict"]["outcome"], found["hits"][0]["hit_id"]) == ("kept", "3ONE")
    assert found["data"]["query"] == item.data["query"]


def test_the_items_page_costs_the_same_with_many(
    api: APIClient, river_stage: Stage, django_assert_num_queries: Any
) -> None:
    for row in factories.items(river_stage, 40):
        factories.verdict(row)
    with django_assert_num_queries(8):
        assert len(api.get(STAGE + "items/").json()["results"]) == 40


def test_answers_are_chosen_by_what_is_to_be_done(api: APIClient, river_stage: Stage) -> None:
    plain = factories.assignment(factories.hit(factories.item(river_stage)))
    label = factories.label(plain)
    held = factories.assignment(factories.hit(factories.item(river_stage)), state=Assignment.State.SUBMITTED)
    invalid = factories.assignment(factories.hit(factories.item(river_stage)), problem="No name was clicked.")
    reported = factories.assignment(factories.hit(factories.item(river_stage)), remark="Two names fit.")
    fast = factories.assignment(factories.hit(factories.item(river_stage)), held="It was too fast.")
    expected = {"to_review": held, "held": fast, "invalid": invalid, "reported": reported}
    for show, row in expected.items():
        assert [found["id"] for found in api.get(f"{STAGE}answers/?show={show}").json()["results"]] == [row.pk]
    found = api.get(f"{STAGE}answers/?worker={plain.worker.worker_id}").json()["results"]
    assert found[0]["labels"] == [
        {"item": label.item_id, "unit": label.unit, "value": label.value, "correct": True, "void": False}
    ]
    by_item = api.get(f"{STAGE}answers/?item={held.hit.item_id}").json()["results"]
    assert [row["id"] for row in by_item] == [held.pk]


@pytest.fixture
def held(api: APIClient, river_stage: Stage, market, eager: None) -> list[int]:
    """Ids of two answers that wait for review."""
    river_stage.auto_approval_seconds = 86_400
    river_stage.approval = Stage.Approval.REVIEW
    river_stage.save()
    factories.items(river_stage, 2)
    confirm(api)
    worker = market.sign_up_worker()
    for hit in river_stage.hits.all():
        market.answer(worker, hit.hit_id, **fields(hit, "Linden"))
    api.post(STAGE + "harvest/")
    return [row["id"] for row in api.get(STAGE + "answers/?show=to_review").json()["results"]]


def test_approving_pays_and_rejecting_asks_again(api: APIClient, river_stage: Stage, held: list[int]) -> None:
    approved = api.post(STAGE + "answers/approve/", {"answers": held[:1]}, format="json")
    assert (approved.status_code, approved.json()["decided"]) == (202, 1)
    body = {"answers": held[1:], "feedback": "The name is not in the text."}
    rejected = api.post(STAGE + "answers/reject/", body, format="json")
    assert api.get(rejected.json()["see"]).json()["results"] == []
    rows = api.get(STAGE + "answers/").json()["results"]
    assert [(row["state"], row["feedback"]) for row in rows] == [
        ("Approved", ""),
        ("Rejected", "The name is not in the text."),
    ]
    assert api.get("/api/projects/river/").json()["account"]["paid"] == "0.05"


def test_a_held_answer_counts_when_it_is_approved_though_the_marketplace_has_paid_it(
    api: APIClient, river_stage: Stage, market: Any, eager: None
) -> None:
    river_stage.settings = {"min_seconds": 30}
    river_stage.save()
    factories.items(river_stage, 1)
    confirm(api)
    hit = river_stage.hits.get()
    market.answer(market.sign_up_worker(), hit.hit_id, **fields(hit, "Linden"))
    api.post(STAGE + "harvest/")
    [row] = api.get(STAGE + "answers/?show=held").json()["results"]
    assert (row["state"], row["admitted"]) == ("Approved", None)
    assert "this stage asks for 30 s at least" in row["held"]
    assert [label["void"] for label in row["labels"]] == [True]
    figures = api.get(STAGE).json()["figures"]
    assert (figures["held"], figures["kept"]) == (1, 0)
    approved = api.post(STAGE + "answers/approve/", {"answers": [row["id"]]}, format="json").json()
    figures = api.get(STAGE).json()["figures"]
    assert (approved["decided"], figures["held"], figures["kept"]) == (1, 0, 1)


def test_answers_of_blocked_workers_are_approved_once_their_number_is_named(
    api: APIClient, river_stage: Stage, held: list[int]
) -> None:
    factories.block(river_stage, Assignment.objects.get(pk=held[0]).worker)
    rows = api.get(STAGE + "answers/").json()["results"]
    assert [row["worker_blocked"] for row in rows] == [True, True]
    told = refused(api.post(STAGE + "answers/approve/", {"answers": held}, format="json"), 409, "from_blocked_workers")
    assert (
        told["details"]["of_blocked_workers"] == 2
        and not Assignment.objects.exclude(state="Submitted", decision="").exists()
    )
    body = {"answers": held, "of_blocked_workers": 2}
    assert api.post(STAGE + "answers/approve/", body, format="json").json()["decided"] == 2


def test_deciding_twice_decides_once(api: APIClient, river_stage: Stage, held: list[int]) -> None:
    body = {"answers": held}
    counts = [api.post(STAGE + "answers/approve/", body, format="json").json()["decided"] for _ in range(2)]
    assert counts == [2, 0]


def test_a_rejection_without_a_reason_is_refused(api: APIClient, river_stage: Stage, held: list[int]) -> None:
    refused(api.post(STAGE + "answers/reject/", {"answers": held}, format="json"), 400, "invalid")
    refused(api.post(STAGE + "answers/reject/", {"answers": held, "feedback": " "}, format="json"), 400, "invalid")
    assert set(Assignment.objects.values_list("state", flat=True)) == {"Submitted"}


def test_another_stage_s_answers_stay_untouched(api: APIClient, river_stage: Stage, eager: None) -> None:
    other = factories.stage(river_stage.project, key="other")
    answer = factories.assignment(factories.hit(factories.item(other)), state=Assignment.State.SUBMITTED)
    decided = api.post(STAGE + "answers/approve/", {"answers": [answer.pk]}, format="json").json()["decided"]
    answer.refresh_from_db()
    assert (decided, answer.decision) == (0, "")


def test_an_answer_names_all_items_of_its_hit_and_is_found_by_each(api: APIClient, river_stage: Stage) -> None:
    items = factories.items(river_stage, 3)
    answer = factories.assignment(factories.hit_about(items))
    factories.label(answer, item=items[1])
    factories.assignment(factories.hit(factories.item(river_stage)))
    found = api.get(f"{STAGE}answers/?item={items[1].pk}").json()["results"]
    assert [(row["id"], row["item"], row["items"]) for row in found] == [
        (answer.pk, items[0].pk, [item.pk for item in items])
    ]
    assert [label["item"] for label in found[0]["labels"]] == [items[1].pk]
    (hit,) = api.get(f"{STAGE}items/{items[2].pk}/").json()["hits"]
    assert hit["item_count"] == 3


def test_items_are_searched_and_ordered_by_disagreement(api: APIClient, river_stage: Stage) -> None:
    rows = factories.items(river_stage, 3)
    for row, apart in zip(rows, (0.5, None, 1.0), strict=True):
        Item.objects.filter(pk=row.pk).update(disagreement=apart)
    first = api.get(STAGE + "items/?sort=-disagreement&limit=1").json()
    assert [(row["id"], row["disagreement"], row["confidence"]) for row in first["results"]] == [
        (rows[2].pk, 1.0, None)
    ]
    second = api.get(first["next"]).json()
    assert ([row["id"] for row in second["results"]], second["next"]) == ([rows[0].pk], None)
    assert len(api.get(STAGE + "items/?find=Ferry+station").json()["results"]) == 3
    assert api.get(STAGE + "items/?find=lighthouse").json() == {"results": [], "next": None, "looked_through": None}
    refused(api.get(STAGE + "items/?sort=nothing"), 400, "invalid")
    refused(api.get(STAGE + "items/?sort=disagreement&after=12"), 400, "invalid")
    refused(api.get(STAGE + "items/?after=x"), 400, "invalid")


def test_a_search_that_is_not_through_says_so_and_goes_on(
    api: APIClient, river_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyset, "WINDOW", 2)
    last = [*factories.items(river_stage, 4), factories.item(river_stage, data={"query": "A heron lands."})][-1]
    first = api.get(STAGE + "items/?find=heron").json()
    assert (first["results"], first["looked_through"]) == ([], 2)
    second = api.get(first["next"]).json()
    assert [row["id"] for row in api.get(second["next"]).json()["results"]] == [last.pk]


def test_answers_are_chosen_by_whether_they_were_right_and_ordered_by_time(api: APIClient, river_stage: Stage) -> None:
    answers = [
        factories.assignment(factories.hit(factories.item(river_stage)), seconds=seconds) for seconds in (9.0, 3.0)
    ]
    factories.label(answers[0], correct=False)
    factories.label(answers[1], correct=True)

    def found(query: str) -> list[int]:
        return [row["id"] for row in api.get(f"{STAGE}answers/?{query}").json()["results"]]

    assert found("sort=seconds") == [answers[1].pk, answers[0].pk]
    assert (found("compared=wrong"), found("compared=right")) == ([answers[0].pk], [answers[1].pk])
    assert (found("find=LINDEN&sort=-submitted"), found("find=oslo")) == ([answers[1].pk, answers[0].pk], [])


def test_all_that_wait_are_decided_by_a_filter_but_those_that_are_named_and_those_that_do_not_count(
    api: APIClient, river_stage: Stage, held: list[int]
) -> None:
    worker = Assignment.objects.get(pk=held[0]).worker.worker_id
    approve = STAGE + "answers/approve/"
    uncounted = factories.assignment(
        factories.hit(factories.item(river_stage)), state=Assignment.State.SUBMITTED, held="It was too fast."
    )
    nobodys = {"show": "waiting", "worker": "ANOBODY"}
    assert api.post(approve, nobodys, format="json").json()["decided"] == 0
    by_worker = {"show": "waiting", "worker": worker, "but": held[1:]}
    assert api.post(approve, by_worker, format="json").json() | {"see": ""} == {"decided": 1, "more": False, "see": ""}
    assert list(reviewing.undecided(river_stage).order_by("pk").values_list("pk", flat=True)) == [held[1], uncounted.pk]
    body = {"show": "held", "feedback": "Too hasty.", "undoable": True}
    assert api.post(STAGE + "answers/reject/", body, format="json").json()["decided"] == 1
    assert api.post(STAGE + "answers/undo/", {"show": "decided"}, format="json").json() == {"undone": 1, "more": False}
    body = {"show": "waiting", "feedback": "Too hasty."}
    assert api.post(STAGE + "answers/reject/", body, format="json").json()["decided"] == 1
    taken = api.post(STAGE + "answers/take-back/", {"show": "rejected"}, format="json").json()
    assert (taken["decided"], Assignment.objects.get(pk=held[1]).state) == (1, "Approved")


def test_a_filter_decides_a_bounded_number_at_once_and_says_whether_more_are_left(
    api: APIClient, river_stage: Stage, held: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hits.answers.api.answers.AT_ONCE", 1)
    for more in (True, False):
        told = api.post(STAGE + "answers/approve/", {"show": "waiting"}, format="json").json()
        assert (told["decided"], told["more"]) == (1, more)


def test_a_filter_pays_no_answer_of_a_blocked_worker_that_nobody_confirmed(
    api: APIClient, river_stage: Stage, held: list[int]
) -> None:
    factories.block(river_stage, Assignment.objects.get(pk=held[0]).worker)
    body: dict[str, Any] = {"show": "waiting"}
    told = refused(api.post(STAGE + "answers/approve/", body, format="json"), 409, "from_blocked_workers")
    assert told["details"]["of_blocked_workers"] == 2 and reviewing.undecided(river_stage).count() == 2
    assert api.post(STAGE + "answers/approve/", body | {"of_blocked_workers": 2}, format="json").json()["decided"] == 2


def test_answers_are_chosen_by_their_ids_or_by_a_filter_and_not_by_both_or_neither(
    api: APIClient, river_stage: Stage, held: list[int]
) -> None:
    for verb, more in {"approve": {}, "reject": {"feedback": "Too hasty."}, "undo": {}, "take-back": {}}.items():
        show = {"undo": "decided", "take-back": "rejected"}.get(verb, "waiting")
        chosen: list[dict[str, Any]] = [
            {},
            {"answers": held, "show": show},
            {"answers": held, "worker": "A1"},
            {"answers": held, "but": held},
            {"worker": "A1"},
            {"but": held},
            {"show": "imported"},
            {"show": show, "but": [1] * 1001},
        ]
        for body in chosen:
            refused(api.post(f"{STAGE}answers/{verb}/", body | more, format="json"), 400, "invalid")
    assert reviewing.undecided(river_stage).count() == 2
