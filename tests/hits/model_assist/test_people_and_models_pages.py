"""The pages "Models" of a project, and "People and models" of a stage."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import expect

from hits.core.pages import FIELDS, NEXT
from hits.judging.rules.summaries import refresh_worker_stats
from hits.judging.verbs import deciding
from hits.models import (
    Assignment,
    Item,
    ModelAnnotator,
    ModelAnswer,
    Project,
    RoutedItem,
    Routing,
    Stage,
    StageSummary,
)
from hits.stages.pages import overview
from tests.axe import violations
from tests.hits import factories as make
from tests.hits import models_that_answer as asked
from tests.hits.doing import do
from tests.hits.lead_pages import Opener
from tests.markup import squeezed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stage(alice: Any) -> Stage:
    project = make.project(owner=alice, name="River <b>notes</b>", slug="river", recipe="choice", seed=3)
    return asked.stage(project, key="choose")


@pytest.fixture
def model(stage: Stage) -> ModelAnnotator:
    return asked.model(stage.project, "small-<i>bert</i>")


def url(name: str, *arguments: Any) -> str:
    return reverse(name, args=["river", *arguments])


def text(reply: Any, status: int = 200) -> str:
    assert reply.status_code == status
    return squeezed(reply)


def sure_of(model: ModelAnnotator, rows: list[Item]) -> None:
    for row in rows:
        asked.says(model, row, "yes")


# The models of a project


def test_a_model_is_registered_and_its_token_shown_once(lead_client: Client, stage: Stage) -> None:
    assert "No model yet" in text(lead_client.get(url("models")))
    form = {"name": "small-bert", "version": "2", "cost_per_answer": "$0.0004", FIELDS: "name version cost_per_answer"}
    reply = lead_client.post(url("models.register"), form, follow=True)
    page = text(reply)
    (token,) = re.findall(r'<code class="token">(model_[\w-]{43})</code>', page)
    assert "no-store" in reply["Cache-Control"]
    row = ModelAnnotator.objects.get()
    assert (str(row), f"{row.cost_per_answer:f}", row.created_by.username) == ("small-bert 2", "0.000400", "alice")
    reloaded = text(lead_client.get(reply.redirect_chain[-1][0]))
    assert token not in reloaded and "The token was shown already" in reloaded
    again = text(lead_client.get(url("models")))
    assert token not in again and f"{token[:10]}…" in again and "$0.0004" in again
    assert stage.project.actions.get().verb == "registered a model"


@pytest.mark.parametrize(
    ("given", "sentence", "status"),
    [
        ({"name": ""}, "This field may not be blank.", 400),
        ({"name": "x" * 61}, "no more than 60 characters", 400),
        ({"version": "1"}, "small-bert 1 is registered already. End it first, or choose another version.", 409),
        ({"cost_per_answer": "-1"}, "greater than or equal to 0", 400),
        ({"cost_per_answer": "0.0000001"}, "no more than 6 decimal places", 400),
    ],
)
def test_what_names_no_model_is_refused_with_what_was_typed(
    lead_client: Client, stage: Stage, given: dict[str, str], sentence: str, status: int
) -> None:
    asked.model(stage.project)
    typed = {"name": "small-bert", "version": "2", "cost_per_answer": "0.5", **given}
    page = text(lead_client.post(url("models.register"), {**typed, FIELDS: "name version cost_per_answer"}), status)
    assert sentence in page and f'value="{typed["version"]}"' in page
    assert ModelAnnotator.objects.count() == 1


def test_a_model_is_ended_and_its_version_is_free_again(lead_client: Client, model: ModelAnnotator) -> None:
    page = text(lead_client.post(url("models.end", model.pk), {NEXT: url("models")}, follow=True))
    assert "small-&lt;i&gt;bert&lt;/i&gt; 1 has ended: its token opens nothing any more." in page
    assert '<span class="chip">Ended</span>' in page and "<i>bert" not in page
    assert "has ended already" in text(lead_client.post(url("models.end", model.pk)), 409)
    typed = {"name": model.name, "version": "1"}
    assert lead_client.post(url("models.register"), typed).status_code == 302


def test_items_that_a_model_was_given_too_often_are_shown_and_given_again(
    lead_client: Client, stage: Stage, model: ModelAnnotator
) -> None:
    assert "Give again" not in text(lead_client.get(url("models")))
    asked.items(stage, 2)
    asked.given_too_often(model, stage)
    page = text(lead_client.get(url("models")))
    assert "2 items given 3 times without an answer" in page and url("models.give_again", model.pk) in page
    page = text(lead_client.post(url("models.give_again", model.pk), follow=True))
    assert "2 items are given to small-&lt;i&gt;bert&lt;/i&gt; 1 again." in page
    assert url("models.give_again", model.pk) not in page
    do("models.end", model)
    assert "has ended already" in text(lead_client.post(url("models.give_again", model.pk)), 409)


def test_a_model_of_another_project_is_not_there(lead_client: Client, stage: Stage) -> None:
    theirs = asked.model(make.project())
    assert lead_client.post(url("models.give_again", theirs.pk)).status_code == 404
    assert lead_client.post(url("models.end", theirs.pk)).status_code == 404
    theirs.refresh_from_db()
    assert theirs.ended_at is None


# Side by side


def test_people_and_models_stand_side_by_side_on_the_page_and_in_the_file(
    lead_client: Client, stage: Stage, model: ModelAnnotator
) -> None:
    rows = [asked.item(stage, gold="yes") for _ in range(4)]
    sure_of(model, rows)
    for row in rows:
        asked.people_say(row, "yes", "yes", "no", gold="yes")
    deciding.decide(stage)
    page = text(lead_client.get(url("people-and-models", "choose")))
    assert "small-&lt;i&gt;bert&lt;/i&gt; 1" in page and "4 items are compared." in page
    assert re.search(r'data-label="Same as most people">100.0 %<br>\s*<span class="small">51.0 to 100.0 % of 4', page)
    content = b"".join(lead_client.get(url("people-and-models-csv", "choose")).streaming_content).decode()
    people, bert = csv.DictReader(io.StringIO(content))
    assert (people["name"], bert["answers"], bert["gold_right"], bert["gold_of"]) == ("People", "4", "4", "4")
    assert (bert["agreement"], bert["agreement_of"], bert["cost"]) == ("4", "4", "")


def test_without_models_the_page_says_how_to_begin(lead_client: Client, stage: Stage) -> None:
    page = text(lead_client.get(url("people-and-models", "choose")))
    assert "No model is registered." in page and url("models") in page and "What models decided" not in page


def test_a_stage_of_written_answers_says_why_no_model_decides_there(lead_client: Client, stage: Stage) -> None:
    make.stage(stage.project, key="write", protocol="question_writing")
    page = text(lead_client.get(url("people-and-models", "write")))
    assert "Answers here are texts, which cannot be compared" in page and "Show what they would decide" not in page


def test_the_queries_of_the_page_do_not_grow_with_items_and_models(
    lead_client: Client, stage: Stage, model: ModelAnnotator, django_assert_max_num_queries: Any
) -> None:
    def fill(count: int) -> None:
        rows = [asked.item(stage) for _ in range(count)]
        other = asked.model(stage.project, f"another-{count}")
        for row in rows:
            asked.people_say(row, "yes", "yes", "no")
        deciding.decide(stage)
        for one in (model, other):
            ModelAnswer.objects.bulk_create(
                ModelAnswer(annotator=one, item=row, stage=stage, fields={}, labels=[], confidence=0.9) for row in rows
            )

    fill(1)
    with django_assert_max_num_queries(60) as first:
        lead_client.get(url("people-and-models", "choose"))
    fill(8)
    with django_assert_max_num_queries(60) as second:
        lead_client.get(url("people-and-models", "choose"))
    assert len(first) == len(second)


def test_a_small_price_has_no_useless_noughts_and_each_figure_its_own_name(
    lead_client: Client, stage: Stage, model: ModelAnnotator
) -> None:
    ModelAnnotator.objects.filter(pk=model.pk).update(cost_per_answer="0.0004")
    model.refresh_from_db()
    row = asked.item(stage, gold="yes")
    sure_of(model, [row])
    asked.people_say(row, "yes", "yes", "no", gold="yes")
    page = text(lead_client.get(url("people-and-models", "choose")))
    assert 'data-label="An answer costs">$0.0004<' in page and "agreement with others" in page
    assert '<fieldset class="plain">' in page and "Agreement with people" not in page
    refresh_worker_stats(stage, Assignment.objects.values_list("worker", flat=True))
    assert "Agreement with others" in text(lead_client.get(url("workers", "choose")))


def test_one_item_goes_to_people(lead_client: Client, stage: Stage, model: ModelAnnotator) -> None:
    sure_of(model, asked.items(stage, 2))
    given = {**CONDITION, "models": model.pk, "decided": "1", "saved": "0.15"}
    page = text(lead_client.post(url("route-items", "choose"), given, follow=True))
    assert "The models decide 1 item. 1 item of those on which they agree goes to people." in page
    page = text(lead_client.post(url("undo-routing", "choose", Routing.objects.get().pk), follow=True))
    assert "1 item waits to be published to people." in page


# Let models decide


CONDITION = {"least": "1", "confidence": "90", "audit": "20"}


def test_a_preview_is_confirmed_and_taken_back(
    lead_client: Client, stage: Stage, model: ModelAnnotator, eager: None
) -> None:
    sure_of(model, asked.items(stage, 10))
    address = url("people-and-models", "choose")
    page = text(lead_client.get(address, {**CONDITION, "models": model.pk}))
    assert "<strong>8 of 10 waiting items</strong> would be decided" in page and "$1.20" in page
    assert not Routing.objects.exists()
    given = {**CONDITION, "models": model.pk, "decided": "8", "saved": "1.20"}
    page = text(lead_client.post(url("route-items", "choose"), given, follow=True))
    assert "The models decide 8 items. 2 items of those on which they agree go to people." in page
    assert "<strong>8 items</strong> decided by models" in page and "2 wait for people" in page
    decided = RoutedItem.objects.deciding()[0].item
    shown = text(lead_client.get(url("items", "choose")))
    assert shown.count('<span class="chip">by models</span>') == 8
    shown = text(lead_client.get(url("item", "choose", decided.pk)))
    assert "decided by models</a>, without an answer of people" in shown and "confidence 95 %" in shown
    assert "small-&lt;i&gt;bert&lt;/i&gt; 1</strong>: Yes" in shown
    lines = b"".join(lead_client.get(url("items-csv", "choose")).streaming_content).decode().splitlines()
    assert sum(line.endswith(",models") for line in lines) == 8
    page = text(lead_client.post(url("undo-routing", "choose", Routing.objects.get().pk), follow=True))
    assert "8 items wait to be published to people." in page and "sent to people" in page
    assert set(stage.items.values_list("state", flat=True)) == {"new"}


def test_items_that_models_decide_stand_apart_on_every_page(
    lead_client: Client, stage: Stage, model: ModelAnnotator
) -> None:
    rows = asked.items(stage, 30)
    for row in rows[:6]:
        asked.people_say(row, "yes", "yes", "no")
    deciding.decide(stage)
    sure_of(model, rows[6:16])
    given = {**CONDITION, "models": model.pk, "decided": "8", "saved": "1.20"}
    page = text(lead_client.post(url("route-items", "choose"), given, follow=True))
    # The verdicts are written by a job.
    assert "<strong>0 items</strong> decided by models so far: further verdicts are being written now" in page
    page = text(lead_client.get(url("stage", "choose")))
    assert "Decided by models" not in page and "100.0 % of answered" in page
    deciding.decide(stage)
    assert "decided by models so far" not in text(lead_client.get(url("people-and-models", "choose")))
    refresh_worker_stats(stage, Assignment.objects.values_list("worker", flat=True))
    page = text(lead_client.get(url("stage", "choose")))
    assert re.search(r"<dt>Published</dt><dd><a [^>]*><strong>6</strong>", page)
    assert re.search(r"<dt>Decided by models</dt><dd><a [^>]*><strong>8</strong></a></dd><dd[^>]*>8 kept;", page)
    assert re.search(r"<strong>14</strong></a></dd><dd class=\"small\">6 by people, 100.0 % of answered</dd>", page)
    page = text(lead_client.get(url("project")))
    assert "<dd>6 of 30</dd>" in page and "<dd>14 (6 by people: 100.0 % of answered)</dd>" in page
    assert "<dt>decided by models</dt><dd>8</dd>" in page
    page = text(lead_client.get(url("release-preview")))
    cells = {name: number for name, number in re.findall(r'<td class="n" data-label="([^"]+)">([^<]*)</td>', page)}
    told = {name: cells[name] for name in ("Items", "Asked", "Answered", "Decided by models", "Kept")}
    assert told == {"Items": "30", "Asked": "6", "Answered": "6", "Decided by models": "8", "Kept": "14"}
    assert "<code>decided_by</code> is <code>people</code>" in page and "`" not in page[page.index("Make release") :]
    figures = StageSummary.objects.get(stage__key="choose")
    assert (figures.decided_by_models, figures.kept, figures.kept_by_models) == (8, 14, 8)


def test_the_price_of_a_kept_item_is_that_of_those_people_keep(stage: Stage, model: ModelAnnotator) -> None:
    rows = asked.items(stage, 5)
    asked.people_say(rows[0], "yes", "yes", "no")
    deciding.decide(stage)
    sure_of(model, rows[1:])
    make.routing(stage)
    StageSummary.objects.filter(stage=stage).update(kept=4, decided_by_models=3, kept_by_models=3)
    Assignment.objects.update(state=Assignment.State.APPROVED)
    refresh_worker_stats(stage, Assignment.objects.values_list("worker", flat=True))
    found = overview.money(Stage.objects.get(pk=stage.pk))
    assert found.paid and found.each_kept == found.paid


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"audit": "0"}, "Give 1 to 90 percent. Models decide nothing without an audit: nobody would see how often"),
        ({"decided": "9"}, "It is now 8 items, which would cost $1.20. Please confirm again."),
        ({"saved": "9.99"}, "It is now 8 items, which would cost $1.20. Please confirm again."),
        ({"decided": ""}, "Look at the preview and confirm it."),
        ({"saved": "NaN"}, "It is now 8 items"),
        ({"confidence": "120"}, "less than or equal to 100"),
        ({"models": ""}, "This field is required."),
        ({"models": "999999"}, "999999 is not one of the available choices."),
        ({"least": "2"}, "Of 1 model, 1 has to agree"),
    ],
)
def test_what_was_not_previewed_is_not_confirmed(
    lead_client: Client, stage: Stage, model: ModelAnnotator, changed: dict[str, str], sentence: str
) -> None:
    sure_of(model, asked.items(stage, 10))
    given = {**CONDITION, "models": str(model.pk), "decided": "8", "saved": "1.20", **changed}
    page = text(
        lead_client.post(url("route-items", "choose"), {name: value for name, value in given.items() if value}), 400
    )
    assert sentence in page and not Routing.objects.exists()


def test_a_routing_of_another_stage_is_not_undone(lead_client: Client, stage: Stage) -> None:
    theirs = make.routing(asked.stage(stage.project, key="other"))
    assert lead_client.post(url("undo-routing", "choose", theirs.pk)).status_code == 404
    used = make.routing(stage)
    assert "sent to people already" in text(lead_client.post(url("undo-routing", "choose", used.pk), follow=True))


@pytest.mark.parametrize("width", [360, 1280])
def test_the_pages_are_accessible_and_fit(
    opened: Opener, stage: Stage, model: ModelAnnotator, width: int, eager: None
) -> None:
    sure_of(model, asked.items(stage, 10))
    page = opened(url("people-and-models", "choose"), width=width)
    page.get_by_label("So many have to say the same").fill("1")
    page.get_by_role("button", name="Show what they would decide").click()
    expect(page.get_by_role("status")).to_contain_text("9 of 10 waiting items")
    assert violations(page) == []
    page.get_by_role("button", name="Let models decide 9 items").click()
    expect(page.get_by_role("heading", name="What models decided")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(page.url.replace("stages/choose/people-and-models/", "models/"))
    page.get_by_label("Name").fill("large")
    page.get_by_label("Version").fill("1")
    page.get_by_role("button", name="Register and show its token").click()
    expect(page.get_by_role("status").first).to_contain_text("copy this token now")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_whoever_only_reads_sees_no_form_that_changes(lead_client: Client, stage: Stage, model: ModelAnnotator) -> None:
    Project.objects.get().memberships.update(role="reader")
    sure_of(model, asked.items(stage, 10))
    page = text(lead_client.get(url("models")))
    assert "Register a model" not in page and "<button" not in page.partition("</header>")[2].partition("<footer")[0]
    page = text(lead_client.get(url("people-and-models", "choose"), {**CONDITION, "models": model.pk}))
    assert "would be decided" in page and "A manager or an owner can let them." in page
    assert lead_client.post(url("route-items", "choose"), {}).status_code == 403
