"""Copied answers on the page where answers are reviewed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hits.crowd.html import Node, parse
from hits.models import Assignment, Item, Stage
from tests.hits import factories as make
from tests.hits.protocols.telling import DOCUMENT, OTHER, STORY
from tests.hits.world import World

pytestmark = pytest.mark.django_db
COPY = f"<script>alert(1)</script> & {OTHER[:150]} {STORY[40:]}"


@pytest.fixture
def stage(world: World) -> Stage:
    return make.stage(world.project, key="story", title="Stories", protocol="story", answers=20)


def scenario(stage: Stage) -> Item:
    return make.item(stage, document=make.document(stage.project, data=DOCUMENT), data={}, state=Item.State.OPEN)


def told(item: Item, *stories: str, **columns: Any) -> list[Assignment]:
    """One answer a story, each a minute after the one before."""
    hit = make.hit(item, slot=item.hits.count() + 1)
    rows = [
        make.assignment(hit, make.worker(), submitted_at=make.NOON + timedelta(minutes=at), **columns)
        for at in range(len(stories))
    ]
    for row, text in zip(rows, stories, strict=True):
        make.label(row, unit="story", value={"text": text, "words": 99}, correct=None)
        make.label(row, unit="evidence", value={"pastes": [], "seconds": 9}, correct=None)
    return rows


def address(stage: Stage) -> str:
    return reverse("answers", args=[stage.project.slug, stage.key])


def rows_about(client: Client, stage: Stage, query: str = "") -> list[Node]:
    reply = client.get(address(stage) + query)
    assert reply.status_code == 200
    return parse(reply.content.decode()).all("tr", **{"class": "likeness"})


def words_of(node: Node) -> str:
    return " ".join(node.text().split())


def test_a_copied_story_is_told_with_its_share_and_leads_to_the_other_one(lead_client: Client, stage: Stage) -> None:
    item = scenario(stage)
    first, honest, copy = told(item, STORY, OTHER, COPY)
    about_copy, about_first = rows_about(lead_client, stage)
    share = about_copy.first("strong")
    assert share is not None and 50 < int(share.text().removesuffix(" %")) < 90
    link = about_copy.first("a")
    assert link is not None
    there = reverse("item", args=[stage.project.slug, stage.key, item.pk])
    assert link.attributes["href"] == f"{there}#answer-{first.pk}"
    assert parse(lead_client.get(there).content.decode()).first("tr", id=f"answer-{first.pk}") is not None
    assert words_of(link) == f"story of {first.worker.worker_id[:4]}…{first.worker.worker_id[-3:]}"
    assert "which was sent earlier" in words_of(about_copy)
    assert "which was sent later" in words_of(about_first)
    assert honest.worker.worker_id not in words_of(about_copy) + words_of(about_first)


def test_both_texts_stand_side_by_side_with_what_they_share_marked_and_nothing_is_markup(
    lead_client: Client, stage: Stage
) -> None:
    told(scenario(stage), STORY, COPY)
    about_copy, _ = rows_about(lead_client, stage)
    own, other = (part.all("p")[1] for part in about_copy.all("section"))
    assert (own.text(), other.text()) == (COPY, STORY)
    for side in (own, other):
        shared = [mark.text() for mark in side.all("mark")]
        assert shared and all(text in STORY and text in COPY for text in shared)
    assert "<script>alert" not in lead_client.get(address(stage)).content.decode()


def test_the_other_one_is_found_behind_the_filter_and_in_the_same_item_alone(lead_client: Client, stage: Stage) -> None:
    item = scenario(stage)
    told(item, STORY)
    told(item, COPY, state=Assignment.State.SUBMITTED, auto_approval_at=make.NOON)
    told(scenario(stage), STORY)
    assert len(rows_about(lead_client, stage, "?show=review")) == 1
    assert len(rows_about(lead_client, stage)) == 2


def test_other_kinds_of_answers_are_not_compared(world: World, lead_client: Client) -> None:
    assert rows_about(lead_client, world.stage) == []
    assert lead_client.get(address(world.stage)).context["alike"] == {}


def test_the_page_costs_one_query_more_however_many_stories_there_are(lead_client: Client, stage: Stage) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            lead_client.get(address(stage))
        return len(found)

    lead_client.get(address(stage))
    without = queries()
    told(scenario(stage), STORY, COPY)
    with_two = queries()
    for _ in range(4):
        told(scenario(stage), *[f"{STORY} {number}" for number in range(10)])
    assert queries() == with_two
    # The page's own for its rows, their texts and labels, which of the workers shown are blocked (one query for all
    # rows), and one to compare them.
    assert with_two - without <= 11
    Stage.objects.filter(pk=stage.pk).update(protocol="question_writing")
    assert queries() == with_two - 1
