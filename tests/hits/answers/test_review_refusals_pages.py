"""Review on stale pages, with forged addresses and forms, and of answers that go out at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.utils import timezone

from hits.answers.verbs import reviewing
from hits.judging.rules.summaries import refresh_summary
from hits.models import Assignment, Membership
from tests.hits import factories as make
from tests.hits.answers.test_review_pages import PART, address, decided, grow, queued, waiting, worker
from tests.hits.world import World
from tests.markup import squeezed

__all__ = ["queued", "waiting", "worker"]
pytestmark = pytest.mark.django_db


def due_soon(row: Assignment) -> None:
    Assignment.objects.filter(pk=row.pk).update(auto_approval_at=timezone.now() + timedelta(seconds=40))


# What was decided before


def test_a_rejection_of_what_is_decided_opens_no_form(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    reviewing.approve(world.stage, [waiting[0].pk], None)
    for headers in ({}, PART):
        reply = lead_client.get(address(world, "review-reject", waiting[0].pk), headers=headers, follow=True)
        assert "was decided before" in squeezed(reply) and reply.context["rejecting"] is None


def test_a_rejection_from_a_stale_page_leaves_an_approval_and_its_undo_time(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    lead_client.post(address(world, "review-approve", waiting[0].pk), headers=PART)
    before = decided(waiting[0]), waiting[0].not_before
    reply = lead_client.post(address(world, "review-reject", waiting[0].pk), {"reason": "Too late."}, headers=PART)
    assert "was decided before" in squeezed(reply)
    assert (decided(waiting[0]), waiting[0].not_before) == before
    assert list(waiting[0].actions.values_list("verb", flat=True)) == ["approved"]


def test_what_the_marketplace_approved_meanwhile_is_not_told_as_a_decision_from_here(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    Assignment.objects.filter(pk=waiting[0].pk).update(state="Approved", held="It was submitted too fast.")
    for verb, fields in (("review-reject", {"reason": "Not this name."}), ("review-approve", {})):
        reply = lead_client.post(address(world, verb, waiting[0].pk), fields, headers=PART)
        assert "was decided before" in squeezed(reply)
        waiting[0].refresh_from_db()
        assert waiting[0].admitted is None and not waiting[0].actions.exists()
        assert reply.context["sitting"].decided == 0


# Undo


def test_an_undo_is_offered_while_it_works_and_no_longer(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    undo = f'action="{address(world, "review-undo", waiting[0].pk)}"'
    assert undo in squeezed(lead_client.post(address(world, "review-approve", waiting[0].pk), headers=PART))
    assert undo in squeezed(lead_client.get(address(world)))
    Assignment.objects.filter(pk=waiting[0].pk).update(not_before=timezone.now())
    assert undo not in squeezed(lead_client.get(address(world)))


def test_where_a_decision_goes_at_once_no_undo_is_promised_and_no_notice_piles_up(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    due_soon(waiting[0])
    asked = squeezed(lead_client.get(address(world, "review-reject", waiting[0].pk)))
    assert "You can undo it" not in asked and "goes to the marketplace at once" in asked
    reply = lead_client.post(address(world, "review-approve", waiting[0].pk), headers=PART)
    assert queued == [(world.stage.pk,)]
    assert "review-undo" not in squeezed(reply) and "goes to the marketplace at once" in squeezed(reply)
    assert list(lead_client.get(address(world)).context["messages"]) == []


def test_an_undo_happens_once_and_leaves_a_later_decision_alone(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any], bob: Any
) -> None:
    lead_client.post(address(world, "review-approve", waiting[0].pk), headers=PART)
    lead_client.post(address(world, "review-undo", waiting[0].pk), headers=PART)
    again = lead_client.post(address(world, "review-undo", waiting[0].pk), headers=PART)
    assert "Undone" not in squeezed(again) and decided(waiting[0]) == ("", "")
    reviewing.reject(world.stage, [waiting[0].pk], "Reyes is the mayor.", bob)
    lead_client.post(address(world, "review-undo", waiting[0].pk), headers=PART)
    assert decided(waiting[0]) == ("Rejected", "Reyes is the mayor.")


# Who may


@pytest.mark.on_postgresql
@pytest.mark.parametrize("verb", ["review-approve", "review-reject", "review-undo", "review-rest"])
def test_an_answer_of_another_project_or_stage_is_not_found(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any], verb: str, alice: Any
) -> None:
    elsewhere = make.assignment(make.hit(make.item(make.stage(make.project(owner=alice)))), state="Submitted")
    fields = {"reason": "No.", "count": 1, "cost": "0.05", "until": elsewhere.pk}
    for pk in (elsewhere.pk, 2**63 - 1, 2**63, 10**30):
        assert lead_client.post(address(world, verb, pk), fields).status_code == 404
    assert lead_client.get(address(world), {"answer": elsewhere.pk}).status_code == 404
    lead_client.post(address(world, "approve-others"), {"answers": [elsewhere.pk]})
    assert decided(elsewhere) == ("", "")


@pytest.mark.parametrize(("role", "allowed"), [(Membership.Role.READER, False), (Membership.Role.REVIEWER, True)])
def test_readers_see_what_reviewers_decide(
    world: World, waiting: list[Assignment], queued: list[Any], role: str, allowed: bool, charlie: Any
) -> None:
    make.member(world.project, charlie, role)
    client = Client()
    client.force_login(charlie)
    page = squeezed(client.get(address(world)))
    assert ("Approve, $0.04" in page, "review-reject" in page, "Approve the other" in page) == (allowed,) * 3
    assert (client.get(address(world, "review-rest", waiting[0].pk)).status_code == 200) is allowed
    assert (client.get(address(world, "review-reject", waiting[0].pk)).status_code == 200) is allowed
    reply = client.post(address(world, "review-approve", waiting[0].pk), headers=PART)
    assert (reply.status_code == 200, decided(waiting[0])[0] == "Approved") == (allowed, allowed)
    assert (client.post(address(world, "review-undo", waiting[0].pk), headers=PART).status_code == 200) is allowed


def test_a_get_decides_nothing(world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]) -> None:
    for verb, status in (("approve", 405), ("undo", 405), ("reject", 200), ("rest", 200)):
        assert lead_client.get(address(world, f"review-{verb}", waiting[0].pk)).status_code == status
    assert lead_client.get(address(world, "approve-others")).status_code == 405
    assert not Assignment.objects.exclude(decision="").exists() and queued == []


# Forged forms


@pytest.mark.on_postgresql
@pytest.mark.parametrize("nonsense", ["x", "-1", "9" * 30, "9" * 5000, "1.5", "٣"])
def test_a_tick_that_cannot_be_read_approves_nobody(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any], nonsense: str
) -> None:
    sent = {"answers": [waiting[0].pk, nonsense], "count": 3, "cost": "0.15", "until": waiting[2].pk}
    reply = lead_client.post(address(world, "approve-others"), sent)
    assert reply.status_code in (302, 400)
    assert not Assignment.objects.exclude(decision="").exists()


def test_a_reason_with_line_ends_is_as_long_as_the_browser_counts(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    written = "\r\n".join(["a"] * 500)
    lead_client.post(address(world, "review-reject", waiting[0].pk), {"feedback": written})
    assert decided(waiting[0]) == ("Rejected", "\n".join(["a"] * 500))
    refused = lead_client.post(address(world, "review-reject", waiting[1].pk), {"feedback": "a" * 1001})
    assert refused.status_code == 400 and decided(waiting[1]) == ("", "")


# What is told beside it


def test_the_page_of_the_stage_and_the_list_of_projects_tell_as_many_as_review(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    from django.urls import reverse

    lead_client.post(address(world, "review-approve", waiting[0].pk), headers=PART)
    assert "2 left" in squeezed(lead_client.get(address(world)))
    for page in (world.url("stage"), reverse("projects")):
        assert "2 answers wait for review" in squeezed(lead_client.get(page))


def test_no_page_tells_of_an_automatic_approval_as_to_come_that_is_past(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    Assignment.objects.filter(stage=world.stage).update(auto_approval_at=timezone.now() - timedelta(minutes=3))
    refresh_summary(world.stage)
    for page in (world.url("stage"), f"{world.url('answers')}?show=review", address(world)):
        text = squeezed(lead_client.get(page))
        assert "automatically 3 min" not in text and "of all 3 min" not in text and "3 min ago" not in text


def test_markup_in_answers_and_texts_stays_text(world: World, lead_client: Client, waiting: list[Assignment]) -> None:
    bad = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    row = waiting[0]
    row.labels.update(value={"start": 0, "end": 4, "text": bad})
    Assignment.objects.filter(pk=row.pk).update(remark=bad, feedback=bad, adopted=bad, answer={bad: bad})
    row.hit.item.document.data["text"] = bad
    row.hit.item.document.save()
    for page in (address(world), world.url("answers"), world.url("items"), f"{world.url('items')}?find={quote(bad)}"):
        text = lead_client.get(page).content.decode()
        assert "<script>alert" not in text and "<img src=x" not in text, page
    grow(world, world.worker, 1)
