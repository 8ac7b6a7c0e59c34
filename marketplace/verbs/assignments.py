"""What happens to one worker's hold on one HIT."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from common.prepared import Prepared
from marketplace.models import Assignment, Hit, HitType, Requester, Worker
from marketplace.models.fields import money as amount
from marketplace.models.hits import HitQuerySet
from marketplace.rules import limits
from marketplace.rules.errors import (
    AssignmentRefused,
    DoesNotExist,
    DoesNotMeetRequirements,
    FormFaults,
    HolderUnclear,
    InvalidState,
    NoHitsAvailable,
    NotAdmitted,
)
from marketplace.rules.ids import entity_id
from marketplace.rules.question import NO_ASSIGNMENT, answer_xml
from marketplace.rules.questions.form_answers import form_answers_xml, read_form
from marketplace.rules.questions.form_parser import parse_form
from marketplace.rules.questions.kinds import FORM
from marketplace.verbs import events, free_hits, hits, judging, money, panels, qualifications, reviews

_Status = Assignment.Status
_LIVE = ~Q(status__in=Assignment.GIVEN_BACK)
# How many of a worker's newest assignments are looked at for the last one in a group.
_RECENT = 200


def accept(
    hit_type: HitType, worker: Worker, now: datetime, hit: Hit | None = None, *, also_returned: bool = True
) -> Assignment:
    """Give the worker one HIT of the group, or `hit` itself; one that the worker holds comes back as it is.

    HITs that the worker gave back come last, the longest ago first; without `also_returned` those that the worker
    returned do not come.
    Raises NoHitsAvailable, DoesNotMeetRequirements or NotAdmitted.
    """
    failing = qualifications.failing(worker, hit_type.requirements, "accept")
    if failing:
        raise DoesNotMeetRequirements(failing)
    if hit is not None:
        sweep(now)
        return _held(hit, worker) or _accepted(hit_type, worker, now, hit, also_returned)
    try:
        return _accepted(hit_type, worker, now, None, also_returned)
    except NoHitsAvailable:
        # Assignments that have run out may leave some free. `tick` looks for them all the time: nobody has to wait for
        # that here while others are left.
        if not sweep(now):
            raise
        return _accepted(hit_type, worker, now, None, also_returned)


def _accepted(hit_type: HitType, worker: Worker, now: datetime, hit: Hit | None, also_returned: bool) -> Assignment:
    try:
        with transaction.atomic():
            found = _pick(hit_type, worker, now, hit, also_returned)
            _admit(worker, now)
            return _take(found, hit_type, worker, now)
    except (IntegrityError, NoHitsAvailable):
        # Perhaps the worker's other click on the same HIT was faster.
        held = None if hit is None else _held(hit, worker)
        if held is None:
            raise NoHitsAvailable from None
        return held


def _held(hit: Hit, worker: Worker) -> Assignment | None:
    return Assignment.objects.filter(hit=hit, worker=worker, status=_Status.ACCEPTED).select_related("hit").first()


def _admit(worker: Worker, now: datetime) -> None:
    """Let through who may hold one more; under the worker's lock, so that two clicks cannot both be the last."""
    locked = _locked_worker(worker=worker.pk)[0]
    if locked.suspended_at is not None or locked.erased_at is not None:
        raise NotAdmitted("suspended", "Your account is suspended: you cannot take new HITs.")
    if settings.MARKETPLACE_MAIL and locked.email_key is not None and locked.email_confirmed_at is None:
        raise NotAdmitted("not confirmed", "Your e-mail address is not confirmed yet: you cannot take HITs.")
    in_hand = len(_in_hand(worker=worker.pk, now=now))
    panels.check_wanted(locked, in_hand)
    most = settings.MARKETPLACE_QUEUE_LIMIT
    if in_hand >= most:
        raise NotAdmitted(
            "queue full",
            f"You have {most} HITs in hand, and that is as many as one may hold at a time.",
            "ExceedsMaxAssignmentsPerWorker",
            most=most,
        )


