"""What a blocked worker is told: why, and what happens to the answers that wait. A message is written once a block."""

from __future__ import annotations

from django.contrib.auth.models import User

from hits.people.models import LONGEST_SUBJECT, LONGEST_WRITTEN, OF_BLOCKS, WorkerMessage
from hits.stages.models import Stage
from hits.stats.blocking import Evidence
from hits.workers.models import Block

# Leaves room for the sentences around it.
LONGEST_WHY = 1000


def why_of(evidence: Evidence) -> str:
    """The evidence of a policy, as its worker reads it."""
    return (
        f"Your answers were compared with what is known of them and with those of all workers: {evidence.counted} "
        f"({100 * evidence.accuracy:.1f} %); of all workers together {100 * evidence.average:.1f} %."
    )


def subject(stage: Stage) -> str:
    return f"You get no more HITs like “{stage.hit_title}”"[:LONGEST_SUBJECT]


def text(stage: Stage, why: str) -> str:
    paragraphs = [
        f"You get no more HITs like “{stage.hit_title}” from us, and none of the other HITs of the same project.",
        f"Why: {why}",
        "What was approved stays paid. Your answers that still wait for review stay submitted: each is approved and "
        "paid, or rejected with a reason that you can read, and one that nobody decides about is approved by itself "
        "when its time is over.",
        "Your account and HITs of other requesters are not affected. If you think that we are wrong, write to "
        f"{stage.project.contact_email}.",
    ]
    return "\n\n".join(paragraphs)[:LONGEST_WRITTEN]


def write(block: Block, why: str, user: User | None) -> None:
    """Write the message down, in the transaction of the block; `hits.people.verbs.messaging` sends it."""
    if block.worker.imported_into_id:
        return
    WorkerMessage.objects.get_or_create(
        worker=block.worker,
        confirmation=f"{OF_BLOCKS}{block.pk}",
        defaults={
            "project": block.project,
            "stage": block.stage,
            "subject": subject(block.stage),
            "text": text(block.stage, why),
            "created_by": user,
        },
    )


def withdraw(block: Block) -> None:
    """Send no message of this block that was not begun."""
    rows = WorkerMessage.objects.filter(worker=block.worker, confirmation=f"{OF_BLOCKS}{block.pk}")
    rows.filter(state=WorkerMessage.State.PLANNED, attempted_at=None).delete()
