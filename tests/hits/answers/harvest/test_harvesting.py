"""What is fetched and when, against a real marketplace that counts its calls and lets its reads lag behind."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits import tasks
from hits.answers.rules.hits_to_harvest import live_stages, mark_due
from hits.answers.verbs import harvesting, reviewing
from hits.core.jobs.leases import lease
from hits.judging.verbs import deciding, scoring
from hits.models import Account, Assignment, Draft, Hit, LedgerEntry, Stage
from hits.mturk.errors import UnreachableError
from hits.notifications.jobs import needs
from hits.projects.verbs import projects
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import publishing, sending
from tests.hits.answers.harvest.conftest import a_moment_later
from tests.hits.record_project import example, fields, lines

pytestmark = pytest.mark.django_db(transaction=True)
LIST, SWEEP, HIT = "ListAssignmentsForHIT", "ListReviewableHITs", "GetHIT"


@pytest.fixture
def counted(controls):
    """The calls of some work, by operation."""

    def go(work) -> dict[str, int]:
        controls.turn(forget_requests=True)
        work()
        return controls.counts()

    return go


@pytest.fixture
def published(market, bring, stage, publish, calm_stage):
    """So many HITs for so many answers each, at the marketplace and open."""

    def go(items: int = 1, answers: int = 1) -> list[Hit]:
        if answers > 1:
            projects.want_answers(stage, answers, 1)
        bring(items)
        publish(stage)
        calm_stage()
        return list(stage.hits.order_by("id"))

    return go


def _account(stage: Stage) -> Account:
    return Account.objects.get(project=stage.project_id)


def _shift(hit: Hit, seconds: int) -> None:
    """As if the HIT had expired and been looked at that much earlier."""
    hit.refresh_from_db()
    earlier = timedelta(seconds=seconds)
    since = hit.short_since - earlier if hit.short_since else None
    Hit.objects.filter(pk=hit.pk).update(expires_at=hit.expires_at - earlier, short_since=since)


# Due


@pytest.mark.on_postgresql
def test_a_page_that_sent_the_last_answer_lets_it_be_fetched_with_one_call(market, published, stage, work, counted):
    [hit] = published(answers=2)
    first, second = market.sign_up_worker(), market.sign_up_worker()
    work(first, hit)
    hit.refresh_from_db()
    assert hit.due_at is None
    work(second, hit)
    hit.refresh_from_db()
    assert 0 < (hit.due_at - timezone.now()).total_seconds() <= 3
    assert live_stages() == []
    a_moment_later()
    assert live_stages() == [stage.pk]
    assert counted(lambda: harvesting.harvest(stage, sweep=False)) == {LIST: 1}
    hit.refresh_from_db()
    assert (hit.state, hit.harvested, hit.due_at) == (Hit.State.CLOSED, 2, None)


def test_the_drafts_of_a_hit_go_when_it_closes(market, published, stage, work):
    first, second = published(2)
    work(market.sign_up_worker(), first)
    for hit in (first, second):
        Draft.objects.create(hit=hit, assignment_id="3INVENTED", worker_id="AINVENTED")
    harvesting.harvest(stage)
    assert list(Draft.objects.values_list("hit", "worker_id")) == [(second.pk, "AINVENTED")]


@pytest.mark.on_postgresql
def test_a_place_that_was_given_back_counts_once(market, published, stage, work):
    [hit] = published(answers=2)
    gone, stays = market.sign_up_worker(), market.sign_up_worker()
    Draft.objects.create(hit=hit, assignment_id="3PASSED", worker_id=gone, sent_at=timezone.now())
    Draft.objects.create(hit=hit, assignment_id="3PASSED", worker_id=stays, sent_at=timezone.now())
    hit.refresh_from_db()
    assert hit.due_at is None
    work(market.sign_up_worker(), hit)
    hit.refresh_from_db()
    assert hit.due_at is not None


def test_a_stage_with_nothing_to_fetch_is_left_alone(published, stage, counted, django_assert_max_num_queries):
    published(3)
    with django_assert_max_num_queries(3):
        assert live_stages() == []
    assert counted(lambda: harvesting.harvest(stage, sweep=False)) == {}


@pytest.mark.on_postgresql
def test_an_answer_of_which_nothing_told_shows_in_the_list(market, published, stage, answer, counted):
    hits = published(3)
    answer(market.sign_up_worker(), hits[1])
    assert counted(lambda: harvesting.harvest(stage)) == {SWEEP: 1, LIST: 1}
    assert Assignment.objects.get().hit == hits[1]
    assert counted(lambda: harvesting.harvest(stage)) == {SWEEP: 1}


def test_the_list_is_read_rarer_the_longer_its_known_part_is(published, stage):
    hits = published(3)
    Stage.objects.filter(pk=stage.pk).update(swept_at=timezone.now() - timedelta(seconds=301))
    assert live_stages() == [stage.pk]
    Hit.objects.filter(pk=hits[0].pk).update(state=Hit.State.CLOSED)
    rows = [Hit(**{**_columns(hits[0]), "token": f"t{n}", "slot": n, "hit_id": f"3X{n}"}) for n in range(2, 101)]
    Hit.objects.bulk_create(rows)
    assert live_stages() == []
    Stage.objects.filter(pk=stage.pk).update(swept_at=timezone.now() - timedelta(seconds=601))
    assert live_stages() == [stage.pk]
    Stage.objects.filter(pk=stage.pk).update(swept_at=timezone.now() - timedelta(seconds=301))
    Hit.objects.filter(pk=hits[1].pk).update(expires_at=timezone.now())
    assert live_stages() == [stage.pk]


def test_the_longest_list_is_read_every_six_hours(published, stage):
    [hit] = published(1)
    closed = [Hit(**{**_columns(hit), "token": f"t{n}", "slot": n, "hit_id": f"3X{n}"}) for n in range(2, 1202)]
    Hit.objects.bulk_create(closed)
    for hours, found in ((5.9, []), (6.1, [stage.pk])):
        Stage.objects.update(swept_at=timezone.now() - timedelta(hours=hours), idle_sweeps=9)
        assert live_stages() == found


def test_a_deleted_hit_is_not_looked_at_again(published, stage):
    kept, gone = published(2)
    Hit.objects.filter(pk=gone.pk).update(deleted_at=timezone.now())
    assert mark_due(stage.hits.all()) == 1
    assert [hit.due_at is None for hit in stage.hits.order_by("id")] == [False, True]


def test_a_list_that_shows_a_closed_hit_again_changes_nothing(market, published, stage, work):
    """Not even when it is looked at next: a closed HIT's answer may wait for its approval."""
    [hit] = published()
    work(market.sign_up_worker(), hit)
    mark_due(Hit.objects.all())
    harvesting.harvest(stage)
    Hit.objects.update(due_at=timezone.now() + timedelta(hours=1))
    before = list(Hit.objects.values()), _account(stage).reserved, LedgerEntry.objects.count()
    assert before[0][0]["state"] == Hit.State.CLOSED
    [page] = gateway().reviewable_pages(stage.hit_type_id)
    assert [remote.hit_id for remote in page] == [hit.hit_id]
    harvesting.harvest(stage)
    assert (list(Hit.objects.values()), _account(stage).reserved, LedgerEntry.objects.count()) == before