@Prepared
def _locked_worker(worker: int) -> QuerySet[Worker]:
    rows = Worker.objects.select_for_update(of=("self",), no_key=True).select_related("panel_entry__panel")
    return rows.filter(pk=worker)


@Prepared
def _in_hand(worker: int, now: datetime) -> QuerySet[Assignment, int]:
    held = Assignment.objects.filter(worker=worker, status=_Status.ACCEPTED, deadline__gte=now)
    return held.values_list("pk", flat=True)


def _pick(hit_type: HitType, worker: Worker, now: datetime, hit: Hit | None, also_returned: bool) -> Hit:
    """Lock one HIT with a free slot. Other workers' locked HITs are passed over first, waited for second."""
    if hit is None:
        # Going on behind the last HIT spares the walk over all that this worker has already answered.
        behind_last = _locked_behind_last(hit_type=hit_type.pk, worker=worker.pk, now=now)
        if behind_last:
            return behind_last[0]
    open_hits = Hit.objects.filter(hit_type=hit_type).assignable(now)
    if hit is not None:
        open_hits = open_hits.filter(pk=hit.pk)
    passes = (True, False, False) if connection.features.has_select_for_update_skip_locked else (False,)
    for skip_locked in passes:
        for query in _in_order_of_choice(open_hits, hit_type, worker, also_returned):
            found = _locked(query, skip_locked).first()
            if found is not None:
                return found
    raise NoHitsAvailable


def _locked(query: HitQuerySet, skip_locked: bool) -> HitQuerySet:
    return query.select_for_update(of=("self",), no_key=True, skip_locked=skip_locked).select_related("requester")


@Prepared
def _locked_behind_last(hit_type: int, worker: int, now: datetime) -> HitQuerySet:
    untouched = free_hits.untouched_by(Hit.objects.filter(hit_type=hit_type).assignable(now), worker)
    behind = untouched.filter(pk__gt=Coalesce(Subquery(last_hit(worker, hit_type)), 0))
    return _locked(behind.order_by("pk"), connection.features.has_select_for_update_skip_locked)[:1]


def _in_order_of_choice(
    open_hits: HitQuerySet, hit_type: HitType, worker: Worker, also_returned: bool
) -> Iterator[HitQuerySet]:
    yield free_hits.untouched_by(open_hits, worker).order_by("pk")
    free = free_hits.for_worker(open_hits, worker)
    if not also_returned:
        free = free_hits.not_returned_by(free, worker)
    longest_ago = (
        Assignment.objects.filter(worker=worker, hit__in=free.values("pk"), status__in=Assignment.GIVEN_BACK)
        .values("hit")
        .annotate(given_back_at=Max("ended_at"))
        .order_by("given_back_at", "hit")
        .values("hit")[:1]
    )
    yield Hit.objects.filter(pk__in=longest_ago)


def last_hit(worker: Worker | int, hit_type: HitType | int) -> QuerySet[Assignment, Any]:
    """The key of the HIT of this group that the worker took last, for use inside a query; none when long ago."""
    # Bounded: in a group that is new to the worker the search would go through all that the worker ever did.
    newest = Assignment.objects.filter(worker=worker).order_by("-pk").values("pk")[:_RECENT]
    return Assignment.objects.filter(pk__in=newest, hit__hit_type=hit_type).order_by("-pk").values("hit")[:1]


def give_back_all(worker: Worker, now: datetime) -> int:
    """Return everything that the worker has in hand; how many were returned."""
    returned = 0
    for assignment in Assignment.objects.filter(worker=worker, status=_Status.ACCEPTED, deadline__gte=now):
        # What ended meanwhile in another way needs no return.
        with suppress(AssignmentRefused):
            give_back(assignment, worker, now)
            returned += 1
    return returned


