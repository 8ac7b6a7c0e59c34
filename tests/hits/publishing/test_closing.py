"""Answers that were bought in the place of others and are no longer wanted: closed, and their money released."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from hits.answers.verbs import harvesting, reviewing
from hits.judging.verbs import deciding, scoring
from hits.models import Assignment, Batch, Block, Extension, Hit, Item, LedgerEntry, Stage
from hits.payments.rules.ledger_checks import held_there
from hits.payments.verbs import checking_ledger
from hits.publishing.rules.excess_hits import unwanted
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import closing, publishing, sending, topping_up
from hits.workers.verbs import blocking
from tests.hits import factories as make
from tests.hits.market import STARTING_BALANCE

POLICY = {"check_every": 5, "min_answers": 8, "floor": 0.2, "alpha": 0.01}


@pytest.fixture(autouse=True)
def nothing_lags(settings: Any) -> None:
    settings.MTURK_SETTLE_SECONDS = 0
    settings.HARVEST_SWEEP_SECONDS = 0


def conclude(stage: Stage) -> Stage:
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)
    closing.close_unwanted(stage)
    return Stage.objects.select_related("project__account").get(pk=stage.pk)


def until_closed(stage: Stage) -> Stage:
    """Looks again until the marketplace confirmed the end of what was closed: two looks show the same."""
    for _ in range(10):
        Hit.objects.filter(state=Hit.State.LIVE, expires_at__lte=timezone.now()).update(due_at=timezone.now())
        stage = conclude(stage)
    return stage


def agrees(stage: Stage) -> None:
    """The raw rows, the account and the marketplace's own balance say the same, to the cent."""
    account = stage.project.account
    account.refresh_from_db()
    rows = LedgerEntry.objects.filter(project=stage.project)
    assert sum(row.reserved for row in rows) == account.reserved
    assert sum(row.paid for row in rows) == account.paid
    there = gateway().balance()
    assert Decimal(STARTING_BALANCE) - there.available - there.on_hold == account.paid
    assert there.on_hold == held_there()
    check = checking_ledger.check(stage.project, None, deep=True)
    assert (check.state, check.faults) == ("done", [])


@pytest.fixture
def blocked(market, bring, stage, publish, answer) -> Any:
    """Twelve items of two workers each; the one who was wrong is blocked, and six items want their answer again."""
    stage.quality = POLICY
    stage.save()
    bring(24)
    publish(stage)
    careful, careless = market.sign_up_worker(), market.sign_up_worker()
    hits = list(stage.hits.order_by("id"))
    for hit in hits[:12]:
        answer(careful, hit)
    for hit in hits[12:]:
        answer(careless, hit, "Tomas Reyes")
    stage = conclude(stage)
    blocking.block(stage, [careless], None)
    stage = conclude(stage)
    return stage, hits[12:]


def test_undoing_a_block_closes_what_nobody_accepted_and_releases_it(blocked, market, answer):
    stage, hits = blocked
    sending.send(topping_up.top_up(stage).pk)
    stage.project.account.refresh_from_db()
    assert stage.project.account.reserved == Decimal("0.60")
    third, fourth = market.sign_up_worker(), market.sign_up_worker()
    answer(third, hits[0])
    held = market.accept(fourth, hit_id=hits[1].hit_id)
    stage = conclude(stage)
    preview = blocking.undo_preview(Block.objects.get())
    assert (preview.answers, preview.hits, preview.places, preview.released) == (12, 11, 11, Decimal("0.55"))
    blocking.undo(Block.objects.get(), None)
    stage = until_closed(conclude(stage))
    assert {market.hit(hit.hit_id)["status"] for hit in hits[2:]} == {"Reviewable"}
    # Somebody works on that one, and is paid.
    stage.project.account.refresh_from_db()
    assert stage.project.account.reserved == Decimal("0.05")
    agrees(stage)
    assert market.submit(held, **{"answer": "0-1", "text": "Re"}).status_code == 200
    stage = until_closed(stage)
    assert stage.project.account.reserved == 0
    assert stage.project.account.paid == Decimal("1.30")
    assert {row.state for row in stage.items.all()} == {Item.State.KEPT, Item.State.DROPPED}
    agrees(stage)


def test_a_closed_hit_is_opened_again_when_its_answer_is_wanted_again(blocked, market, answer):
    stage, hits = blocked
    sending.send(topping_up.top_up(stage).pk)
    blocking.undo(Block.objects.get(), None)
    stage = until_closed(conclude(stage))
    assert stage.project.account.reserved == 0
    blocking.block(stage, [proposed.worker for proposed in blocking.proposals(stage)], None)
    stage = conclude(stage)
    sending.send(topping_up.top_up(stage).pk)
    assert {market.hit(hit.hit_id)["status"] for hit in hits} == {"Assignable"}
    third = market.sign_up_worker()
    for hit in hits:
        answer(third, hit)
    stage = conclude(stage)
    assert {row.state for row in stage.items.all()} == {Item.State.KEPT}
    assert stage.project.account.reserved == 0
    agrees(stage)


