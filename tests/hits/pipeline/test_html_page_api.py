"""A page of one's own by the API alone: set up, published, answered at a real marketplace, and compared."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from tests.hits.api.test_errors import refused
from tests.hits.market import Marketplace

pytestmark = pytest.mark.usefixtures("eager")

NEW = {"name": "Pages", "recipe": "html_page", "budget": "5.00", "contact_email": "lab@example.org"}
HOME = "/api/projects/pages/"
STAGE = f"{HOME}stages/ask/"
TASK = {
    "template": "<p>${text}</p><input type='radio' name='good' value='yes'><input type='radio' name='good' value='no'>"
    "<input name='why'>",
    "gold": {"good": "right"},
}


def table(api: APIClient, content: str) -> Any:
    file = SimpleUploadedFile("rows.csv", content.encode())
    return api.post(f"{HOME}uploads/", {"file": file}, format="multipart").json()


@pytest.fixture
def pages(api: APIClient) -> APIClient:
    assert api.post("/api/projects/", NEW, format="json").status_code == 201
    return api


def test_answers_to_a_page_are_compared_with_the_known_ones(pages: APIClient, market: Marketplace) -> None:
    kept = pages.patch(f"{STAGE}task/", {"settings": TASK}, format="json").json()
    assert kept["settings"]["gold"] == {"good": "right"}
    assert table(pages, "id,text,right\nr1,Rain fell.,no\n")["state"] == "done"
    quote = pages.get(f"{STAGE}quote/").json()
    assert quote["problems"] == []
    given = {name: quote[name] for name in ("items", "total", "confirmation")}
    assert pages.post(f"{STAGE}publish/", given, format="json").status_code == 202
    (row,) = pages.get(f"{STAGE}items/").json()["results"]
    (hit,) = pages.get(f"{STAGE}items/{row['id']}/").json()["hits"]
    for good in ("no", "yes", "no"):
        market.answer(market.sign_up_worker(), hit["hit_id"], good=good, why="It says so.")
    assert pages.post(f"{STAGE}harvest/").status_code == 202
    answers = pages.get(f"{STAGE}answers/").json()["results"]
    labels = [{label["unit"]: (label["value"], label["correct"]) for label in one["labels"]} for one in answers]
    assert sorted(one["good"] for one in labels) == [("no", True), ("no", True), ("yes", False)]
    assert {one["why"] for one in labels} == {("It says so.", None)}
    workers = pages.get(f"{STAGE}workers/").json()["results"]
    assert sorted((one["scored"], one["correct"]) for one in workers) == [(1, 0), (1, 1), (1, 1)]


def test_a_known_answer_that_no_choice_has_keeps_the_table_out(pages: APIClient) -> None:
    assert pages.patch(f"{STAGE}task/", {"settings": TASK}, format="json").status_code == 200
    upload = table(pages, "id,text,right\nr1,Rain fell.,maybe\n")
    assert upload["state"] == "refused"
    (fault,) = pages.get(f"{HOME}uploads/{upload['id']}/").json()["faults"]
    assert "The gold answer 'maybe' of the column 'right' is none: 'good' has the value 'maybe'" in fault["message"]


def test_a_field_that_the_page_does_not_have_is_refused_when_it_is_set_up(pages: APIClient) -> None:
    wrong = {"settings": {**TASK, "gold": {"god": "right"}}}
    error = refused(pages.patch(f"{STAGE}task/", wrong, format="json"), 400, "settings_refused")
    assert "gold names the field 'god', which the page does not have" in str(error)
