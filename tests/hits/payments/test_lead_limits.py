"""The budgets of all projects that a lead owns stay within what the operator set, whoever raises them, in any order."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from threading import Event
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Sum
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hits.accounts.rules.lead_limits import narrowest, room_of
from hits.models import Account, BudgetRequest, Guest, LeadLimit, Membership, Project
from hits.payments.jobs import approve_request
from hits.payments.verbs import requesting_budget
from hits.projects.verbs import archiving, invitations, project_files, projects
from hits.refusals import Refusal
from tests.hits import factories as make
from tests.hits.doing import do, refused
from tests.hits.payments.test_two_leads import TwoLeads, database_with_connections, leads

__all__ = ["database_with_connections", "leads"]
pytestmark = pytest.mark.django_db(transaction=True)
# On SQLite writers stand in one queue anyway.
REPETITIONS = 40 if connection.vendor == "postgresql" else 5
EXAMPLES = 10 if connection.vendor == "postgresql" else 40


def lead_with(amount: int | None, name: str | None = None) -> User:
    lead: User = make.user(name)
    requesting_budget.limit_lead(lead, None if amount is None else Decimal(amount))
    return lead


def owned(owner: User | list[User], budget: int) -> Project:
    return make.project(owner=owner, budget=str(budget))


def budgeted(lead: User) -> Decimal:
    rows = Account.objects.filter(project__memberships__user=lead, project__memberships__role="owner")
    total: Decimal | None = rows.aggregate(total=Sum("budget"))["total"]
    return total or Decimal(0)


def start(owner: User, budget: int, **more: Any) -> Project:
    return projects.create_project("River", "choice", Decimal(budget), "lab@example.org", owner, **more)


def set_budget(project: Project, budget: int, user: User | None) -> None:
    projects.change_budget(project, Decimal(budget), user, confirmed=Decimal(budget))


def budget_of(project: Project) -> Decimal:
    return Account.objects.get(project=project).budget


# One after the other


def test_a_budget_is_raised_to_the_limit_and_no_cent_further() -> None:
    anna = lead_with(500, "anna")
    first, second = owned(anna, 300), owned(anna, 80)
    with refused("above_lead_limit") as refusal:
        projects.change_budget(second, Decimal("200.01"), anna, confirmed=Decimal("200.01"))
    assert refusal.value.details() == {
        "lead": "anna",
        "limit": "500.00",
        "budgeted": "380.00",
        "left": "120.00",
        "more": "120.01",
    }
    assert "may come to $500.00. $120.00 of that is left, and this takes $120.01." in str(refusal.value)
    assert "manage.py account anna --budget-limit AMOUNT" in str(refusal.value)
    set_budget(second, 200, anna)
    set_budget(first, 100, anna)
    set_budget(second, 400, anna)
    assert (budget_of(first), budget_of(second)) == (100, 400)


def test_a_large_change_above_the_limit_is_refused_before_it_is_asked_about() -> None:
    anna = lead_with(500)
    with refused("above_lead_limit"):
        projects.change_budget(owned(anna, 10), Decimal(5000), anna)


def test_a_project_is_started_written_and_cloned_within_the_limit() -> None:
    anna = lead_with(500)
    made = start(anna, 300)
    file = project_files.read(project_files.written(made).encode())
    for call in (
        lambda: start(anna, 201),
        lambda: project_files.create_from(file, "By file", Decimal(201), "lab@example.org", anna),
        lambda: project_files.clone(made, "Clone", Decimal(201), anna),
    ):
        with refused("above_lead_limit"):
            call()
    assert list(Project.objects.all()) == [made]
    project_files.clone(made, "Clone", Decimal(200), anna)
    assert room_of(anna).left == 0  # type: ignore[union-attr]


def test_the_server_itself_is_held_by_no_limit_and_a_lower_limit_leaves_budgets_as_they_are() -> None:
    anna = lead_with(100)
    project = start(anna, 300, limited=False)
    set_budget(project, 400, None)
    assert room_of(anna).left == 0  # type: ignore[union-attr]
    set_budget(project, 350, anna)
    with refused("above_lead_limit"):
        set_budget(project, 351, anna)
    requesting_budget.limit_lead(anna, None)
    set_budget(project, 999, anna)


def test_a_manager_raises_a_budget_no_further_than_its_owner_could() -> None:
    anna, mia = lead_with(500), make.user()
    project = owned(anna, 100)
    make.member(project, mia, "manager")
    do("members.may_budget", member(project, mia), anna, may_budget=9000)
    with refused("above_lead_limit"):
        set_budget(project, 501, mia)
    set_budget(project, 500, mia)


def test_a_request_above_the_limit_waits_until_there_is_room() -> None:
    anna, mia = lead_with(500), make.user()
    project, other = owned(anna, 100), owned(anna, 300)
    make.member(project, mia, "manager")
    row = requesting_budget.ask_for_budget(project, mia, Decimal(300))
    with refused("above_lead_limit"):
        approve_request(row, anna)
    row.refresh_from_db()
    assert row.waits and budget_of(project) == 100
    set_budget(other, 200, anna)
    approve_request(row, anna)
    assert budget_of(project) == 300


def test_the_owner_with_the_least_left_bounds_a_project_of_several() -> None:
    anna, ben, carl = lead_with(500), lead_with(200, "ben"), make.user()
    project = owned([anna, ben, carl], 100)
    owned(ben, 50)
    assert narrowest(project).said_to(carl) == "$50.00 of ben’s $200.00 are left for budgets."  # type: ignore[union-attr]
    assert narrowest(project).said_to(ben) == "$50.00 of your $200.00 are left for budgets."  # type: ignore[union-attr]
    with refused("above_lead_limit", match="that ben owns"):
        set_budget(project, 151, carl)
    set_budget(project, 150, carl)


def test_an_archived_project_counts_until_its_budget_is_lowered() -> None:
    anna = lead_with(500)
    project = owned(anna, 400)
    archiving.archive(project, anna)
    with refused("above_lead_limit"):
        start(anna, 200)
    archiving.restore(project, anna)
    set_budget(project, 0, anna)
    archiving.archive(project, anna)
    start(anna, 500)


# Owners who come and go


def member(project: Project, person: User) -> Membership:
    return project.memberships.get(user=person)


def test_nobody_becomes_an_owner_of_more_than_the_limit() -> None:
    anna, ben = make.user(), lead_with(100)
    project = owned(anna, 101)
    with refused("above_lead_limit"):
        do("members.add", project, anna, username=ben.username, role="owner")
    do("members.add", project, anna, username=ben.username, role="manager")
    with refused("above_lead_limit"):
        do("members.change_role", member(project, ben), anna, role="owner")
    do("members.remove", member(project, ben), anna)
    token = do("invitations.create", project, anna, role="owner").link.rstrip("/").rpartition("/")[2]
    with refused("above_lead_limit"):
        invitations.accept(token, ben)
    set_budget(project, 100, anna)
    invitations.accept(token, ben)
    assert budgeted(ben) == 100


def test_a_lead_makes_no_room_by_handing_a_project_to_somebody_without_a_limit() -> None:
    anna, friend = lead_with(500), make.user()
    Guest.objects.create(user=friend)
    project = owned(anna, 500)
    do("members.add", project, anna, username=friend.username, role="owner")
    for user in (anna, friend):
        for leave in (
            lambda user=user: do("members.change_role", member(project, anna), user, role="manager"),
            lambda user=user: do("members.remove", member(project, anna), user),
        ):
            with refused("limited_owner"):
                leave()
    with refused("above_lead_limit"):
        start(anna, 1)
    do("members.remove", member(project, anna), None)
    start(anna, 500)


def test_a_project_is_handed_to_somebody_with_room_or_taken_over_by_somebody_without_a_limit() -> None:
    anna, ben, carl = lead_with(500), lead_with(300), make.user()
    first, second = owned([anna, ben], 300), owned([anna, carl], 200)
    do("members.remove", member(first, anna), anna)
    with refused("limited_owner"):
        do("members.change_role", member(second, anna), anna, role="manager")
    do("members.change_role", member(second, anna), carl, role="manager")
    assert (budgeted(anna), budgeted(ben), budgeted(carl)) == (0, 300, 200)


# In any order


class Case:
    """Two leads with limits, one without, and a guest, in projects that the first one started."""

    limits = (10, 3)

    def __init__(self) -> None:
        self.people = [lead_with(amount) for amount in (*self.limits, None, None)]
        Guest.objects.create(user=self.people[3])
        self.projects = [owned(self.people[0], 2), owned(self.people[0], 0)]

    def budget(self, project: Project, user: User, amount: int) -> None:
        if project.memberships.filter(user=user).exists():
            set_budget(project, amount, user)

    def start(self, project: Project, user: User, amount: int) -> None:
        self.projects.append(start(user, amount))

    def allow(self, project: Project, user: User, amount: int) -> None:
        do("members.may_budget", member(project, user), self.owner(project), may_budget=amount * 10)

    def ask(self, project: Project, user: User, amount: int) -> None:
        requesting_budget.ask_for_budget(project, user, Decimal(amount))

    def approve(self, project: Project, user: User, amount: int) -> None:
        if row := BudgetRequest.objects.filter(project=project, state="waiting").first():
            approve_request(row, user)

    def join(self, project: Project, user: User, amount: int) -> None:
        do(
            "members.add",
            project,
            self.owner(project),
            username=user.username,
            role="owner" if amount % 2 else "manager",
        )

    def promote(self, project: Project, user: User, amount: int) -> None:
        do("members.change_role", member(project, user), self.owner(project), role="owner")

    def leave(self, project: Project, user: User, amount: int) -> None:
        by = user if amount % 2 else self.owner(project)
        if amount % 3:
            do("members.change_role", member(project, user), by, role="manager")
        else:
            do("members.remove", member(project, user), by)

    def owner(self, project: Project) -> User:
        return project.owners.last()  # type: ignore[return-value]

    def check(self) -> None:
        assert all(budgeted(lead) <= limit for lead, limit in zip(self.people, self.limits, strict=False))
        # A guest alone would hold what nobody allowed.
        assert all(project.owners.exclude(pk=self.people[3].pk).exists() for project in self.projects)


NAMES = ["budget"] * 3 + ["join"] * 3 + ["leave"] * 3 + ["start", "allow", "ask", "approve", "promote"]
# Mostly the first lead, in the first project.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(NAMES), st.sampled_from([0, 0, 0, 1, 2]), st.sampled_from([0, 0, 1, 2, 3]), st.integers(0, 11)
    ),
    min_size=10,
    max_size=30,
)


@pytest.mark.on_postgresql
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=EXAMPLES)
@given(steps=STEPS)
def test_no_order_of_budgets_requests_and_owners_takes_a_lead_past_the_limit(
    steps: list[tuple[str, int, int, int]],
) -> None:
    case = Case()
    for name, project, person, amount in steps:
        step: Callable[[Project, User, int], None] = getattr(case, name)
        with suppress(Refusal, Membership.DoesNotExist):
            step(case.projects[project % len(case.projects)], case.people[person], amount)
        case.check()


# At once


def refusals(outcomes: list[object]) -> list[str]:
    return [one.error_code if isinstance(one, Refusal) else repr(one) for one in outcomes if isinstance(one, Exception)]


@pytest.mark.on_postgresql
def test_of_two_budgets_that_are_raised_at_once_the_limit_has_room_for_one(leads: TwoLeads) -> None:
    for _ in range(REPETITIONS):
        anna = lead_with(500)
        rows = [owned(anna, 100), owned(anna, 100)]
        outcomes = leads.at_once(*(lambda row=row, anna=anna: set_budget(row, 300, anna) for row in rows))
        assert refusals(outcomes) == ["above_lead_limit"], outcomes
        assert budgeted(anna) == 400


@pytest.mark.on_postgresql
def test_of_a_budget_a_new_project_and_a_request_at_once_the_limit_has_room_for_one(leads: TwoLeads) -> None:
    for _ in range(REPETITIONS // 2):
        anna, mia = lead_with(500), make.user()
        project, other = owned(anna, 100), owned(anna, 100)
        make.member(other, mia, "manager")
        row = requesting_budget.ask_for_budget(other, mia, Decimal(300))
        outcomes = leads.at_once(
            lambda row=row, anna=anna: requesting_budget.approve(row, anna), lambda anna=anna: start(anna, 200)
        )
        assert refusals(outcomes) == ["above_lead_limit"], outcomes
        Account.objects.filter(project__in=projects_of(anna)).update(budget=Decimal(100))
        free = 500 - int(budgeted(anna))
        outcomes = leads.at_once(
            lambda project=project, anna=anna, free=free: set_budget(project, 100 + free, anna),
            lambda anna=anna, free=free: start(anna, free),
        )
        assert refusals(outcomes) == ["above_lead_limit"], outcomes
        assert budgeted(anna) == 500


def projects_of(lead: User) -> list[Project]:
    return [row.project for row in lead.memberships.select_related("project")]


@pytest.mark.on_postgresql
def test_a_new_owner_and_a_raise_of_the_same_budget_at_once_keep_within_the_limit_of_the_new_one(
    leads: TwoLeads,
) -> None:
    for _ in range(REPETITIONS):
        anna, ben = make.user(), lead_with(200)
        project = owned(anna, 100)
        outcomes = leads.at_once(
            lambda project=project, anna=anna: set_budget(project, 300, anna),
            lambda project=project, ben=ben, anna=anna: do(
                "members.add", project, anna, username=ben.username, role="owner"
            ),
        )
        assert refusals(outcomes) == ["above_lead_limit"], outcomes
        assert budgeted(ben) <= 200


@pytest.mark.on_postgresql
def test_two_who_raise_budgets_of_the_same_owners_never_wait_for_each_other_for_ever(leads: TwoLeads) -> None:
    owners = [lead_with(500) for _ in range(10)]
    rows = [owned(owners, 0), owned(owners[::-1], 0)]
    held, first = Event(), owners[0]

    def hold() -> None:
        with transaction.atomic():
            LeadLimit.objects.select_for_update().get(user=first)
            held.set()
            # Long enough for both to take the locks that are free, which are none if all are taken in one order.
            time.sleep(0.3)
        connection.close()

    for budget in range(1, 4):
        held.clear()
        with ThreadPoolExecutor(1) as third:
            third.submit(hold)
            assert held.wait(30)
            outcomes = leads.at_once(
                lambda budget=budget: set_budget(rows[0], budget, owners[0]),
                lambda budget=budget: set_budget(rows[1], budget, owners[-1]),
            )
        assert refusals(outcomes) == [], outcomes
