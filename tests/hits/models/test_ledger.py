"""The ledger under every order of events: what is taken is reserved, paid or released, to the cent."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from hits.domain.books import differences, figures
from hits.domain.ledger import pay_payment, release, release_payment, reserve_payment, settle
from hits.models import (
    Account,
    Assignment,
    Bonus,
    BudgetExceededError,
    Compensation,
    Extension,
    Hit,
    LedgerEntry,
)
from hits.mturk.fees import bonus_fee, unit_cost
from tests.hits import factories as make

pytestmark = pytest.mark.on_postgresql

Kind = LedgerEntry.Kind
State = Assignment.State
pick = st.integers(0, 1000)


class LedgerMachine(RuleBasedStateMachine):
    """The rows as `hits.flow` leaves them, with the entries that they post; beside them whole cents."""

    numbers = itertools.count(1)

    @initialize(budget=st.integers(0, 400))
    def begin(self, budget: int) -> None:
        self.budget = budget
        self.stages = {answers: make.stage(make.project(budget="0"), answers=answers) for answers in (1,)}
        self.project = self.stages[1].project
        for answers in (2, 3):
            self.stages[answers] = make.stage(self.project, answers=answers, reward=Decimal("0.07"))
        Account.objects.filter(project=self.project).update(budget=Decimal(budget).scaleb(-2))
        self.account = Account.objects.get(project=self.project)
        self.reserved = self.paid = self.taken = self.released = 0

    # Moves

    @rule(answers=st.integers(1, 3), items=st.integers(1, 3))
    def publish(self, answers: int, items: int) -> None:
        stage = self.stages[answers]
        unit = unit_cost(stage.reward, answers)
        with _all_or_nothing() as took:
            batch = make.batch(stage)
            make.hits(make.items(stage, items), batch=batch, unit_cost=unit, max_assignments=answers)
            self._post([LedgerEntry(kind=Kind.RESERVE, reserved=unit * answers * items, batch=batch, stage=stage)])
        self._took(took, _cents(unit) * answers * items)

    @rule(which=pick, at_once=st.booleans())
    @precondition(lambda self: self._open().exists())
    def answer(self, which: int, at_once: bool) -> None:
        hit = _choose(self._open(), which)
        row = make.assignment(hit, state=State.APPROVED if at_once else State.SUBMITTED)
        if at_once:
            self._settle(row)
        if hit.assignments.count() == hit.max_assignments:
            Hit.objects.filter(pk=hit.pk).update(state=Hit.State.CLOSED)

    @rule(which=pick)
    @precondition(lambda self: self._answers(State.SUBMITTED).exists())
    def approve(self, which: int) -> None:
        row = _choose(self._answers(State.SUBMITTED), which)
        Assignment.objects.filter(pk=row.pk).update(state=State.APPROVED)
        self._settle(row)

    @rule(which=pick)
    @precondition(lambda self: self._answers(State.SUBMITTED).exists())
    def reject(self, which: int) -> None:
        row = _choose(self._answers(State.SUBMITTED), which)
        Assignment.objects.filter(pk=row.pk).update(state=State.REJECTED)
        self._release(row.hit, 1)

    @rule(which=pick)
    @precondition(lambda self: self._answers(State.REJECTED).exists())
    def take_a_rejection_back(self, which: int) -> None:
        row = _choose(self._answers(State.REJECTED), which)
        cost = row.hit.unit_cost
        with _all_or_nothing() as took:
            Assignment.objects.filter(pk=row.pk).update(decision=State.APPROVED)
            self._post([LedgerEntry(kind=Kind.RESERVE, reserved=cost, hit=row.hit, assignment=row)])
        self._took(took, _cents(cost))
        if took:
            self._agree()
            Assignment.objects.filter(pk=row.pk).update(state=State.APPROVED, decision="")
            self._settle(row)

    @rule(which=pick)
    @precondition(lambda self: self._open().exists())
    def expire(self, which: int) -> None:
        hit = _choose(self._open(), which)
        Hit.objects.filter(pk=hit.pk).update(state=Hit.State.CLOSED)
        self._release(hit, hit.max_assignments - hit.assignments.count())

    @rule(which=pick)
    @precondition(lambda self: self._fresh().exists())
    def refuse(self, which: int) -> None:
        hit = _choose(self._fresh(), which)
        Hit.objects.filter(pk=hit.pk).update(state=Hit.State.REFUSED, hit_id=None)
        self._release(hit, hit.max_assignments)

    @rule(which=pick, more=st.integers(0, 2), done=st.booleans())
    @precondition(lambda self: self._closed().exists())
    def extend_or_reopen(self, which: int, more: int, done: bool) -> None:
        """Reopened for the places that nobody took, and so many more; carried out, or still to be sent."""
        hit = _choose(self._closed(), which)
        places = hit.max_assignments - hit.assignments.count() + more
        with _all_or_nothing() as took:
            number = next(self.numbers)
            batch = make.batch(hit.stage)
            extension = Extension.objects.create(
                hit=hit, batch=batch, number=number, token=f"more-{number}", assignments=more, places=places
            )
            self._post([LedgerEntry(kind=Kind.RESERVE, reserved=hit.unit_cost * places, batch=batch)])
        self._took(took, _cents(hit.unit_cost) * places)
        if took and done:
            self._agree()
            Extension.objects.filter(pk=extension.pk).update(state=Extension.State.DONE)
            Hit.objects.filter(pk=hit.pk).update(state=Hit.State.LIVE, max_assignments=hit.max_assignments + more)

    @rule(cents=st.integers(1, 90), which=pick)
    @precondition(lambda self: self._answers(*State).exists())
    def order_a_bonus(self, cents: int, which: int) -> None:
        answer, amount = _choose(self._answers(*State), which), Decimal(cents).scaleb(-2)
        money = {"amount": amount, "fee": bonus_fee(amount)}
        with _all_or_nothing() as took:
            order = self.project.bonus_orders.create(confirmation=f"o{next(self.numbers)}", total=1, cost=amount)
            row = Bonus.objects.create(
                project=self.project, order=order, assignment=answer, worker=answer.worker, reason="Well done", **money
            )
            self._post([reserve_payment(row)])
        self._took(took, _cents(sum(money.values())))

    @rule(cents=st.integers(1, 90))
    def offer_a_compensation(self, cents: int) -> None:
        amount = Decimal(cents).scaleb(-2)
        money = {"amount": amount, "fee": unit_cost(amount, 1) - amount}
        with _all_or_nothing() as took:
            name = f"c{next(self.numbers)}"
            row = Compensation.objects.create(project=self.project, worker_id=name, confirmation=name, **money)
            self._post([reserve_payment(row)])
        self._took(took, _cents(sum(money.values())))

    @rule(which=pick, paid=st.booleans(), bonus=st.booleans())
    def end_a_payment(self, which: int, paid: bool, bonus: bool) -> None:
        model = Bonus if bonus else Compensation
        waiting = model.objects.filter(project=self.project, state="planned")
        if not waiting:
            return
        row = _choose(waiting, which)
        model.objects.filter(pk=row.pk).update(state="paid" if paid else "refused")
        self._post([pay_payment(row) if paid else release_payment(row, "refused")])
        cost = _cents(row.amount + row.fee)
        self.reserved -= cost
        self.paid += cost if paid else 0
        self.released += 0 if paid else cost

    @rule(which=pick)
    @precondition(lambda self: self._answers(State.APPROVED).exists())
    def settling_twice_is_refused(self, which: int) -> None:
        row = _choose(self._answers(State.APPROVED), which)
        with pytest.raises(IntegrityError), transaction.atomic():
            self._post([settle(row)])

    # What always holds

    @invariant()
    def what_was_taken_is_reserved_paid_or_released(self) -> None:
        if not hasattr(self, "account"):
            return
        self.account.refresh_from_db()
        sums = (_cents(self.account.reserved), _cents(self.account.paid))
        assert sums == (self.reserved, self.paid) == tuple(map(_cents, self.account.sums()))
        assert self.taken == self.reserved + self.paid + self.released
        assert min(sums) >= 0 and sum(sums) <= self.budget

    def teardown(self) -> None:
        if hasattr(self, "account"):
            self._agree()

    def _agree(self) -> None:
        assert list(differences(self.project)) == []
        assert all(one == other for _, one, other in figures(self.project))

    # Parts

    def _open(self):
        return self._hits(Hit.State.LIVE).filter(extensions=None) | self._hits(Hit.State.LIVE).exclude(
            extensions__state="planned"
        )

    def _closed(self):
        return self._hits(Hit.State.CLOSED).exclude(extensions__state="planned")

    def _fresh(self):
        return self._hits(Hit.State.LIVE).filter(assignments=None, extensions=None)

    def _hits(self, state: str):
        return Hit.objects.filter(stage__project=self.project, state=state).select_related("stage")

    def _answers(self, *states: str):
        rows = Assignment.objects.filter(stage__project=self.project, state__in=states, decision="")
        return rows.select_related("hit__stage", "worker")

    def _post(self, entries: Iterable[LedgerEntry]) -> None:
        self.account.post(entries)

    def _settle(self, row: Assignment) -> None:
        self._post([settle(row)])
        self.reserved -= _cents(row.hit.unit_cost)
        self.paid += _cents(row.hit.unit_cost)

    def _release(self, hit: Hit, places: int) -> None:
        self._post([release(hit, places, "not needed")])
        self.reserved -= _cents(hit.unit_cost) * places
        self.released += _cents(hit.unit_cost) * places

    def _took(self, took: list[bool], cents: int) -> None:
        """The budget refuses exactly what does not fit."""
        assert bool(took) == (self.reserved + self.paid + cents <= self.budget)
        if took:
            self.reserved += cents
            self.taken += cents


class _all_or_nothing:
    """A transaction whose list is empty when the budget refused it, and then nothing of it is left."""

    def __enter__(self) -> list[bool]:
        self.took: list[bool] = []
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        return self.took

    def __exit__(self, kind, error, trace) -> bool:
        self.atomic.__exit__(kind, error, trace)
        if kind is None:
            self.took.append(True)
        return kind is not None and issubclass(kind, BudgetExceededError)


def _cents(dollars: Decimal) -> int:
    whole = dollars.scaleb(2)
    assert whole == int(whole), f"{dollars} has a part of a cent"
    return int(whole)


def _choose(rows, which: int):
    found = list(rows.order_by("pk"))
    return found[which % len(found)]


# The rules are the same on any database; how it keeps them is seen in a few.
EXAMPLES = 4 if connection.vendor == "postgresql" else 12


@pytest.mark.django_db
def test_every_order_of_events_leaves_reserved_paid_and_released_equal_to_what_was_taken():
    run_state_machine_as_test(
        LedgerMachine, settings=settings(max_examples=EXAMPLES, stateful_step_count=25, deadline=None, derandomize=True)
    )


@pytest.mark.django_db
def test_an_entry_past_the_budget_names_both_sums_and_changes_nothing():
    account = make.project(budget="1.00").account
    with pytest.raises(BudgetExceededError, match=r"needs \$1\.01 and \$1\.00"):
        account.post([LedgerEntry(kind=Kind.RESERVE, reserved=Decimal("1.01"))])
    assert not LedgerEntry.objects.exists()
    assert Account.objects.get(pk=account.pk).reserved == 0


@pytest.mark.django_db
def test_the_database_itself_refuses_a_sum_past_the_budget():
    account = make.project(budget="1.00").account
    with pytest.raises(IntegrityError), transaction.atomic():
        Account.objects.filter(pk=account.pk).update(paid=Decimal("1.01"))


@pytest.mark.django_db
@pytest.mark.parametrize("amount", [{"reserved": Decimal("-0.01")}, {"paid": Decimal("-0.01")}])
def test_no_sum_ever_falls_below_zero(amount):
    account = make.project(budget="1.00").account
    with pytest.raises(IntegrityError), transaction.atomic():
        account.post([LedgerEntry(kind=Kind.RELEASE, **amount)])
    assert not LedgerEntry.objects.exists()


@pytest.mark.django_db
def test_an_answer_is_settled_once():
    hit = make.hit(unit_cost=Decimal("0.05"), max_assignments=2)
    account = hit.stage.project.account
    account.post([LedgerEntry(kind=Kind.RESERVE, reserved=Decimal("0.10"))])
    answer = make.assignment(hit)
    account.post([settle(answer)])
    with pytest.raises(IntegrityError), transaction.atomic():
        account.post([settle(answer)])
    account.post([release(hit, 1, "expired")])
    account.refresh_from_db()
    assert (account.reserved, account.paid) == (Decimal(0), Decimal("0.05"))
