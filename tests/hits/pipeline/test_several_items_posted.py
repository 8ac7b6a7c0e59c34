"""What anybody can post to a task about several items: invented names, long forms, and pages that come back."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.answers.rules.task_links import task_path
from hits.answers.verbs import serving
from hits.items.verbs import importing
from hits.models import Assignment, Draft, Hit, Label, Project, Stage
from hits.projects.verbs import projects
from hits.stages.verbs import stage_settings, task_settings
from tests.hits.pipeline.test_several_items import WEATHER, gathered, published, said, stage

__all__ = ["stage"]
pytestmark = pytest.mark.django_db(transaction=True)
TEXT = {"kind": "text", "text": "{text}"}


def token_of(hit: Hit, worker: str = "AW", assignment: str = "3A") -> str:
    return serving.page_token(serving.Visit(hit, assignment, worker))


def step(client: Client, market: Any, token: str, **fields: str) -> Any:
    address = f"{reverse('task-step')}?{urlencode({'turkSubmitTo': market.url})}"
    return client.post(address, {"page": token, **fields})


@pytest.mark.parametrize("key", ["item1", "item2", "item12"])
def test_a_field_may_have_any_key_that_a_lead_gives_it(stage: Stage, market: Any, key: str) -> None:
    choices = [{"id": "a", "text": "A"}, {"id": "b", "text": "B"}]
    boxes = {"kind": "any", "key": key, "question": "Which?", "choices": choices}
    task_settings.change_task(stage, {"settings": {"form": {"show": [TEXT], "ask": [boxes]}}}, None)
    hit = published(stage)[0]
    serving.check(token_of(hit, market.sign_up_worker()), {"item_number": "1", f"{key}.a": "yes"})
    fields = {"item_number": "2", f"item1:{key}.a": "yes", f"{key}.b": "yes"}
    market.answer(market.sign_up_worker(), hit.hit_id, **fields)
    gathered(stage)
    ticked = Label.objects.filter(value="yes", unit__startswith=f"{key}/").values_list("item__key", "unit")
    assert sorted(ticked) == [("n1", f"{key}/a"), ("n2", f"{key}/b")]


@pytest.mark.parametrize(
    "more",
    [
        {"item_number": "²", "item01:weather": "dry", "item0:weather": "dry"},
        {"item_number": "-1", "item3:weather": "dry", "item99:weather": "dry", "item100:weather": "dry"},
        {"item_number": "9" * 20, "item1:item1:weather": "dry", "item2:item_number": "1"},
        {"item1:<script>": "x", "item1:weather/x": "1", "item1:weather.correct": "true", "item1:\n": "x"},
    ],
)
def test_invented_names_change_no_label(stage: Stage, market: Any, more: dict[str, str]) -> None:
    hit = published(stage)[0]
    market.answer(market.sign_up_worker(), hit.hit_id, **{"item1:weather": "wet", "item2:weather": "dry"}, **more)
    gathered(stage)
    assert said(stage) == {"n1": ["wet"], "n2": ["dry"]}, Assignment.objects.get().problem
    assert set(Label.objects.values_list("unit", flat=True)) == {"weather"}


def test_twenty_items_with_sixty_fields_each_can_be_answered(lead: Any, market: Any, client: Client) -> None:
    texts = [{"kind": "short_text", "key": f"m{n}", "question": "How?", "required": False} for n in range(39)]
    boxes = {"kind": "any", "key": "boxes", "question": "Which?", "choices": [f"Choice {n}" for n in range(20)]}
    project = projects.create_project("Big", "form", 20, "lab@example.org", lead, seed=3)
    big = project.stages.get()
    given = {"answers": 1, "items_per_hit": 20, "requirements": [], "reward": "0.30"}
    stage_settings.change(big, given, lead)
    task_settings.change_task(big, {"settings": {"form": {"show": [TEXT], "ask": [*texts, boxes]}}}, None)
    table = "\n".join(["id,text", *(f"n{n},Text {n}." for n in range(20))])
    importing.import_upload(importing.create_upload(project, "w.csv", table.encode(), "public", None).pk)
    (hit,) = published(big)
    one = {f"m{n}": "yes" for n in range(39)} | {f"boxes.choice-{n}": "yes" for n in range(20)}
    fields = {f"item{number}:{name}": value for number in range(1, 20) for name, value in one.items()}
    token = token_of(hit, market.sign_up_worker())
    reply = client.post(reverse("task-check"), {"page": token, "item_number": "20", **one, **fields})
    assert reply.json() == {"ok": True}
    market.answer(market.sign_up_worker(), hit.hit_id, item_number="20", **one, **fields)
    gathered(big)
    assert Assignment.objects.get().problem == ""
    assert Label.objects.filter(unit="m0").count() == 20


@pytest.fixture
def pictures(stage: Stage) -> Stage:
    picture = {"kind": "image", "column": "picture", "description": "A picture"}
    task_settings.change_task(stage, {"settings": {"form": {**WEATHER, "show": [picture]}}}, None)
    for number, item in enumerate(stage.items.select_related("document"), 1):
        item.document.data["columns"]["picture"] = f"https://host{number}.example.com/a.png"
        item.document.save()
    return stage


def test_a_screen_that_comes_back_may_load_its_picture(pictures: Stage, market: Any, client: Client) -> None:
    hit = published(pictures)[0]
    reply = step(client, market, token_of(hit, market.sign_up_worker()), item_number="1", weather="")
    assert reply.status_code == 422 and "https://host1.example.com/a.png" in reply.content.decode()
    assert "https://host1.example.com" in reply["Content-Security-Policy"]


def test_without_room_for_a_draft_the_next_item_is_shown_all_the_same(
    pictures: Stage, market: Any, client: Client
) -> None:
    hit = published(pictures)[0]
    for number in range(hit.max_assignments + 20):
        serving.save_draft(token_of(hit, f"AX{number}", f"3X{number}"), {"weather": "wet"})
    reply = step(client, market, token_of(hit, market.sign_up_worker()), item_number="1", weather="wet")
    assert reply.status_code == 200 and "https://host2.example.com/a.png" in reply.content.decode()
    assert "https://host2.example.com" in reply["Content-Security-Policy"]
    assert 'name="item1:weather" value="wet"' in reply.content.decode()


def test_a_draft_that_is_too_long_stops_nobody(stage: Stage, market: Any, client: Client) -> None:
    hit = published(stage)[0]
    token = token_of(hit, market.sign_up_worker())
    reply = step(client, market, token, item_number="1", weather="wet", invented="x" * 60_000)
    assert reply.status_code == 200 and "item 2 of 2" in reply.content.decode()
    assert not Draft.objects.exists()


def test_names_are_no_markup_and_lead_nowhere_else(stage: Stage, market: Any, client: Client) -> None:
    hit = published(stage)[0]
    token = token_of(hit, market.sign_up_worker())
    evil = {'item1:"><script>alert(1)</script>': '"><script>alert(2)</script>', "item1:formaction": "javascript:1"}
    reply = step(client, market, token, item_number="1", weather="wet", **evil)
    assert reply.status_code == 303 and reply["Location"].startswith(task_path(hit.pk))
    page = client.get(reply["Location"])
    assert "<script>alert" not in page.content.decode() and not page.cookies
    for origin in (
        "https://evil.example",
        f"{market.url}.evil.example",
        f"{market.url}/",
        "javascript:1",
        "//evil",
        "",
    ):
        address = f"{reverse('task-step')}?{urlencode({'turkSubmitTo': origin})}"
        assert client.post(address, {"page": token, "item_number": "1", "weather": "wet"}).status_code == 400


def test_a_closed_hit_and_an_archived_project_keep_no_drafts(stage: Stage, client: Client) -> None:
    hit = published(stage)[0]
    fields = {"page": token_of(hit), "weather": "wet"}
    Hit.objects.filter(pk=hit.pk).update(state=Hit.State.CLOSED)
    assert client.post(reverse("task-draft"), fields).status_code == 429
    Hit.objects.filter(pk=hit.pk).update(state=Hit.State.LIVE)
    Project.objects.update(archived_at=timezone.now())
    assert client.post(reverse("task-draft"), fields).status_code == 429
    Project.objects.update(archived_at=None)
    assert client.post(reverse("task-draft"), fields).status_code == 200


@pytest.mark.parametrize("name", ["task-draft", "task-check", "task-step"])
def test_what_is_larger_than_any_answer_is_refused_unread(client: Client, name: str) -> None:
    reply = client.post(
        reverse(name), b"x", "multipart/form-data", CONTENT_LENGTH=str(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
    )
    assert reply.status_code == 413