def test_the_list_closes_a_hit_that_has_all_its_answers_and_is_still_open(market, published, stage, work, counted):
    [hit] = published()
    work(market.sign_up_worker(), hit)
    mark_due(Hit.objects.all())
    harvesting.harvest(stage, sweep=False)
    Hit.objects.update(state=Hit.State.LIVE, due_at=None)
    assert counted(lambda: harvesting.harvest(stage)) == {SWEEP: 1}, "the list says enough"
    assert Hit.objects.get().state == Hit.State.CLOSED


def test_a_list_that_told_nothing_new_is_read_rarer(market, published, stage, answer):
    [hit] = published()

    def waited(seconds: int) -> list[int]:
        Stage.objects.filter(pk=stage.pk).update(swept_at=timezone.now() - timedelta(seconds=seconds))
        return live_stages()

    harvesting.harvest(stage)
    assert (waited(590), waited(610)) == ([], [stage.pk])
    for _ in range(9):
        harvesting.harvest(stage)
    assert (waited(2390), waited(2410)) == ([], [stage.pk])
    assert harvesting.harvest(stage, sweep=False) == 0
    answer(market.sign_up_worker(), hit)
    harvesting.harvest(stage)
    Hit.objects.update(state=Hit.State.LIVE)
    assert (waited(290), waited(310)) == ([], [stage.pk])


