"""Two leads confirm at the same moment, and the budget fits one of them."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from threading import Barrier, Event

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections

from hits.models import Account, Batch, BudgetExceededError, BudgetRequest, Hit, Item, LedgerEntry, Project, Stage
from hits.payments.jobs import approve_request
from hits.payments.rules.ledger_checks import differences
from hits.payments.verbs import requesting_budget
from hits.projects.rules.archived import ArchivedError
from hits.projects.verbs import archiving, projects
from hits.publishing.verbs import publishing
from hits.refusals import Refused
from ops.waiting import PATIENCE_SECONDS
from tests.hits import factories as make
from tests.hits.market import Marketplace

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]
# On SQLite writers stand in one queue anyway.
REPETITIONS = 100 if connection.vendor == "postgresql" else 10
ITEMS, PRICE = 2, Decimal("0.10")
# A cent too little for the second one.
ALMOST = PRICE - Decimal("0.01")


@pytest.fixture
def database_with_connections(db: None, tmp_path: Path) -> Iterator[None]:
    """SQLite in memory has no locks to wait for between two connections: its tables go into a file for the test."""
    memory = connections["default"]
    if memory.vendor != "sqlite":
        yield
        return
    file, name = tmp_path / "two-leads.sqlite3", memory.settings_dict["NAME"]
    memory.ensure_connection()
    with closing(sqlite3.connect(file)) as copy:
        memory.connection.backup(copy)
    memory.settings_dict["NAME"] = str(file)
    connections["default"] = connections.create_connection("default")
    yield
    connections["default"].close()
    memory.settings_dict["NAME"] = name
    connections["default"] = memory


class TwoLeads:
    """Two threads, each with a connection of its own."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self.pool, self.start = pool, Barrier(2)

    def at_once(self, *works: Callable[[], object]) -> list[object]:
        """What each of the two returned or raised; they begin at the same moment."""
        return [future.result(600) for future in [self.pool.submit(self._go, work) for work in works]]

    def _go(self, work: Callable[[], object]) -> object:
        connection.ensure_connection()
        self.start.wait(PATIENCE_SECONDS)
        try:
            return work()
        except Exception as error:
            return error


@pytest.fixture
def leads(database_with_connections: None) -> Iterator[TwoLeads]:
    with ThreadPoolExecutor(2) as pool:
        two = TwoLeads(pool)
        yield two
        two.at_once(lambda: connection.close(), lambda: connection.close())


def a_project_whose_budget_fits_one() -> tuple[Project, list[Stage]]:
    project = make.project(budget=PRICE + ALMOST)
    stages = [make.stage(project), make.stage(project)]
    for stage in stages:
        make.items(stage, ITEMS)
    return project, stages


def a_batch_that_is_asked_for() -> tuple[User, Project, Stage, BudgetRequest]:
    """By a manager of a project whose budget is a cent too small; the owner has not decided yet."""
    owner, manager = make.user(), make.user()
    project = make.project(owner=owner, budget=ALMOST)
    make.member(project, manager, "manager")
    stage = make.stage(project)
    make.items(stage, ITEMS)
    asked = requesting_budget.ask_for_batch(stage, manager, ITEMS, PRICE, "page-one")
    assert asked is not None
    return owner, project, stage, asked


def publish(stage: Stage, lead: str) -> Callable[[], Batch]:
    return lambda: publishing.publish(Stage.objects.get(pk=stage.pk), ITEMS, PRICE, f"{lead}-{stage.pk}", None)


def test_exactly_one_of_two_publications_wins_and_of_the_other_nothing_is_left(
    market: Marketplace, leads: TwoLeads
) -> None:
    for _ in range(REPETITIONS):
        project, stages = a_project_whose_budget_fits_one()
        outcomes = leads.at_once(*(publish(stage, "lead") for stage in stages))
        won = [stage for stage, outcome in zip(stages, outcomes, strict=True) if isinstance(outcome, Batch)]
        lost = [stage for stage, outcome in zip(stages, outcomes, strict=True) if stage not in won]
        assert (len(won), len(lost)) == (1, 1), outcomes
        refusal = outcomes[stages.index(lost[0])]
        assert isinstance(refusal, BudgetExceededError), refusal
        assert (refusal.needed, refusal.left) == (PRICE, ALMOST)
        account = Account.objects.get(project=project)
        assert (account.reserved, account.paid, account.left) == (PRICE, Decimal(0), ALMOST)
        assert LedgerEntry.objects.get(project=project).reserved == PRICE
        assert not lost[0].batches.exists() and not lost[0].hits.exists()
        assert set(lost[0].items.values_list("state", flat=True)) == {Item.State.NEW}
        assert won[0].hits.filter(state=Hit.State.PLANNED).count() == ITEMS
    assert list(differences(project)) == []


def test_two_clicks_of_one_page_make_one_batch(market: Marketplace, leads: TwoLeads) -> None:
    project, stages = a_project_whose_budget_fits_one()
    outcomes = leads.at_once(publish(stages[0], "lead"), publish(stages[0], "lead"))
    assert all(isinstance(outcome, Batch) for outcome in outcomes), outcomes
    assert len({outcome.pk for outcome in outcomes}) == 1  # type: ignore[attr-defined]
    assert LedgerEntry.objects.get(project=project).reserved == PRICE


