from datetime import datetime
from decimal import Decimal

import pytest

from marketplace.models import Hit, HitType, Requester, Worker, WorkerBlock
from marketplace.rules.errors import NoHitsAvailable, ParameterValidationError
from marketplace.verbs import accounts, assignments, blocks, free_hits
from tests.marketplace.refusals import refused


def test_a_blocked_worker_gets_none_of_the_requesters_hits(
    requester: Requester, worker: Worker, hit: Hit, hit_type: HitType, now: datetime
) -> None:
    blocks.block(requester, worker.worker_id, "poor work", now)
    for wanted in (None, hit):
        with pytest.raises(NoHitsAvailable, match="no more available HITs"):
            assignments.accept(hit_type, worker, now, wanted)
    assert blocks.blocking_requesters(worker) == {requester.pk}
    assert not free_hits.for_worker(Hit.objects.all(), worker).exists()
    blocks.unblock(requester, worker.worker_id, "better now")
    assert assignments.accept(hit_type, worker, now).hit_id == hit.pk


def test_what_is_in_hand_may_be_finished(
    requester: Requester, worker: Worker, hit: Hit, hit_type: HitType, now: datetime
) -> None:
    held = assignments.accept(hit_type, worker, now)
    blocks.block(requester, worker.worker_id, "poor work", now)
    assert assignments.accept(hit_type, worker, now, hit).pk == held.pk
    assert assignments.submit(held.assignment_id, {"a": ["1"]}, now).status == "Submitted"


def test_another_requesters_hits_stay_open(worker: Worker, hit: Hit, hit_type: HitType, now: datetime) -> None:
    bob = accounts.create_requester("Bob", Decimal(5), now).requester
    blocks.block(bob, worker.worker_id, "poor work", now)
    assert assignments.accept(hit_type, worker, now).hit_id == hit.pk


def test_a_second_block_brings_a_new_reason(requester: Requester, worker: Worker, now: datetime) -> None:
    blocks.block(requester, worker.worker_id, "first", now)
    blocks.block(requester, worker.worker_id, "second", now)
    assert WorkerBlock.objects.get().reason == "second"


def test_unblocking_one_who_is_not_blocked_is_no_error(requester: Requester, worker: Worker) -> None:
    assert blocks.unblock(requester, worker.worker_id) is False


@pytest.mark.parametrize("reason", ["", "  ", "r" * 1025])
def test_a_block_needs_a_reason(requester: Requester, worker: Worker, now: datetime, reason: str) -> None:
    with pytest.raises(ParameterValidationError):
        blocks.block(requester, worker.worker_id, reason, now)


def test_a_block_by_an_id_that_nobody_has_holds_once_somebody_has_it(
    requester: Requester, hit: Hit, hit_type: HitType, now: datetime
) -> None:
    blocks.block(requester, "A0LATER", "r", now)
    late = accounts.create_worker("late", "worker", worker_id="A0LATER")
    with pytest.raises(NoHitsAvailable):
        assignments.accept(hit_type, late, now)
    assert blocks.unblock(requester, "A0LATER") and not blocks.unblock(requester, "A0LATER")
    assert assignments.accept(hit_type, late, now).hit_id == hit.pk


def test_blocks_have_a_limit(requester: Requester, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_BLOCKS", 2)
    ids = [accounts.create_worker(f"w{n}", "worker").worker_id for n in range(3)]
    for worker_id in ids[:2]:
        blocks.block(requester, worker_id, "r", now)
    with refused("InvalidParameterValue"):
        blocks.block(requester, ids[2], "r", now)
    blocks.block(requester, ids[0], "another reason", now)
