"""The requester's database is lost and restored from an older backup: the marketplace tells what happened since."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, connections
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from common import backups
from hits import tasks
from hits.answers.verbs import harvesting, reviewing
from hits.formats.inputs.payments import AskedBonus
from hits.management.backed import REQUESTER
from hits.models import (
    Assignment,
    Batch,
    Block,
    Bonus,
    ClosedHit,
    Compensation,
    Document,
    Extension,
    Grant,
    Hit,
    Item,
    LedgerCheck,
    Project,
    Restoration,
    Stage,
)
from hits.mturk.errors import UnreachableError
from hits.payments.verbs import bonuses, checking_ledger, compensating, ordering_bonuses
from hits.publishing.jobs import reconciling
from hits.publishing.rules import restorations
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import publishing, sending
from hits.workers.verbs import blocking, granting
from tests.hits.doing import refused
from tests.hits.jobs import jobs_run_here
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db(transaction=True)
THANKS = "Thank you."


class Drill:
    """A lead and workers at the real marketplace, and a backup to fall back on."""

    def __init__(self, market: Marketplace, project: Project, folder: Path) -> None:
        self.market, self.project, self.folder = market, project, folder
        self.stage = project.stages.get(position=1)
        self._pages = 0

    def publish(self, count: int) -> Batch:
        self._pages += 1
        quote = publishing.quote(self.stage, count)
        batch = publishing.publish(self.stage, quote.items, quote.total, f"page-{self._pages}", None)
        sending.send(batch.pk)
        return batch

    def answer(self, *items: str, name: str = "Linden") -> str:
        """One new worker answers these items; what follows by itself is done. Returns the worker's id."""
        from tests.hits.record_project import fields

        worker = self.market.sign_up_worker()
        for key in items:
            hit = Hit.objects.filter(item__key=key, stage=self.stage).order_by("-slot")[0]
            self.market.answer(worker, hit.hit_id, **fields(hit, name))
        self.go_on()
        return worker

    def go_on(self) -> None:
        """What worker and beat would do."""
        with jobs_run_here():
            for stage in self.project.stages.filter(crowd=True):
                tasks.harvest_stage(stage.pk)
            for batch in Batch.objects.exclude(state=Batch.State.PUBLISHED):
                tasks.publish_batch(batch.pk)

    def keys(self) -> list[str]:
        return list(self.stage.items.order_by("pk").values_list("key", flat=True))

    def back_up(self) -> None:
        MigrationRecorder(connection).ensure_schema()
        self.file = backups.make(REQUESTER, self.folder, verify=False).file

    def restore(self) -> None:
        connections.close_all()
        manifest = backups.restore(REQUESTER, self.file, replace=True)
        restorations.begin(manifest.moment)

    def known(self) -> dict[str, Any]:
        """What both sides have to agree on, without a number of ours."""
        self.project.account.refresh_from_db()
        answers = Assignment.objects.values_list("assignment_id", "hit__hit_id", "state", "worker__worker_id")
        return {
            "hits": sorted(Hit.objects.values_list("item__key", "stage__key", "hit_id", "max_assignments")),
            "answers": sorted(answers),
            "paid": self.project.account.paid,
            "bonuses": sorted(Bonus.objects.values_list("assignment__assignment_id", "amount", "reason", "state")),
            "items": sorted(Item.objects.values_list("stage__key", "key", "state")),
            "kept out": sorted(Block.objects.keeping_out().values_list("worker__worker_id", flat=True)),
            "offers": sorted(Compensation.objects.values_list("pk", "worker_id", "amount", "reason", "hit_id")),
        }


@pytest.fixture
def drill(market: Marketplace, project: Project, bring: Callable[..., object], tmp_path: Path) -> Drill:
    made = Drill(market, project, tmp_path)
    Stage.objects.filter(pk=made.stage.pk).update(approval=Stage.Approval.REVIEW, auto_approval_seconds=86_400)
    made.stage.refresh_from_db()
    # A seed that marks one of the items below for the second validation.
    project.seed = 1
    project.save(update_fields=["seed"])
    bring(5)
    return made


def changed(found: reconciling.Reconciliation) -> set[str]:
    return {line.kind for line in found.report.changes}


def books_agree(project: Project) -> bool:
    found = checking_ledger.check(project, None, deep=True)
    assert found.state == LedgerCheck.State.DONE, found.message
    return found.faults == []


