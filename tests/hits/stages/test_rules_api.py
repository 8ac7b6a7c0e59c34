"""Rules over the API: the same refusals as on the page, in the one shape."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from hits.judging.verbs import deciding
from hits.models import Item, RuleEdition, Stage
from tests.hits import factories
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import STAGE
from tests.hits.small_recipe import answered

OLD = "valid: at least 2 label = good\notherwise: drop\n"
NEW = "valid: at least 1 label = good\notherwise: drop\n"
RULE = STAGE + "rule/"


@pytest.fixture
def judged(river_stage: Stage) -> Stage:
    """An item that is valid, and one that the new rule would make so."""
    rule = {"name": "conditions", "version": 1, "params": {"answers": 3, "text": OLD}}
    Stage.objects.filter(pk=river_stage.pk).update(answers=3, rule=rule)
    river_stage.refresh_from_db()
    for labels in (["good"] * 3, ["good", "bad", "bad"]):
        answered(river_stage, *[{"label": label} for label in labels])
    deciding.decide(river_stage)
    return river_stage


def test_the_rule_comes_with_its_editions_and_units(api: APIClient, judged: Stage) -> None:
    found = api.get(RULE).json()
    assert (found["edition"], found["text"], found["left_to_judge"]) == (1, OLD, 0)
    assert found["units"] == {"label": ["bad", "good"]}
    (first,) = found["editions"]
    assert (first["number"], first["created_at"], first["note"]) == (1, None, "From the recipe ReCoRD")


def test_a_preview_counts_and_changes_nothing(api: APIClient, judged: Stage) -> None:
    found = api.post(RULE + "preview/", {"text": NEW}, format="json").json()
    assert (found["items"], found["moved"], found["parts"], found["unheard"]) == (2, 1, [], [])
    assert found["counts"] == [
        {"conclusion": {"outcome": "kept", "word": "valid"}, "now": 1, "then": 2},
        {"conclusion": {"outcome": "dropped", "word": ""}, "now": 1, "then": 0},
    ]
    (move,) = found["moves"]
    assert (move["before"]["outcome"], move["after"]["word"], move["items"]) == ("dropped", "valid", 1)
    assert move["examples"] == [Item.objects.get(state=Item.State.DROPPED).pk]
    assert not RuleEdition.objects.exists()


def test_a_text_that_is_no_rule_is_refused_with_every_fault(api: APIClient, judged: Stage) -> None:
    answer = api.put(RULE, {"text": "valid: perhaps\nok: all label = 1", "seen": 1}, format="json")
    refused(answer, 400, "rule_refused")
    faults = answer.json()["error"]["details"]["faults"]
    assert [(fault["line"], fault["column"]) for fault in faults] == [(1, 8), (2, 1)]
    refused(api.post(RULE + "preview/", {"text": "valid"}, format="json"), 400, "rule_refused")
    refused(api.put(RULE, {"text": NEW}, format="json"), 400, "invalid")


def test_a_saved_rule_judges_and_the_next_save_has_to_have_seen_it(api: APIClient, judged: Stage, eager: None) -> None:
    saved = api.put(RULE, {"text": NEW, "seen": 1, "note": "One is enough"}, format="json")
    assert (saved.status_code, saved.json()["edition"]) == (202, 2)
    assert Item.objects.filter(conclusion="valid").count() == 2
    assert api.get(RULE).json()["editions"][0]["created_by"] == "alice"
    refused(api.put(RULE, {"text": OLD, "seen": 1}, format="json"), 409, "rule_changed")
    refused(api.put(RULE, {"text": NEW, "seen": 2}, format="json"), 409, "rule_unchanged")


def test_items_tell_and_are_filtered_by_their_conclusion(api: APIClient, judged: Stage) -> None:
    (item,) = api.get(STAGE + "items/?conclusion=valid").json()["results"]
    assert (item["conclusion"], item["verdict"]["conclusion"], item["verdict"]["rule_edition"]) == ("valid", "valid", 1)
    assert api.get(STAGE + "items/?conclusion=other").json()["results"] == []


def test_judging_again_is_asked_for(api: APIClient, judged: Stage, eager: None) -> None:
    Item.objects.update(conclusion="")
    answer = api.post(RULE + "judge-again/")
    assert (answer.status_code, answer.json()["message"]) == (202, "2 items are being judged again.")
    assert Item.objects.filter(conclusion="valid").count() == 1


def test_an_item_without_answers_is_no_matter_of_a_rule(api: APIClient, judged: Stage) -> None:
    factories.items(judged, 3)
    assert "2 items" in api.post(RULE + "judge-again/").json()["message"]
