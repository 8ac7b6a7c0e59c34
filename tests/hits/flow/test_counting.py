"""Which labels count, whatever happens to an answer and to its worker, and in whatever order."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from hits.domain.counting import recount
from hits.domain.due_hits import mark_due
from hits.flow.data import undoing
from hits.flow.people import blocking, reviewing
from hits.flow.pipeline import deciding, harvesting, scoring
from hits.models import Assignment, Block, Hit, Item, Label, Stage, Worker
from hits.mturk.errors import UnreachableError
from hits.quality.blocking import Evidence
from tests.hits import factories as make
from tests.hits.flow.stand_in import StandIn, live_hit, stand_in
from tests.hits.reviews import review

pytestmark = pytest.mark.django_db
LINDEN = {"answer": "46-51", "text": "Linden"}
WANTED = 2
MEASURED = {"name": "measured", "version": 1, "params": {"answers": 1}}


@pytest.fixture
def market(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    monkeypatch.setattr(blocking, "proposals", _anybody)
    return stand_in(monkeypatch)


def _anybody(stage: Stage) -> list[Evidence]:
    """Every worker may be blocked: here it matters what a block does, not whom it hits."""
    found = [Evidence(name, 40, 2, 0.05, 0.5, 1e-9, 0.2, 0.01, (0.01, 0.17)) for name in _names()]
    standing = Block.objects.standing().filter(project=stage.project_id).values_list("worker__worker_id", flat=True)
    return [evidence for evidence in found if evidence.worker not in set(standing)]


def _names() -> list[str]:
    return list(Worker.objects.values_list("worker_id", flat=True))


def _stage() -> Stage:
    rule = {"name": "matches_reference", "version": 1, "params": {"answers": WANTED, "need": WANTED}}
    return make.stage(approval=Stage.Approval.REVIEW, answers=WANTED, rule=rule, hit_type_id="3TYPE")


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


def answer_of(stage: Stage, market: StandIn, hit: Hit | None = None, worker: Worker | None = None) -> Assignment:
    """Submitted, harvested, scored and decided."""
    row = market.submit(hit or live_hit(stage), worker or make.worker(), LINDEN)
    conclude(stage)
    return Assignment.objects.get(assignment_id=row.assignment_id)


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
    remote = market.submit(live_hit(stage), make.worker(), LINDEN)
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
    late = market.submit(live_hit(stage), worker, LINDEN)
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
    for change in (lambda: None, lambda: undoing.undo(label.pk, None)):
        change()
        Item.objects.update(stale=True)
        deciding.decide(stage)
        assert stage.items.get().state == Item.State.KEPT
    assert stage.items.get().ballots == "[{}]"
    assert not counts(row)


def test_answers_beyond_those_wanted_are_spare(stage: Stage, market: StandIn) -> None:
    """Otherwise an answer that was bought after a block and its undo would change what was concluded before."""
    hit = live_hit(stage)
    for _ in range(WANTED):
        answer_of(stage, market, hit)
    before = hit.item.verdicts.get()
    answer_of(stage, market, hit)
    assert stage.labels.counting().count() == WANTED + 1
    standing = hit.item.verdicts.get(superseded_at=None)
    assert (standing.pk, standing.detail["right"], standing.detail["missing"]) == (before.pk, WANTED, 0)


# Any order


pick = st.integers(0, 100)


class CountingMachine(RuleBasedStateMachine):
    """Two items with two answers wanted, four workers, and a marketplace that answers at times."""

    market: ClassVar[StandIn]
    seen: ClassVar[set[str]] = set()

    @initialize()
    def begin(self) -> None:
        self.market.answers.clear()
        self.market.silent = False
        self.stage = _stage()
        self.hits = [live_hit(self.stage, 4) for _ in range(2)]
        self.workers = [make.worker() for _ in range(4)]

    @rule(which=pick, by=pick, decided=st.sampled_from(["Submitted", "Submitted", "Rejected", "Approved"]))
    def submit(self, which: int, by: int, decided: str) -> None:
        hit, worker = self.hits[which % 2], self.workers[by % 4]
        theirs = {row.worker_id for row in self.market.answers.values() if row.hit_id == hit.hit_id}
        if worker.worker_id not in theirs:
            self.market.turn(self.market.submit(hit, worker, LINDEN).assignment_id, decided)

    @rule()
    def read(self) -> None:
        with suppress(UnreachableError):
            read(self.stage)

    @rule()
    def score(self) -> None:
        scoring.score(self.stage)

    @rule()
    def read_and_score(self) -> None:
        self.read()
        self.score()

    @rule(which=pick, rejected=st.booleans())
    def review(self, which: int, rejected: bool) -> None:
        for row in self._some(self.stage.assignments.filter(state="Submitted", decision=""), which):
            if rejected:
                reviewing.reject(self.stage, [row.pk], "Too hasty.", None)
            else:
                reviewing.approve(self.stage, [row.pk], None)
            self._finish()
            self._saw("reject" if rejected else "approve")

    @rule(which=pick)
    def take_back(self, which: int) -> None:
        for row in self._some(self.stage.assignments.filter(state="Rejected", decision=""), which):
            reviewing.take_back(self.stage, [row.pk], None)
            self._finish()
            self._saw("take back")

    @rule(which=pick)
    def decide_a_dispute_there(self, which: int) -> None:
        rejected = [name for name, row in self.market.answers.items() if row.status == "Rejected"]
        if rejected:
            self.market.turn(rejected[which % len(rejected)], "Approved")
            self._saw("dispute")

    @rule(by=pick)
    def block(self, by: int) -> None:
        with suppress(UnreachableError):
            blocking.block(self.stage, [self.workers[by % 4].worker_id], None)
        self._saw("block")

    @rule(which=pick)
    def undo(self, which: int) -> None:
        for row in self._some(Block.objects.in_force().filter(project=self.stage.project), which):
            with suppress(UnreachableError):
                blocking.undo(row, None)
            self._saw("undo")

    @rule(silent=st.booleans())
    def fall_silent_or_come_back(self, silent: bool) -> None:
        self.market.silent = silent
        self._finish()
        with suppress(UnreachableError):
            blocking.finish(self.stage)

    @rule()
    def decide(self) -> None:
        deciding.decide(self.stage)

    @invariant()
    def void_is_what_the_tables_say(self) -> None:
        if not hasattr(self, "stage"):
            return
        blocked = {
            row.worker_id
            for row in Block.objects.filter(project=self.stage.project)
            if row.state in ("intended", "granted")
        }
        for label in self.stage.labels.select_related("assignment"):
            should = label.assignment.state == "Rejected" or label.worker_id in blocked
            assert label.void == should, (label.assignment.state, label.worker_id in blocked)

    @invariant()
    def what_was_decided_is_what_the_labels_say(self) -> None:
        if not hasattr(self, "stage") or deciding.unfinished():
            return
        for item in self.stage.items.all():
            voters = set(item.labels.counting().values_list("worker", flat=True))
            assert (item.state == Item.State.KEPT) == (len(voters) >= WANTED)

    def _finish(self) -> None:
        with suppress(UnreachableError):
            reviewing.finish(self.stage)

    def _some(self, rows: Any, which: int) -> list[Any]:
        found = list(rows.order_by("pk"))
        return [found[which % len(found)]] if found else []

    def _saw(self, what: str) -> None:
        self.seen.add(what)


def test_whatever_is_rejected_blocked_undone_and_taken_back_the_same_labels_count(market: StandIn) -> None:
    CountingMachine.market = market
    CountingMachine.seen.clear()
    many = settings(
        max_examples=25,
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
    )
    run_state_machine_as_test(CountingMachine, settings=many)
    assert CountingMachine.seen == {"approve", "reject", "take back", "dispute", "block", "undo"}