def pay(drill: Drill, answer: Assignment, amount: str) -> None:
    new = ordering_bonuses.check(drill.project, [AskedBonus(None, answer.assignment_id, amount, THANKS)])
    quote = ordering_bonuses.quote(drill.project, new)
    ordering_bonuses.order(drill.project, new, quote.total, f"bonus-{amount}", None)


@pytest.mark.on_postgresql
def test_everything_since_the_backup_comes_back_from_the_marketplace(drill: Drill) -> None:
    project = drill.project
    keys = drill.keys()
    drill.publish(2)
    drill.answer(keys[0])
    first = Assignment.objects.get()
    # Ordered before the backup and paid after it; the third HIT is planned before and made after.
    pay(drill, first, "0.25")
    quote = publishing.quote(drill.stage, 1)
    planned = publishing.publish(drill.stage, 1, quote.total, "planned", None)
    drill.back_up()

    bonuses.send(project)
    sending.send(planned.pk)
    drill.publish(2)
    drill.answer(keys[1], keys[2])
    bad = drill.answer(keys[3], name="Tomas Reyes")
    ids = list(Assignment.objects.order_by("pk").values_list("pk", flat=True))
    reviewing.approve(drill.stage, ids[:3], None)
    reviewing.reject(drill.stage, ids[3:], "The name does not fit.", None)
    reviewing.finish(drill.stage)
    drill.go_on()
    pay(drill, first, "0.50")
    bonuses.send(project)
    blocking.intend_by_hand(drill.stage, [bad], "Guesses.", None)
    blocking.finish(drill.stage)
    poor = drill.market.sign_up_worker()
    compensating.order(project, poor, Decimal("1.25"), "The page broke.", Decimal("1.50"), "offer", None)
    compensating.finish(project)
    # Answered and not fetched.
    last = Hit.objects.get(item__key=keys[4])
    drill.market.answer(drill.market.sign_up_worker(), last.hit_id, answer="0-1", text="x")
    before = drill.known()
    assert {key for key, *_ in before["items"]} > {"validate"}, "the answers led to another stage"

    drill.restore()
    assert Assignment.objects.count() == 1 and project.stages.count() > 2
    # Nothing is bought, paid or published until both sides agree.
    with refused("not_reconciled"):
        drill.publish(1)
    with pytest.raises(UnreachableError, match="manage.py reconcile"):
        drill.go_on()
    sending.send(planned.pk)
    bonuses.send(project)
    assert (Assignment.objects.count(), Hit.objects.filter(hit_id=None).count()) == (1, 1)
    assert "restored from a backup" in publishing.quote(drill.stage).problems[0]

    lost = drill.known()
    dry = reconciling.reconcile(dry_run=True)
    assert drill.known() == lost and dry.report.changes
    found = reconciling.reconcile()
    assert found.report.changes == dry.report.changes
    assert (found.agrees, found.report.holding_up) == (True, [])
    assert changed(found) >= {
        "hit_adopted", "hit_found", "answers", "decisions", "made", "bonus_found", "bonus_adopted", "pause_adopted",
        "compensation_adopted",
    }  # fmt: skip
    after = drill.known()
    new = [row for row in after["answers"] if row not in before["answers"]]
    assert [row[1] for row in new] == [last.hit_id], "the answer that nobody had fetched"
    after["answers"].remove(new[0])
    # It was none, and its item is asked again.
    before["items"] = sorted([row for row in before["items"] if row[1] != keys[4]] + [("validate", keys[4], "again")])
    assert after == before
    assert books_agree(project)
    # An adopted HIT has the number that the address of its page names.
    assert Hit.objects.get(item__key=keys[4]).pk == last.pk

    assert reconciling.reconcile().report.changes == []
    assert not Restoration.objects.filter(reconciled_at=None).exists()
    there = {hit.hit_id for hit in gateway().all_hits()}
    drill.go_on()
    bonuses.send(project)
    assert {hit.hit_id for hit in gateway().all_hits()} == there, "nothing was bought twice"
    assert len(gateway().bonuses(assignment_id=first.assignment_id)) == 2
    assert books_agree(project)


