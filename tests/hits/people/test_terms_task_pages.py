"""The terms on a task's page: what a worker sees and ticks, what the check asks, what a draft keeps."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits import protocols
from hits.answers.verbs import serving
from hits.crowd.html import parse
from hits.crowd.task_page import read_screen
from hits.models import Draft, Hit
from hits.people.rules import terms
from tests.hits import factories as make
from tests.hits.answers import question_set, story
from tests.hits.protocols.test_several_items_browser import FORM, TEXTS
from tests.hits.task_page import ASSIGNMENT, WORKER, address
from tests.markup import squeezed

pytestmark = pytest.mark.django_db(transaction=True)
ANSWER = {"answer": story.places("Annika de Wit")[0], "text": "Annika de Wit"}
BOX = "I have read these terms and agree to them."
ASKED = "Please read the terms of this project"


def box(page: str) -> str:
    found = re.search(r'<input[^>]*name="project:terms"[^>]*>', page)
    return " ".join(found[0].split()) if found else ""


@pytest.fixture
def check(hit: Hit) -> Callable[..., Any]:
    client, token = Client(enforce_csrf_checks=True), serving.page_token(serving.Visit(hit, ASSIGNMENT, WORKER))
    return lambda **fields: client.post("/task/check/", {"page": token, **ANSWER, **fields})


def test_a_project_without_terms_asks_for_nothing(hit: Hit, open_task: Any, check: Any) -> None:
    assert "project:terms" not in squeezed(open_task(hit)) and check().status_code == 200


def test_the_preview_shows_the_terms_and_no_box(hit: Hit, client: Client) -> None:
    make.terms(hit.stage.project)
    page = squeezed(client.get(address(hit)))
    assert "Answers are <strong>published</strong>." in page and "before your first answer" in page
    assert "project:terms" not in page and "<summary" in page


def test_who_has_not_agreed_finds_the_box_which_names_the_version(hit: Hit, open_task: Any) -> None:
    make.terms(hit.stage.project)
    make.terms(hit.stage.project, text="Something else.")
    page = squeezed(open_task(hit))
    assert 'value="2"' in box(page) and "checked" not in box(page) and "required" in box(page) and BOX in page
    assert "Something else." in page and "<strong>published" not in page and "version 2" in page


def test_who_agreed_in_an_earlier_answer_of_the_project_is_not_asked_again(hit: Hit, open_task: Any) -> None:
    version = make.terms(hit.stage.project)
    earlier = make.hit(make.item(make.stage(hit.stage.project)))
    make.assignment(earlier, make.worker(WORKER), terms=version)
    page = squeezed(open_task(hit))
    assert "You agreed to version 1 on 19 November 2026." in page and BOX not in page
    assert 'type="hidden"' in box(page) and 'value="1"' in box(page)
    assert BOX in squeezed(open_task(hit, workerId="AANOTHER"))
    make.terms(hit.stage.project)
    assert BOX in squeezed(open_task(hit)), "A new version is asked for anew."


def test_an_agreement_in_another_project_says_nothing_here(hit: Hit, open_task: Any) -> None:
    make.terms(hit.stage.project)
    other = make.hit()
    make.assignment(other, make.worker(WORKER), terms=make.terms(other.stage.project))
    assert BOX in squeezed(open_task(hit))


def test_nothing_in_the_terms_becomes_markup_that_runs(hit: Hit, open_task: Any) -> None:
    text = (
        '<script>alert(1)</script>\n\n<img src=x onerror="alert(2)">\n\n[click](javascript:alert(3)) '
        '![pixel](https://spy.example/x.png)\n\n<a href="https://evil.example" onclick="alert(4)">here</a>\n\n'
        "[ours](https://lab.example)"
    )
    make.terms(hit.stage.project, text=text)
    page = squeezed(open_task(hit))
    shown = page.partition('class="terms-text"')[2].partition("<fieldset")[0]
    assert "&lt;script&gt;alert(1)" in shown and "<script" not in shown and "<img" not in shown
    assert not re.search(r"<[^>]*(onerror|onclick|javascript:|evil\.example)", shown)
    assert '<a href="https://lab.example" target="_blank" rel="noopener noreferrer">ours</a>' in shown


def test_the_check_refuses_an_answer_without_the_agreement_and_names_the_box(hit: Hit, check: Any) -> None:
    make.terms(hit.stage.project)
    refused = check()
    assert refused.status_code == 422 and refused.json()["reasons"][0].startswith(ASKED)
    assert refused.json()["fields"] == [terms.FIELD]
    assert check(**{terms.FIELD: "1"}).json() == {"ok": True}
    for forged in ("2", "0", "", "one", "1 ", "9" * 5000):
        assert check(**{terms.FIELD: forged}).status_code == 422
    both = check(**{"answer": ""}).json()["reasons"]
    assert both[0].startswith(ASKED) and len(both) == 2


@pytest.mark.parametrize(("ago", "taken"), [(timedelta(minutes=9), True), (timedelta(minutes=12), False)])
def test_the_check_takes_an_older_version_that_may_have_stood_when_the_hit_was_accepted(
    hit: Hit, check: Any, ago: timedelta, taken: bool
) -> None:
    Hit.objects.filter(pk=hit.pk).update(assignment_seconds=600)
    make.terms(hit.stage.project)
    make.terms(hit.stage.project, made_at=timezone.now() - ago)
    assert (check(**{terms.FIELD: "1"}).status_code == 200) == taken
    assert check(**{terms.FIELD: "2"}).status_code == 200


def test_a_draft_keeps_the_tick_and_no_field_of_the_task_has_its_name(hit: Hit, open_task: Any, client: Client) -> None:
    make.terms(hit.stage.project)
    token = serving.page_token(serving.Visit(hit, ASSIGNMENT, WORKER))
    client.post("/task/draft/", {"page": token, **ANSWER, terms.FIELD: "1"})
    assert Draft.objects.get().fields == {**ANSWER, terms.FIELD: "1"}
    assert "checked" in box(squeezed(open_task(hit)))
    client.post("/task/draft/", {"page": token, **ANSWER, terms.FIELD: "<b>" * 4000})
    assert Draft.objects.get().fields == ANSWER


def test_a_tick_of_an_older_version_does_not_tick_the_newer_one(hit: Hit, open_task: Any, client: Client) -> None:
    make.terms(hit.stage.project)
    token = serving.page_token(serving.Visit(hit, ASSIGNMENT, WORKER))
    client.post("/task/draft/", {"page": token, **ANSWER, terms.FIELD: "1"})
    make.terms(hit.stage.project)
    page = squeezed(open_task(hit))
    assert 'value="2"' in box(page) and "checked" not in box(page)


def test_a_task_in_steps_asks_before_the_first_step_and_carries_the_tick_along(
    recording_marketplace: Any, client: Client
) -> None:
    stage = make.stage(protocol="staged_choice")
    make.terms(stage.project)
    hit = make.hit(
        make.item(stage, document=make.document(stage.project, data=question_set.DOCUMENT), data=question_set.SET)
    )
    token = serving.page_token(serving.Visit(hit, ASSIGNMENT, WORKER))

    def take(**fields: str) -> Any:
        posted = {"page": token, "assignmentId": ASSIGNMENT, "workerId": WORKER, **fields}
        return client.post("/task/step/", posted, query_params={"turkSubmitTo": recording_marketplace.origin})

    said = {"paragraph": "good", "step": "1"}
    refused = take(**said)
    assert refused.status_code == 422 and ASKED in squeezed(refused) and not Draft.objects.exists()
    taken = take(**said, **{terms.FIELD: "1"})
    page = squeezed(taken)
    assert taken.status_code == 200 and "checked" in box(page)
    assert page.count("project:terms") == 1, "The protocol does not carry it along as a field of its own."
    assert Draft.objects.get().fields[terms.FIELD] == "1"


@pytest.fixture
def several(db: None) -> Hit:
    stage = make.stage(protocol="form", settings=protocols.get("form").settings({"form": FORM}), hit_title="Moods")
    make.terms(stage.project)
    items = [
        make.item(stage, document=make.document(stage.project, data={"columns": {"text": text}}), data={})
        for text in TEXTS
    ]
    return make.hit_about(items)


def test_a_hit_about_several_items_asks_at_the_first_and_carries_the_tick_along(
    several: Hit, recording_marketplace: Any, client: Client
) -> None:
    token = serving.page_token(serving.Visit(several, ASSIGNMENT, WORKER))

    def take(**fields: str) -> Any:
        posted = {"page": token, "assignmentId": ASSIGNMENT, "workerId": WORKER, "item_number": "1", **fields}
        return client.post(f"/task/step/?turkSubmitTo={recording_marketplace.origin}", posted, follow=True)

    refused = take(mood="glad")
    assert refused.status_code == 422 and ASKED in squeezed(refused)
    page = squeezed(take(mood="glad", **{terms.FIELD: "1"}))
    assert "item 2 of 3" in page and "checked" in box(page) and page.count("project:terms") == 1


def test_simulated_people_agree(hit: Hit, open_task: Any) -> None:
    make.terms(hit.stage.project)
    screen = read_screen(parse(open_task(hit).content.decode()), "http://ours.example/")
    assert screen.form.fields[terms.FIELD] == "1"
    assert terms.FIELD not in [one.name for one in screen.controls("checkbox")]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "Ich habe diese Bedingungen gelesen und stimme ihnen zu."),
        ("es", "He leído estas condiciones y las acepto."),
    ],
)
def test_it_is_said_in_the_language_of_the_worker(hit: Hit, open_task: Any, language: str, said: str) -> None:
    make.terms(hit.stage.project)
    hit.stage.page_language = language
    hit.stage.save()
    assert said in squeezed(open_task(hit))


def test_what_a_page_asks_the_database_does_not_grow_with_the_answers(hit: Hit, open_task: Any) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert open_task(hit).status_code == 200
        return len(found)

    worker = make.worker(WORKER)
    make.assignment(make.hit(make.item(hit.stage)), worker)
    without = queries()
    version = make.terms(hit.stage.project)
    for _ in range(3):
        make.assignment(make.hit(make.item(hit.stage)), worker, terms=version)
    # The text, and when this worker agreed first; without terms none.
    assert queries() == without + 2