def _columns(hit: Hit) -> dict:
    names = ("item_id", "stage_id", "batch_id", "state", "max_assignments", "created_with", "unit_cost", "reward",
             "assignment_seconds")  # fmt: skip
    return {name: getattr(hit, name) for name in names} | {"state": Hit.State.CLOSED}


def test_what_happens_while_the_room_looks_is_fetched_by_another_look(market, published, stage, work, monkeypatch):
    [hit] = published(answers=2)
    work(market.sign_up_worker(), hit)
    mark_due(Hit.objects.all())
    look = gateway().assignments

    def look_and_be_told(hit_id: str):
        seen = look(hit_id)
        market.answer(market.sign_up_worker(), hit_id, **fields(hit, "Linden"))
        return seen

    monkeypatch.setattr(gateway(), "assignments", look_and_be_told)
    told = gateway().run

    def run(*args, **more):
        outcomes = told(*args, **more)
        mark_due(Hit.objects.all())
        monkeypatch.undo()
        return outcomes

    monkeypatch.setattr(gateway(), "run", run)
    assert harvesting.harvest(stage, sweep=False) == 2


def test_a_sweep_that_was_asked_for_while_another_run_went_on_is_not_forgotten(market, published, stage, answer):
    [hit] = published()
    answer(market.sign_up_worker(), hit)
    with lease(f"harvest:{stage.pk}"):
        assert harvesting.harvest(stage) == 0
    assert live_stages() == [stage.pk]
    assert harvesting.harvest(stage, sweep=False) == 1


def test_a_marketplace_that_does_not_answer_leaves_everything_due(market, controls, published, stage, work):
    [hit] = published()
    work(market.sign_up_worker(), hit)
    a_moment_later()
    controls.fail("error_before", LIST, count=50)
    with pytest.raises(UnreachableError):
        harvesting.harvest(stage, sweep=False)
    assert live_stages() == [stage.pk]
    controls.turn(faults=[])
    assert harvesting.harvest(stage, sweep=False) == 1


@pytest.mark.on_postgresql
def test_the_number_of_queries_does_not_depend_on_the_number_of_hits(market, published, stage, answer):
    hits, worker = published(14), market.sign_up_worker()

    def queries(some: list[Hit]) -> int:
        for hit in some:
            answer(worker, hit)
        mark_due(Hit.objects.filter(pk__in=[hit.pk for hit in some]))
        with CaptureQueriesContext(connection) as captured:
            assert harvesting.harvest(stage, sweep=False) == len(some)
        return len(captured)

    queries(hits[:1])
    assert queries(hits[1:3]) == queries(hits[3:])


# Reads that lag behind


def test_an_answer_that_does_not_show_yet_is_looked_for_with_growing_waits(
    market, controls, published, stage, work, settings
):
    settings.MTURK_SETTLE_SECONDS = 900
    [hit] = published()
    work(market.sign_up_worker(), hit)
    a_moment_later()
    controls.turn(stale_seconds=600)
    waits = []
    for passed in (0, 30, 100):
        hit.refresh_from_db()
        if hit.short_since:
            Hit.objects.update(short_since=timezone.now() - timedelta(seconds=passed))
        mark_due(Hit.objects.all())
        assert harvesting.harvest(stage, sweep=False) == 0
        hit.refresh_from_db()
        waits.append(round((hit.due_at - timezone.now()).total_seconds()))
    assert waits == [5, 30, 100]
    assert hit.state == Hit.State.LIVE
    controls.turn(stale_seconds=0)
    mark_due(Hit.objects.all())
    assert harvesting.harvest(stage, sweep=False) == 1


def test_a_false_alarm_is_dropped_when_reads_can_no_longer_lag_behind(published, stage, settings, counted):
    settings.MTURK_SETTLE_SECONDS = 900
    [hit] = published()
    Hit.objects.update(due_at=timezone.now(), short_since=timezone.now() - timedelta(seconds=900))
    assert counted(lambda: harvesting.harvest(stage, sweep=False)) == {LIST: 1, HIT: 1}
    hit.refresh_from_db()
    assert (hit.state, hit.due_at, hit.short_since) == (Hit.State.LIVE, None, None)


