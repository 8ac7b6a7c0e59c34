"""Screening: who answered a test gets its result as a qualification, is told it, and may be let try again.

The server counts from the recorded answers, each time that something about them changes. Results and messages are rows
before the marketplace is asked: `granting.finish` and `messaging.send` carry them out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from hits.models import Grant, Stage, WorkerMessage
from hits.people.models import LONGEST_SUBJECT, OF_TESTS
from hits.workers.rules.project_qualifications import STANDING
from hits.workers.rules.screening_results import Result, results

State = Grant.State


def grade(stage: Stage) -> int:
    """Write down what those who answered the test shall hold, and what they are told; returns how many results are new.

    What an answer is worth that a person has to look at first is 0 until then. A result that a lead gave stays. Grading
    again changes nothing.
    """
    if not stage.screening_share or not stage.grants:
        return 0
    with transaction.atomic():
        # Of two processes the second finds what the first one wrote.
        Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
        found = results(stage)
        new = _hold(stage, found)
        _tell(stage, found)
    return new


def _hold(stage: Stage, found: Sequence[Result]) -> int:
    held = Grant.objects.filter(project=stage.project_id, key=stage.grants).exclude(state=State.WITHDRAWN)
    there = {row.worker_id: row for row in held}
    changed, made = [], []
    for one in found:
        row, value = there.get(one.worker), _value(one)
        if row is None:
            made.append(Grant(project=stage.project, key=stage.grants, worker_id=one.worker, stage=stage, value=value))
        elif row.stage_id == stage.pk and row.state in STANDING and row.value != value:
            row.value, row.state, row.error = value, State.INTENDED, ""
            changed.append(row)
    Grant.objects.bulk_create(made, batch_size=500)
    Grant.objects.bulk_update(changed, ["value", "state", "error"], batch_size=500)
    return len(made) + len(changed)


def _value(found: Result) -> int:
    return found.percent if found.counted else 0


def _tell(stage: Stage, found: Sequence[Result]) -> None:
    """Once an answer is approved: before that, the marketplace passes nothing on."""
    due = [one for one in found if one.counted and one.approved]
    kept_out = set(stage.project.blocks.in_force().values_list("worker_id", flat=True))
    opened = _opened_by(stage)
    WorkerMessage.objects.bulk_create(
        (
            WorkerMessage(
                project=stage.project,
                stage=stage,
                worker_id=one.worker,
                subject=_subject(stage, one)[:LONGEST_SUBJECT],
                text=_text(stage, one, opened),
                # Another result of the same answer is told again.
                confirmation=f"{OF_TESTS}{one.assignment}-{one.right}",
            )
            for one in due
            if one.worker not in kept_out
        ),
        ignore_conflicts=True,
        batch_size=500,
    )


def _subject(stage: Stage, found: Result) -> str:
    return f"{'Passed' if found.passed(stage) else 'Not passed'}: “{stage.hit_title}”"


def _text(stage: Stage, found: Result, opened: str) -> str:
    needed = -(-stage.screening_mark * found.of // 100)
    lines = [f"You had {found.right} of {found.of} right; {needed} were needed."]
    if found.passed(stage):
        lines.append(f"You have passed, and can work on {opened} in a moment.")
    elif again := found.again_at(stage):
        lines.append(f"You have not passed. You may try again from {_moment(again)} on, with other questions.")
    else:
        lines.append("You have not passed, and this test cannot be taken again.")
    lines.append("You are paid for the test as its HIT said, whatever the result.")
    lines.append(f"Questions? Write to {stage.project.contact_email}.")
    return "\n".join(lines)


def _moment(at: datetime) -> str:
    return f"{at:%-d %B %Y, %H:%M} UTC"


def _opened_by(stage: Stage) -> str:
    titles = [
        f"“{other.hit_title}”"
        for other in stage.project.stages.exclude(pk=stage.pk).order_by("position")
        if any(_asks_for(one, stage.grants) for one in other.requirements)
    ]
    return ", ".join(titles) or "the tasks that ask for it"


def _asks_for(requirement: Mapping[str, object], key: str) -> bool:
    return requirement["qualification"] == key and requirement["comparator"] != "DoesNotExist"


def let_try_again(now: datetime | None = None) -> list[int]:
    """Take the result back from those who failed and may try again by now; the projects with any, for `granting`."""
    touched = []
    stages = Stage.objects.buying().filter(screening_share__gt=0, screening_retries__gt=0)
    for stage in stages.select_related("project"):
        failed = _failed(stage)
        if not failed.exists():
            continue
        moment = now or timezone.now()
        due = [one for one in results(stage) if one.counted and (again := one.again_at(stage)) and again <= moment]
        rows = failed.filter(worker__in=[one.worker for one in due])
        if rows.update(state=State.WITHDRAWING, withdrawn_at=moment, error=""):
            touched.append(stage.project_id)
    return sorted(set(touched))


def _failed(stage: Stage) -> QuerySet[Grant]:
    rows = Grant.objects.filter(project=stage.project_id, key=stage.grants, stage=stage, state=State.GRANTED)
    return rows.filter(value__lt=stage.screening_mark)
