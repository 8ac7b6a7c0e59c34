"""How texts came about, on the pages of leads: sentences to read, and no button that goes by them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hits.crowd.html import Node, parse
from hits.models import Assignment, Stage
from hits.workers.verbs import comparing_texts
from tests.hits import factories as make
from tests.hits.answers.written_answers import crowd, finish, scenario, stage_of_stories, told
from tests.hits.protocols.telling import STORY
from tests.hits.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage(world: World) -> Stage:
    stage = stage_of_stories(world.project)
    crowd(stage)
    comparing_texts.compare_when_due(stage)
    return stage


def address(stage: Stage, name: str, query: str = "") -> str:
    return reverse(name, args=[stage.project.slug, stage.key]) + query


def shown(client: Client, address: str) -> Node:
    reply = client.get(address)
    assert reply.status_code == 200
    return parse(reply.content.decode())


def squeezed(text: str) -> str:
    return " ".join(text.split())


def pasted(stage: Stage) -> Assignment:
    return stage.assignments.filter(signs=2)[0]


def test_review_tells_it_in_sentences_below_the_answer(lead_client: Client, stage: Stage) -> None:
    row = pasted(stage)
    page = shown(lead_client, address(stage, "review", f"?answer={row.pk}"))
    part = page.first("section", **{"aria-labelledby": "text-evidence"})
    assert part is not None
    said = squeezed(part.text())
    assert "characters were pasted, at once, more than in 92 % of the answers here." in said
    assert "earlier answer of AHONEST3" in said and "and no proof" in said
    near = row.text_evidence.near
    assert [link.attributes["href"] for link in part.all("a") if "answer=" in link.attributes["href"]] == [
        address(stage, "review", f"?answer={near.pk}")
    ]
    assert not part.all("form") and not part.all("button") and not part.all("input")
    assert "stock phrases such as" in squeezed(page.text()), "beside the worker's record"


def test_the_list_of_answers_puts_most_signs_first_and_chooses_those_with_one(
    lead_client: Client, stage: Stage
) -> None:
    page = shown(lead_client, address(stage, "answers", "?sort=-signs"))
    rows = [squeezed(row.text()) for row in page.all("tr")][1:]
    assert "TES" in rows[0]
    assert "unusual" in rows[1] and "characters were pasted" in rows[1]
    chosen = shown(lead_client, address(stage, "answers", "?show=signs"))
    assert len(chosen.all("tr", **{"class": "likeness text-signs"})) == 6
    assert "proves nothing and decides nothing" in squeezed(chosen.text())
    assert "With signs in their text" in squeezed(page.text())


def test_a_stage_that_does_not_collect_it_offers_neither_list_nor_order(lead_client: Client, world: World) -> None:
    other = make.stage(world.project, key="other", protocol="story", hit_title="Other")
    told(scenario(other), make.worker(), STORY, None)
    finish(other)
    text = squeezed(shown(lead_client, address(other, "answers")).text())
    assert "most signs first" not in text and "With signs" not in text
    row = other.assignments.get()
    assert (
        "How the text came about" not in lead_client.get(address(other, "review", f"?answer={row.pk}")).content.decode()
    )


def test_the_worker_s_page_sums_it_up(lead_client: Client, stage: Stage) -> None:
    def text_of(worker: str) -> str:
        page = shown(lead_client, reverse("worker", args=[stage.project.slug, worker]))
        part = page.first("section", **{"aria-labelledby": "texts"})
        assert part is not None
        return squeezed(part.text())

    assert "6 of 6 answers have something unusual" in text_of("APASTES")
    assert "In 6 of 6 answers with counts, most of the text was pasted." in text_of("APASTES")
    assert "nothing unusual in 6 answers" in text_of("AFAST") and "unusual in 6" in text_of("ADICTATES")
    assert "Nothing is blocked or rejected by it." in text_of("AFAST")


def test_pages_cost_the_same_with_many_answers(lead_client: Client, stage: Stage) -> None:
    def costs() -> list[int]:
        found = []
        row = pasted(stage)
        for place in (
            address(stage, "review", f"?answer={row.pk}"),
            address(stage, "answers", "?sort=-signs"),
            reverse("worker", args=[stage.project.slug, "APASTES"]),
        ):
            with CaptureQueriesContext(connection) as queries:
                assert lead_client.get(place).status_code == 200
            found.append(len(queries))
        return found

    before = costs()
    for number in range(60):
        told(scenario(stage), make.worker(), f"{STORY} {number}", [0, 500, 1, 0, 0, 0])
    finish(stage)
    comparing_texts.read_new(stage)
    comparing_texts.compare(stage)
    assert costs() == before


def test_it_is_switched_on_on_the_page_of_settings(lead_client: Client, world: World) -> None:
    stage = make.stage(world.project, key="tales", protocol="story", hit_title="Tales")
    page = shown(lead_client, address(stage, "stage-settings"))
    box = page.first("input", name="text_evidence")
    assert box is not None and "checked" not in box.attributes and "disabled" not in box.attributes
    assert "The page tells workers so." in squeezed(page.text())


def test_a_task_without_texts_says_so_at_the_setting(lead_client: Client, world: World) -> None:
    page = shown(lead_client, address(world.stage, "stage-settings"))
    box = page.first("input", name="text_evidence")
    assert box is not None and "disabled" in box.attributes
    assert re.search("Nothing to collect: “[^”]+” has no text to be written.", page.text())


def test_words_of_workers_and_forged_fields_are_never_markup(lead_client: Client, world: World) -> None:
    stage = stage_of_stories(world.project, key="forged", hit_title="Forged")
    worker = make.worker("A<b>FORGES")
    row = told(scenario(stage), worker, f"<script>alert(1)</script> {STORY}", '{"<script>":[1,0,0,0,0,0]}')
    finish(stage)
    comparing_texts.compare_when_due(stage)
    html = lead_client.get(address(stage, "review", f"?answer={row.pk}")).content.decode()
    assert "<script>alert" not in html and "A<b>FORGES" not in html


def test_anybody_outside_sees_nothing(stage: Stage, charlie: Any) -> None:
    outside = Client()
    outside.force_login(charlie)
    assert outside.get(address(stage, "answers", "?show=signs")).status_code == 404