def test_a_recorded_answer_stays_when_a_later_read_does_not_show_it(market, controls, published, stage, answer):
    [hit] = published(answers=2)
    answer(market.sign_up_worker(), hit)
    mark_due(Hit.objects.all())
    assert harvesting.harvest(stage, sweep=False) == 1
    controls.turn(stale_seconds=300)
    mark_due(Hit.objects.all())
    harvesting.harvest(stage, sweep=False)
    hit.refresh_from_db()
    assert (hit.harvested, Assignment.objects.count()) == (1, 1)
    assert _account(stage).paid == hit.unit_cost


# How a HIT ends


@pytest.mark.on_postgresql
def test_an_expired_hit_closes_when_two_looks_far_enough_apart_agree(
    market, published, stage, answer, settings, counted
):
    settings.MTURK_SETTLE_SECONDS = 900
    hit, untouched = published(2, answers=2)
    answer(market.sign_up_worker(), hit)
    sending.send(publishing.expire(stage, None).pk)
    assert counted(lambda: harvesting.harvest(stage)) == {SWEEP: 1, LIST: 1}
    assert _account(stage).reserved == 3 * hit.unit_cost
    _shift(hit, 600)
    _shift(untouched, 600)
    harvesting.harvest(stage)
    assert set(stage.hits.values_list("state", flat=True)) == {Hit.State.LIVE}
    _shift(hit, 310)
    _shift(untouched, 310)
    # One call of the list concludes both.
    assert counted(lambda: harvesting.harvest(stage)) == {SWEEP: 1}
    assert set(stage.hits.values_list("state", "short_since", "due_at")) == {(Hit.State.CLOSED, None, None)}
    assert (_account(stage).reserved, _account(stage).paid) == (0, hit.unit_cost)


def test_without_a_word_from_the_list_an_expired_hit_is_asked_itself(market, published, stage, settings, counted):
    settings.MTURK_SETTLE_SECONDS = 900
    [hit] = published()
    sending.send(publishing.expire(stage, None).pk)
    harvesting.harvest(stage)
    _shift(hit, 2000)
    Hit.objects.update(due_at=timezone.now())
    Stage.objects.update(swept_at=timezone.now())
    assert counted(lambda: harvesting.harvest(stage, sweep=False)) == {LIST: 1, HIT: 1}
    hit.refresh_from_db()
    assert (hit.state, _account(stage).reserved) == (Hit.State.CLOSED, 0)


def test_an_expired_hit_stays_open_while_somebody_works_on_it(market, published, stage, work, settings):
    [hit] = published()
    held = market.accept(market.sign_up_worker(), hit_id=hit.hit_id)
    sending.send(publishing.expire(stage, None).pk)
    Hit.objects.update(due_at=timezone.now())
    assert harvesting.harvest(stage) == 0
    hit.refresh_from_db()
    assert (hit.state, _account(stage).reserved) == (Hit.State.LIVE, hit.unit_cost)
    market.submit(held, **fields(hit, "Linden"))
    assert harvesting.harvest(stage) == 1


def test_a_hit_that_reads_show_as_it_was_long_ago_is_not_closed(market, controls, published, stage, answer, settings):
    settings.MTURK_SETTLE_SECONDS = 900
    [hit] = published(answers=2)
    answer(market.sign_up_worker(), hit)
    sending.send(publishing.expire(stage, None).pk)
    controls.turn(stale_seconds=880)
    for _ in range(2):
        mark_due(Hit.objects.all())
        assert harvesting.harvest(stage) == 0
    hit.refresh_from_db()
    assert (hit.state, _account(stage).reserved) == (Hit.State.LIVE, 2 * hit.unit_cost)
    controls.turn(stale_seconds=0)
    assert harvesting.harvest(stage) == 1


def test_a_hit_that_stays_open_longer_is_looked_at_afresh(market, published, stage, settings):
    settings.MTURK_SETTLE_SECONDS = 900
    [hit] = published()
    sending.send(publishing.expire(stage, None).pk)
    harvesting.harvest(stage)
    hit.refresh_from_db()
    assert hit.short_since is not None
    sending.send(publishing.extend(stage, 3600, None).pk)
    hit.refresh_from_db()
    assert (hit.short_since, hit.state) == (None, Hit.State.LIVE)


