"""From answers to a release: harvesting, scoring, deciding, blocking, advancing, releasing with a real marketplace."""

import io
from decimal import Decimal

import pytest

from hits import tasks
from hits.answers.verbs import harvesting, reviewing
from hits.formats.inputs import record
from hits.judging.verbs import advancing, deciding, scoring
from hits.models import Assignment, Block, Hit, Item, Label, LedgerEntry, Stage, Verdict, Worker
from hits.projects.verbs import projects
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import publishing, sending, topping_up
from hits.releases.verbs import releasing
from hits.workers.verbs import blocking
from tests.hits import factories
from tests.hits.doing import refused
from tests.hits.record_project import fields

pytestmark = pytest.mark.django_db(transaction=True)


def _conclude(stage: Stage) -> None:
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)


def _states(stage: Stage) -> list[str]:
    return list(stage.items.order_by("id").values_list("state", flat=True))


def _account(stage: Stage):
    account = stage.project.account
    account.refresh_from_db()
    return account


@pytest.mark.on_postgresql
def test_a_right_answer_keeps_its_item_and_a_wrong_one_drops_it(market, bring, stage, publish, answer):
    bring(3)
    publish(stage)
    worker = market.sign_up_worker()
    for hit, name in zip(stage.hits.order_by("id"), ["Linden", "Tomas Reyes", "Linden"], strict=True):
        answer(worker, hit, name)
    _conclude(stage)
    assert _states(stage) == ["kept", "dropped", "kept"]
    verdict = Verdict.objects.filter(outcome="dropped").get()
    assert (verdict.rule, verdict.rule_version) == (stage.rule["name"], stage.rule["version"])
    stage.summary.refresh_from_db()
    assert (stage.summary.kept, stage.summary.dropped, stage.summary.correct, stage.summary.scored) == (2, 1, 2, 3)


@pytest.mark.on_postgresql
def test_money_is_settled_to_the_cent_with_what_the_marketplace_charged(market, bring, stage, publish, answer):
    bring(3)
    publish(stage)
    worker = market.sign_up_worker()
    for hit in stage.hits.all()[:2]:
        answer(worker, hit)
    sending.send(publishing.expire(stage, None).pk)
    _conclude(stage)
    account, balance = _account(stage), gateway().balance()
    assert (account.reserved, account.paid) == (Decimal(0), Decimal("0.10")) == account.sums()
    assert Decimal("10000.00") - balance.available - balance.on_hold == account.paid
    assert _states(stage) == ["kept", "kept", "new"]


@pytest.mark.on_postgresql
def test_harvesting_twice_brings_each_answer_once(market, bring, stage, publish, answer):
    bring(2)
    publish(stage)
    worker = market.sign_up_worker()
    for hit in stage.hits.all():
        answer(worker, hit)
    assert (harvesting.harvest(stage), harvesting.harvest(stage)) == (2, 0)
    Hit.objects.update(state=Hit.State.LIVE)
    assert harvesting.harvest(stage) == 0
    assert Assignment.objects.count() == 2
    assert LedgerEntry.objects.filter(kind="settle").count() == 2


def test_an_answer_submitted_after_expiry_by_one_who_accepted_before_is_collected(market, bring, stage, publish):
    bring(1)
    publish(stage)
    hit = stage.hits.get()
    held = market.accept(market.sign_up_worker(), hit_id=hit.hit_id)
    sending.send(publishing.expire(stage, None).pk)
    assert harvesting.harvest(stage) == 0
    market.submit(held, **fields(hit, "Linden"))
    _conclude(stage)
    assert _states(stage) == ["kept"]


def test_an_answer_that_names_no_entity_gives_no_label_and_the_item_is_asked_again(market, bring, stage, publish):
    bring(1)
    publish(stage)
    hit = stage.hits.get()
    market.answer(market.sign_up_worker(), hit.hit_id, answer="0-1", text="Re")
    _conclude(stage)
    assert _states(stage) == ["again"]
    assert Assignment.objects.get().problem
    assert not Label.objects.exists()
    batch = topping_up.top_up(stage)
    sending.send(batch.pk)
    hit.refresh_from_db()
    assert (hit.max_assignments, hit.state) == (2, Hit.State.LIVE)
    market.answer(market.sign_up_worker(), hit.hit_id, **fields(hit, "Linden"))
    _conclude(stage)
    assert _states(stage) == ["kept"]
    assert _account(stage).paid == Decimal("0.10") and _account(stage).reserved == 0


def test_at_most_five_spare_answers_are_bought_for_an_item_without_a_person(market, bring, stage, publish):
    bring(1)
    publish(stage)
    hit = stage.hits.get()
    for _ in range(6):
        market.answer(market.sign_up_worker(), hit.hit_id, answer="0-1", text="Re")
        _conclude(stage)
        batch = topping_up.top_up(stage)
        if batch:
            sending.send(batch.pk)
    assert batch is None
    assert _states(stage) == ["again"]
    assert Assignment.objects.count() == 6


