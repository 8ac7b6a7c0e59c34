"""Adding a stage and removing it: page, API and command."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from hits.crowd.html import parse
from hits.models import Stage
from hits.protocols.form.ready import ready_forms
from hits.protocols.html_page.protocol import HtmlPageProtocol
from tests.axe import violations
from tests.hits import factories as make

pytestmark = pytest.mark.django_db

GIVEN = {
    "title": "Rate", "protocol": "form", "source": "ask", "each": "answer", "draws": "",
    "answers": "2", "reward": "0.05", "hit_title": "Rate a headline",
    "hit_description": "Read a headline and rate it. About 20 seconds.",
}  # fmt: skip


@pytest.fixture
def stage(alice: Any) -> Stage:
    return make.stage(make.project(owner=alice, slug="news", recipe="form"), key="ask", title="Ask", protocol="form")


def test_a_lead_adds_a_stage_writes_its_task_next_and_removes_it(lead_client: Any, stage: Stage) -> None:
    page = lead_client.get("/projects/news/add-stage/").content.decode()
    assert (
        "what “Ask” keeps" in page
        and 'value="form"' in page
        and 'value="html_page"' in page
        and 'value="spans"' not in page
    )
    made = lead_client.post("/projects/news/add-stage/", GIVEN)
    assert (made.status_code, made["Location"]) == (302, "/projects/news/stages/rate/task/")
    new = stage.project.stages.get(key="rate")
    assert (new.answers, str(new.reward), new.input) == (2, "0.05", {"stage": "ask", "each": "answer"})
    assert "Receives items kept in “Ask”" in lead_client.get("/projects/news/").content.decode()
    assert "Remove “Rate”" in lead_client.get("/projects/news/stages/rate/settings/").content.decode()
    assert lead_client.post("/projects/news/stages/rate/remove/", follow=True).status_code == 200
    assert [one.key for one in stage.project.stages.all()] == ["ask"]


def test_what_does_not_fit_is_told_at_its_field_and_adds_nothing(lead_client: Any, stage: Stage) -> None:
    wrong = {**GIVEN, "hit_title": stage.hit_title, "source": "", "draws": "5", "reward": "a lot"}
    page = lead_client.post("/projects/news/add-stage/", wrong)
    assert page.status_code == 400 and "dollars and cents" in page.content.decode()
    page = lead_client.post("/projects/news/add-stage/", {**wrong, "reward": "0.05"})
    said = page.content.decode()
    assert page.status_code == 400
    assert "could not tell the two apart" in said and "the rows of a file are not drawn" in said
    assert lead_client.post("/projects/news/add-stage/", {**GIVEN, "protocol": "spans"}).status_code == 400
    assert stage.project.stages.count() == 1


def test_a_ready_made_task_begins_a_stage_by_page_and_api(lead_client: Any, api: Any, stage: Stage) -> None:
    page = parse(lead_client.get("/projects/news/add-stage/").content.decode())
    values = [node.attributes["value"] for node in page.all("input", "value", name="protocol")]
    assert values == ["form", *(f"form/{ready.name}" for ready in ready_forms()), "html_page"]
    assert lead_client.post("/projects/news/add-stage/", {**GIVEN, "protocol": "form/consent"}).status_code == 302
    given = {"title": "By API", "protocol": "form", "ready": "consent"}
    assert api.post("/api/projects/news/stages/", given, format="json").status_code == 201
    (consent,) = (ready.form for ready in ready_forms() if ready.name == "consent")
    made = stage.project.stages.filter(key__in=["rate", "by-api"])
    assert [one.settings["form"] for one in made] == [consent] * 2


@pytest.mark.parametrize(
    ("wrong", "why"),
    [({"ready": "concent"}, "not 'concent'. There are: consent, demographics"),
     ({"ready": "consent", "protocol": "html_page"}, "There are: none."),
     ({"ready": "consent", "settings": {}}, "ready brings settings of its own")],
)  # fmt: skip
def test_a_ready_made_task_that_is_not_there_is_refused_with_what_is(
    api: Any, lead_client: Any, stage: Stage, wrong: dict[str, Any], why: str
) -> None:
    refused = api.post("/api/projects/news/stages/", {"title": "X", "protocol": "form", **wrong}, format="json")
    assert refused.status_code == 400 and why in str(refused.json())
    assert lead_client.post("/projects/news/add-stage/", {**GIVEN, "protocol": "form/concent"}).status_code == 400
    assert stage.project.stages.count() == 1


def test_a_protocol_that_brings_no_picture_has_a_card_with_a_plain_place(
    lead_client: Any, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(HtmlPageProtocol, "cards")
    page = lead_client.get("/projects/news/add-stage/").content.decode()
    assert page.count("no-picture") == 1 and "A page of your own (HTML template)" in page


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("width", "scheme", "scripts"), [(1280, "light", True), (360, "dark", True), (360, "light", False)]
)
def test_a_task_is_chosen_from_a_gallery_by_keys(
    opened: Any, stage: Stage, width: int, scheme: str, scripts: bool
) -> None:
    page = opened("/projects/news/add-stage/", width, scheme, java_script_enabled=scripts)
    if scripts:
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        pictures = page.locator(".gallery img:visible").all()
        assert bool(pictures) == (width > 600), "too small to tell anything on a phone"
        for picture in pictures:
            picture.scroll_into_view_if_needed()
            expect(picture).not_to_have_js_property("naturalWidth", 0)
    page.get_by_role("radio", name="An empty form").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="Consent")).to_be_checked()
    for label, text in (("Name of the stage", "Agree"), ("Title", "Agree first"), ("Description", "Two questions.")):
        page.get_by_label(label, exact=True).fill(text)
    page.get_by_role("button", name="Add the stage").click()
    expect(page.get_by_role("heading", name="Task")).to_be_visible()
    assert stage.project.stages.get(key="agree").settings["form"]["ask"][0]["key"] == "consent"


def test_a_stage_of_the_recipe_is_not_removed(lead_client: Any, stage: Stage) -> None:
    said = lead_client.post("/projects/news/stages/ask/remove/", follow=True).content.decode()
    assert "is a stage of the recipe" in said and stage.project.stages.count() == 1


def test_by_the_api(api: Any, stage: Stage) -> None:
    given = {"title": "Rate", "protocol": "form", "reward": "0.05", "input": {"stage": "ask"}}
    made = api.post("/api/projects/news/stages/", given, format="json")
    assert (made.status_code, made.data["key"], made.data["reward"]) == (201, "rate", "0.05")
    refused = api.post("/api/projects/news/stages/", given, format="json")
    assert refused.status_code == 400 and "choose another title" in str(refused.data)
    assert api.post("/api/projects/news/stages/", {**given, "colour": "red"}, format="json").status_code == 400
    assert api.delete("/api/projects/news/stages/ask/").status_code == 409
    assert api.delete("/api/projects/news/stages/rate/").status_code == 204
    assert api.get("/api/projects/news/stages/rate/").status_code == 404
