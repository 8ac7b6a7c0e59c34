"""A manager sets budgets, publishes and asks; an owner allows, lowers, approves and declines; HITs end. In any order.

What holds after each step: what is reserved and paid is within the budget, and the budget is never above what an owner
set, allowed or approved; a request was carried out exactly if it is approved; and the books add up.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hits.models import Account, BudgetExceededError, BudgetRequest, Hit, Item, Project, Stage
from hits.payments.jobs import approve_request
from hits.payments.rules import ledger, ledger_checks
from hits.payments.rules.budget_requests import AboveLimitError
from hits.payments.verbs import requesting_budget
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing
from hits.refusals import Refusal
from tests.hits import factories as make
from tests.hits.doing import do, may_refuse, refused
from tests.hits.stand_in import StandIn

EXAMPLES = 10 if connection.vendor == "postgresql" else 40
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]
PRICE = Decimal("0.05")
Step = tuple[str, int]


class Case:
    """`bound` is the highest budget that an owner ever set, allowed or approved."""

    def __init__(self) -> None:
        self.owner, self.manager = make.user(), make.user()
        self.project: Project = make.project(owner=self.owner, budget="0.10")
        make.member(self.project, self.manager, "manager")
        self.stage: Stage = make.stage(self.project)
        make.items(self.stage, 12)
        self.bound = Decimal("0.10")

    @property
    def account(self) -> Account:
        return Account.objects.get(project=self.project)

    def allow(self, number: int) -> None:
        row = self.project.memberships.get(user=self.manager)
        do("members.may_budget", row, self.owner, may_budget=number * PRICE)
        self.bound = max(self.bound, number * PRICE)

    def budget(self, number: int) -> None:
        try:
            projects.change_budget(self.project, number * PRICE, self.manager, confirmed=number * PRICE)
        except AboveLimitError:
            requesting_budget.ask_for_budget(self.project, self.manager, number * PRICE)
        except BudgetExceededError:
            # Lower than what is reserved and paid.
            assert number * PRICE < self.account.reserved + self.account.paid

    def publish(self, number: int) -> None:
        waiting = self.stage.items.filter(state=Item.State.NEW).count()
        items = min(number, waiting)
        if not items:
            return
        confirmation = str(uuid.uuid4())
        left = self.account.left
        try:
            publishing.publish(self.stage, items, items * PRICE, confirmation, self.manager)
        except BudgetExceededError:
            assert items * PRICE > left
            requesting_budget.ask_for_batch(self.stage, self.manager, items, items * PRICE, confirmation)
        else:
            assert items * PRICE <= left

    def approve(self, number: int) -> None:
        row = self._asked(number)
        if row is None:
            return
        self.account.refresh_from_db()
        before = self.account
        with may_refuse("quote_changed", "nothing_to_publish"):
            approve_request(row, self.owner)
            needed = row.budget if row.stage is None else before.reserved + before.paid + row.total
            assert self.account.budget == max(before.budget, needed)
            self.bound = max(self.bound, needed)

    def decline(self, number: int) -> None:
        if row := self._asked(number):
            requesting_budget.decline(row, self.owner, "Not this month.")

    def close(self, number: int) -> None:
        """HITs end of which nobody answered some, and others are paid."""
        for hit in Hit.objects.filter(stage=self.stage, state=Hit.State.PLANNED)[:number]:
            hit.state = Hit.State.CLOSED
            hit.save()
            if hit.pk % 2:
                self.account.post([ledger.settle(make.assignment(hit))])
            else:
                self.account.post([ledger.release(hit, 1, "closed")])

    def _asked(self, number: int) -> BudgetRequest | None:
        rows = BudgetRequest.objects.filter(project=self.project, state="waiting")
        return rows.select_related("stage", "project", "asked_by").order_by("pk" if number % 2 else "-pk").first()

    def check(self) -> None:
        account = self.account
        assert account.reserved + account.paid <= account.budget <= self.bound
        assert account.sums() == (account.reserved, account.paid)
        for row in BudgetRequest.objects.filter(project=self.project).exclude(stage=None):
            assert (row.batch_id is not None) == (row.state == "approved")
        assert BudgetRequest.objects.filter(project=self.project, state="waiting").count() <= 2


NAMES = ["allow", "budget", "publish", "publish", "approve", "decline", "close"]
STEPS = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 8)), max_size=14)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=EXAMPLES)
@given(steps=STEPS)
def test_no_order_of_asking_and_deciding_binds_more_than_an_owner_agreed_to(
    stand_in: StandIn, steps: list[Step]
) -> None:
    case = Case()
    for name, number in steps:
        step: Callable[[int], None] = getattr(case, name)
        step(number)
        case.check()


def test_a_request_is_decided_once(stand_in: StandIn) -> None:
    case = Case()
    case.publish(4)
    row = BudgetRequest.objects.select_related("stage", "project").get()
    assert (row.budget, row.items, case.account.budget) == (Decimal("0.20"), 4, Decimal("0.10"))
    batch = approve_request(row, case.owner)
    assert batch is not None and approve_request(row, case.owner) == batch
    with pytest.raises(Refusal, match="was approved already"):
        requesting_budget.decline(row, case.owner, "No.")
    assert case.account.budget == case.account.reserved == Decimal("0.20")
    assert list(ledger_checks.differences(case.project)) == []


def test_a_price_that_is_another_now_leaves_the_request_waiting(stand_in: StandIn) -> None:
    case = Case()
    case.publish(12)
    Item.objects.filter(pk__in=list(case.stage.items.values_list("pk", flat=True)[:3])).update(state=Item.State.DROPPED)
    row = BudgetRequest.objects.select_related("stage", "project").get()
    with refused("quote_changed"):
        approve_request(row, case.owner)
    row.refresh_from_db()
    assert row.waits and case.account.budget == Decimal("0.10")


def test_somebody_who_is_no_owner_any_more_decides_nothing(stand_in: StandIn) -> None:
    case = Case()
    row = requesting_budget.ask_for_budget(case.project, case.manager, Decimal(50))
    for decide in (
        lambda: requesting_budget.approve(row, case.manager),
        lambda: requesting_budget.decline(row, case.manager, "No."),
    ):
        with pytest.raises(Refusal, match="takes the role owner"):
            decide()
    with refused("reason_missing"):
        requesting_budget.decline(row, case.owner, "  ")
    with refused("not_yours"):
        requesting_budget.withdraw(row, case.owner)
