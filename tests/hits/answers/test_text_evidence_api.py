"""How texts came about, for programs: figures and sentences, and nothing that decides by them."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from hits.models import Project, Stage
from hits.workers.verbs import comparing_texts
from tests.hits import factories as make
from tests.hits.answers.written_answers import crowd, stage_of_stories
from tests.hits.api_calls import HOME

pytestmark = pytest.mark.django_db
STORIES = f"{HOME}stages/story/"


@pytest.fixture
def stories(river: Project) -> Stage:
    stage = stage_of_stories(river)
    crowd(stage)
    comparing_texts.compare_when_due(stage)
    return stage


def test_answers_come_with_it_most_signs_first(api: APIClient, stories: Stage) -> None:
    found = api.get(f"{STORIES}answers/?sort=-signs&limit=10").json()["results"]
    signs = [row["text_evidence"]["signs"] for row in found]
    assert signs == sorted(signs, reverse=True) and signs[0] == 2 and signs[-1] == 0
    told = found[0]["text_evidence"]
    assert told["noted"] == "counted" and told["beside"] == 72
    counts = told["counts"]["story"]
    assert counts == {"typed": 0, "pasted": counts["pasted"], "pastes": 1, "deletions": 0, "pauses": 0, "seconds": 0}
    assert told["near_duplicate"]["share"] == 1.0
    assert {one["kind"] for one in told["sentences"] if one["is_sign"]} == {"pasted", "near_duplicate"}
    assert all("_typing" not in row["answer"] for row in found)
    assert len(api.get(f"{STORIES}answers/?show=signs").json()["results"]) == 6


def test_a_stage_that_does_not_collect_it_has_none(api: APIClient, river_stage: Stage) -> None:
    make.assignment(make.hit(make.item(river_stage)))
    [row] = api.get(f"{HOME}stages/validate/answers/").json()["results"]
    assert row["text_evidence"] is None
    assert api.get(f"{HOME}stages/validate/answers/?sort=-signs").json()["results"] == []


def test_a_worker_is_summed_up(api: APIClient, stories: Stage) -> None:
    found = api.get(f"{STORIES}worker-texts/?worker_id=APASTES").json()
    sentences = found.pop("sentences")
    assert found == {
        "answers": 6, "counted": 6, "mostly_pasted": 6, "near_duplicates": found["near_duplicates"], "with_signs": 6
    }  # fmt: skip
    assert {one["kind"] for one in sentences} >= {"pasted", "stock_phrases"}
    assert api.get(f"{STORIES}worker-texts/?worker_id=ANOBODY").status_code == 404


def test_it_is_switched_on_and_a_task_without_texts_says_why_not(
    api: APIClient, river: Project, river_stage: Stage
) -> None:
    stage_of_stories(river, text_evidence=False)
    assert api.patch(STORIES, {"text_evidence": True}, format="json").status_code == 200
    [setting] = [one for one in api.get(f"{STORIES}settings/").json() if one["name"] == "text_evidence"]
    assert (setting["value"], setting["when"]) == (True, "any time")
    refused = api.patch(f"{HOME}stages/validate/", {"text_evidence": True}, format="json")
    assert refused.status_code == 400 and "has no text to be written" in refused.content.decode()
    assert api.patch(STORIES, {"text_evidence": "perhaps"}, format="json").status_code == 400
