"""The page of a test: adding one to a stage, its figures, and the same by the API and the command."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from hits import protocols
from hits.judging.rules.summaries import refresh_summary
from hits.models import Grant, Item, Membership, Stage
from tests.hits import factories as make
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
FORM = {
    "items_per_hit": "4", "screening_share": "75", "practice_items": "2", "draws": "", "answers": "9", "reward": "0.40",
    "screening_retries": "1", "screening_hours": "12",
}  # fmt: skip


@pytest.fixture
def stage(alice: Any) -> Stage:
    project = make.project(owner=alice, slug="weather")
    options = protocols.get("multiple_choice").settings({"question": "Wet?", "choices": ["Yes", "No"]})
    row = make.stage(project, key="choose", title="Choose", protocol="multiple_choice", settings=options,
                     hit_title="Was it wet?")  # fmt: skip
    for number in range(10):
        document = make.document(project, data={"text": f"Text {number}."})
        make.item(row, key=f"row-{number}", document=document, data={"gold": ["Yes"]} if number < 7 else {})
    refresh_summary(row)
    return row


def address(stage: Stage) -> str:
    return reverse("screening", args=[stage.project.slug, stage.key])


def test_a_lead_adds_a_test_whose_items_come_from_the_stage(stage: Stage, lead_client: Client) -> None:
    assert "Add the test" in lead_client.get(address(stage)).content.decode()
    assert stage.project.stages.count() == 1
    reply = lead_client.post(address(stage), FORM, follow=True)
    test = stage.project.stages.get(key="test-for-choose")
    assert reply.redirect_chain[-1][0] == reverse("stage", args=["weather", test.key])
    assert (test.screening_share, test.practice_items, test.screening_retries, test.screening_hours) == (0.75, 2, 1, 12)
    assert (test.items.count(), stage.items.count(), str(test.reward)) == (7, 3, "0.40")
    text = squeezed(lead_client.get(address(stage)))
    assert "Workers of this stage have to pass" in text and "Add the test" not in text
    text = squeezed(lead_client.get(address(test)))
    assert "answers 4 items with a gold answer, and passes with 75 % right" in text
    assert "may try again 1 time, 12 hours after" in text and "none yet" in text
    settings = squeezed(lead_client.get(reverse("stage-settings", args=["weather", test.key])))
    assert "Test: share that has to be right" in settings and "Test of workers" in settings


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"items_per_hit": "8"},
            "needs 10 items with a gold answer, 8 for a HIT and 2 to practise on; “Choose” has 7",
        ),
        ({"screening_share": "0"}, "greater than or equal to 1"),
        ({"screening_hours": "721"}, "less than or equal to 720"),
        ({"reward": "x"}, "reward"),
    ],
)
def test_what_makes_no_test_is_told_and_changes_nothing(
    stage: Stage, lead_client: Client, given: dict[str, str], told: str
) -> None:
    reply = lead_client.post(address(stage), FORM | given)
    assert reply.status_code == 400 and told in squeezed(reply)
    assert stage.project.stages.count() == 1 and stage.items.count() == 10


def test_a_published_stage_gets_none(stage: Stage, lead_client: Client) -> None:
    make.hit(stage.items.first())
    assert "This stage is published" in lead_client.get(address(stage)).content.decode()
    assert lead_client.post(address(stage), FORM).status_code == 400


@pytest.mark.parametrize("role", ["reader", "reviewer"])
def test_who_may_not_add_stages_only_looks(stage: Stage, bob: Any, role: str) -> None:
    make.member(stage.project, bob, Membership.Role(role))
    looking = Client()
    looking.force_login(bob)
    assert "Add the test" not in looking.get(address(stage)).content.decode()
    assert looking.post(address(stage), FORM).status_code == 403


def _tested(stage: Stage) -> Stage:
    test = make.stage(stage.project, key="choose-test", title="Test", hit_title="Test", protocol=stage.protocol,
                      settings=stage.settings, grants="choose-test")  # fmt: skip
    Stage.objects.filter(pk=test.pk).update(screening_share=0.75)
    test.refresh_from_db()
    item = make.item(test, key="<b>wrong</b>", data={"gold": ["Yes"]}, state=Item.State.CHECK)
    hit = make.hit(item)
    for value in (100, 75, 50):
        worker = make.worker()
        Grant.objects.create(project=stage.project, key=test.grants, worker=worker, stage=test, value=value)
        make.label(make.assignment(hit, worker), item=item, unit="choice", value="no", correct=value == 100)
    return test


def test_figures_are_those_of_the_results_on_page_and_api(stage: Stage, lead_client: Client, alice: Any) -> None:
    test = _tested(stage)
    text = squeezed(lead_client.get(address(test)))
    assert "<dt>Passed</dt><dd>2</dd>" in text and "<dt>Failed</dt><dd>1</dd>" in text and "75 %" in text
    assert "&lt;b&gt;wrong" in text and "67 %" in text
    api = APIClient()
    api.force_authenticate(alice)
    told = api.get(f"/api/projects/weather/stages/{test.key}/screening/").json()
    assert (told["began"], told["passed"], told["failed"], told["median"]) == (3, 2, 1, 75.0)
    assert told["items"] == [{"key": "<b>wrong</b>", "answers": 3, "wrong": 2}]
    refused = api.get(f"/api/projects/weather/stages/{stage.key}/screening/")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "no_test")


def test_the_page_costs_the_same_with_many(
    stage: Stage, lead_client: Client, django_assert_max_num_queries: Any
) -> None:
    test = _tested(stage)
    for _ in range(30):
        Grant.objects.create(project=stage.project, key=test.grants, worker=make.worker(), stage=test, value=50)
    with django_assert_max_num_queries(30):
        lead_client.get(address(test))


def test_the_api_adds_one_too(stage: Stage, alice: Any) -> None:
    api = APIClient()
    api.force_authenticate(alice)
    given = {"title": "Test", "input": {"stage": "choose", "each": "known"}, "items_per_hit": 5, "screening_share": 0.8}
    made = api.post("/api/projects/weather/stages/", given, format="json")
    assert made.status_code == 201, made.json()
    test = Stage.objects.get(key="test")
    assert (test.screening_mark, test.items.count()) == (80, 7)
    assert api.patch("/api/projects/weather/stages/test/", {"screening_share": 0.6}, format="json").status_code == 200
    assert Stage.objects.get(key="choose").requirements[-1]["integers"] == [60]
    assert api.delete("/api/projects/weather/stages/test/").status_code in (200, 204)
    assert Stage.objects.get(key="choose").items.count() == 10
