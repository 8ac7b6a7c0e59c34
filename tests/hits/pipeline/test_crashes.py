"""Every call that creates, pays or changes something, ended at each moment; the real marketplace is the witness."""

import secrets
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from hits.answers.verbs import harvesting, reviewing
from hits.judging.verbs import deciding, scoring
from hits.models import Assignment, Batch, Block, Extension, Hit, Label, LedgerEntry, Stage
from hits.mturk.errors import UnreachableError
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import publishing, sending, topping_up
from hits.workers.verbs import blocking
from tests.hits import factories
from tests.hits.crashes import MOMENTS, crash, interrupted
from tests.hits.doing import refused

pytestmark = pytest.mark.django_db(transaction=True)
LONG_AGO = timedelta(hours=30)
at_each_moment = pytest.mark.parametrize("moment", MOMENTS)
# To the verb a lost reply is the second one without the crash: looked at where something is made or paid.
before_and_after = pytest.mark.parametrize("moment", MOMENTS[:2])


def _account(stage: Stage):
    account = stage.project.account
    account.refresh_from_db()
    assert (account.reserved, account.paid) == account.sums()
    return account


def _agree(stage: Stage) -> None:
    """Paid here is paid there, to the cent."""
    balance = gateway().balance()
    assert Decimal("10000.00") - balance.available - balance.on_hold == _account(stage).paid


def _send(batch: Batch) -> None:
    sending.send(batch.pk)
    batch.refresh_from_db()


def _conclude(stage: Stage) -> None:
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)


# New HITs


def test_without_its_token_a_crash_at_creating_would_make_a_second_hit(market, bring, stage, monkeypatch):
    """The other tests of this file would notice."""
    bring(2)
    batch = publishing.publish(stage, 2, Decimal("0.10"), "page-1", None)
    create = sending._create

    def create_with_another_token(hit, *others):
        hit.token = secrets.token_hex(8)
        return create(hit, *others)

    monkeypatch.setattr(sending, "_create", create_with_another_token)
    interrupted("create_hit", "reply lost", lambda: sending.send(batch.pk))
    _send(batch)
    assert len(list(gateway().all_hits())) == 3 > stage.hits.count()


@at_each_moment
def test_a_crash_at_creating_makes_no_second_hit(market, bring, stage, moment):
    bring(2)
    batch = publishing.publish(stage, 2, Decimal("0.10"), "page-1", None)
    interrupted("create_hit", moment, lambda: sending.send(batch.pk))
    assert stage.hits.filter(state=Hit.State.SENT, attempted_at__isnull=False).exists()
    assert publishing.unfinished() == [batch.pk]
    _send(batch)
    assert sorted(hit.annotation for hit in gateway().all_hits()) == sorted(stage.hits.values_list("token", flat=True))
    assert (batch.state, batch.done, set(stage.hits.values_list("state", flat=True))) == ("published", 2, {"live"})
    assert _account(stage).reserved == Decimal("0.10") == gateway().balance().on_hold


# More places


@pytest.fixture
def again(market, bring, stage, publish):
    """A batch that buys one more answer on the HIT of one item, whose answer was invalid."""
    bring(1)
    publish(stage)
    hit = stage.hits.get()
    market.answer(market.sign_up_worker(), hit.hit_id, answer="0-1", text="Re")
    _conclude(stage)
    return topping_up.top_up(stage)


@before_and_after
@pytest.mark.parametrize("method", ["set_expiration", "add_assignments"])
def test_a_crash_at_extending_adds_one_place(market, stage, again, method, moment):
    Hit.objects.update(expires_at=timezone.now())
    interrupted(method, moment, lambda: sending.send(again.pk))
    assert Extension.objects.get().attempted_at is not None
    _send(again)
    hit = stage.hits.get()
    assert (market.hit(hit.hit_id)["max_assignments"], hit.max_assignments, hit.state) == (2, 2, Hit.State.LIVE)
    assert _account(stage).reserved == Decimal("0.05") == gateway().balance().on_hold


