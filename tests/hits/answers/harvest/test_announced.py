"""An answer on which other HITs depend is fetched when its page announces it, and not only with the next beat."""

from __future__ import annotations

from datetime import UTC, datetime
from queue import Empty

import pytest
from django.core.cache import cache
from django.test import Client
from kombu.exceptions import OperationalError

from annotate.celery import app
from hits import tasks
from hits.answers.verbs import harvesting, serving
from hits.core.jobs.leases import lease
from hits.core.jobs.queue import HINTS
from hits.models import Assignment, Draft, Grant, Hit, Item, StageSummary
from hits.projects.verbs import projects
from hits.publishing.rules import marketplace_account
from tests.hits import factories as make
from tests.hits.record_project import fields

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "ListAssignmentsForHIT"


def waiting() -> list[tuple[int, float]]:
    """The looks that wait in the queue of hints, taken out of it with all else: (its HIT, seconds until it is due)."""
    found = []
    with app.connection_for_read() as connection, connection.SimpleQueue(HINTS) as queue:
        while True:
            try:
                message = queue.get_nowait()
            except Empty:
                return found
            message.ack()
            if message.headers["task"] == tasks.fetch_announced.name:
                eta = datetime.fromisoformat(message.headers["eta"])
                found.append((message.payload[0][0], (eta - datetime.now(UTC)).total_seconds()))


@pytest.fixture
def part(market, bring, stage, publish, calm_stage):
    """Two HITs for two answers each of a stage that gives a qualification."""
    projects.want_answers(stage, 2, 1)
    stage.grants = "part-one"
    stage.save()
    bring(2)
    publish(stage)
    calm_stage()
    waiting()
    return list(stage.hits.order_by("id"))


@pytest.fixture
def other_part(part, project) -> Hit:
    """A HIT of the stage that refuses who answered in the first one."""
    later = project.stages.get(position=2)
    later.requirements = [{"qualification": "part-one", "comparator": "DoesNotExist"}]
    later.not_workers_of = []
    later.save()
    first = part[0].item
    return make.hit(make.item(later, document=first.document, data=first.data))


def announce(hit: Hit, worker: str, assignment: str) -> None:
    """What a browser posts a moment before the answer goes to the marketplace."""
    token = serving.page_token(serving.Visit(hit, assignment, worker))
    reply = Client().post("/task/check/", {"page": token, **fields(hit, "Linden")})
    assert (reply.status_code, reply.json()) == (200, {"ok": True})


def calls(controls, work) -> dict[str, int]:
    controls.turn(forget_requests=True)
    work()
    return controls.counts()


def test_it_is_fetched_with_one_call_and_the_other_part_is_closed(market, controls, part, other_part, stage):
    worker = market.sign_up_worker()
    taken = market.accept(worker, hit_id=part[0].hit_id)
    for _ in range(2):
        # Pressing the button twice is sending once.
        announce(part[0], worker, taken.assignment_id)
    market.submit(taken, **fields(part[0], "Linden"))
    [(pk, left)] = waiting()
    assert pk == part[0].pk
    assert 0 < left <= serving.ON_ITS_WAY_SECONDS
    visit = serving.Visit(other_part, "3OTHER", worker)
    serving.refuse_ineligible(visit)
    with lease(f"harvest:{stage.pk}"):
        # A run that is at the whole stage holds nothing up.
        assert calls(controls, lambda: tasks.fetch_announced(pk)).get(LIST) == 1
    with pytest.raises(serving.NotEligibleError, match="the other part"):
        serving.refuse_ineligible(visit)
    row = Assignment.objects.get()
    assert (row.assignment_id, row.scored, Grant.objects.get().key) == (taken.assignment_id, True, "part-one")
    assert not Item.objects.filter(pk=part[0].item_id, stale=True).exists()
    assert calls(controls, lambda: tasks.fetch_announced(pk)) == {}
    assert Assignment.objects.count() == 1


def test_a_page_that_was_open_already_refuses_at_the_end(market, part, other_part):
    worker = market.sign_up_worker()
    taken = market.accept(worker, hit_id=part[0].hit_id)
    token = serving.page_token(serving.Visit(other_part, "3OTHER", worker))
    announce(part[0], worker, taken.assignment_id)
    market.submit(taken, **fields(part[0], "Linden"))
    for pk, _ in waiting():
        tasks.fetch_announced(pk)
    reply = Client().post("/task/check/", {"page": token, **fields(other_part, "Linden")})
    assert reply.status_code == 403
    assert "the other part" in reply.json()["reasons"][0]


def test_it_is_counted_before_it_is_scored(market, part):
    worker = market.sign_up_worker()
    taken = market.accept(worker, hit_id=part[0].hit_id)
    announce(part[0], worker, taken.assignment_id)
    market.submit(taken, **fields(part[0], "Linden"))
    assert harvesting.harvest_announced(part[0]) == 1
    assert StageSummary.objects.get(stage=part[0].stage).answers == 1


def test_what_was_invented_costs_one_call_and_leaves_nothing(part, controls):
    announce(part[0], "AINVENTED", "3INVENTED")
    [(pk, _)] = waiting()
    assert calls(controls, lambda: tasks.fetch_announced(pk)).get(LIST) == 1
    assert not Assignment.objects.exists() and Draft.objects.count() == 1


def test_announcements_of_many_hits_arrange_so_many_looks_a_minute(part, monkeypatch):
    monkeypatch.setattr(serving, "LOOKS_A_MINUTE_IN_A_STAGE", 1)
    for hit in part:
        announce(hit, "AINVENTED", "3INVENTED")
    assert [pk for pk, _ in waiting()] == [part[0].pk]
    assert all(Hit.objects.get(pk=hit.pk).due_at for hit in part), "the beat fetches the others"
    monkeypatch.setattr(serving, "LOOKS_A_MINUTE", 0)
    cache.clear()
    announce(part[0], "AINVENTED", "3MORE")
    assert waiting() == []


def test_an_answer_on_which_nothing_depends_waits_for_the_beat(market, bring, stage, publish):
    bring(1)
    publish(stage)
    waiting()
    hit = stage.hits.get()
    announce(hit, "AREADER", "3MINE")
    assert waiting() == []
    assert Hit.objects.get(pk=hit.pk).due_at


def test_the_worker_sends_the_answer_all_the_same_when_the_queue_does_not_answer(part, monkeypatch):
    def refuse(*arguments, **options):
        raise OperationalError("no broker")

    monkeypatch.setattr(tasks.fetch_announced, "apply_async", refuse)
    announce(part[0], "AREADER", "3MINE")
    assert Hit.objects.get(pk=part[0].pk).due_at


def test_when_the_marketplace_does_not_answer_the_hit_stays_due(part, market, settings):
    announce(part[0], "AREADER", "3MINE")
    due = Hit.objects.get(pk=part[0].pk).due_at
    settings.MTURK_ENDPOINT_URL = "http://127.0.0.1:9"
    settings.MTURK_DEADLINE_SECONDS = 1
    marketplace_account.gateway.cache_clear()
    assert tasks.fetch_announced(part[0].pk) == 0
    marketplace_account.gateway.cache_clear()
    assert Hit.objects.get(pk=part[0].pk).due_at == due
    assert tasks.fetch_announced(0) == 0
