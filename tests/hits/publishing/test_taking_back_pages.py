"""Taking a rejection back, deleting finished HITs, and what does not go on by itself."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits import tasks
from hits.models import Assignment, Batch, Block, Hit, Item
from tests.hits import factories as make
from tests.hits.world import World
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What was asked of the jobs that make the calls."""
    asked: list[tuple[Any, ...]] = []
    for task in (tasks.finish_reviews, tasks.publish_batch):
        monkeypatch.setattr(task, "delay", lambda *arguments: asked.append(arguments))
    return asked


@pytest.fixture
def rejected(world: World) -> Assignment:
    row = make.assignment(
        make.hit(make.item(world.stage), state=Hit.State.CLOSED, harvested=1),
        world.worker,
        state=Assignment.State.REJECTED,
        feedback="Empty",
        submitted_at=timezone.now() - timedelta(days=2),
    )
    make.label(row, void=True)
    return row


def _address(world: World, row: Assignment) -> str:
    return reverse("take-back", args=[world.project.slug, world.stage.key, row.pk])


def _text(client: Client, address: str, **query: str) -> str:
    return squeezed(client.get(address, query))


def test_the_page_says_what_it_costs_and_the_button_says_it_again(
    world: World, lead_client: Client, rejected: Assignment, queued: list[Any]
) -> None:
    assert "Take the rejection back…" in _text(lead_client, world.url("answers"), show="rejected")
    text = _text(lead_client, _address(world, rejected))
    assert "Approve and pay $0.05 after all</button>" in text
    reserved = _reserved(world)
    reply = lead_client.post(_address(world, rejected), follow=True)
    rejected.refresh_from_db()
    assert (rejected.decision, _reserved(world)) == ("Approved", reserved + Decimal("0.05"))
    assert queued == [(world.stage.pk,)]
    assert "1 answer will be approved and paid after all" in reply.content.decode()
    assert "being approved" in reply.content.decode()


def _reserved(world: World) -> Decimal:
    world.project.account.refresh_from_db()
    return world.project.account.reserved


def test_what_can_no_longer_be_taken_back_says_why(
    world: World, lead_client: Client, rejected: Assignment, queued: list[Any]
) -> None:
    Hit.objects.filter(pk=rejected.hit_id).update(deleted_at=timezone.now())
    text = _text(lead_client, _address(world, rejected))
    assert "was deleted" in text and "after all</button>" not in text
    reply = lead_client.post(_address(world, rejected), follow=True)
    rejected.refresh_from_db()
    assert (rejected.decision, queued) == ("", [])
    assert "Nothing was changed" in reply.content.decode()


def test_beyond_the_budget_no_rejection_is_taken_back(
    world: World, lead_client: Client, rejected: Assignment, queued: list[Any]
) -> None:
    account = world.project.account
    account.refresh_from_db()
    account.budget = account.reserved
    account.save()
    reply = lead_client.post(_address(world, rejected), follow=True)
    rejected.refresh_from_db()
    assert (rejected.decision, queued) == ("", [])
    assert "Raise the project&#x27;s budget" in reply.content.decode()


def test_an_answer_of_another_project_cannot_be_taken_back_here(world: World, lead_client: Client) -> None:
    foreign = make.assignment(make.hit(), state=Assignment.State.REJECTED)
    assert lead_client.get(_address(world, foreign)).status_code == 404
    assert lead_client.post(_address(world, foreign)).status_code == 404


def test_what_the_marketplace_decided_first_is_shown_beside_the_answer_and_on_the_review_page(
    world: World, lead_client: Client, rejected: Assignment
) -> None:
    said = "The marketplace approved it at 2026-11-21 09:00 UTC before the rejection arrived."
    Assignment.objects.filter(pk=rejected.pk).update(state=Assignment.State.APPROVED, adopted=said)
    assert said in _text(lead_client, world.url("answers"), show="adopted")
    assert '<a href="?show=adopted">1 answer</a>' in _text(lead_client, world.url("answers"), show="review")


def test_the_page_of_deletion_says_what_is_lost_before_it_is_asked_for(
    world: World, lead_client: Client, rejected: Assignment, queued: list[Any]
) -> None:
    text = _text(lead_client, world.url("delete-hits"))
    assert "1 finished HIT" in text and "1 rejection on them can no longer be taken back" in text
    assert "This cannot be undone" in text and "Delete 1 HIT at the marketplace</button>" in text
    lead_client.post(world.url("delete-hits"))
    batch = Batch.objects.get(kind=Batch.Kind.DELETE)
    assert (batch.total, queued) == (1, [(batch.pk,)])
    assert "Deleting" in _text(lead_client, world.url("stage"))


def test_with_nothing_to_delete_nothing_is_asked_for(world: World, lead_client: Client, queued: list[Any]) -> None:
    assert "Nothing to delete" in _text(lead_client, world.url("delete-hits"))
    lead_client.post(world.url("delete-hits"))
    assert (Batch.objects.filter(kind=Batch.Kind.DELETE).count(), queued) == (0, [])


def test_the_stage_page_names_what_does_not_go_on_by_itself(world: World, lead_client: Client) -> None:
    gone = make.item(world.stage)
    make.hit(gone, state=Hit.State.CLOSED, error="It closed 4 times.")
    late = make.item(world.stage, state=Item.State.KEPT)
    make.hit(late, state=Hit.State.CLOSED, error="An answer came late and the budget has no room for it.")
    block = make.block(world.stage, make.worker("AREFUSED00001"), state=Block.State.INTENDED)
    Block.objects.filter(pk=block.pk).update(error="The marketplace refused: no such worker")
    text = _text(lead_client, world.url("stage"))
    for said in ("1 item closed again and again", "An answer came late", "blocking of AREFUSED00001 did not reach"):
        assert said in text
