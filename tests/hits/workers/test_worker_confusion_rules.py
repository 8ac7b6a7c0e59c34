"""What a worker said beside the computed values of the items."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.models import Stage, Worker
from hits.workers.rules import worker_confusion
from tests.hits import factories as make
from tests.hits.said import computed, say

pytestmark = pytest.mark.django_db
CHOICES = [{"id": value, "text": value} for value in ("yes", "no", "unsure")]


@pytest.fixture
def stage() -> Stage:
    """Ann says no of one item of three that the others call yes, and as all others of the rest; one item is a tie."""
    stage = make.stage(key="choose", protocol="multiple_choice", settings={"question": "Wet?", "choices": CHOICES})
    all_yes, all_no = dict.fromkeys(("ann", "ben", "cleo"), "yes"), dict.fromkeys(("ann", "ben", "cleo"), "no")
    say(stage, [all_yes, all_yes, {**all_yes, "ann": "no"}, all_no, {"ann": "yes", "ben": "no"}])
    return stage


def worker(name: str) -> Worker:
    return Worker.objects.get(worker_id=f"A{name.upper()}")


def test_the_table_counts_what_was_said_of_the_items_of_each_value(
    stage: Stage, django_assert_num_queries: Any
) -> None:
    assert worker_confusion.of_worker(stage, worker("ann")) == []
    computed(stage)
    with django_assert_num_queries(5):
        (found,) = worker_confusion.of_worker(stage, worker("ann"))
    assert (found.unit, found.labels, found.table) == ("choice", ("no", "yes"), ((1, 0), (1, 2)))
    assert (found.same, found.items, found.left_out) == (3, 4, 0)
    (other,) = worker_confusion.of_worker(stage, worker("ben"))
    assert other.table == ((1, 0), (0, 3))


def test_rare_labels_are_counted_and_not_shown(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    computed(stage)
    monkeypatch.setattr(worker_confusion, "MOST_LABELS", 1)
    (found,) = worker_confusion.of_worker(stage, worker("ann"))
    assert (found.labels, found.table, found.left_out) == (("yes",), ((2,),), 2)


def test_texts_and_numbers_have_no_table() -> None:
    form = {"form": {"show": [{"kind": "text", "text": "Read."}], "ask": [
        {"kind": "number", "key": "minutes", "question": "How long?"},
        {"kind": "any", "key": "topics", "question": "Which?", "choices": ["x", "y"]},
        {"kind": "long_text", "key": "why", "question": "Why?"},
    ]}}  # fmt: skip
    stage = make.stage(key="ask", protocol="form", settings=form)
    say(stage, [dict.fromkeys(("ann", "ben"), {"minutes": 3, "topics": ["x"], "why": "So."})])
    computed(stage)
    assert worker_confusion.of_worker(stage, worker("ann")) == []


def test_page_and_route_show_it(stage: Stage, client: Client) -> None:
    lead = make.user("lead")
    make.member(stage.project, lead)
    for name in ("ann", "ben"):
        make.worker_stat(stage, worker(name))
    client.force_login(lead)
    page = reverse("worker", args=[stage.project.slug, "AANN"])
    assert b"beside the values of all" not in client.get(page).content
    computed(stage)
    assert "3 of 4 the same" in " ".join(client.get(page).content.decode().split())
    route = reverse("api:worker-confusion", args=[stage.project.slug, stage.key])
    (unit,) = client.get(route, {"worker_id": "AANN"}).json()["units"]
    assert (unit.pop("unit"), unit.pop("labels"), unit.pop("table")) == ("choice", ["no", "yes"], [[1, 0], [1, 2]])
    assert unit == {"same": 3, "items": 4, "left_out": 0, "texts": {}}
    assert client.get(route, {"worker_id": "ANOBODY"}).status_code == 404
