"""Reviewing: answers that wait get approved or rejected, each decision written down before its call.

The marketplace has the last word: what it did before a decision arrived is adopted, and said beside the answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, DateTimeField, Q, QuerySet, Value, When
from django.utils import timezone

from hits.answers.rules import automatic_approval, eligibility
from hits.core.action_log import record
from hits.core.jobs.leases import lease
from hits.core.jobs.outbox import (
    CHUNK,
    LEASE_SECONDS,
    WAIT_FOR_MONEY,
    carry_out,
    is_due,
    longer_wait,
    standing,
    why_it_waits,
)
from hits.judging.rules.counting import recount
from hits.judging.rules.summaries import refresh_summary, refresh_worker_stats
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
from hits.payments.rules.ledger import release, settle
from hits.projects.rules.archived import refuse_archived
from hits.publishing.rules.hit_items import all_item_pks
from hits.publishing.rules.marketplace_account import READS_LAG, gateway, sentence
from hits.refusals import Refused
from hits.workers.models import by_blocked_worker

# How long the call of a decision waits that can be undone until then; and how much sooner it is too late for that,
# since clocks of two machines differ. `unfinished` finds it then.
UNDO = timedelta(seconds=30)
MARGIN = timedelta(seconds=2)
# A rejection does not wait where the marketplace approves so soon after it.
TOO_NEAR = UNDO + timedelta(minutes=1)
# How many answers one confirmation approves at most.
MOST_AT_ONCE = 1000
# Beyond so many decisions on their way, what is left is told without the further ones.
MOST_COUNTED = 1000
# The marketplace's own limit for approving what was rejected, counted from the submission.
OVERRIDE = timedelta(days=30)
APPROVED, REJECTED, SUBMITTED = Assignment.State.APPROVED, Assignment.State.REJECTED, Assignment.State.SUBMITTED


# Look


@dataclass(frozen=True)
class Waiting:
    """Answers that wait for a decision: their ids, what approving them costs in $, whether there are more, and how many
    of them are from blocked workers.
    """

    pks: tuple[int, ...]
    cost: Decimal
    more: bool
    of_blocked: int

    @property
    def last(self) -> int:
        """The largest id; 0 where none waits. What comes after it was not there when this was read."""
        return max(self.pks, default=0)


def undecided(stage: Stage) -> QuerySet[Assignment]:
    """The answers that wait for a decision, in no order."""
    return stage.assignments.filter(state=SUBMITTED, decision="")


def waits(row: Assignment) -> bool:
    """Whether it is one of these."""
    return row.state == SUBMITTED and not row.decision


def left_of(stages: Collection[Stage]) -> dict[int, int]:
    """Stage to how many answers wait for a decision: the figure of its summary without what was decided since."""
    decided = Assignment.objects.filter(stage__in=stages, state=SUBMITTED).exclude(decision="").order_by()
    since = Counter(decided.values_list("stage", flat=True)[:MOST_COUNTED])
    return {stage.pk: max(0, stage.summary.to_review - since[stage.pk]) for stage in stages}


def waiting(
    stage: Stage, *, worker: str = "", but: Collection[int] = (), until: int | None = None, most: int = MOST_AT_ONCE
) -> Waiting:
    """The first that wait, of one worker or of all, without some, and with ids of at most `until`."""
    rows = undecided(stage).exclude(pk__in=but)
    if worker:
        rows = rows.filter(worker__worker_id=worker)
    if until is not None:
        rows = rows.filter(pk__lte=until)
    rows = rows.annotate(of_blocked=by_blocked_worker()).order_by("pk")
    found = list(rows.values_list("pk", "hit__unit_cost", "of_blocked")[: most + 1])
    chosen = found[:most]
    return Waiting(
        tuple(pk for pk, _, _ in chosen),
        sum((cost for _, cost, _ in chosen), Decimal()),
        len(found) > most,
        sum(of_blocked for _, _, of_blocked in chosen),
    )


def others_waiting(answer: Assignment, most: int) -> int:
    """How many further answers of its worker wait for a decision in its stage: so many, or one more, at most."""
    rows = Assignment.objects.filter(stage=answer.stage_id, worker=answer.worker_id, state=SUBMITTED, decision="")
    return len(rows.exclude(pk=answer.pk).values_list("pk")[: most + 1])


def of_blocked(stage: Stage, assignment_pks: Iterable[int]) -> int:
    """How many of these answers wait for a decision and are from blocked workers."""
    return undecided(stage).filter(by_blocked_worker(), pk__in=list(assignment_pks)).count()


# Decide


def approve(
    stage: Stage,
    assignment_pks: Iterable[int],
    user: User | None,
    *,
    undoable: bool = False,
    of_blocked: int | None = None,
) -> int:
    """Decide to approve those of these answers that wait; `finish` makes the calls. Returns how many.

    An answer that did not count yet counts from here on, also one that the marketplace has paid by itself. An
    `undoable` decision can be undone for the time UNDO, and its call waits so long. `of_blocked` are the answers of
    blocked workers that somebody confirmed: with more of them it raises Refused (from_blocked_workers).
    """
    return _decide(stage, assignment_pks, APPROVED, "", user, undoable, of_blocked)


def reject(
    stage: Stage, assignment_pks: Iterable[int], feedback: str, user: User | None, *, undoable: bool = False
) -> int:
    """Decide to reject; the item is asked again. Raises Refused (feedback_missing). `undoable` as for `approve`.

    An answer that did not count yet and that the marketplace has paid by itself stays paid and does not count.
    """
    if not feedback.strip():
        raise Refused("feedback_missing", "Tell the workers why: they read it, and may answer.", status=400)
    return _decide(stage, assignment_pks, REJECTED, feedback.strip()[:1000], user, undoable)


def _decide(
    stage: Stage,
    assignment_pks: Iterable[int],
    state: str,
    feedback: str,
    user: User | None,
    undoable: bool,
    confirmed: int | None = None,
) -> int:
    """`confirmed` are answers of blocked workers."""
    pks = list(assignment_pks)
    with transaction.atomic():
        waiting = stage.assignments.filter(id__in=pks, state=SUBMITTED, decision="")
        # The stage too: the manager looks at it, and would read it of each row by itself.
        rows = list(waiting.select_for_update().only("pk", "stage", "held").order_by("pk"))
        chosen = Assignment.objects.filter(pk__in=[row.pk for row in rows])
        if confirmed is not None and (number := chosen.filter(by_blocked_worker()).count()) > confirmed:
            who = "is from a blocked worker" if number == 1 else "are from blocked workers"
            raise Refused(
                "from_blocked_workers",
                f"{number:,} of these answers {who}: approving pays for work that counts for nothing while the block "
                "stands. Nothing was approved.",
                of_blocked_workers=number,
            )
        if any(row.held for row in rows):
            _admit(stage, chosen, state == APPROVED)
        not_before = _end_of_undo() if undoable else None
        chosen.update(decision=state, feedback=feedback, not_before=not_before, adopted="")
        record(stage.project, user, state.lower(), rows)
        if len(rows) > 1:
            # Of a single one the answer itself says it.
            record(stage.project, user, f"{state.lower()} answers", [stage], {"answers": len(rows)})
        paid: list[Assignment] = []
        if others := set(pks).difference(row.pk for row in rows):
            paid = _admit(stage, stage.assignments.filter(id__in=others, state=APPROVED), state == APPROVED)
            record(stage.project, user, "counted after all" if state == APPROVED else "left uncounted", paid)
    return len(rows) + len(paid)


def _end_of_undo() -> Case:
    """Until when the call of a decision waits; null where the marketplace would approve the answer meanwhile."""
    now = timezone.now()
    too_near = When(auto_approval_at__lte=now + TOO_NEAR, then=Value(None))
    return Case(too_near, default=Value(now + UNDO), output_field=DateTimeField(null=True))


def undo(stage: Stage, assignment_pks: Collection[int], user: User | None) -> int:
    """Take back decisions whose calls still wait to be made; the answers wait again. Returns how many.

    Raises Refused (undo_too_late) when that of one of them may have been made; then nothing has changed.
    """
    with transaction.atomic():
        chosen = stage.assignments.filter(id__in=assignment_pks, state=SUBMITTED).exclude(decision="")
        rows = list(chosen.select_for_update().defer("answer").order_by("pk"))
        if len(rows) < len(set(assignment_pks)) or not all(can_be_undone(row) for row in rows):
            raise Refused(
                "undo_too_late",
                f"A decision can be undone for {UNDO.seconds} seconds. This one went to the marketplace meanwhile: a "
                "rejection can still be taken back, and an approval is paid.",
            )
        undone = Assignment.objects.filter(pk__in=[row.pk for row in rows])
        _admit(stage, undone, None)
        undone.update(decision="", feedback="", not_before=None)
        record(stage.project, user, "decision undone", rows)
    if any(row.held for row in rows):
        refresh_summary(stage)
    return len(rows)


def goes_at_once(row: Assignment) -> bool:
    """Whether a decision about this answer does not wait for an undo: the marketplace would approve it meanwhile."""
    return row.auto_approval_at is not None and row.auto_approval_at <= timezone.now() + TOO_NEAR


def is_sent_at_once(row: Assignment) -> bool:
    """Whether it is decided, and its call waits for nothing."""
    return row.state == SUBMITTED and bool(row.decision) and row.not_before is None


def can_be_undone(row: Assignment) -> bool:
    """Whether the call of its decision was surely not tried: one that was, and waits to be tried again, says why."""
    waits = row.not_before is not None and row.not_before > timezone.now() + MARGIN
    return row.state == SUBMITTED and bool(row.decision) and not row.adopted and waits


def _admit(stage: Stage, answers: QuerySet[Assignment], counts: bool | None) -> list[Assignment]:
    """Write down whether those of the answers that do not count yet do, None: nobody said yet; returns those of which
    that is new.
    """
    held = answers.exclude(held="").exclude(admitted=counts)
    rows = list(held.select_for_update(of=("self",)).select_related("hit").defer("answer").order_by("pk"))
    if not rows:
        return []
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

    Raises Refused (take_back_refused) when one of them can no longer be approved, and BudgetExceededError; then nothing
    has changed.
    """
    with transaction.atomic():
        chosen = stage.assignments.filter(id__in=list(assignment_pks), state=REJECTED, decision="")
        rows = list(chosen.select_for_update(of=("self",)).select_related("hit", "worker").order_by("id"))
        reasons = [f"{row.assignment_id}: {why}" for row in rows if (why := why_not_taken_back(row))]
        if reasons:
            raise Refused("take_back_refused", " ".join([*reasons, "Nothing was changed."]), reasons=reasons)
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
        _approve_in_time(stage)
        market = gateway()
        done = 0
        try:
            for count in carry_out(
                market,
                held,
                rows=lambda: list(_decided().filter(stage=stage).order_by("id")[:CHUNK]),
                call=lambda row: _call(market, row),
                record=lambda outcomes: _record(stage, outcomes),
            ):
                done += count
        finally:
            if done:
                refresh_summary(stage)
        return done


def _approve_in_time(stage: Stage) -> None:
    """Decide to approve what no lead has decided about in the stage's time: it is paid, and counts no more."""
    with transaction.atomic():
        rows = list(automatic_approval.due().filter(stage=stage).select_for_update().only("pk").order_by("pk"))
        if rows:
            Assignment.objects.filter(pk__in=[row.pk for row in rows]).update(decision=APPROVED, adopted="")
            record(stage.project, None, APPROVED.lower(), rows)


def _decided() -> QuerySet[Assignment]:
    return Assignment.objects.filter(~Q(decision=""), is_due())


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
        return f"The marketplace approved it at {row.auto_approval_at:%Y-%m-%d %H:%M} UTC before the rejection arrived."
    return "It was approved at the marketplace, and not from here, before the rejection arrived."


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
    due = automatic_approval.due().values_list("stage", flat=True)
    return sorted({*_decided().values_list("stage", flat=True), *due})