def test_a_hit_that_somebody_else_closed_is_found_out(market, published, stage):
    [hit] = published()
    gateway().set_expiration(hit.hit_id, timezone.now() - timedelta(minutes=1))
    harvesting.harvest(stage)
    hit.refresh_from_db()
    assert hit.expires_at < timezone.now()
    harvesting.harvest(stage)
    hit.refresh_from_db()
    assert hit.state == Hit.State.CLOSED


def test_a_hit_that_somebody_else_deleted_closes_in_the_end(market, published, stage):
    [hit] = published()
    gateway().set_expiration(hit.hit_id, timezone.now() - timedelta(minutes=1))
    gateway().delete_hit(hit.hit_id)
    Hit.objects.update(expires_at=timezone.now() - timedelta(days=1))
    harvesting.harvest(stage)
    hit.refresh_from_db()
    assert (hit.state, _account(stage).reserved) == (Hit.State.CLOSED, 0)


@pytest.fixture
def closed_too_early(market, published, stage):
    """A HIT that was closed here, its money released, while a worker still held it there; the answer has come now."""
    [hit] = published()
    held = market.accept(market.sign_up_worker(), hit_id=hit.hit_id)
    sending.send(publishing.expire(stage, None).pk)
    Hit.objects.update(state=Hit.State.CLOSED)
    released = LedgerEntry(stage=stage, kind="release", reserved=-hit.unit_cost, hit=hit)
    _account(stage).post([released])
    market.submit(held, **fields(hit, "Linden"))
    hit.refresh_from_db()
    return hit


def test_an_answer_that_comes_after_closing_is_collected_and_paid(closed_too_early, stage):
    assert harvesting.harvest(stage) == 1
    account, balance = _account(stage), gateway().balance()
    assert (account.reserved, account.paid) == (0, closed_too_early.unit_cost) == account.sums()
    assert Decimal("10000.00") - balance.available == account.paid
    assert harvesting.harvest(stage) == 0


def test_a_late_answer_without_money_waits_and_says_so(closed_too_early, stage):
    Account.objects.update(budget=0)
    assert harvesting.harvest(stage) == 0
    hit = closed_too_early
    hit.refresh_from_db()
    assert hit.error == "An answer came late and the budget has no room for it. Raise the budget."
    assert hit.due_at > timezone.now()
    assert hit.error in needs.held_up(stage)["hits"]
    assert not Assignment.objects.exists()
    Account.objects.update(budget=1)
    mark_due(Hit.objects.all())
    assert harvesting.harvest(stage) == 1
    hit.refresh_from_db()
    assert (hit.error, hit.due_at) == ("", None)


@pytest.mark.on_postgresql
def test_an_answer_without_money_holds_no_other_up(closed_too_early, market, bring, stage, publish, answer):
    bring(lines([example(7)]))
    publish(stage, "page-2")
    other = stage.hits.get(state=Hit.State.LIVE)
    answer(market.sign_up_worker(), other)
    Account.objects.update(budget=other.unit_cost)
    assert harvesting.harvest(stage) == 1
    assert (other.assignments.count(), closed_too_early.assignments.count()) == (1, 0)


# What the marketplace decided


@pytest.fixture
def overdue(market, published, stage, answer, settings):
    """Two answers of one HIT that waited for a review until the marketplace approved them."""
    Stage.objects.filter(pk=stage.pk).update(approval=Stage.Approval.REVIEW, auto_approval_seconds=3600)
    stage.refresh_from_db()
    [hit] = published(answers=2)
    for _ in range(2):
        answer(market.sign_up_worker(), hit)
    harvesting.harvest(stage)
    market.let_time_pass(7200)
    Assignment.objects.update(auto_approval_at=timezone.now() - timedelta(minutes=1))
    return hit


@pytest.mark.on_postgresql
def test_what_approved_itself_is_adopted_with_one_call_a_hit(overdue, stage, counted):
    assert live_stages() == [stage.pk]
    assert counted(lambda: harvesting.harvest(stage, sweep=False)) == {LIST: 1}
    assert set(stage.assignments.values_list("state", "decision")) == {("Approved", "")}
    assert "by itself" in stage.assignments.first().adopted
    account = _account(stage)
    assert (account.reserved, account.paid) == (0, 2 * overdue.unit_cost) == account.sums()
    assert live_stages() == []


