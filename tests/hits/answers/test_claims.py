"""The ids in a task's address are a claim: anybody can write them, so they refuse nobody and fill nothing up."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from hits import tasks
from hits.answers.rules import drafts
from hits.answers.rules.hits_to_harvest import live_stages
from hits.answers.verbs import serving
from hits.models import Draft, Hit
from tests.hits import factories as make
from tests.hits.answers import story
from tests.hits.task_page import ASSIGNMENT, WORKER, address, frame_query

pytestmark = pytest.mark.django_db
ANSWER = story.places("Annika de Wit")[0]
MOST = 1 + drafts.SPARE


@pytest.fixture
def claim(recording_marketplace):
    """Open the page of a HIT under these ids and post to one of its addresses, as anybody can without an account."""
    client = Client(REMOTE_ADDR="198.51.100.66")

    def claim(name: str, hit: Hit, worker: str = WORKER, assignment: str = "3INVENTED", **fields: str):
        query = frame_query(hit, recording_marketplace.origin, workerId=worker, assignmentId=assignment)
        page = client.get(address(hit), query)
        assert page.status_code == 200
        token = page.content.decode().split('data-page="')[1].split('"')[0]
        return client.post(f"/task/{name}/", {"page": token, "answer": ANSWER, **fields})

    return claim


def a_minute_later() -> None:
    cache.clear()


# Refusing others


def test_an_answer_that_was_only_announced_keeps_nobody_from_another_hit_of_the_item(hit, claim, open_task):
    again = make.hit(hit.item, slot=2)
    assert claim("check", hit).json() == {"ok": True}
    assert open_task(again).status_code == 200
    make.assignment(hit, make.worker(WORKER), assignment_id="3INVENTED")
    assert open_task(again).status_code == 403


def test_an_answer_that_was_only_announced_keeps_nobody_from_a_later_stage(hit, claim, open_task):
    second = make.stage(hit.stage.project, not_workers_of=[hit.stage.key])
    later = make.hit(make.item(second, parent=hit.item, document=hit.item.document, data=story.ITEM))
    assert claim("check", hit).json() == {"ok": True}
    assert open_task(later).status_code == 200


def test_an_answer_that_was_only_announced_keeps_nobody_from_the_other_part(hit, claim, open_task):
    hit.stage.grants = "part-one"
    hit.stage.save()
    refused = [{"qualification": "part-one", "comparator": "DoesNotExist"}]
    other = make.stage(hit.stage.project, requirements=refused)
    part = make.hit(make.item(other, document=hit.item.document, data=story.ITEM))
    assert claim("check", hit).json() == {"ok": True}
    assert open_task(part).status_code == 200


@pytest.mark.parametrize("why", ["grants", "a later stage", "another HIT"])
def test_an_announced_answer_is_looked_for_at_once_where_others_depend_on_it(hit, claim, why):
    """The HIT wants further answers, so nobody else would ask the marketplace for the first one yet."""
    hit.max_assignments = 3
    hit.save()
    claim("check", hit)
    hit.refresh_from_db()
    assert hit.due_at is None
    if why == "grants":
        hit.stage.grants = "part-one"
        hit.stage.save()
    elif why == "a later stage":
        make.item(make.stage(hit.stage.project, not_workers_of=[hit.stage.key]), parent=hit.item)
    else:
        make.hit(hit.item, slot=2)
    claim("check", hit, assignment="3ANOTHER")
    hit.refresh_from_db()
    assert hit.due_at is not None


# Drafts


def test_a_hit_keeps_as_many_drafts_as_it_has_assignments_and_some_spare_ones(hit, claim):
    mine = claim("draft", hit, comment="Mine")
    assert mine.json() == {"ok": True}
    replies = [claim("draft", hit, worker=f"AINVENTED{n}", assignment=f"3{n}").status_code for n in range(MOST + 5)]
    assert Draft.objects.count() == MOST
    assert replies == [200] * (MOST - 1) + [429] * 6
    assert Draft.objects.filter(worker_id=WORKER).get().fields["comment"] == "Mine"
    assert claim("draft", hit, comment="Mine again").json() == {"ok": True}


def test_a_worker_who_finds_the_drafts_full_is_told_and_can_still_send(hit, claim):
    for n in range(MOST):
        claim("draft", hit, worker=f"AINVENTED{n}", assignment=f"3{n}")
    full = claim("draft", hit)
    assert (full.status_code, full.json()["ok"]) == (429, False)
    assert "You can still submit" in full.json()["reasons"][0]
    assert claim("check", hit).json() == {"ok": True}
    assert Draft.objects.count() == MOST


def test_announcing_answers_of_invented_workers_fills_no_table(hit, claim):
    for n in range(MOST + 5):
        assert claim("check", hit, worker=f"AINVENTED{n}", assignment=f"3{n}").json() == {"ok": True}
    assert Draft.objects.count() <= MOST


def test_drafts_that_no_assignment_can_come_back_to_make_room(hit, claim):
    for n in range(MOST):
        claim("draft", hit, worker=f"AINVENTED{n}", assignment=f"3{n}")
    a_minute_later()
    assert claim("draft", hit).status_code == 429
    over = timezone.now() - timedelta(seconds=hit.stage.assignment_seconds) - drafts.GRACE
    Draft.objects.update(saved_at=over - timedelta(seconds=1))
    assert claim("draft", hit).json() == {"ok": True}
    assert Draft.objects.get().worker_id == WORKER


def test_a_claim_made_on_another_hit_leaves_a_workers_draft_where_it_is(hit, claim, open_task):
    claim("draft", hit, assignment=ASSIGNMENT, comment="Hours of work")
    other = make.hit(make.item(hit.stage, document=hit.item.document, data=story.ITEM))
    claim("draft", other, assignment=ASSIGNMENT, comment="Overwritten")
    claim("check", other, assignment=ASSIGNMENT)
    assert "Hours of work" in open_task(hit).content.decode()


def test_the_drafts_of_one_hit_are_not_written_without_end(hit, claim, monkeypatch):
    monkeypatch.setattr(serving, "DRAFTS_A_MINUTE", 5)
    assert [claim("draft", hit).status_code for _ in range(7)] == [200] * 5 + [429] * 2
    a_minute_later()
    assert claim("draft", hit).status_code == 200


def test_one_address_does_not_write_drafts_on_all_hits_without_end(hit, claim, monkeypatch):
    monkeypatch.setattr(serving, "DRAFTS_A_MINUTE_FROM_AN_ADDRESS", 3)
    rows = [make.hit(make.item(hit.stage, document=hit.item.document, data=story.ITEM)) for _ in range(5)]
    assert [claim("draft", row).status_code for row in rows] == [200] * 3 + [429] * 2
    elsewhere = Client(REMOTE_ADDR="203.0.113.5")
    token = serving.page_token(serving.Visit(hit, ASSIGNMENT, WORKER))
    assert elsewhere.post("/task/draft/", {"page": token, "answer": ANSWER}).status_code == 200


def test_a_hit_is_not_looked_at_without_end_for_announced_answers(hit, claim, monkeypatch):
    monkeypatch.setattr(serving, "ANNOUNCED_A_MINUTE", 2)
    for n in range(2):
        claim("check", hit, assignment=f"3{n}")
    Hit.objects.update(due_at=None)
    assert claim("check", hit, assignment="3MORE").json() == {"ok": True}
    assert live_stages() == [] and Hit.objects.get(pk=hit.pk).due_at is None


# Forgetting


def test_drafts_go_by_their_age(hit, claim):
    claim("draft", hit)
    claim("draft", hit, worker="AOLD", assignment="3OLD")
    assert tasks.forget_drafts() == 0
    over = timezone.now() - timedelta(seconds=hit.stage.assignment_seconds) - drafts.GRACE
    Draft.objects.filter(worker_id="AOLD").update(saved_at=over - timedelta(seconds=1))
    assert tasks.forget_drafts() == 1
    assert Draft.objects.get().worker_id == WORKER


def test_drafts_of_a_closed_hit_go_soon(hit, claim):
    claim("draft", hit)
    Hit.objects.update(state=Hit.State.CLOSED)
    assert tasks.forget_drafts() == 0
    Draft.objects.update(saved_at=timezone.now() - drafts.GRACE - timedelta(seconds=1))
    assert tasks.forget_drafts() == 1