def test_items_that_are_imported_again_get_their_hits_back(drill: Drill, bring: Callable[..., object]) -> None:
    Document.objects.all().delete()
    drill.back_up()
    bring(3)
    drill.publish(3)
    drill.market.answer(drill.market.sign_up_worker(), Hit.objects.order_by("pk")[0].hit_id, answer="0-1", text="x")
    old = dict(Hit.objects.values_list("hit_id", "item__key"))
    numbers = set(Item.objects.values_list("pk", flat=True))

    drill.restore()
    found = reconciling.reconcile()
    assert [line.kind for line in found.report.holding_up] == ["unknown_item"] * 3 and not found.agrees
    with pytest.raises(CommandError, match="do not agree yet"):
        call_command("reconcile")
    bring(3)
    assert not numbers & set(Item.objects.values_list("pk", flat=True)), "no number is given out twice"
    found = reconciling.reconcile()
    assert found.agrees and changed(found) >= {"hit_adopted", "answers"}
    assert dict(Hit.objects.values_list("hit_id", "item__key")) == old
    assert books_agree(drill.project)
    assert reconciling.reconcile().report.changes == []


def test_hits_of_which_nobody_has_the_items_are_closed_or_left(drill: Drill) -> None:
    Document.objects.all().delete()
    drill.back_up()
    restored = drill.project.stages.get(position=1)
    made = gateway().create_hit(
        sending.ensure_hit_type(restored, gateway()),
        question=_question(4_000),
        max_assignments=1,
        lifetime_seconds=3600,
        token=f"{drill.project.namespace}.4000.1.AAAAAAAA",
    )
    drill.restore()
    assert not reconciling.reconcile().agrees
    assert reconciling.reconcile(close_unknown=True).agrees
    assert gateway().hit(made.hit_id).expires_at <= timezone.now()
    assert reconciling.reconcile(leave_unknown=True).agrees


@pytest.mark.on_postgresql
@pytest.mark.parametrize("mark", ["cfoo", f"c{'9' * 30}", "c"])
def test_an_offer_whose_mark_has_no_number_of_ours_is_named_and_ends_nothing(drill: Drill, mark: str) -> None:
    drill.back_up()
    stage = drill.project.stages.get(position=1)
    gateway().create_hit(
        sending.ensure_hit_type(stage, gateway()),
        question=_question(4_000),
        max_assignments=1,
        lifetime_seconds=3600,
        token=f"{drill.project.namespace}.{mark}",
    )
    drill.restore()
    found = reconciling.reconcile()
    assert not found.agrees
    assert [line.kind for line in found.report.holding_up] == ["unknown_item"]


def test_an_item_that_is_here_again_gets_what_its_closed_hit_collected_before_anything_is_bought(
    drill: Drill, bring: Callable[..., object]
) -> None:
    Document.objects.all().delete()
    drill.back_up()
    bring(2)
    drill.publish(2)
    answered, deleted = Hit.objects.order_by("pk")
    drill.market.answer(drill.market.sign_up_worker(), answered.hit_id, **_fields(answered))
    back = answered.item.key
    drill.restore()
    assert reconciling.reconcile(close_unknown=True).agrees
    rows = ClosedHit.objects.values_list("hit_id", "deleted", "adopted_at")
    assert set(rows) == {(answered.hit_id, False, None), (deleted.hit_id, True, None)}
    assert not reconciling.reconcile().report.changes, "what was closed is known"

    bring(2)
    quote = publishing.quote(drill.stage)
    assert (quote.items, [text[:22] for text in quote.warnings]) == (1, ["1 item is here again ab"[:22]])
    drill.publish(1)
    with jobs_run_here():
        assert tasks.resume_all()
    drill.go_on()
    assert Hit.objects.get(item__key=back).hit_id == answered.hit_id
    assert ClosedHit.objects.exclude(adopted_at=None).get().hit_id == answered.hit_id
    assert Assignment.objects.get().hit.item.key == back
    assert len(list(gateway().all_hits())) == 2, "nothing was bought for what was answered"
    assert publishing.quote(drill.stage).warnings == []
    assert books_agree(drill.project)


def _fields(hit: Hit) -> dict[str, str]:
    from tests.hits.record_project import fields

    return fields(hit, "Linden")


def _question(number: int) -> str:
    from hits.answers.rules.task_links import task_url
    from hits.mturk.question import external_question

    return external_question(task_url(number))


