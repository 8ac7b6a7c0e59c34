"""Any order of what leads and workers do, through `hits.flow` and a real marketplace: both sides agree to the cent."""

from __future__ import annotations

import itertools
from contextlib import suppress
from decimal import Decimal
from typing import Any, ClassVar

import pytest
from django.utils import timezone
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from hits.domain.books import differences, held_there
from hits.domain.marketplace_account import gateway
from hits.flow.payments import auditing, bonuses, compensating, ordering
from hits.flow.people import blocking, reviewing
from hits.flow.pipeline import closing, deciding, harvesting, importing, publishing, scoring, sending, topping_up
from hits.flow.setup import projects
from hits.models import Account, Assignment, Batch, Block, BudgetExceededError, Compensation, Hit, Stage
from hits.mturk.fees import bonus_fee
from tests.hits import factories as make
from tests.hits.flow.conftest import example, fields, lines
from tests.hits.flow.test_counting import _anybody
from tests.hits.market import STARTING_BALANCE, Marketplace

State = Assignment.State
pick = st.integers(0, 100)
BUDGET = Decimal("1.20")
MOVES = {
    "publish", "answer", "approve", "reject", "take back", "expire", "extend", "ask again", "delete", "bonus",
    "compensation", "block", "undo", "late read",
}  # fmt: skip


class StageMachine(RuleBasedStateMachine):
    """A stage that wants two answers an item, approved by a lead."""

    market: ClassVar[Marketplace]
    workers: ClassVar[list[str]]
    numbers: ClassVar = itertools.count(1)
    seen: ClassVar[set[str]] = set()

    @initialize(items=st.integers(1, 3))
    def begin(self, items: int) -> None:
        owner = make.user()
        self.project = projects.create_project("River", "record", BUDGET, "lab@example.org", owner, seed=3)
        self.stage = self.project.stages.get(position=1)
        projects.want_answers(self.stage, 2, 2)
        held = {"approval": Stage.Approval.REVIEW, "auto_approval_seconds": 86_400, "quality": {"min_answers": 1}}
        Stage.objects.filter(pk=self.stage.pk).update(**held)
        self.publish(items)

    # What a lead does

    @rule(items=st.integers(1, 2))
    def publish(self, items: int) -> None:
        examples = [example(next(self.numbers)) for _ in range(items)]
        examples = [{**one, "qas": [{**qa, "id": f"{one['id']}-q"} for qa in one["qas"]]} for one in examples]
        upload = importing.create_upload(self.project, "more.jsonl", lines(examples), "public", None)
        importing.import_upload(upload.pk)
        self._reload()
        quote = publishing.quote(self.stage)
        with self._within_budget("publish"):
            confirmation = f"page-{next(self.numbers)}"
            self._send(publishing.publish(self.stage, quote.items, quote.total, confirmation, None))

    @rule(which=pick, rejected=st.booleans())
    def review(self, which: int, rejected: bool) -> None:
        row = self._choose(self._answers(State.SUBMITTED), which)
        if row is None:
            return
        if rejected:
            reviewing.reject(self.stage, [row.pk], "Not a name.", None)
        else:
            reviewing.approve(self.stage, [row.pk], None)
        reviewing.finish(self.stage)
        row.refresh_from_db()
        assert row.state == (State.REJECTED if rejected else State.APPROVED)
        self._conclude()
        self._saw("reject" if rejected else "approve")

    @rule(which=pick)
    def take_a_rejection_back(self, which: int) -> None:
        row = self._choose(self._answers(State.REJECTED).filter(hit__deleted_at=None), which)
        if row is None:
            return
        with self._within_budget("take back"):
            reviewing.take_back(self.stage, [row.pk], None)
            reviewing.finish(self.stage)
            row.refresh_from_db()
            assert row.state == State.APPROVED

    @rule(which=pick)
    def block(self, which: int) -> None:
        standing = Block.objects.standing().filter(project=self.project).values("worker")
        row = self._choose(Assignment.objects.filter(stage=self.stage).exclude(worker__in=standing), which)
        if row is None:
            return
        blocking.block(self.stage, [row.worker.worker_id], None)
        self._conclude()
        self._saw("block")

    @rule(which=pick)
    def undo(self, which: int) -> None:
        row = self._choose(Block.objects.standing().filter(project=self.project), which)
        if row is None:
            return
        blocking.undo(row, None)
        self._conclude()
        self._saw("undo")

    @rule()
    def read_late(self) -> None:
        """What ended is looked at once more."""
        Hit.objects.filter(stage=self.stage, hit_id__isnull=False, deleted_at=None).update(due_at=timezone.now())
        self._conclude()
        self._saw("late read")

    @rule()
    def expire(self) -> None:
        self._send(publishing.expire(self.stage, None))
        self._conclude()
        self._saw("expire")

    @rule()
    def extend(self) -> None:
        self._send(publishing.extend(self.stage, 86_400, None))
        self._saw("extend")

    @rule()
    def ask_again(self) -> None:
        batch = topping_up.top_up(self.stage)
        if batch:
            self._send(batch)
            self._saw("ask again")

    @rule()
    def delete_hits(self) -> None:
        with suppress(publishing.NothingToDeleteError):
            self._send(publishing.delete_hits(self.stage, None))
            self._saw("delete")

    @rule(which=pick, cents=st.integers(1, 40))
    def pay_a_bonus(self, which: int, cents: int) -> None:
        row = self._choose(self._answers(State.APPROVED, State.REJECTED), which)
        if row is None:
            return
        amount = Decimal(cents).scaleb(-2)
        new = [ordering.NewBonus(row, amount, f"Well done, {next(self.numbers)}")]
        with self._within_budget("bonus"):
            ordering.order(self.project, new, amount + bonus_fee(amount), f"bonus-{next(self.numbers)}", None)
            assert bonuses.send(self.project) == 1

    @rule(which=pick, cents=st.integers(1, 30))
    def compensate(self, which: int, cents: int) -> None:
        """Offered, taken up at once, and found to be."""
        worker, amount = self.workers[which % len(self.workers)], Decimal(cents).scaleb(-2)
        total = amount + bonus_fee(amount)
        with self._within_budget("compensation"):
            name = f"compensation-{next(self.numbers)}"
            row = compensating.order(self.project, worker, f"{amount}", "The page broke.", total, name, None)
            compensating.finish(self.project)
            row.refresh_from_db()
            self._agrees()
            self.market.answer(worker, row.hit_id, choice="yes")
            Compensation.objects.filter(pk=row.pk).update(looked_at=None)
            compensating.finish(self.project)
            row.refresh_from_db()
            assert row.state == Compensation.State.PAID, row.error

    # What workers do

    @rule(which=pick, valid=st.booleans())
    def answer(self, which: int, valid: bool) -> None:
        live = self._hits(Hit.State.LIVE)
        hit = self._choose(live, which)
        if hit is None or self.market.hit(hit.hit_id)["status"] != "Assignable":
            return
        there = {found.worker_id for found in gateway().assignments(hit.hit_id)}
        blocked = Block.objects.standing().filter(project=self.project).values_list("worker__worker_id", flat=True)
        worker = next((worker for worker in self.workers if worker not in {*there, *blocked}), None)
        if worker is None:
            return
        given = fields(hit, "Linden") if valid else {"answer": "0-1", "text": "Re"}
        self.market.answer(worker, hit.hit_id, **given)
        self._conclude()
        self._saw("answer")

    # What always holds

    @invariant()
    def both_sides_agree_to_the_cent(self) -> None:
        if hasattr(self, "stage"):
            self._agrees()

    def _agrees(self) -> None:
        account = Account.objects.get(project=self.project)
        assert (account.reserved, account.paid) == account.sums()
        assert account.reserved >= 0 and account.reserved + account.paid <= BUDGET
        assert list(differences(self.project)) == []
        there = gateway().balance()
        # The marketplace knows one account for the projects of all examples.
        paid = sum(Account.objects.values_list("paid", flat=True), Decimal(0))
        assert Decimal(STARTING_BALANCE) - there.available - there.on_hold == paid
        assert there.on_hold == held_there()

    def teardown(self) -> None:
        if hasattr(self, "stage"):
            check = auditing.check(self.project, None, deep=True)
            assert (check.state, check.faults) == ("done", [])

    # Parts

    def _within_budget(self, what: str) -> Any:
        self._saw(what)
        return suppress(BudgetExceededError)

    def _saw(self, what: str) -> None:
        self.seen.add(what)

    def _reload(self) -> None:
        self.stage = Stage.objects.select_related("project__account").get(pk=self.stage.pk)
        self.project = self.stage.project

    def _send(self, batch: Batch) -> None:
        sending.send(batch.pk)
        batch.refresh_from_db()
        assert batch.state == Batch.State.PUBLISHED, batch.message
        self._reload()

    def _conclude(self) -> None:
        harvesting.harvest(self.stage)
        scoring.score(self.stage)
        deciding.decide(self.stage)
        closing.close_unwanted(self.stage)
        self._reload()

    def _hits(self, state: str) -> Any:
        return Hit.objects.filter(stage=self.stage, state=state).select_related("item__document")

    def _answers(self, *states: str) -> Any:
        return Assignment.objects.filter(stage=self.stage, state__in=states).select_related("hit", "stage", "worker")

    @staticmethod
    def _choose(rows: Any, which: int) -> Any:
        found = list(rows.order_by("pk"))
        return found[which % len(found)] if found else None


