"""What a requester does with HITs."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import Case, F, Value, When

from common.prepared import Prepared
from marketplace.models import Assignment, Hit, HitType, Requester
from marketplace.models.fields import MoneyField
from marketplace.models.hits import HitQuerySet
from marketplace.rules import lifecycle, limits, review_policies
from marketplace.rules.errors import (
    DoesNotExist,
    InvalidState,
    MarketplaceError,
    ParameterValidationError,
    RequestError,
    token_processed,
)
from marketplace.rules.fees import MANY_ASSIGNMENTS, fee_per_assignment
from marketplace.rules.qualifications import Requirement
from marketplace.rules.questions.kinds import HTML, check_question
from marketplace.rules.review_policies import Policy
from marketplace.verbs import events, frames, money, qualifications, tokens

_AT_WORK = (lifecycle.ASSIGNABLE, lifecycle.UNASSIGNABLE)


def find_or_create_type(
    requester: Requester,
    *,
    title: str,
    description: str,
    keywords: str,
    reward: Decimal,
    assignment_duration_seconds: int,
    auto_approval_delay_seconds: int,
    requirements: Sequence[Requirement],
) -> HitType:
    """The HIT type of exactly these values; `requirements` must be normalised."""
    limits.check_length("Title", title, limits.TITLE, blank=False)
    limits.check_length("Description", description, limits.DESCRIPTION, blank=False)
    limits.check_length("Keywords", keywords, limits.KEYWORDS)
    limits.check_range("AssignmentDurationInSeconds", assignment_duration_seconds, limits.DURATION_SECONDS)
    limits.check_range("AutoApprovalDelayInSeconds", auto_approval_delay_seconds, limits.AUTO_APPROVAL_SECONDS)
    values = {
        "title": title,
        "description": description,
        "keywords": keywords,
        "reward": reward,
        "assignment_duration_seconds": assignment_duration_seconds,
        "auto_approval_delay_seconds": auto_approval_delay_seconds,
        "requirements": list(requirements),
    }
    canonical = json.dumps(values, sort_keys=True, default=lambda amount: f"{amount:.2f}")
    fingerprint = hashlib.sha256(canonical.encode()).hexdigest()
    with transaction.atomic():
        hit_type, made = HitType.objects.get_or_create(requester=requester, fingerprint=fingerprint, defaults=values)
        if made:
            qualifications.note_requirements(hit_type)
    return hit_type


def find_type(requester: Requester, hit_type_id: str) -> HitType:
    hit_type = HitType.objects.filter(requester=requester, hit_type_id=hit_type_id).first()
    if hit_type is None:
        raise DoesNotExist("Hit type", hit_type_id)
    return hit_type


def find(requester: Requester, hit_id: str) -> Hit:
    hit = Hit.objects.filter(requester=requester, hit_id=hit_id).select_related("hit_type").first()
    if hit is None:
        raise DoesNotExist("Hit", hit_id)
    return hit


@contextmanager
def once(requester: Requester, token: str, now: datetime) -> Iterator[None]:
    """Around all that goes into a creation: whatever refuses it, a token that was used says more.

    What held at the first time may not hold at the repetition, and its caller must learn that the HIT is there.
    """
    try:
        yield
    except MarketplaceError:
        used = tokens.first_use(requester.pk, tokens.CREATE, token, now) if token else None
        if used is None or used.hit is None:
            raise
        raise _exists_already(used.hit) from None


def _exists_already(hit: Hit) -> RequestError:
    return RequestError(f'The HIT with ID "{hit.hit_id}" already exists.', "HITAlreadyExists")


def create(
    requester: Requester,
    hit_type: HitType,
    *,
    question: str,
    max_assignments: int,
    lifetime_seconds: int,
    now: datetime,
    annotation: str = "",
    token: str = "",
    layout_id: str = "",
    assignment_review_policy: Policy | None = None,
    hit_review_policy: Policy | None = None,
) -> Hit:
    """Publish a HIT and hold its whole cost. With `layout_id` the question was made by verbs.layouts.

    A used `token` raises HITAlreadyExists with the id of the HIT that it made, whatever else is given.
    """
    limits.check_range("MaxAssignments", max_assignments, limits.MAX_ASSIGNMENTS)
    limits.check_range("LifetimeInSeconds", lifetime_seconds, limits.LIFETIME_SECONDS)
    limits.check_length("RequesterAnnotation", annotation, limits.ANNOTATION)
    if assignment_review_policy is not None:
        review_policies.read_known_answers(assignment_review_policy)
    if hit_review_policy is not None:
        review_policies.read_plurality(hit_review_policy)
    kind = HTML if layout_id else check_question(question, settings.MARKETPLACE_HTTP_QUESTION_HOSTS, frames.origin())
    hit = Hit(
        requester=requester,
        hit_type=hit_type,
        question=question,
        question_kind=kind,
        hit_layout_id=layout_id,
        max_assignments=max_assignments,
        created_at=now,
        expires_at=now + timedelta(seconds=lifetime_seconds),
        requester_annotation=annotation,
        fee=fee_per_assignment(hit_type.reward, max_assignments, hit_type.requirements),
        assignment_review_policy=assignment_review_policy,
        hit_review_policy=hit_review_policy,
    )
    return _insert_once(hit, token, now)


def _insert_once(hit: Hit, token: str, now: datetime) -> Hit:
    try:
        return _insert(hit, token, now)
    except IntegrityError:
        used = tokens.first_use(hit.requester_id, tokens.CREATE, token, now)
        if used is not None and used.hit is not None:
            raise _exists_already(used.hit) from None
    return _insert(hit, token, now)


def _insert(hit: Hit, token: str, now: datetime) -> Hit:
    with transaction.atomic():
        hit.pk = None
        hit.save(force_insert=True)
        tokens.use(hit, tokens.CREATE, token, now)
        events.record("HITCreated", hit, now)
        money.hold(hit.requester_id, hit.cost * hit.max_assignments, now, hit)
    return hit


def add_assignments(requester: Requester, hit_id: str, count: int, now: datetime, token: str = "") -> Hit:
    """Offer a HIT `count` more times; a used `token` raises RequestAlreadyProcessed."""
    limits.check_range("NumberOfAdditionalAssignments", count, limits.MAX_ASSIGNMENTS)
    try:
        return _extend(requester, hit_id, count, now, token)
    except IntegrityError:
        if tokens.first_use(requester.pk, tokens.EXTEND, token, now) is not None:
            raise token_processed(token) from None
    return _extend(requester, hit_id, count, now, token)


def _extend(requester: Requester, hit_id: str, count: int, now: datetime, token: str) -> Hit:
    with transaction.atomic():
        hit = _lock(requester, hit_id, now)
        # Before the rules: the repetition of an extension that was made must not complain of its own effect.
        tokens.use(hit, tokens.EXTEND, token, now)
        _refuse_disposed(hit, now)
        extend_locked(hit, count, now)
    return hit


def extend_locked(hit: Hit, count: int, now: datetime, open_for: int = 0) -> None:
    """Offer a locked HIT `count` more times, and keep it open for at least `open_for` seconds from now."""
    total = limits.check_range("MaxAssignments", hit.max_assignments + count, limits.MAX_ASSIGNMENTS)
    if hit.max_assignments < MANY_ASSIGNMENTS <= total:
        raise RequestError(
            "A HIT that was created with fewer than 10 assignments cannot be extended to 10 or more.",
            "InvalidMaximumAssignmentsIncrease",
        )
    hit.max_assignments = total
    hit.reviewing = False
    if open_for:
        hit.expires_at = max(hit.expires_at, now + timedelta(seconds=open_for))
    _save(hit, now, "max_assignments", "reviewing", "expires_at")
    events.record("HITExtended", hit, now)
    money.hold(hit.requester_id, hit.cost * count, now, hit)


def change_type(requester: Requester, hit_id: str, hit_type_id: str, now: datetime) -> Hit:
    """Move a HIT to another type of the same requester. The price of its open places changes at once.

    Who has accepted is paid what was promised then. Raises InsufficientFunds when a dearer type
    cannot be held, and nothing has changed.
    """
    with transaction.atomic():
        hit = _lock(requester, hit_id, now)
        new_type = find_type(requester, hit_type_id)
        _refuse_disposed(hit, now)
        if new_type.pk == hit.hit_type_id:
            return hit
        qualifications.check_types_exist(new_type.requirements)
        before = _held(hit)
        taken = Assignment.objects.filter(hit=hit, kept_reward=None)
        taken.update(kept_reward=Value(hit.hit_type.reward, MoneyField()), kept_fee=Value(hit.fee, MoneyField()))
        hit.hit_type = new_type
        hit.fee = fee_per_assignment(new_type.reward, hit.max_assignments, new_type.requirements)
        _save(hit, now, "hit_type", "fee")
        more = _held(hit) - before
        if more > 0:
            money.hold(hit.requester_id, more, now, hit)
        elif more < 0:
            money.release(hit.requester_id, -more, now, hit)
    return hit


def _held(hit: Hit) -> Decimal:
    """What is held for the places of a HIT that are open or in hand.

    A place in hand may come back open: until it is submitted, the dearer of both prices is held.
    """
    in_hand = Assignment.objects.filter(hit=hit, status=Assignment.Status.ACCEPTED)
    return hit.cost * hit.available + sum((held_in_hand(hit, row) for row in in_hand), Decimal(0))


def held_in_hand(hit: Hit, assignment: Assignment) -> Decimal:
    """What is held for one accepted assignment of `hit`."""
    assignment.hit = hit
    return max(hit.cost, assignment.cost)


def set_expiration(requester: Requester, hit_id: str, expire_at: datetime, now: datetime) -> Hit:
    """Move the end of a HIT, either way; a time that has passed ends it now.

    Whoever has accepted keeps the time to finish. Asking again for the time that a HIT already
    has raises RequestAlreadyProcessed, as the real service did. A deleted HIT stays as it is: programs
    that clean up end a HIT twice.
    """
    latest = now + timedelta(seconds=limits.LIFETIME_SECONDS[1])
    if expire_at > latest:
        raise ParameterValidationError(f"ExpireAt is out of range: at most {latest:%Y-%m-%dT%H:%M:%SZ} is allowed.")
    with transaction.atomic():
        hit = _lock(requester, hit_id, now)
        if hit.disposed_at is not None:
            return hit
        if expire_at > now and expire_at == hit.expires_at:
            raise token_processed(f"{hit_id}{expire_at:%a %b %d %H:%M:%S UTC %Y}")
        longer = expire_at > max(now, hit.expires_at)
        if expire_at > now:
            hit.expires_at = expire_at
            hit.reviewing = False
        else:
            hit.expires_at = min(hit.expires_at, now)
        _save(hit, now, "expires_at", "reviewing")
        if longer:
            events.record("HITExtended", hit, now)
    return hit


def set_reviewing(requester: Requester, hit_id: str, reviewing: bool, now: datetime) -> Hit:
    """Move a HIT between Reviewable and Reviewing; being there already is no error."""
    with transaction.atomic():
        hit = _lock(requester, hit_id, now)
        status = hit.status(now)
        if status not in (lifecycle.REVIEWABLE, lifecycle.REVIEWING):
            raise InvalidState("HIT", lifecycle.REVIEWABLE if reviewing else lifecycle.REVIEWING, status)
        hit.reviewing = reviewing
        _save(hit, now, "reviewing")
    return hit


def dispose(requester: Requester, hit_id: str, now: datetime) -> Hit:
    """Delete a HIT whose answers are all judged, and release what was held for its empty slots."""
    with transaction.atomic():
        hit = _lock(requester, hit_id, now)
        _dispose(hit, now)
    return hit


def _dispose(hit: Hit, now: datetime) -> None:
    status = hit.status(now)
    if status not in (lifecycle.REVIEWABLE, lifecycle.REVIEWING) or hit.submitted:
        raise InvalidState("HIT", f"{lifecycle.REVIEWING}, {lifecycle.REVIEWABLE}", status)
    hit.disposed_at = now
    _save(hit, now, "disposed_at")
    events.record("HITDisposed", hit, now)
    if hit.available:
        money.release(hit.requester_id, hit.cost * hit.available, now, hit)


def settle_expired(now: datetime, limit: int = 50) -> int:
    """Bring the stored state of HITs that have just expired up to date.

    One query when there are none. All whose end nobody wants to be told of change at once, the others one
    by one, at most `limit` of them.
    """
    expired = Hit.objects.filter(state=lifecycle.ASSIGNABLE, expires_at__lte=now)
    if not expired.exists():
        return 0
    told = _settle_heard(expired.filter(events.heard()), now, limit)
    return told + expired.exclude(events.heard()).update(
        state=Case(
            When(pending__gt=0, then=Value(lifecycle.UNASSIGNABLE)),
            When(reviewing=True, then=Value(lifecycle.REVIEWING)),
            default=Value(lifecycle.REVIEWABLE),
        ),
        review_due=Case(
            When(hit_review_policy__isnull=False, pending=0, reviewing=False, then=Value(True)),
            default=F("review_due"),
        ),
    )


def _settle_heard(expired: HitQuerySet, now: datetime, limit: int) -> int:
    with transaction.atomic():
        # Another process that is at the same HITs has told of them when it lets them go.
        skip_locked = connection.features.has_select_for_update_skip_locked
        locked = expired.select_for_update(of=("self",), no_key=True, skip_locked=skip_locked)
        found = list(locked.select_related("hit_type", "requester").order_by("pk")[:limit])
        for hit in found:
            _save(hit, now)
    return len(found)


def dispose_forgotten(now: datetime, limit: int = 100) -> int:
    """Dispose HITs that expired 120 days ago and have nothing left to judge."""
    forgotten = Hit.objects.filter(
        state__in=(lifecycle.REVIEWABLE, lifecycle.REVIEWING),
        expires_at__lte=now - limits.AUTO_DISPOSAL,
        submitted=0,
    )
    disposed = 0
    for hit in forgotten.select_related("requester")[:limit]:
        try:
            dispose(hit.requester, hit.hit_id, now)
        except InvalidState:
            # Somebody extended or disposed it since the query; that is their last word.
            continue
        disposed += 1
    return disposed


def _lock(requester: Requester, hit_id: str, now: datetime) -> Hit:
    rows = _locked(Hit.objects.select_related("hit_type").filter(requester=requester, hit_id=hit_id))
    hit = rows.first() or rows.first()
    if hit is None:
        raise DoesNotExist("Hit", hit_id)
    hit.requester = requester
    if hit.state == lifecycle.ASSIGNABLE and hit.expires_at <= now:
        # It ended before the clock got to it: its end must not be lost in the change that follows.
        _save(hit, now)
    return hit


def _refuse_disposed(hit: Hit, now: datetime) -> None:
    if hit.disposed_at is not None:
        live = (status for status in lifecycle.HIT_STATUSES if status != lifecycle.DISPOSED)
        raise InvalidState("HIT", ", ".join(live), hit.status(now))


def _save(hit: Hit, now: datetime, *fields: str) -> None:
    before = hit.state
    hit.state = hit.status(now)
    names = [*fields, "state"]
    if hit.hit_review_policy and hit.state == lifecycle.REVIEWABLE and before in _AT_WORK:
        hit.review_due = True
        names.append("review_due")
    hit.save(update_fields=names)
    events.record_all(_changes_of_state(before, hit, now))


def _changes_of_state(before: str, hit: Hit, now: datetime) -> Iterator[events.Happening]:
    """What the move from one stored state to the next means to those who listen."""
    if before == lifecycle.ASSIGNABLE and hit.expires_at <= now:
        yield "HITExpired", hit, hit.expires_at, None
    if before in _AT_WORK and hit.state == lifecycle.REVIEWABLE:
        yield "HITReviewable", hit, now, None


def locked_by_pk(pk: int) -> Hit:
    """The HIT under lock, for verbs that start from an assignment. Needs a transaction."""
    # A lock that waited while the HIT moved to another type joins the new row with the type before, and PostgreSQL
    # then finds nothing. The second look begins after the wait.
    found = _locked_with_type(pk=pk) or _locked_with_type(pk=pk)
    if not found:
        raise Hit.DoesNotExist
    return found[0]


@Prepared
def _locked_with_type(pk: int) -> HitQuerySet:
    return _locked(Hit.objects.select_related("hit_type", "requester").filter(pk=pk))


def _locked(rows: HitQuerySet) -> HitQuerySet:
    return rows.select_for_update(of=("self",), no_key=True)


def save_counters(hit: Hit, now: datetime, counters: Iterable[str]) -> None:
    """Write counters of a locked HIT and the state that follows from them."""
    _save(hit, now, *counters)