def test_hits_that_grew_were_opened_again_closed_or_deleted_are_so_here(drill: Drill) -> None:
    keys = drill.keys()
    drill.publish(4)
    drill.answer(keys[0])
    drill.answer(keys[3])
    reviewing.approve(drill.stage, list(Assignment.objects.values_list("pk", flat=True)), None)
    reviewing.finish(drill.stage)
    drill.go_on()
    hits = {hit.item.key: hit for hit in Hit.objects.filter(stage=drill.stage).select_related("item")}
    drill.back_up()
    market = gateway()
    market.add_assignments(hits[keys[0]].hit_id or "", 2, "grown")
    market.add_assignments(hits[keys[1]].hit_id or "", 1, "grown-too")
    market.set_expiration(hits[keys[1]].hit_id or "", timezone.now() + timedelta(days=20))
    market.set_expiration(hits[keys[2]].hit_id or "", timezone.now() - timedelta(minutes=1))
    market.delete_hit(hits[keys[3]].hit_id or "")
    drill.restore()
    found = reconciling.reconcile()
    assert found.agrees and changed(found) >= {"hit_grown", "hit_times", "hit_deleted"}
    now = {hit.item.key: hit for hit in Hit.objects.filter(stage=drill.stage).select_related("item")}
    assert [now[keys[at]].max_assignments for at in (0, 1, 2)] == [3, 2, 1]
    assert now[keys[0]].state == now[keys[1]].state == Hit.State.LIVE
    assert now[keys[1]].expires_at > timezone.now() + timedelta(days=19)  # type: ignore[operator]
    assert now[keys[2]].expires_at < timezone.now() and now[keys[2]].closed_early  # type: ignore[operator]
    assert now[keys[3]].deleted_at is not None
    assert Extension.objects.filter(state=Extension.State.DONE).count() == 2
    assert books_agree(drill.project)
    assert reconciling.reconcile().report.changes == []


def test_blocks_and_grants_that_ended_since_are_ended_here(drill: Drill) -> None:
    keys, held = drill.keys(), "has-read"
    Stage.objects.filter(pk=drill.stage.pk).update(grants=held)
    drill.publish(2)
    worker = drill.answer(keys[0])
    blocking.intend_by_hand(drill.stage, [worker], "Guesses.", None)
    blocking.finish(drill.stage)
    other = drill.market.sign_up_worker()
    granting.grant(drill.project, held, [other], None)
    drill.back_up()
    blocking.undo(Block.objects.get(), None)
    granting.withdraw(Grant.objects.get(worker__worker_id=other))
    third = drill.market.sign_up_worker()
    granting.grant(drill.project, held, [third], None)
    drill.restore()
    found = reconciling.reconcile()
    assert found.agrees and changed(found) >= {"block_ended", "grant_ended", "grant_adopted"}
    assert Block.objects.get().state == Block.State.UNDONE
    assert Assignment.objects.get().labels.filter(void=True).count() == 0
    standing = Grant.objects.exclude(state=Grant.State.WITHDRAWN).filter(key=held)
    assert set(standing.values_list("worker__worker_id", flat=True)) == {worker, third}
    assert reconciling.reconcile().report.changes == []


@pytest.mark.on_postgresql
def test_what_costs_more_than_the_budget_waits_for_it(drill: Drill) -> None:
    from hits.models import Account

    Account.objects.update(budget=Decimal("0.05"))
    drill.back_up()
    Account.objects.update(budget=Decimal("20.00"))
    drill.publish(5)
    drill.restore()
    found = reconciling.reconcile()
    assert [line.kind for line in found.report.holding_up] == ["over_budget"] and not found.agrees
    assert Hit.objects.count() == 0
    Account.objects.update(budget=Decimal("20.00"))
    assert reconciling.reconcile().agrees and Hit.objects.count() == 5
    assert books_agree(drill.project)


def test_a_marketplace_that_is_older_than_this_side_is_said(drill: Drill, market: Marketplace) -> None:
    drill.publish(1)
    drill.back_up()
    Hit.objects.update(hit_id="3NOSUCHHIT")
    drill.project.account.refresh_from_db()
    found = reconciling.reconcile()
    assert {line.kind for line in found.report.holding_up} == {"not_there"} and not found.agrees
    assert harvesting and restorations.open_restoration() is None