@pytest.fixture
def machine(market: Marketplace, monkeypatch: pytest.MonkeyPatch, settings: Any) -> type[StageMachine]:
    monkeypatch.setattr(blocking, "proposals", _anybody)
    settings.MTURK_SETTLE_SECONDS = 0
    StageMachine.market, StageMachine.workers = market, [market.sign_up_worker() for _ in range(8)]
    StageMachine.seen.clear()
    return StageMachine


@pytest.mark.django_db(transaction=True)
def test_one_of_each_move_leaves_books_and_marketplace_equal_at_every_step(machine: type[StageMachine]) -> None:
    one = machine()
    moves = [
        lambda: one.begin(3),
        *[lambda: one.answer(0, True)] * 4,
        lambda: one.answer(0, False),
        lambda: one.review(0, False),
        lambda: one.review(0, True),
        lambda: one.pay_a_bonus(0, 7),
        lambda: one.take_a_rejection_back(0),
        lambda: one.review(0, True),
        one.ask_again,
        one.extend,
        lambda: one.answer(0, True),
        lambda: one.compensate(7, 12),
        lambda: one.pay_a_bonus(1, 40),
        lambda: one.publish(2),
        one.expire,
        lambda: one.review(0, False),
        one.ask_again,
        lambda: one.block(0),
        one.ask_again,
        lambda: one.undo(0),
        one.read_late,
        one.delete_hits,
    ]
    for move in moves:
        move()
        one.both_sides_agree_to_the_cent()
    one.teardown()
    assert machine.seen == MOVES


@pytest.mark.django_db(transaction=True)
def test_every_order_of_moves_leaves_books_and_marketplace_equal_at_every_step(machine: type[StageMachine]) -> None:
    run_state_machine_as_test(
        machine,
        settings=hypothesis_settings(
            max_examples=4,
            stateful_step_count=16,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