def _take(hit: Hit, hit_type: HitType, worker: Worker, now: datetime) -> Assignment:
    assignment = Assignment.objects.create(
        assignment_id=next(iter(_spare_ids(hit=hit.pk)), None) or entity_id(),
        hit=hit,
        worker=worker,
        accepted_at=now,
        deadline=now + timedelta(seconds=hit_type.assignment_duration_seconds),
    )
    hit.hit_type = hit_type
    hit.pending += 1
    hits.save_counters(hit, now, ["pending"])
    events.record("AssignmentAccepted", hit, now, assignment)
    return assignment


@Prepared
def _spare_ids(hit: int) -> QuerySet[Assignment, str]:
    """The id of a slot that was given back: the next holder gets the same one. At most one."""
    live = Assignment.objects.filter(_LIVE, assignment_id=OuterRef("assignment_id"))
    given_back = Assignment.objects.filter(hit=hit, status__in=Assignment.GIVEN_BACK)
    return given_back.filter(~Exists(live)).order_by("pk").values_list("assignment_id", flat=True)[:1]


def submit(
    assignment_id: str, fields: Mapping[str, Sequence[str]], now: datetime, worker_id: str | None = None
) -> Assignment:
    """Take a worker's answer: every field that is not reserved, with all its values.

    Raises AssignmentRefused (a preview, too late, twice, somebody else's, nothing answered), FormFaults
    (a QuestionForm whose answers are not as it asks) or DoesNotExist. After the HIT has
    expired, who accepted before may still submit. The id of a place that somebody gave back is known to
    that worker, too: without a `worker_id` it raises HolderUnclear.
    """
    held = _held_by_worker(assignment_id, worker_id)
    # Before the lock: the expressions of a form may take their time.
    of_form = None
    if held.hit.question_kind == FORM and held.status == _Status.ACCEPTED and held.deadline >= now:
        of_form = form_answers_xml(read_form(parse_form(held.hit.question), fields))
    with transaction.atomic():
        assignment = judging.lock(held.pk, held.hit_id)
        if not worker_id:
            # Under the HIT's lock, so that it is not passed on in this moment.
            holders = Assignment.objects.filter(assignment_id=assignment_id).order_by().values("worker").distinct()
            if len(holders[:2]) > 1:
                raise HolderUnclear("This place was somebody else's before: the answer has to say whose it is.")
        if assignment.status != _Status.ACCEPTED:
            raise AssignmentRefused("This HIT has already been submitted.")
        if now > assignment.deadline:
            raise AssignmentRefused("The time for this HIT has run out, so the answer could not be taken.")
        try:
            assignment.answer = of_form or answer_xml(fields)
        except ValueError as error:
            raise AssignmentRefused("The task page sent no answer: at least one field must be filled in.") from error
        _record_submission(assignment, now)
        reviews.score_submission(assignment, now)
        if assignment.status == _Status.SUBMITTED and assignment.auto_approval_at == now:
            judging.approve(assignment, now, now)
    reviews.run_if_due(assignment.hit, now)
    return assignment


def is_answer(assignment: Assignment, fields: Mapping[str, Sequence[str]]) -> bool:
    """Whether these fields are the answer that the assignment holds: a page that is loaded again sends them again."""
    try:
        if assignment.hit.question_kind != FORM:
            return assignment.answer == answer_xml(fields)
        return assignment.answer == form_answers_xml(read_form(parse_form(assignment.hit.question), fields))
    except (ValueError, FormFaults):
        return False


def _held_by_worker(assignment_id: str, worker_id: str | None) -> Assignment:
    """What the answer speaks of, not under lock: with its HIT, whose question is read where it is asked for."""
    if assignment_id == NO_ASSIGNMENT:
        raise AssignmentRefused("This is a preview: accept the HIT before you submit.")
    if worker_id:
        found = _of_worker(assignment_id=assignment_id, worker_id=worker_id)
    else:
        found = list(_with_question_kind(Assignment.objects.filter(assignment_id=assignment_id)))
    live = next((each for each in found if each.status not in Assignment.GIVEN_BACK), None)
    if live is not None:
        return live
    if found:
        raise AssignmentRefused("You no longer hold this HIT: it was returned, or its time ran out.")
    raise DoesNotExist("Assignment", assignment_id)


