"""Which labels count, whatever happens to an answer and to its worker. In any order: test_any_sequence.py."""

from __future__ import annotations

import json

import pytest

from hits.answers.rules.hits_to_harvest import mark_due
from hits.answers.verbs import harvesting, reviewing
from hits.items.verbs import undoing_changes
from hits.judging.rules.counting import recount
from hits.judging.verbs import deciding, scoring
from hits.models import Assignment, Block, Hit, Item, Label, Project, Stage, Worker
from hits.mturk.errors import UnreachableError
from hits.workers.verbs import blocking
from tests.hits import factories as make
from tests.hits.market import Accepted
from tests.hits.pipeline.stage_machine import anybody
from tests.hits.record_project import fields
from tests.hits.reviews import review
from tests.hits.stand_in import StandIn, live_hit

pytestmark = pytest.mark.django_db
LINDEN = {"answer": "46-51", "text": "Linden"}
WANTED = 2
MEASURED = {"name": "measured", "version": 1, "params": {"answers": 1}}


@pytest.fixture
def market(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    monkeypatch.setattr(blocking, "proposals", anybody)
    return stand_in


def _stage(project: Project | None = None) -> Stage:
    rule = {"name": "matches_reference", "version": 1, "params": {"answers": WANTED, "need": WANTED}}
    return make.stage(project, approval=Stage.Approval.REVIEW, answers=WANTED, rule=rule, hit_type_id="3TYPE")


@pytest.fixture
def stage() -> Stage:
    return _stage()


def read(stage: Stage) -> None:
    mark_due(Hit.objects.all())
    harvesting.harvest(stage)


def conclude(stage: Stage) -> None:
    read(stage)
    scoring.score(stage)
    deciding.decide(stage)


def submitted(market: StandIn, hit: Hit, worker: Worker) -> Accepted:
    return market.answer(worker.worker_id, hit.hit_id, **LINDEN)


def answer_of(stage: Stage, market: StandIn, hit: Hit | None = None, worker: Worker | None = None) -> Assignment:
    """Submitted, harvested, scored and decided."""
    held = submitted(market, hit or live_hit(market, stage), worker or make.worker())
    conclude(stage)
    return Assignment.objects.get(assignment_id=held.assignment_id)


def reject(row: Assignment) -> None:
    reviewing.reject(row.stage, [row.pk], "Too hasty.", None)
    reviewing.finish(row.stage)


def take_back(row: Assignment) -> None:
    reviewing.take_back(row.stage, [row.pk], None)
    reviewing.finish(row.stage)


def block(row: Assignment) -> Block:
    blocking.block(row.stage, [row.worker.worker_id], None)
    return Block.objects.standing().get(worker=row.worker)


def counts(row: Assignment) -> bool:
    return Label.objects.counting().filter(assignment=row).exists()


def test_an_answer_that_was_rejected_before_it_was_scored_does_not_count(stage: Stage, market: StandIn) -> None:
    """Otherwise an item would be kept by an answer that nobody paid for."""
    remote = submitted(market, live_hit(market, stage), make.worker())
    market.turn(remote.assignment_id, "Rejected")
    conclude(stage)
    [label] = stage.labels.all()
    assert label.void


def test_undoing_a_block_leaves_rejected_answers_out(stage: Stage, market: StandIn) -> None:
    """A rejection is a decision about this answer; the block was one about the worker."""
    row, other = answer_of(stage, market), answer_of(stage, market)
    Assignment.objects.filter(pk=other.pk).update(worker=row.worker)
    other.labels.update(worker=row.worker)
    reject(row)
    standing = block(row)
    assert (counts(row), counts(other)) == (False, False)
    blocking.undo(standing, None)
    assert (counts(row), counts(other)) == (False, True)


def test_an_approval_that_the_marketplace_made_revives_no_label_of_a_blocked_worker(stage, market) -> None:
    """An operator there decided a dispute about one answer; the block stands."""
    row, honest = answer_of(stage, market), answer_of(stage, market)
    reject(row)
    reject(honest)
    block(row)
    for one in (row, honest):
        market.turn(one.assignment_id, "Approved")
    read(stage)
    row.refresh_from_db()
    assert row.state == "Approved" and "taken back at the marketplace" in row.adopted
    assert (counts(row), counts(honest)) == (False, True)


def test_what_the_marketplace_rejected_counts_no_more(stage: Stage, market: StandIn) -> None:
    row = answer_of(stage, market)
    market.turn(row.assignment_id, "Rejected")
    read(stage)
    assert not counts(row)


def test_a_late_answer_counts_while_the_marketplace_is_not_told_of_an_undone_block(stage, market) -> None:
    """From the moment a lead undoes a block the worker counts, whenever the marketplace hears of it."""
    worker = make.worker()
    row = answer_of(stage, market, worker=worker)
    standing = block(row)
    late = submitted(market, live_hit(market, stage), worker)
    market.silent = True
    with pytest.raises(UnreachableError):
        blocking.undo(standing, None)
    market.silent = False
    conclude(stage)
    assert counts(Assignment.objects.get(assignment_id=late.assignment_id))
    blocking.finish(stage)
    assert not Label.objects.filter(void=True).exists()


def test_an_answer_that_comes_while_its_worker_is_blocked_does_not_count_until_the_undo(stage, market) -> None:
    worker = make.worker()
    standing = block(answer_of(stage, market, worker=worker))
    late = answer_of(stage, market, worker=worker)
    assert not counts(late)
    blocking.undo(standing, None)
    assert counts(late)


def test_labels_of_an_answer_with_a_problem_do_not_count(stage: Stage, market: StandIn) -> None:
    row = answer_of(stage, market)
    Item.objects.update(stale=False)
    Assignment.objects.filter(pk=row.pk).update(problem="It came from a worker who wrote the text.")
    recount(stage.assignments.all())
    assert (counts(row), Item.objects.get().stale) == (False, True)


def test_an_answer_whose_every_label_was_taken_back_is_still_an_answer() -> None:
    """Taking a change back must not buy another answer; it says nothing any more, and that is all."""
    stage = make.stage(protocol="expert_review", rule=MEASURED)
    row = review(stage, text_delete="incoherent", confirm_empty="yes")
    Hit.objects.update(state=Hit.State.CLOSED, harvested=1)
    [label] = stage.labels.all()
    for change in (lambda: None, lambda: undoing_changes.undo(label.pk, None)):
        change()
        Item.objects.update(stale=True)
        deciding.decide(stage)
        assert stage.items.get().state == Item.State.KEPT
    assert stage.items.get().ballots == "[{}]"
    assert not counts(row)


def test_answers_beyond_those_wanted_are_spare(stage: Stage, market: StandIn) -> None:
    """Otherwise an answer that was bought after a block and its undo would change what was concluded before."""
    hit = live_hit(market, stage)
    for _ in range(WANTED):
        answer_of(stage, market, hit)
    before = hit.item.verdicts.get()
    answer_of(stage, market, hit)
    assert stage.labels.counting().count() == WANTED + 1
    standing = hit.item.verdicts.get(superseded_at=None)
    assert (standing.pk, standing.detail["right"], standing.detail["missing"]) == (before.pk, WANTED, 0)


def test_the_answers_submitted_first_count_in_whatever_order_they_are_fetched(stage: Stage, market: StandIn) -> None:
    """Otherwise it would depend on the moment of a read whether an item is kept."""
    hit = live_hit(market, stage)
    for name in ("Linden", "Linden", "Tomas Reyes"):
        market.answer(make.worker().worker_id, hit.hit_id, **fields(hit, name))
    conclude(stage)
    newest_first = stage.labels.order_by("id").values_list("correct", flat=True)
    assert (list(newest_first), hit.item.verdicts.get().outcome) == ([False, True, True], "kept")


def test_a_second_answer_of_the_same_worker_says_nothing(stage: Stage, market: StandIn) -> None:
    """Also where a lead lets it count: an item has one vote a worker, and the first one stands."""
    worker = make.worker()
    first = answer_of(stage, market, worker=worker)
    second = make.hit(first.hit.item, slot=2)
    market.open(second)
    market.answer(worker.worker_id, second.hit_id, **fields(second, "Tomas Reyes"))
    conclude(stage)
    late = Assignment.objects.get(hit=second)
    make.ledger_entry(stage, reserved=second.unit_cost, hit=second)
    reviewing.approve(stage, [late.pk], None)
    deciding.decide(stage)
    assert (counts(first), counts(late)) == (True, True)
    assert json.loads(Item.objects.get().ballots) == [{"entity.correct": True}]


def test_a_block_voids_the_labels_of_all_stages_of_the_project(stage: Stage, market: StandIn) -> None:
    """It says how good a worker is, not how good the answers to one task are."""
    worker = make.worker()
    row = answer_of(stage, market, worker=worker)
    other = _stage(stage.project)
    elsewhere = answer_of(other, market, worker=worker)
    standing = block(row)
    assert (counts(row), counts(elsewhere)) == (False, False)
    blocking.undo(standing, None)
    assert (counts(row), counts(elsewhere)) == (True, True)


def test_the_preview_of_an_undo_leaves_rejected_answers_out(stage: Stage, market: StandIn) -> None:
    worker = make.worker()
    row, other = answer_of(stage, market, worker=worker), answer_of(stage, market, worker=worker)
    reject(row)
    standing = block(other)
    assert blocking.undo_preview(standing).answers == 1
    blocking.undo(standing, None)
    assert stage.labels.counting().count() == 1
