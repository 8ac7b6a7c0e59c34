"""What a blocked worker is told: once a block, through the marketplace, and not after an undo."""

from __future__ import annotations

import pytest
from django.utils import timezone

from hits import tasks
from hits.models import Block, Stage, Worker, WorkerMessage
from hits.people.verbs import messaging
from hits.workers.rules import block_proposals
from hits.workers.verbs import blocking
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.market import Marketplace
from tests.hits.stand_in import StandIn

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]
WHY = "Your answers do not depend on the text."


@pytest.fixture
def stage() -> Stage:
    return make.stage(make.project(), hit_title="Was it wet?")


@pytest.fixture
def worker(stage: Stage) -> Worker:
    row = make.worker()
    make.worker_stat(stage, row)
    return row


def block(stage: Stage, worker: Worker) -> int:
    return blocking.intend_by_hand(stage, [worker.worker_id], "Clicks.", None, told=WHY)


def test_the_message_says_why_and_what_happens_to_answers_that_wait(
    stage: Stage, worker: Worker, stand_in: StandIn, eager: None
) -> None:
    block(stage, worker)
    for _ in range(2):
        tasks.finish_blocks(stage.pk)
    ((to, subject, text),) = stand_in.notes
    assert to == worker.worker_id and subject == "You get no more HITs like “Was it wet?”"
    assert WHY in text and "each is approved and paid, or rejected with a reason" in text
    assert WorkerMessage.objects.get().state == WorkerMessage.State.SENT


def test_a_pause_that_becomes_a_block_is_told_once(stage: Stage, worker: Worker) -> None:
    blocking.pause(stage, [worker.worker_id], 24, "", None)
    assert not WorkerMessage.objects.exists()
    assert (block(stage, worker), block(stage, worker)) == (1, 0)
    assert WorkerMessage.objects.count() == 1


def test_an_undone_block_is_not_told_any_more_and_the_next_one_is(
    stage: Stage, worker: Worker, market: Marketplace
) -> None:
    block(stage, worker)
    blocking.undo(Block.objects.get(), None)
    assert not WorkerMessage.objects.exists()
    Block.objects.update(state=Block.State.UNDONE, undone_at=timezone.now())
    block(stage, worker)
    assert WorkerMessage.objects.get().text == block_proposals.text(stage, WHY)


def test_a_worker_of_a_file_of_results_is_written_nothing(stage: Stage) -> None:
    row = Worker.objects.create(worker_id="imported-1:7", imported_into=stage.project)
    make.worker_stat(stage, row)
    block(stage, row)
    assert Block.objects.exists() and not WorkerMessage.objects.exists()


def test_nobody_else_takes_the_keys_of_these_messages(stage: Stage, worker: Worker) -> None:
    with refused("message_refused", match="belong to blocks"):
        messaging.write(stage, "Hello", {worker.worker_id: "Text."}, "block-00001", None)