def test_two_leads_who_confirm_the_same_items_publish_them_once(market: Marketplace, leads: TwoLeads) -> None:
    project, stages = a_project_whose_budget_fits_one()
    Account.objects.filter(project=project).update(budget=Decimal("10.00"))
    outcomes = leads.at_once(publish(stages[0], "alice"), publish(stages[0], "bob"))
    won = [outcome for outcome in outcomes if isinstance(outcome, Batch)]
    [refusal] = [outcome for outcome in outcomes if not isinstance(outcome, Batch)]
    assert len(won) == 1
    assert isinstance(refusal, Refused) and refusal.error_code in ("quote_changed", "nothing_to_publish"), refusal
    assert stages[0].hits.count() == ITEMS
    assert LedgerEntry.objects.get(project=project).reserved == PRICE


def test_of_two_owners_who_decide_at_once_one_does(market: Marketplace, leads: TwoLeads) -> None:
    for _ in range(REPETITIONS // 5):
        owner, project, stage, asked = a_batch_that_is_asked_for()

        def row(pk: int = asked.pk) -> BudgetRequest:
            return BudgetRequest.objects.select_related("stage__project", "project", "asked_by").get(pk=pk)

        outcomes = leads.at_once(
            lambda row=row, owner=owner: approve_request(row(), owner),
            lambda row=row, owner=owner: requesting_budget.decline(row(), owner, "No."),
        )
        assert [one.error_code for one in outcomes if isinstance(one, Refused)] == ["request_decided"], outcomes
        published = row().state == BudgetRequest.State.APPROVED
        account = Account.objects.get(project=project)
        assert (account.budget, account.reserved) == ((PRICE, PRICE) if published else (ALMOST, Decimal(0)))
        assert stage.batches.exists() == published


def test_two_requests_at_once_leave_one_that_waits_and_none_once_the_project_is_archived(
    market: Marketplace, leads: TwoLeads
) -> None:
    for _ in range(REPETITIONS // 5):
        manager = make.user()
        project = make.project()
        make.member(project, manager, "manager")

        def ask(budget: int, project: Project = project, manager: User = manager) -> Callable[[], object]:
            return lambda: requesting_budget.ask_for_budget(project, manager, Decimal(budget))

        outcomes = leads.at_once(ask(50), ask(60))
        assert all(isinstance(outcome, BudgetRequest) for outcome in outcomes), outcomes
        assert sorted(project.budget_requests.values_list("state", flat=True)) == ["waiting", "withdrawn"]
        outcomes = leads.at_once(ask(70), lambda project=project: archiving.archive(project, None))
        assert isinstance(outcomes[0], BudgetRequest | ArchivedError) and outcomes[1] is None, outcomes
        with pytest.raises(ArchivedError):
            ask(80)()
        asked = 2 + isinstance(outcomes[0], BudgetRequest)
        assert project.budget_requests.count() == asked


def test_whoever_asks_withdraws_or_changes_the_budget_and_whoever_decides_wait_for_one_another(
    market: Marketplace, leads: TwoLeads
) -> None:
    for _ in range(REPETITIONS // 5):
        owner, manager = make.user(), make.user()
        project = make.project(owner=owner)
        make.member(project, manager, "manager")
        for act in (
            lambda row, manager=manager: requesting_budget.ask_for_budget(row.project, manager, Decimal(60)),
            lambda row, manager=manager: requesting_budget.withdraw(row, manager),
            lambda row, owner=owner: projects.change_budget(row.project, row.budget, owner, confirmed=row.budget),
        ):
            asked = requesting_budget.ask_for_budget(project, manager, Decimal(50))
            outcomes = leads.at_once(
                lambda asked=asked, owner=owner: requesting_budget.approve(
                    BudgetRequest.objects.get(pk=asked.pk), owner
                ),
                lambda asked=asked, act=act: act(BudgetRequest.objects.get(pk=asked.pk)),
            )
            faults = [one for one in outcomes if isinstance(one, Exception)]
            assert all(isinstance(one, Refused) and one.error_code == "request_decided" for one in faults), outcomes


def test_whoever_archives_a_project_waits_for_whoever_approves_a_batch(
    market: Marketplace, leads: TwoLeads, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, project, _, asked = a_batch_that_is_asked_for()
    holds, hold = Event(), publishing.hold

    def held(project: Project, user: User | None) -> None:
        hold(project, user)
        holds.set()
        # Long enough for the other lead to take the locks that are free.
        time.sleep(0.3)

    def archive() -> None:
        assert holds.wait(30)
        archiving.archive(project, owner)

    monkeypatch.setattr(publishing, "hold", held)
    row = BudgetRequest.objects.select_related("stage__project", "project", "asked_by").get(pk=asked.pk)
    published, archived = leads.at_once(lambda: approve_request(row, owner), archive)
    assert isinstance(published, Batch), published
    # What is being published keeps a project from being archived.
    assert isinstance(archived, Refused) and archived.error_code == "unfinished", archived
