"""When a project can be archived, and that nothing is bought for it afterwards."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from hits.answers.verbs import reviewing
from hits.models import (
    Assignment,
    Batch,
    Block,
    BonusFile,
    ComputationRun,
    Grant,
    Hit,
    Item,
    LedgerCheck,
    LedgerEntry,
    Project,
    Upload,
)
from hits.projects.rules.archived import ArchivedError, unfinished
from hits.projects.verbs import archiving, invitations
from hits.publishing.rules import hit_plans
from hits.publishing.verbs import publishing, topping_up
from hits.refusals import Refusal
from tests.hits import factories as make
from tests.hits.doing import do, refused
from tests.hits.payments.test_two_leads import TwoLeads, database_with_connections, leads

__all__ = ["database_with_connections", "leads"]


def reserve(project: Project) -> None:
    project.account.post([LedgerEntry(kind=LedgerEntry.Kind.RESERVE, reserved=Decimal("1.20"))])


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("begun", "said"),
    [
        (lambda p: make.hit(make.item(make.stage(p))), "1 HIT is at workers"),
        (lambda p: make.hit(make.item(make.stage(p)), state=Hit.State.PLANNED), "1 HIT is to be published"),
        (lambda p: make.batch(make.stage(p), state=Batch.State.WAITING), "1 batch is not carried out"),
        (lambda p: make.item(make.stage(p), stale=True), "1 stage has answers that are not counted"),
        (lambda p: make.grant(p, state=Grant.State.INTENDED), "1 qualification is"),
        (lambda p: make.block(make.stage(p), state=Block.State.LIFTING), "1 block is"),
        (lambda p: make.qualification_test(p, state="offering"), "1 test is"),
        (lambda p: make.ledger_check(p, state=LedgerCheck.State.RUNNING), "1 check of the ledger is"),
        (lambda p: make.assignment(closed(p), state=Assignment.State.SUBMITTED), "1 answer waits"),
        (
            lambda p: make.assignment(closed(p), state=Assignment.State.REJECTED, decision="approved"),
            "1 answer waits",
        ),
        (lambda p: make.upload(p, state=Upload.State.READING), "1 import is"),
        (lambda p: make.computation_run(p, state=ComputationRun.State.RUNNING), "1 computation is"),
        (lambda p: make.bonus_file(p, state=BonusFile.State.QUEUED), "1 file of bonuses is"),
        (reserve, "$1.20 is reserved"),
    ],
)
def test_what_goes_on_keeps_a_project_from_being_archived(begun: Callable[[Project], Any], said: str) -> None:
    project = make.project()
    begun(project)
    assert [reason.startswith(said) for reason in unfinished(project)] == [True]
    with refused("unfinished", match=said.replace("$", r"\$")):
        archiving.archive(project, None)
    project.refresh_from_db()
    assert not project.is_archived and not project.actions.exists()


def closed(project: Project) -> Hit:
    return make.hit(make.item(make.stage(project)), state=Hit.State.CLOSED)


@pytest.mark.django_db
def test_what_is_over_does_not() -> None:
    project = make.project()
    hit = closed(project)
    make.assignment(hit, state=Assignment.State.APPROVED)
    make.upload(project, state=Upload.State.DONE)
    make.upload(project, state=Upload.State.MAPPING)
    make.computation_run(project, state=ComputationRun.State.DONE)
    assert unfinished(project) == []
    archiving.archive(project, None)
    first = project.archived_at
    archiving.archive(project, None)
    assert project.archived_at == first and project.actions.count() == 1


@pytest.mark.django_db
def test_a_payment_that_was_begun_before_is_refused_when_it_is_ordered(market: Any) -> None:
    """As by a command that asked its question before the project was archived."""
    project = make.project()
    Project.objects.filter(pk=project.pk).update(archived_at=timezone.now())
    with pytest.raises(ArchivedError):
        asked = {"worker_id": market.sign_up_worker(), "amount": "1.00", "reason": "It broke."}
        do("compensations.create", project, **asked, total="1.20", confirmation="page-001")
    answer = make.assignment(closed(project), state=Assignment.State.APPROVED)
    with pytest.raises(ArchivedError):
        do("bonuses.pay", answer, amount="1.00", reason="Thank you.", total="1.20", confirmation="page-002")
    rejected = make.assignment(answer.hit, state=Assignment.State.REJECTED)
    with pytest.raises(ArchivedError):
        reviewing.take_back(rejected.stage, [rejected.pk], None)
    assert not LedgerEntry.objects.exists() and not project.bonuses.exists()


@pytest.mark.django_db
def test_an_invitation_lets_nobody_into_an_archived_project() -> None:
    project, person = make.project(), make.user("omar")
    make.invitation(project, "the link")
    Project.objects.filter(pk=project.pk).update(archived_at=timezone.now())
    with refused("no_invitation", match="its project is archived"):
        invitations.accept("the link", person)
    assert not project.memberships.filter(user=person).exists()


@pytest.mark.django_db
def test_nothing_goes_out_by_itself_from_an_archived_project() -> None:
    project = make.project()
    stage = make.stage(project)
    item = make.item(stage)
    Item.objects.filter(pk=make.item(stage).pk).update(state=Item.State.AGAIN)
    Project.objects.filter(pk=project.pk).update(archived_at=timezone.now())
    assert hit_plans.is_paused(stage)
    assert topping_up.unfinished() == [] and publishing.unpublished() == []
    assert publishing.publish_arrivals(stage) is None and topping_up.top_up(stage) is None
    assert not Hit.objects.filter(item=item).exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.on_postgresql
def test_of_a_publication_and_an_archiving_at_the_same_moment_one_is_refused(leads: TwoLeads, market: Any) -> None:
    repetitions = 30 if connection.vendor == "postgresql" else 5
    for _ in range(repetitions):
        project = make.project()
        stage = make.stage(project)
        make.item(stage)
        cost = publishing.quote(stage, 1).total

        def publish(stage: Any = stage, cost: Decimal = cost) -> object:
            return publishing.publish(stage, 1, cost, f"page {stage.pk}", None)

        def archive(project: Project = project) -> object:
            return archiving.archive(project, None)

        found = leads.at_once(publish, archive)
        codes = [one.error_code for one in found if isinstance(one, Refusal)]
        assert codes in (["archived"], ["unfinished"])
        project.refresh_from_db()
        assert project.is_archived is (Hit.objects.filter(stage=stage).count() == 0)
