"""What experts changed, by the API."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from hits.models import Label, Project, Stage
from tests.hits import factories
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import HOME, logged
from tests.hits.reviews import review

ADDRESS = HOME + "stages/review/changes/"


@pytest.fixture
def review_stage(river: Project) -> Stage:
    return factories.stage(river, key="review", protocol="expert_review")


def units(api: APIClient, query: str = "") -> list[str]:
    return [row["unit"] for row in api.get(ADDRESS + query).json()["results"]]


def test_changes_are_listed_and_chosen(api: APIClient, review_stage: Stage) -> None:
    answer = review(review_stage, q1_correct="a fork", q2_delete="other", q2_words="Nobody asks that.")
    edit, deletion = api.get(ADDRESS).json()["results"]
    assert (edit["unit"], edit["action"], edit["document"]) == ("q1", "edit", answer.hit.item.document.key)
    assert (edit["before"]["Correct answer"], edit["after"]["Correct answer"]) == ("a whisk", "a fork")
    assert (deletion["after"], deletion["reason"]) == (None, "Nobody asks that.")
    assert deletion["worker_id"] == answer.worker.worker_id and deletion["undone_by"] is None
    assert (units(api, "?action=delete"), units(api, "?taken_back=true")) == (["q2"], [])
    assert units(api, "?limit=1") == ["q1"]


def test_a_change_is_taken_back_and_taken_up_again(api: APIClient, review_stage: Stage) -> None:
    review(review_stage, text_delete="incoherent", confirm_empty="yes", key="pancakes/1")
    row = Label.objects.get()
    assert api.get(ADDRESS + "left-out/").json() == [
        {"item": row.item_id, "key": "pancakes/1", "because": "The text was deleted: it is incoherent."}
    ]
    for _ in range(2):
        assert api.post(f"{ADDRESS}{row.pk}/undo/").json()["undone_by"] == "alice"
    assert (units(api, "?taken_back=true"), api.get(ADDRESS + "left-out/").json()) == (["text"], [])
    assert api.post(f"{ADDRESS}{row.pk}/redo/").json()["undone_at"] is None
    assert units(api, "?taken_back=false") == ["text"]
    assert logged(review_stage.project) == ["taken back", "taken up again"]


def test_what_is_no_change_of_the_stage_is_not_there(api: APIClient, review_stage: Stage, river_stage: Stage) -> None:
    review(review_stage)
    kept = Label.objects.get()
    refused(api.post(f"{ADDRESS}{kept.pk}/undo/"), 404, "not_found")
    elsewhere = factories.label(factories.assignment(factories.hit(factories.item(river_stage))))
    refused(api.post(f"{ADDRESS}{elsewhere.pk}/undo/"), 404, "not_found")


def test_the_list_costs_the_same_with_many(
    api: APIClient, review_stage: Stage, django_assert_max_num_queries: Any
) -> None:
    for _ in range(8):
        review(review_stage, q1_correct="a fork", q2_correct="a fork")
    with django_assert_max_num_queries(5):
        assert len(units(api)) == 16