def test_what_was_planned_and_never_asked_for_is_not_made(blocked, market, monkeypatch):
    stage, hits = blocked
    batch = topping_up.top_up(stage)
    blocking.undo(Block.objects.get(), None)
    stage = conclude(stage)
    sending.send(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.done, batch.refused) == (Batch.State.PUBLISHED, 12, 0)
    assert set(Extension.objects.values_list("state", flat=True)) == {Extension.State.DROPPED}
    assert {market.hit(hit.hit_id)["max_assignments"] for hit in hits} == {1}
    stage = conclude(stage)
    assert stage.project.account.reserved == 0
    agrees(stage)


def test_a_hit_that_was_planned_and_is_not_wanted_any_more_is_not_made(blocked, market):
    stage, hits = blocked
    # Nothing can grow that is deleted there.
    sending.send(publishing.delete_hits(stage, None).pk)
    batch = topping_up.top_up(stage)
    assert batch.hits.count() == 12
    blocking.undo(Block.objects.get(), None)
    stage = conclude(stage)
    sending.send(batch.pk)
    assert {hit.hit_id for hit in batch.hits.all()} == {None}
    stage = conclude(stage)
    assert stage.project.account.reserved == 0
    agrees(stage)


def test_taking_a_rejection_back_closes_the_answer_in_its_place(market, bring, stage, publish, answer):
    Stage.objects.filter(pk=stage.pk).update(approval=Stage.Approval.REVIEW, auto_approval_seconds=86_400)
    stage.refresh_from_db()
    bring(1)
    publish(stage)
    hit = stage.hits.get()
    answer(market.sign_up_worker(), hit)
    stage = conclude(stage)
    row = Assignment.objects.get()
    reviewing.reject(stage, [row.pk], "Not read.", None)
    reviewing.finish(stage)
    stage = conclude(stage)
    sending.send(topping_up.top_up(stage).pk)
    assert market.hit(hit.hit_id)["status"] == "Assignable"
    stage = conclude(stage)
    reviewing.take_back(stage, [row.pk], None)
    reviewing.finish(stage)
    stage = until_closed(conclude(stage))
    assert market.hit(hit.hit_id)["status"] == "Reviewable"
    assert (stage.project.account.reserved, stage.project.account.paid) == (0, Decimal("0.05"))
    agrees(stage)


def _hit(slot: int, most: int, harvested: int = 0, coming: int = 0, state: str = Hit.State.LIVE) -> Hit:
    hit = Hit(slot=slot, max_assignments=most, harvested=harvested, state=state)
    hit.coming = coming  # type: ignore[attr-defined]
    return hit


@pytest.mark.parametrize(
    ("hits", "needed", "closed"),
    [
        # Two of three may still come and one is wanted: assignments cannot become fewer, so it stays open.
        ([_hit(1, 3, 1)], 1, []),
        ([_hit(1, 3, 1)], 0, [1]),
        ([_hit(1, 3, 2), _hit(2, 1)], 1, [2]),
        ([_hit(1, 3, 2), _hit(2, 1)], 2, []),
        ([_hit(1, 1, 1, 1, Hit.State.CLOSED), _hit(2, 2, 1)], 0, [2, 1]),
        ([_hit(1, 3, 0, 0, Hit.State.CLOSED), _hit(2, 1, 0, 0, Hit.State.PLANNED)], 0, [2]),
        ([_hit(1, 2, 2)], 0, []),
    ],
)
def test_a_hit_of_which_another_answer_is_wanted_stays_open(hits: list[Hit], needed: int, closed: list[int]) -> None:
    assert [hit.slot for hit in unwanted(hits, needed)] == closed


def test_a_silent_marketplace_is_asked_again(blocked, market, monkeypatch):
    stage, hits = blocked
    sending.send(topping_up.top_up(stage).pk)
    Block.objects.update(state=Block.State.GRANTED)
    blocking.undo(Block.objects.get(), None)
    deciding.decide(stage)
    assert closing.unfinished() == [stage.pk]
    market.stop()
    try:
        with pytest.raises(Exception, match="answer"):
            closing.close_unwanted(stage)
        assert closing.unfinished() == [stage.pk]
    finally:
        market.start()
    assert closing.close_unwanted(stage) == 12
    assert closing.unfinished() == []


def test_an_item_that_all_its_answers_left_undecided_keeps_the_hit_that_asks_once_more(db: None) -> None:
    """As many answers as the stage wants count, and none of them could be compared with a reference."""
    stage = make.stage()
    first = make.hit(make.item(stage, state=Item.State.OPEN, stale=True), state=Hit.State.CLOSED, harvested=1)
    make.label(make.assignment(first), correct=None)
    again = make.hit(first.item, slot=2)
    deciding.decide(stage)
    again.refresh_from_db()
    assert (stage.items.get().state, again.unwanted) == (Item.State.OPEN, False)


def test_extending_a_stage_leaves_out_hits_that_are_to_be_closed(stand_in, db: None) -> None:
    """Otherwise the batch would count calls that it never makes."""
    stage = make.stage(hit_type_id="3TYPE", state=Stage.State.LIVE)
    hits = [make.hit(make.item(stage), unwanted=unwanted, closed_early=True) for unwanted in (False, True)]
    before = hits[1].expires_at
    for hit in hits:
        stand_in.open(hit)
    batch = publishing.extend(stage, 86_400, None)
    sending.send(batch.pk)
    batch.refresh_from_db()
    assert (batch.total, batch.done) == (1, 1)
    hits[1].refresh_from_db()
    assert (hits[1].expires_at, hits[1].closed_early) == (before, True)