@before_and_after
def test_an_extension_whose_token_has_died_is_looked_for_first(market, stage, again, moment):
    interrupted("add_assignments", moment, lambda: sending.send(again.pk))
    # As if the marketplace had forgotten the token: another one would add another place.
    Extension.objects.update(attempted_at=timezone.now() - LONG_AGO, token="another-token")
    _send(again)
    assert market.hit(stage.hits.get().hit_id)["max_assignments"] == 2
    assert Extension.objects.get().state == Extension.State.DONE


def test_a_hit_that_is_gone_is_replaced_by_a_new_one(market, stage, again):
    hit = stage.hits.get()
    gateway().delete_hit(hit.hit_id)
    _send(again)
    assert (again.state, again.refused, _account(stage).reserved) == ("published", 1, Decimal(0))
    deciding.decide(stage)
    anew = topping_up.top_up(stage)
    _send(anew)
    newest = stage.hits.order_by("slot").last()
    assert (newest.slot, newest.state, _account(stage).reserved) == (2, Hit.State.LIVE, Decimal("0.05"))


def test_an_item_whose_extension_is_on_its_way_is_not_bought_twice(market, stage, again):
    stage.items.update(stale=True)
    deciding.decide(stage)
    assert stage.items.get().state == "open"
    assert topping_up.top_up(stage) is None


# Closing times and deletions


@before_and_after
def test_a_crash_at_closing_closes_every_hit(market, bring, stage, publish, moment):
    bring(3)
    publish(stage)
    batch = publishing.expire(stage, None)
    interrupted("set_expiration", moment, lambda: sending.send(batch.pk))
    _send(batch)
    assert {market.hit(hit.hit_id)["status"] for hit in stage.hits.all()} == {"Reviewable"}
    assert (batch.state, set(stage.hits.values_list("closed_early", flat=True))) == ("published", {True})


def test_of_two_closing_times_the_later_one_stands(market, bring, stage, publish):
    bring(1)
    publish(stage)
    first = publishing.extend(stage, 86_400, None)
    second = publishing.extend(stage, 10 * 86_400, None)
    _send(first)
    _send(second)
    assert (first.state, first.done) == (Batch.State.PUBLISHED, 0)
    assert "later closing time" in first.message
    assert stage.hits.get().expires_at == second.until


@before_and_after
def test_a_crash_at_deleting_clears_every_hit_away(market, bring, stage, publish, answer, moment):
    bring(2)
    publish(stage)
    worker = market.sign_up_worker()
    for hit in stage.hits.all():
        answer(worker, hit)
    _conclude(stage)
    before = _account(stage).paid
    batch = publishing.delete_hits(stage, None)
    interrupted("delete_hit", moment, lambda: sending.send(batch.pk))
    _send(batch)
    assert not list(gateway().all_hits())
    assert (batch.state, batch.done, batch.refused) == ("published", 2, 0)
    assert not stage.hits.filter(deleted_at=None).exists()
    assert (_account(stage).paid, _account(stage).reserved) == (before, Decimal(0))
    with refused("nothing_to_delete"):
        publishing.delete_hits(stage, None)


def test_a_hit_with_an_answer_that_waits_there_is_left_and_fetched_again(market, held):
    Assignment.objects.filter(hit=held.hits.first()).delete()  # as if it had come after the last look
    batch = publishing.delete_hits(held, None)
    _send(batch)
    left = held.hits.get(due_at__isnull=False)
    assert (batch.total, batch.refused, left.deleted_at) == (1, 1, None)
    assert left.due_at <= timezone.now()


# Decisions


@pytest.fixture
def held(market, bring, stage, publish, answer):
    """Two answers that wait for a lead's review."""
    stage.approval, stage.auto_approval_seconds = Stage.Approval.REVIEW, 3600
    stage.save()
    bring(2)
    publish(stage)
    worker = market.sign_up_worker()
    for hit in stage.hits.all():
        answer(worker, hit)
    _conclude(stage)
    return stage


def _pks(stage: Stage) -> list[int]:
    return list(stage.assignments.order_by("id").values_list("id", flat=True))


def _there(stage: Stage) -> set[str]:
    """The answers' states as the marketplace tells them."""
    return {gateway().assignment(row.assignment_id).status for row in stage.assignments.all()}


