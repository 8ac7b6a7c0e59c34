"""Reviewing: answers that are held get approved or rejected, each decision written down before its call."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db import transaction

from hits.flow.common import gateway
from hits.models import Assignment, Item, Stage
from hits.models.ledger import release, settle
from hits.models.summaries import refresh_summary, refresh_worker_stats
from hits.mturk.errors import RefusedError
from hits.mturk.gateway import Gateway


class FeedbackMissingError(Exception):
    """A rejection needs a reason: the worker reads it."""


def approve(stage: Stage, assignment_pks: Iterable[int], user: User | None) -> int:
    """Decide to approve those of these answers that wait; `finish` makes the calls. Returns how many."""
    return _decide(stage, assignment_pks, Assignment.State.APPROVED, "")


def reject(stage: Stage, assignment_pks: Iterable[int], feedback: str, user: User | None) -> int:
    """Decide to reject; the item is asked again. Raises FeedbackMissingError."""
    if not feedback.strip():
        raise FeedbackMissingError("Tell the workers why: they read it, and may answer.")
    return _decide(stage, assignment_pks, Assignment.State.REJECTED, feedback.strip()[:1000])


def _decide(stage: Stage, assignment_pks: Iterable[int], state: str, feedback: str) -> int:
    waiting = stage.assignments.filter(id__in=list(assignment_pks), state=Assignment.State.SUBMITTED, decision="")
    return waiting.update(decision=state, feedback=feedback)


def finish(stage: Stage) -> int:
    """Carry out the decisions that are not confirmed yet; repeating is harmless."""
    market = gateway()
    rows = stage.assignments.filter(state=Assignment.State.SUBMITTED).exclude(decision="")
    done = 0
    for row in rows.select_related("hit__stage__project__account").order_by("id"):
        done += _record(row, _call(market, row))
    if done:
        refresh_summary(stage)
    return done


def _call(market: Gateway, row: Assignment) -> str:
    """The state that the assignment has now: a decision may have come too late."""
    try:
        if row.decision == Assignment.State.APPROVED:
            market.approve(row.assignment_id)
        else:
            market.reject(row.assignment_id, row.feedback)
    except RefusedError:
        return market.assignment(row.assignment_id).status
    return row.decision


def _record(row: Assignment, state: str) -> int:
    if state == Assignment.State.SUBMITTED:
        return 0
    with transaction.atomic():
        waiting = Assignment.objects.filter(pk=row.pk, state=Assignment.State.SUBMITTED)
        if not waiting.update(state=state, decision=""):
            return 0
        row.state = state
        account = row.hit.stage.project.account
        if state == Assignment.State.APPROVED:
            account.post([settle(row)])
        else:
            account.post([release(row.hit, 1, "rejected")])
            row.labels.update(void=True)
            Item.objects.filter(pk=row.hit.item_id).update(stale=True)
    refresh_worker_stats(row.hit.stage, [row.worker_id])
    return 1


def unfinished() -> list[int]:
    """Stages with decisions that a crash or an absent marketplace left."""
    rows = Assignment.objects.filter(state=Assignment.State.SUBMITTED).exclude(decision="")
    return sorted(set(rows.values_list("stage", flat=True)))
