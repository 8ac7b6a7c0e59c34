"""A HIT about several items on a lead's pages and in the API."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.judging.rules.summaries import refresh_summary
from hits.models import Assignment, Item
from tests.hits import factories as make
from tests.hits.world import World
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def items(world: World) -> list[Item]:
    return [make.item(world.stage, key=key) for key in ("first", "second", "third")]


@pytest.fixture
def answer(world: World, items: list[Item]) -> Assignment:
    """Of three items, of which the second is answered wrongly."""
    posted = {"item1:name": "A", "item2:name": "B", "name": "C", "item_number": "3"}
    found = make.assignment(make.hit_about(items), world.worker, state=Assignment.State.SUBMITTED, answer=posted)
    for item in items:
        make.label(found, item=item, value=f"about {item.key}", correct=item.key != "second")
    refresh_summary(world.stage)
    return found


def text(reply: Any) -> str:
    return squeezed(reply)


def test_the_list_of_answers_says_which_label_is_about_which_item(
    world: World, lead_client: Client, answer: Any
) -> None:
    page = text(lead_client.get(world.url("answers") + "?show=review"))
    said = re.findall(r"(\w+):</span>\s*<span class=.ink.>([^<]*)</span>", page)
    assert said == [(key, f"about {key}") for key in ("first", "second", "third")]
    assert "and 2 more" in page


def test_the_page_of_an_item_shows_what_was_said_about_it_alone(
    world: World, lead_client: Client, items: list[Item], answer: Any
) -> None:
    page = text(lead_client.get(reverse("item", args=[world.project.slug, world.stage.key, items[1].pk])))
    assert "about second" in page and "about 3 items" in page
    assert "about first" not in page and "about third" not in page


def test_the_csv_file_names_all_items_of_an_answer(world: World, lead_client: Client, answer: Any) -> None:
    Item.objects.filter(key="third").update(conclusion="valid")
    reply = lead_client.get(world.url("answers-csv") + "?show=review&conclusion=valid")
    content = b"".join(reply.streaming_content).decode()  # type: ignore[attr-defined]
    (row,) = csv.DictReader(io.StringIO(content))
    assert json.loads(row["answer"]) == {"item1:name": "A", "item2:name": "B", "item3:name": "C"}
    assert (row["assignment_id"], row["item"]) == (answer.assignment_id, "first; second; third")


def test_the_list_of_answers_costs_the_same_however_many_items_a_hit_has(
    world: World, lead_client: Client, items: list[Item], answer: Any, django_assert_max_num_queries: Any
) -> None:
    address = world.url("answers") + "?show=review"
    with django_assert_max_num_queries(30) as few:
        lead_client.get(address)
    for _ in range(5):
        more = make.assignment(
            make.hit_about([make.item(world.stage) for _item in range(4)]), state=Assignment.State.SUBMITTED
        )
        make.label(more)
    with django_assert_max_num_queries(len(few)):
        lead_client.get(address)