@Prepared
def _of_worker(assignment_id: str, worker_id: str) -> QuerySet[Assignment]:
    return _with_question_kind(Assignment.objects.filter(assignment_id=assignment_id, worker__worker_id=worker_id))


def _with_question_kind(rows: QuerySet[Assignment]) -> QuerySet[Assignment]:
    return rows.select_related("hit").only("hit", "status", "deadline", "hit__question_kind").order_by("pk")


def _record_submission(assignment: Assignment, now: datetime) -> None:
    hit = assignment.hit
    assignment.status = _Status.SUBMITTED
    assignment.submitted_at = assignment.ended_at = now
    delay = hit.hit_type.auto_approval_delay_seconds
    assignment.auto_approval_at = now + timedelta(seconds=delay)
    assignment.save(update_fields=["status", "submitted_at", "ended_at", "auto_approval_at", "answer"])
    events.record("AssignmentSubmitted", hit, now, assignment)
    hit.pending -= 1
    hit.submitted += 1
    hits.save_counters(hit, now, ["pending", "submitted"])
    Worker.objects.filter(pk=assignment.worker_id).update(submitted_count=F("submitted_count") + 1)
    _release_excess(assignment, assignment.cost, now)


def _release_excess(assignment: Assignment, cost: Decimal, now: datetime) -> None:
    """Give back what was held in hand beyond `cost`: only a HIT that moved to another type has any."""
    if assignment.kept_reward is not None:
        excess = hits.held_in_hand(assignment.hit, assignment) - cost
        if excess:
            money.release(assignment.hit.requester_id, excess, now, assignment.hit, assignment)


def give_back(assignment: Assignment, worker: Worker, now: datetime) -> Assignment:
    """Return an accepted HIT; its slot is offered again unless the HIT has expired."""
    if assignment.worker_id != worker.pk:
        raise DoesNotExist("Assignment", assignment.assignment_id)
    with transaction.atomic():
        locked = judging.lock(assignment.pk, assignment.hit_id)
        if locked.status != _Status.ACCEPTED:
            raise AssignmentRefused(f"This HIT cannot be returned: it is {locked.status.lower()}.")
        _free(locked, _Status.RETURNED, now, now)
    reviews.run_if_due(locked.hit, now)
    return locked


def _free(assignment: Assignment, status: str, ended_at: datetime, now: datetime) -> None:
    assignment.status = status
    assignment.ended_at = ended_at
    assignment.save(update_fields=["status", "ended_at"])
    event = "AssignmentReturned" if status == _Status.RETURNED else "AssignmentAbandoned"
    events.record(event, assignment.hit, ended_at, assignment)
    assignment.hit.pending -= 1
    hits.save_counters(assignment.hit, now, ["pending"])
    _release_excess(assignment, assignment.hit.cost, now)


def approve(
    requester: Requester, assignment_id: str, now: datetime, feedback: str | None = None, override: bool = False
) -> Assignment:
    """Approve and pay. With `override` a rejection can be undone: for 30 days, until the HIT is deleted."""
    limits.check_length("RequesterFeedback", feedback or "", limits.FEEDBACK)
    with transaction.atomic():
        assignment = _lock_for_requester(requester, assignment_id)
        if assignment.status == _Status.SUBMITTED:
            judging.approve(assignment, now, now, feedback)
        elif assignment.status == _Status.REJECTED and override:
            _approve_rejected(assignment, now, feedback)
        else:
            raise InvalidState("Assignment", _Status.SUBMITTED)
    reviews.run_if_due(assignment.hit, now)
    return assignment


