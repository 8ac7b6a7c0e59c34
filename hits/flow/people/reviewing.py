"""Reviewing: answers that wait get approved or rejected, each decision written down before its call.

The marketplace has the last word: what it did before a decision arrived is adopted, and said beside the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from hits.domain import eligibility
from hits.domain.action_log import record
from hits.domain.archived import refuse_archived
from hits.domain.counting import recount
from hits.domain.hit_items import all_item_pks
from hits.domain.leases import lease
from hits.domain.ledger import release, settle
from hits.domain.marketplace_account import READS_LAG, gateway, sentence
from hits.domain.outbox import (
    CHUNK,
    LEASE_SECONDS,
    WAIT_FOR_MONEY,
    carry_out,
    is_due,
    longer_wait,
    standing,
    why_it_waits,
)
from hits.domain.summaries import refresh_summary, refresh_worker_stats
from hits.models import Assignment, Item, LedgerEntry, Stage
from hits.mturk.errors import (
    GoneError,
    InsufficientFundsError,
    MarketplaceError,
    NotYetError,
    UnreachableError,
    WrongStateError,
)
from hits.mturk.gateway import Gateway
from hits.refusals import Refusal

# The marketplace's own limit for approving what was rejected, counted from the submission.
OVERRIDE = timedelta(days=30)
APPROVED, REJECTED, SUBMITTED = Assignment.State.APPROVED, Assignment.State.REJECTED, Assignment.State.SUBMITTED


class FeedbackMissingError(Refusal):
    """A rejection needs a reason: the worker reads it."""

    error_code = "feedback_missing"
    http_status = 400


class TakeBackRefusedError(Refusal):
    """Some of these rejections cannot be taken back; `reasons` says why of each. Nothing was changed."""

    error_code = "take_back_refused"

    def __init__(self, reasons: list[str]) -> None:
        self.reasons = reasons
        super().__init__(" ".join([*reasons, "Nothing was changed."]))

    def details(self) -> dict[str, Any]:
        return {"reasons": self.reasons}


# Decide


def approve(stage: Stage, assignment_pks: Iterable[int], user: User | None) -> int:
    """Decide to approve those of these answers that wait; `finish` makes the calls. Returns how many.

    An answer that did not count yet counts from here on, also one that the marketplace has paid by itself.
    """
    return _decide(stage, assignment_pks, APPROVED, "", user)


def reject(stage: Stage, assignment_pks: Iterable[int], feedback: str, user: User | None) -> int:
    """Decide to reject; the item is asked again. Raises FeedbackMissingError.

    An answer that did not count yet and that the marketplace has paid by itself stays paid and does not count.
    """
    if not feedback.strip():
        raise FeedbackMissingError("Tell the workers why: they read it, and may answer.")
    return _decide(stage, assignment_pks, REJECTED, feedback.strip()[:1000], user)


def _decide(stage: Stage, assignment_pks: Iterable[int], state: str, feedback: str, user: User | None) -> int:
    pks = list(assignment_pks)
    with transaction.atomic():
        waiting = stage.assignments.filter(id__in=pks, state=SUBMITTED, decision="")
        rows = list(waiting.select_for_update().only("pk").order_by("pk"))
        chosen = Assignment.objects.filter(pk__in=[row.pk for row in rows])
        _admit(stage, chosen, state == APPROVED)
        chosen.update(decision=state, feedback=feedback, not_before=None, adopted="")
        record(stage.project, user, state.lower(), rows)
        paid = _admit(stage, stage.assignments.filter(id__in=pks, state=APPROVED), state == APPROVED)
        record(stage.project, user, "counted after all" if state == APPROVED else "left uncounted", paid)
    return len(rows) + len(paid)


def _admit(stage: Stage, answers: QuerySet[Assignment], counts: bool) -> list[Assignment]:
    """Write down whether those of the answers that do not count yet do; returns those of which that is new."""
    held = answers.exclude(held="").exclude(admitted=counts)
    rows = list(held.select_for_update(of=("self",)).select_related("hit").defer("answer").order_by("pk"))
    changed = Assignment.objects.filter(pk__in=[row.pk for row in rows])
    changed.update(admitted=counts)
    # Whether its worker is one of those who did this part decides about their later answers.
    eligibility.recheck_later([row.pk for row in rows])
    recount(changed)
    # Also where nothing counts anew: one answer less waits to count.
    Item.objects.filter(pk__in=all_item_pks(row.hit for row in rows)).update(stale=True)
    refresh_worker_stats(stage, [row.worker_id for row in rows])
    return rows


def take_back(stage: Stage, assignment_pks: Iterable[int], user: User | None) -> int:
    """Decide to approve answers that were rejected, and reserve their price again; returns how many.

    Raises TakeBackRefusedError when one of them can no longer be approved, and BudgetExceededError; then nothing
    has changed.
    """
    with transaction.atomic():
        chosen = stage.assignments.filter(id__in=list(assignment_pks), state=REJECTED, decision="")
        rows = list(chosen.select_for_update(of=("self",)).select_related("hit", "worker").order_by("id"))
        reasons = [f"{row.assignment_id}: {why}" for row in rows if (why := why_not_taken_back(row))]
        if reasons:
            raise TakeBackRefusedError(reasons)
        Assignment.objects.filter(id__in=[row.pk for row in rows]).update(
            decision=APPROVED, not_before=None, adopted=""
        )
        _admit(stage, stage.assignments.filter(id__in=[row.pk for row in rows]), True)
        stage.project.account.post(_reserve_again(row) for row in rows)
        # The new entries wait for whoever archives the project at this moment.
        refuse_archived(stage.project)
        record(stage.project, user, "rejection taken back", rows)
    return len(rows)


def why_not_taken_back(row: Assignment) -> str:
    """The sentence that keeps this rejection from being taken back; empty when it can be."""
    if row.state != REJECTED:
        return "This answer is not rejected."
    if row.decision:
        return "It is being approved already."
    if row.hit.deleted_at:
        return "Its HIT was deleted at the marketplace, and with it the way back."
    if row.submitted_at < timezone.now() - OVERRIDE:
        return "It was submitted more than 30 days ago, and the marketplace allows no way back after that."
    return ""


def _reserve_again(row: Assignment) -> LedgerEntry:
    return LedgerEntry(
        stage_id=row.stage_id,
        kind=LedgerEntry.Kind.RESERVE,
        reserved=row.hit.unit_cost,
        hit=row.hit,
        assignment=row,
        note="a rejection is taken back",
    )


# Carry out


def finish(stage: Stage) -> int:
    """Carry out the decisions that are due and not confirmed; repeating is harmless. Returns how many are settled.

    A refused answer, or one that the marketplace does not show yet, holds up no other. Raises UnreachableError
    when the marketplace does not answer: what was settled is kept. Another process at it makes it return 0.
    """
    with lease(f"review:{stage.pk}", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        market = gateway()
        done = 0
        try:
            for count in carry_out(
                market,
                held,
                rows=lambda: _due(stage),
                call=lambda row: _call(market, row),
                record=lambda outcomes: _record(stage, outcomes),
            ):
                done += count
        finally:
            if done:
                refresh_summary(stage)
        return done


def _decided() -> QuerySet[Assignment]:
    return Assignment.objects.filter(~Q(decision=""), is_due())


def _due(stage: Stage) -> list[Assignment]:
    return list(_decided().filter(stage=stage).order_by("id")[:CHUNK])


def _call(market: Gateway, row: Assignment) -> str:
    """The state that the assignment has now: a decision may have come too late, or before its own repetition."""
    try:
        if row.decision == APPROVED:
            market.approve(row.assignment_id, override=row.state == REJECTED)
        else:
            market.reject(row.assignment_id, row.feedback)
    except WrongStateError:
        found = market.assignment(row.assignment_id).status
        if found == row.state:
            raise
        return found
    return row.decision


def _record(stage: Stage, outcomes: Sequence[tuple[Assignment, str | MarketplaceError]]) -> int:
    """Write what the calls brought, of rows that nobody settled meanwhile; returns how many are settled."""
    entries: list[LedgerEntry] = []
    settled: list[Assignment] = []
    with transaction.atomic():
        waiting = standing(Assignment.objects.select_related("hit__stage"), [row.pk for row, _ in outcomes])
        for row, outcome in outcomes:
            fresh = waiting.get(row.pk)
            if fresh is None or (fresh.state, fresh.decision) != (row.state, row.decision):
                continue
            if isinstance(outcome, MarketplaceError):
                entries += _postpone(fresh, outcome)
            else:
                entries.append(_settle(fresh, outcome))
                settled.append(fresh)
        Assignment.objects.bulk_update(
            waiting.values(), ["state", "decision", "feedback", "adopted", "not_before"], batch_size=250
        )
        recount(stage.assignments.filter(pk__in=[row.pk for row in settled]))
        # Also where a rejected answer had no label: its item is to be asked again.
        rejected = [row.hit for row in settled if row.state == REJECTED]
        Item.objects.filter(pk__in=all_item_pks(rejected)).update(stale=True)
        if entries:
            stage.project.account.post(entries)
        refresh_worker_stats(stage, [row.worker_id for row in settled])
        if settled and not _decided().filter(stage=stage).exists():
            # With the last one the figures: a crash in between would leave them as they were.
            refresh_summary(stage)
    return len(settled)


def _settle(row: Assignment, state: str) -> LedgerEntry:
    if state != row.decision:
        row.adopted, row.feedback = _what_happened(row), ""
    else:
        row.adopted = ""
    row.state, row.decision, row.not_before = state, "", None
    if state == APPROVED:
        return settle(row)
    return _released(row, "rejected")


def _what_happened(row: Assignment) -> str:
    if row.decision == APPROVED:
        return "It was rejected at the marketplace, and not from here, before the approval arrived."
    if row.auto_approval_at and row.auto_approval_at <= timezone.now():
        return f"The marketplace approved it at {_clock(row.auto_approval_at)} before the rejection arrived."
    return "It was approved at the marketplace, and not from here, before the rejection arrived."


def _clock(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _released(row: Assignment, note: str) -> LedgerEntry:
    entry = release(row.hit, 1, note)
    entry.assignment = row
    return entry


def _postpone(row: Assignment, error: MarketplaceError) -> Iterator[LedgerEntry]:
    """The decision waits, or it is given up and says why; then what a taken-back rejection reserved is released."""
    now = timezone.now()
    if isinstance(error, UnreachableError):
        return
    if isinstance(error, InsufficientFundsError):
        row.not_before, row.adopted = now + WAIT_FOR_MONEY, why_it_waits(error)
        return
    age = now - row.submitted_at
    lagging = isinstance(error, NotYetError | GoneError | WrongStateError)
    if lagging and (age < READS_LAG or row.not_before is None):
        row.not_before = now + longer_wait(age)
        row.adopted = f"{sentence(error)} It is asked again by itself."
        return
    verb = {APPROVED: "approved", REJECTED: "rejected"}[Assignment.State(row.decision)]
    row.decision, row.not_before = "", None
    if row.state == REJECTED:
        row.adopted = f"The rejection could not be taken back. {sentence(error)}"
        yield _released(row, "a rejection could not be taken back")
    else:
        row.adopted, row.feedback = f"It could not be {verb}. {sentence(error)} Decide again.", ""


def unfinished() -> list[int]:
    """Stages with decisions that are due: since a crash, an absent marketplace, or a wait that is over."""
    return sorted(set(_decided().values_list("stage", flat=True)))