@at_each_moment
def test_a_crash_at_approving_pays_each_answer_once(held, moment):
    reviewing.approve(held, _pks(held), None)
    interrupted("approve", moment, lambda: reviewing.finish(held))
    assert moment == "reply lost" or reviewing.unfinished() == [held.pk]
    reviewing.finish(held)
    assert _there(held) == {"Approved"} == set(held.assignments.values_list("state", flat=True))
    assert (_account(held).paid, LedgerEntry.objects.filter(kind="settle").count()) == (Decimal("0.10"), 2)
    assert (set(held.assignments.values_list("adopted", flat=True)), reviewing.unfinished()) == ({""}, [])
    _agree(held)


@before_and_after
def test_a_crash_at_rejecting_releases_each_answer_once(held, moment):
    reviewing.reject(held, _pks(held), "Empty answer", None)
    interrupted("reject", moment, lambda: reviewing.finish(held))
    reviewing.finish(held)
    assert _there(held) == {"Rejected"} == set(held.assignments.values_list("state", flat=True))
    assert (_account(held).paid, _account(held).reserved) == (Decimal(0), Decimal(0))
    assert set(held.assignments.values_list("feedback", "adopted")) == {("Empty answer", "")}
    assert not Label.objects.filter(void=False).exists()


@pytest.fixture
def rejected(held):
    reviewing.reject(held, _pks(held), "Too hasty", None)
    reviewing.finish(held)
    deciding.decide(held)
    return held


@at_each_moment
def test_a_crash_at_taking_a_rejection_back_pays_it_once(rejected, moment):
    assert reviewing.take_back(rejected, _pks(rejected), None) == 2
    assert _account(rejected).reserved == Decimal("0.10")
    interrupted("approve", moment, lambda: reviewing.finish(rejected))
    reviewing.finish(rejected)
    deciding.decide(rejected)
    assert _there(rejected) == {"Approved"}
    assert (_account(rejected).paid, _account(rejected).reserved) == (Decimal("0.10"), Decimal(0))
    assert set(rejected.items.values_list("state", flat=True)) == {"kept"}
    assert not Label.objects.filter(void=True).exists()
    _agree(rejected)


def test_a_rejection_is_taken_back_only_while_the_marketplace_allows_it(rejected):
    first, second = rejected.assignments.order_by("id")
    Assignment.objects.filter(pk=first.pk).update(submitted_at=timezone.now() - timedelta(days=31))
    Hit.objects.filter(pk=second.hit_id).update(deleted_at=timezone.now())
    with refused("take_back_refused", match=f"{first.assignment_id}: .*30 days.*deleted"):
        reviewing.take_back(rejected, _pks(rejected), None)
    assert set(rejected.assignments.values_list("decision", flat=True)) == {""}
    assert _account(rejected).reserved == Decimal(0)


def test_a_rejection_that_the_marketplace_keeps_gives_its_money_back_and_says_why(rejected):
    first = rejected.assignments.order_by("id").first()
    reviewing.take_back(rejected, [first.pk], None)
    gateway().delete_hit(first.hit.hit_id)
    reviewing.finish(rejected)
    assert _account(rejected).reserved == Decimal("0.05")  # the marketplace may lag behind: it is asked again
    Assignment.objects.update(not_before=timezone.now(), submitted_at=timezone.now() - timedelta(hours=1))
    reviewing.finish(rejected)
    first.refresh_from_db()
    assert (first.state, first.decision, _account(rejected).reserved) == ("Rejected", "", Decimal(0))
    assert "could not be taken back" in first.adopted


def test_a_label_of_a_blocked_worker_stays_void_when_the_rejection_is_taken_back(rejected):
    factories.block(rejected, rejected.assignments.first().worker)
    reviewing.take_back(rejected, _pks(rejected), None)
    reviewing.finish(rejected)
    assert not Label.objects.filter(void=False).exists()


def test_what_time_approved_before_a_rejection_is_adopted_and_said(held, market):
    market.let_time_pass(7200)
    Assignment.objects.update(auto_approval_at=timezone.now() - timedelta(minutes=1))
    reviewing.reject(held, _pks(held), "Too late", None)
    assert reviewing.finish(held) == 2
    row = held.assignments.first()
    assert (row.state, row.decision, row.feedback) == ("Approved", "", "")
    assert row.adopted.startswith("The marketplace approved it at 20") and "before the rejection" in row.adopted
    assert _account(held).paid == Decimal("0.10")