@pytest.fixture
def judged(market, bring, stage, publish, answer):
    """Twelve items, two answers each wanted: a careful worker, and one who is always wrong."""
    projects.want_answers(stage, 2, 1)
    stage.quality = {"check_every": 5, "min_answers": 8, "floor": 0.2, "alpha": 0.01}
    stage.save()
    bring(12)
    publish(stage)
    careful, careless = market.sign_up_worker(), market.sign_up_worker()
    for hit in stage.hits.all():
        answer(careful, hit)
        answer(careless, hit, "Tomas Reyes")
    harvesting.harvest(stage)
    scoring.score(stage)
    return stage, careful, careless


def test_only_the_worker_below_the_floor_is_proposed_and_can_be_blocked(judged):
    stage, careful, careless = judged
    [evidence] = blocking.proposals(stage)
    assert (evidence.worker, evidence.scored, evidence.correct, evidence.average) == (careless, 12, 0, 0.5)
    assert evidence.p_value == pytest.approx(0.5**12)
    assert blocking.is_due(stage)
    with refused("not_blockable", match=careful):
        blocking.block(stage, [careful], None)
    assert not Block.objects.exists()


def test_a_check_is_due_after_so_many_answers_of_all_stages_and_deciding_again_changes_nothing(judged):
    stage, careful, _ = judged
    later = stage.project.stages.get(key="revalidate")
    blocking.mark_checked(stage)
    later.refresh_from_db()
    assert not blocking.is_due(later)
    later.quality = {**later.quality, "check_every": 5}
    worker_row = Worker.objects.get(worker_id=careful)
    factories.worker_stat(later, worker_row, answers=1, scored=1, correct=1)
    # 24 were checked, 25 are there.
    assert blocking.is_due(later)
    deciding.decide(stage)
    before = list(Verdict.objects.values_list("id", "outcome"))
    Item.objects.update(stale=True)
    deciding.decide(stage)
    assert list(Verdict.objects.values_list("id", "outcome")) == before


def test_a_worker_is_judged_by_the_answers_of_all_stages_that_have_references(judged):
    stage, careful, careless = judged
    later = stage.project.stages.get(key="revalidate")
    for worker_id, correct in ((careful, 9), (careless, 3)):
        factories.worker_stat(later, Worker.objects.get(worker_id=worker_id), answers=18, scored=18, correct=correct)
    of_each = [[(e.worker, e.scored, e.correct, e.average) for e in blocking.proposals(one)] for one in (stage, later)]
    # Of 30 answers of the careless one 3 are right; all workers together have 24 of 60.
    expected = [(careless, 30, 3, 0.4)]
    assert of_each == [expected, expected]


def test_blocked_workers_stay_in_the_average_of_all_workers(judged):
    stage, _, careless = judged
    third, fourth = (factories.worker() for _ in range(2))
    for worker_row, scored, correct in ((third, 40, 3), (fourth, 96, 70)):
        factories.worker_stat(stage, worker_row, answers=scored, scored=scored, correct=correct)
    before = {e.worker: e.average for e in blocking.proposals(stage)}
    assert before == {careless: pytest.approx(85 / 160), third.worker_id: pytest.approx(85 / 160)}
    blocking.block(stage, [careless], None)
    assert {e.worker: e.average for e in blocking.proposals(stage)} == {third.worker_id: pytest.approx(85 / 160)}


@pytest.mark.on_postgresql
def test_a_block_is_granted_at_the_marketplace_its_answers_are_void_and_count_again_when_it_is_undone(judged, market):
    stage, _, careless = judged
    paid = _account(stage).paid
    assert blocking.block(stage, [careless], None) == 1
    deciding.decide(stage)
    assert Label.objects.filter(void=True).count() == 12
    assert Block.objects.get().state == Block.State.GRANTED
    with pytest.raises(Exception, match="DoesNotMeetRequirements"):
        market.accept(careless, hit_type_id=stage.hit_type_id)
    assert _account(stage).paid == paid
    assert _states(stage) == ["kept"] * 12
    blocking.undo(Block.objects.get(), None)
    assert Block.objects.get().state == Block.State.UNDONE
    assert not Label.objects.filter(void=True).exists()
    deciding.decide(stage)
    assert [evidence.worker for evidence in blocking.proposals(stage)] == [careless]