def test_a_rejection_that_came_too_late_says_so(overdue, stage):
    stage.assignments.update(decision="Rejected", feedback="Empty")
    harvesting.harvest(stage, sweep=False)
    row = stage.assignments.first()
    assert (row.state, row.decision, row.feedback) == ("Approved", "", "")
    assert row.adopted.endswith("before the rejection arrived.")


def test_an_approval_that_does_not_show_yet_is_asked_for_again_later(market, published, stage, answer, counted):
    Stage.objects.filter(pk=stage.pk).update(approval=Stage.Approval.REVIEW, auto_approval_seconds=3600)
    stage.refresh_from_db()
    [hit] = published()
    answer(market.sign_up_worker(), hit)
    harvesting.harvest(stage)
    Assignment.objects.update(auto_approval_at=timezone.now() - timedelta(seconds=40))
    assert counted(lambda: harvesting.harvest(stage, sweep=False)) == {LIST: 1}
    hit.refresh_from_db()
    assert 35 < (hit.due_at - timezone.now()).total_seconds() < 45
    assert live_stages() == []


def test_a_rejection_that_was_taken_back_at_the_marketplace_is_paid_and_counts_again(overdue, stage, market):
    row = stage.assignments.order_by("id").first()
    harvesting.harvest(stage, sweep=False)
    scoring.score(stage)
    before = _account(stage).paid
    # As if it had been rejected from here, and an operator had decided a dispute.
    row.refresh_from_db()
    LedgerEntry.objects.filter(assignment=row).delete()
    account = _account(stage)
    Account.objects.update(paid=account.paid - overdue.unit_cost)
    Assignment.objects.filter(pk=row.pk).update(state="Rejected")
    LedgerEntry.objects.create(
        project=stage.project, stage=stage, kind="release", reserved=-overdue.unit_cost, hit=overdue, assignment=row
    )
    row.labels.update(void=True)
    mark_due(Hit.objects.all())
    harvesting.harvest(stage, sweep=False)
    row.refresh_from_db()
    assert row.state == "Approved" and "taken back" in row.adopted
    assert not row.labels.filter(void=True).exists()
    account = _account(stage)
    assert (account.reserved, account.paid) == (0, before) == account.sums()


# Chained


@pytest.mark.on_postgresql
def test_beat_wakes_what_is_due_and_concludes_what_a_crash_left(market, published, stage, work, eager):
    first, second = published(2)
    work(market.sign_up_worker(), first)
    work(market.sign_up_worker(), second)
    a_moment_later()
    harvesting.harvest(stage, sweep=False)
    assert set(stage.items.values_list("state", flat=True)) == {"open"}
    assert tasks.harvest_all() == 0
    assert set(stage.items.values_list("state", flat=True)) == {"kept"}


def test_the_figures_are_recomputed_only_when_something_came(market, published, stage, work):
    [hit] = published()
    stage.summary.refresh_from_db()
    before = stage.summary.updated_at
    mark_due(Hit.objects.all())
    harvesting.harvest(stage)
    stage.summary.refresh_from_db()
    assert stage.summary.updated_at == before
    work(market.sign_up_worker(), hit)
    harvesting.harvest(stage)
    stage.summary.refresh_from_db()
    assert stage.summary.updated_at > before
    assert (stage.summary.answers, deciding.decide(stage)) == (1, 1)


def test_a_review_goes_on_after_a_harvest(market, published, stage, answer):
    Stage.objects.filter(pk=stage.pk).update(approval=Stage.Approval.REVIEW, auto_approval_seconds=3600)
    stage.refresh_from_db()
    [hit] = published()
    answer(market.sign_up_worker(), hit)
    harvesting.harvest(stage)
    hit.refresh_from_db()
    assert (hit.state, _account(stage).reserved) == (Hit.State.CLOSED, hit.unit_cost)
    reviewing.approve(stage, list(stage.assignments.values_list("pk", flat=True)), None)
    reviewing.finish(stage)
    assert (_account(stage).reserved, _account(stage).paid) == (0, hit.unit_cost)