def test_an_answer_that_does_not_show_yet_waits_and_holds_up_no_other(held):
    first, second = held.assignments.order_by("id")
    Assignment.objects.filter(pk=first.pk).update(assignment_id="3NOTSHOWNYET", submitted_at=timezone.now())
    reviewing.approve(held, _pks(held), None)
    assert reviewing.finish(held) == 1
    first.refresh_from_db()
    assert (first.decision, first.state) == ("Approved", "Submitted")
    assert timezone.now() < first.not_before < timezone.now() + timedelta(minutes=5)
    assert reviewing.unfinished() == []
    # Fifteen minutes later it is a fault, which is shown and asked no more.
    Assignment.objects.filter(pk=first.pk).update(
        submitted_at=timezone.now() - timedelta(minutes=16), not_before=timezone.now()
    )
    assert reviewing.unfinished() == [held.pk]
    reviewing.finish(held)
    first.refresh_from_db()
    assert (first.decision, first.state, reviewing.unfinished()) == ("", "Submitted", [])
    assert "could not be approved" in first.adopted


# Blocks


@pytest.fixture
def poor(market, bring, stage, publish):
    """A stage with two workers who are below the floor."""
    stage.quality = {"check_every": 5, "min_answers": 8, "floor": 0.2, "alpha": 0.01}
    stage.save()
    bring(1)
    publish(stage)
    low = [factories.worker(market.sign_up_worker()) for _ in range(2)]
    for worker in [*low, factories.worker("AGOOD00000001")]:
        correct = 400 if worker.worker_id == "AGOOD00000001" else 0
        factories.worker_stat(stage, worker, scored=400, correct=correct, answers=400)
    return stage, [worker.worker_id for worker in low]


def _is_let_in(market, stage: Stage, worker_id: str) -> bool:
    try:
        market.give_back(market.accept(worker_id, hit_type_id=stage.hit_type_id))
    except Exception as error:
        assert "DoesNotMeetRequirements" in str(error)
        return False
    return True


@before_and_after
def test_a_crash_at_granting_blocks_every_worker(market, poor, moment):
    stage, workers = poor
    interrupted("grant", moment, lambda: blocking.block(stage, workers, None))
    assert blocking.unfinished() == [stage.pk]
    blocking.finish(stage)
    assert [_is_let_in(market, stage, worker) for worker in workers] == [False, False]
    assert (set(Block.objects.values_list("state", flat=True)), blocking.unfinished()) == ({"granted"}, [])


@before_and_after
def test_a_crash_at_revoking_lets_the_worker_in_again(market, poor, moment):
    stage, workers = poor
    blocking.block(stage, workers[:1], None)
    interrupted("revoke", moment, lambda: blocking.undo(Block.objects.get(), None))
    assert blocking.unfinished() == [stage.pk]
    blocking.finish(stage)
    assert _is_let_in(market, stage, workers[0])
    assert (Block.objects.get().state, blocking.unfinished()) == (Block.State.UNDONE, [])


def test_a_worker_whom_the_marketplace_does_not_know_holds_up_no_other_block(market, poor, stranger_refused):
    stage, workers = poor
    unknown = factories.worker("A000NOTTHERE")
    factories.worker_stat(stage, unknown, scored=400, correct=0, answers=400)
    assert blocking.block(stage, [*workers, unknown.worker_id], None) == 3
    states = dict(Block.objects.values_list("worker__worker_id", "state"))
    assert states == {workers[0]: "granted", workers[1]: "granted", unknown.worker_id: "intended"}
    assert blocking.unfinished() == []
    [sentence] = blocking.held_up(stage)
    assert unknown.worker_id in sentence and "refused" in sentence


def test_undoing_a_block_while_it_is_granted_leaves_the_worker_unblocked(market, poor):
    stage, workers = poor
    with crash("grant", "reply lost"), pytest.raises(UnreachableError):
        blocking.block(stage, workers[:1], None)
    blocking.undo(Block.objects.get(), None)
    assert Block.objects.get().state == Block.State.UNDONE
    assert _is_let_in(market, stage, workers[0])
