"""What no route knows is refused with its name, in the body and in the query, so that a slip is not taken for a yes."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from hits.models import Stage
from tests.hits import models_that_answer
from tests.hits.api.test_errors import refused
from tests.hits.api.test_guard import MODEL_ROUTES, Pairs, asked, routes, said, world
from tests.hits.api_calls import HOME, STAGE

__all__ = ["world"]
FORMS = {"annotations", "bonus-files", "computation-answers", "evaluate-release", "keep-system", "media", "uploads",
         "upload-columns", "results", "results-columns", "results-form"}  # fmt: skip
LEADS = [pair for pair in routes() if pair not in MODEL_ROUTES]
VERBS = [(route, method) for route, method in LEADS if method != "get" and route.name not in FORMS]
READS = [(route, method) for route, method in LEADS if method == "get" and route.name not in ("schema", "docs")]


def passed_over(api: APIClient, pairs: Pairs, world: dict[str, Any]) -> dict[str, Any]:
    """The routes that do not refuse a name that they do not know, with their answers."""
    answers = list(asked(api, pairs, world, {"colour": "red"}))
    return {
        name: answer
        for name, answer in answers
        if said(answer) != (400, "invalid") or not answer.json()["error"]["details"].get("colour")
    }


def test_no_verb_passes_over_a_field_that_it_does_not_know(world: dict[str, Any], api: APIClient, market) -> None:
    assert passed_over(api, VERBS, world) == {}


def test_no_reading_passes_over_a_filter_that_it_does_not_know(world: dict[str, Any], api: APIClient, market) -> None:
    assert passed_over(api, READS, world) == {}


def test_the_api_for_models_passes_over_nothing_either(world: dict[str, Any], river_stage: Stage) -> None:
    models_that_answer.model(river_stage.project, "another", token="model_of_this_test")
    client = APIClient(headers={"Authorization": "Model model_of_this_test"})
    assert passed_over(client, MODEL_ROUTES, world) == {}


def test_every_unknown_name_is_listed_with_what_there_is_and_nothing_changes(
    api: APIClient, river_stage: Stage
) -> None:
    error = refused(api.patch(STAGE, {"rewards": "0.09", "autoblock": False, "auto_publish": False}, format="json"),
                    400, "invalid")  # fmt: skip
    assert set(error["details"]) == {"rewards", "autoblock"}
    assert error["details"]["rewards"][0].startswith("Unknown field. There are: title, answers, most_answers, enough,")
    river_stage.refresh_from_db()
    assert river_stage.auto_publish


def test_a_field_within_a_list_is_named_with_its_place(api: APIClient, river_stage: Stage) -> None:
    known = {"assignment_id": "A1", "amount": "1.00", "reason": "Clear."}
    body = {"bonuses": [known, {**known, "worker": "W1"}]}
    assert set(refused(api.post(HOME + "bonuses/quote/", body, format="json"), 400, "invalid")["details"]) == {
        "bonuses[1].worker"
    }


def test_a_form_names_them_too(api: APIClient, river_stage: Stage) -> None:
    file = SimpleUploadedFile("river.jsonl", b"{}")
    error = refused(api.post(HOME + "uploads/", {"file": file, "orign": "crawled"}, format="multipart"), 400, "invalid")
    assert set(error["details"]) == {"orign"}
    for route in ("results/", "results/columns/"):
        body = {"file": SimpleUploadedFile("river.csv", b"AssignmentId\n"), "maping": "{}"}
        error = refused(api.post(STAGE + route, body, format="multipart"), 400, "invalid")
        assert set(error["details"]) == {"maping"}
    assert not river_stage.project.uploads.exists()


def test_a_refusal_stays_small_however_many_and_long_the_names_are(api: APIClient, river_stage: Stage) -> None:
    body = {f"{number:04}" + "x" * 900: 1 for number in range(1000)}
    details = refused(api.patch(STAGE, body, format="json"), 400, "invalid")["details"]
    assert len(details) == 100 and {len(name) for name in details} == {100}