def _approve_rejected(assignment: Assignment, now: datetime, feedback: str | None) -> None:
    hit = assignment.hit
    if assignment.submitted_at is None or now - assignment.submitted_at > limits.OVERRIDE_REJECTION or hit.disposed_at:
        raise InvalidState("Assignment", _Status.SUBMITTED)
    assignment.status = _Status.APPROVED
    assignment.approved_at = now
    assignment.rejected_at = None
    judging.save(assignment, "approved_at", feedback, "rejected_at")
    events.record("AssignmentApproved", hit, now, assignment)
    Worker.objects.filter(pk=assignment.worker_id).update(
        rejected_count=F("rejected_count") - 1,
        approved_count=F("approved_count") + 1,
        earned=F("earned") + amount(assignment.reward),
    )
    money.hold(hit.requester_id, assignment.cost, now, hit, assignment)
    money.charge(hit.requester_id, assignment.cost, now, assignment)


def reject(requester: Requester, assignment_id: str, now: datetime, feedback: str) -> Assignment:
    """Refuse to pay for an answer; what was held for it is released. `feedback` goes to the worker and may be empty."""
    limits.check_length("RequesterFeedback", feedback, limits.FEEDBACK)
    with transaction.atomic():
        assignment = _lock_for_requester(requester, assignment_id)
        if assignment.status != _Status.SUBMITTED:
            raise InvalidState("Assignment", _Status.SUBMITTED)
        judging.reject(assignment, now, feedback)
    reviews.run_if_due(assignment.hit, now)
    return assignment


def _lock_for_requester(requester: Requester, assignment_id: str) -> Assignment:
    return judging.lock(*find(requester, assignment_id, allowed=_Status.SUBMITTED))


def find(requester: Requester, assignment_id: str, allowed: str) -> tuple[int, int]:
    """Primary keys of a visible assignment and its HIT; `allowed` names the states for the refusal."""
    rows = Assignment.objects.filter(assignment_id=assignment_id, hit__requester=requester)
    found = rows.filter(status__in=Assignment.VISIBLE).values_list("pk", "hit_id").first()
    if found is not None:
        return found
    if rows.exists():
        raise InvalidState("Assignment", allowed)
    raise DoesNotExist("Assignment", assignment_id)


def sweep(now: datetime, limit: int = 50) -> int:
    """Do what the clock has made due: abandon overdue work, approve by time-out, settle expired HITs.

    Three index look-ups when nothing is due. At most `limit` assignments of each sort, each in a
    transaction of its own; returns how many rows changed.
    """
    changed = hits.settle_expired(now, limit)
    overdue = Assignment.objects.filter(status=_Status.ACCEPTED, deadline__lt=now)
    for pk, hit_pk in overdue.order_by("deadline").values_list("pk", "hit_id")[:limit]:
        changed += _abandon(pk, hit_pk, now)
    if changed:
        # A policy has its say before time approves.
        changed += reviews.run_due(now)
    due = Assignment.objects.filter(status=_Status.SUBMITTED, auto_approval_at__lte=now)
    for pk, hit_pk in due.order_by("auto_approval_at").values_list("pk", "hit_id")[:limit]:
        changed += _approve_by_time(pk, hit_pk, now)
    return changed


def _abandon(pk: int, hit_pk: int, now: datetime) -> int:
    with transaction.atomic():
        assignment = judging.lock(pk, hit_pk)
        if assignment.status != _Status.ACCEPTED or assignment.deadline >= now:
            return 0
        _free(assignment, _Status.ABANDONED, assignment.deadline, now)
    return 1


def _approve_by_time(pk: int, hit_pk: int, now: datetime) -> int:
    with transaction.atomic():
        assignment = judging.lock(pk, hit_pk)
        due = assignment.auto_approval_at
        if assignment.status != _Status.SUBMITTED or due is None or due > now:
            return 0
        judging.approve(assignment, due, now)
    return 1