def test_items_that_a_block_leaves_without_a_verdict_go_out_again_to_others(market, bring, stage, publish, answer):
    stage.quality = {"check_every": 5, "min_answers": 8, "floor": 0.2, "alpha": 0.01}
    stage.save()
    bring(24)
    publish(stage)
    careful, careless, third = (market.sign_up_worker() for _ in range(3))
    hits = list(stage.hits.order_by("id"))
    for hit in hits[:12]:
        answer(careful, hit)
    for hit in hits[12:]:
        answer(careless, hit, "Tomas Reyes")
    _conclude(stage)
    assert _states(stage)[12:] == ["dropped"] * 12
    blocking.block(stage, [careless], None)
    deciding.decide(stage)
    assert _states(stage)[12:] == ["again"] * 12
    sending.send(topping_up.top_up(stage).pk)
    for hit in hits[12:]:
        answer(third, hit)
    _conclude(stage)
    assert _states(stage) == ["kept"] * 24
    assert {hit.slot for hit in Hit.objects.all()} == {1}
    assert Assignment.objects.count() == 36
    account, balance = _account(stage), gateway().balance()
    assert (account.reserved, account.paid) == (Decimal(0), Decimal("1.80"))
    assert Decimal("10000.00") - balance.available == account.paid


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


@pytest.mark.on_postgresql
def test_an_approved_answer_is_paid_and_a_rejected_one_is_released_and_asked_again(held, market):
    held.summary.refresh_from_db()
    assert held.summary.to_review == 2 and held.summary.next_auto_approval is not None
    assert _account(held).paid == 0
    first, second = held.assignments.order_by("id")
    with refused("feedback_missing"):
        reviewing.reject(held, [first.pk, second.pk], " ", None)
    reviewing.approve(held, [first.pk], None)
    reviewing.reject(held, [second.pk], "Empty answer", None)
    assert reviewing.finish(held) == 2
    deciding.decide(held)
    account = _account(held)
    assert (account.paid, account.reserved) == (Decimal("0.05"), Decimal(0))
    assert sorted(_states(held)) == ["again", "kept"]
    assert reviewing.finish(held) == 0


def test_a_decision_that_comes_after_the_deadline_adopts_what_the_marketplace_did(held, market):
    market.let_time_pass(7200)
    reviewing.reject(held, list(held.assignments.values_list("id", flat=True)), "Too late", None)
    reviewing.finish(held)
    assert set(held.assignments.values_list("state", flat=True)) == {"Approved"}
    assert _account(held).paid == Decimal("0.10")


@pytest.mark.on_postgresql
def test_items_for_evaluation_pass_three_different_workers_and_then_are_released(
    market, bring, project, stage, publish, answer
):
    bring(6, origin="crawled")
    workers = [market.sign_up_worker() for _ in range(3)]
    for position, name in ((1, "Linden"), (2, "Linden"), (3, "Mara Okafor")):
        current = project.stages.get(position=position)
        publish(current, f"page-{position}")
        for hit in current.hits.all():
            answer(workers[position - 1], hit, name)
        _conclude(current)
        assert set(_states(current)) == {"kept"}
        advancing.advance(current)
    project.stages.get(position=3).summary.refresh_from_db()
    assert project.stages.get(position=3).summary.scores == {"em": 0.0, "f1": 0.0, "n": 6}
    made, is_new = releasing.release(project, None)
    again, is_new_again = releasing.release(project, None)
    assert (is_new, is_new_again, again.pk) == (True, False, made.pk)
    files = {found.name: found.blob.read() for found in made.files.all()}
    assert len(record.read(io.BytesIO(files["dev.json"]))) == len(record.read(io.BytesIO(files["test-key.json"]))) == 3
    for split in ("dev", "test"):
        figures = made.manifest["statistics"][split]
        assert (figures["human_queries"], figures["human_exact_match"], figures["human_f1"]) == (3, 0.0, 0.0)
    assert made.manifest["counts"] == {"train": 0, "dev": 3, "test": 3}


def test_an_item_that_failed_the_second_worker_is_left_out_of_the_release(
    market, bring, project, stage, publish, answer
):
    bring(2, origin="crawled")
    first, second = market.sign_up_worker(), market.sign_up_worker()
    publish(stage)
    for hit in stage.hits.all():
        answer(first, hit)
    _conclude(stage)
    advancing.advance(stage)
    again = project.stages.get(position=2)
    publish(again, "page-2")
    for hit, name in zip(again.hits.order_by("id"), ["Linden", "Mara Okafor"], strict=True):
        answer(second, hit, name)
    _conclude(again)
    preview = releasing.preview(project)
    assert sum(preview["counts"].values()) == 1
    assert sum(preview["left_out"].values()) == 1


def test_the_chained_task_takes_answers_to_the_next_stage_without_a_person(
    market, bring, project, stage, publish, answer, eager
):
    bring(3, origin="crawled")
    publish(stage)
    worker = market.sign_up_worker()
    for hit in stage.hits.all():
        answer(worker, hit)
    tasks.harvest_stage(stage.pk)
    second = project.stages.get(position=2)
    assert set(second.hits.values_list("state", flat=True)) == {Hit.State.LIVE}
    assert set(_states(second)) == {"open"}
