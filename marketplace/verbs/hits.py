"""What a requester does with HITs."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Case, Value, When

from marketplace.models import Hit, HitType, Requester, RequestToken
from marketplace.rules import lifecycle, limits
from marketplace.rules.errors import (
    HitAlreadyExists,
    HitDoesNotExist,
    HitTypeDoesNotExist,
    InvalidHitState,
    InvalidMaximumAssignmentsIncrease,
    ParameterValidationError,
    TokenAlreadyProcessed,
)
from marketplace.rules.fees import MANY_ASSIGNMENTS, fee_per_assignment
from marketplace.rules.qualifications import Requirement
from marketplace.rules.question import parse_external
from marketplace.verbs import money

_CREATE, _EXTEND = "create", "extend"


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
    hit_type, _ = HitType.objects.get_or_create(requester=requester, fingerprint=fingerprint, defaults=values)
    return hit_type


def find_type(requester: Requester, hit_type_id: str) -> HitType:
    hit_type = HitType.objects.filter(requester=requester, hit_type_id=hit_type_id).first()
    if hit_type is None:
        raise HitTypeDoesNotExist(hit_type_id)
    return hit_type


def find(requester: Requester, hit_id: str) -> Hit:
    hit = Hit.objects.filter(requester=requester, hit_id=hit_id).select_related("hit_type").first()
    if hit is None:
        raise HitDoesNotExist(hit_id)
    return hit


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
) -> Hit:
    """Publish a HIT and hold its whole cost.

    A used `token` raises HitAlreadyExists with the id of the HIT that it made, whatever else is given.
    """
    limits.check_range("MaxAssignments", max_assignments, limits.MAX_ASSIGNMENTS)
    limits.check_range("LifetimeInSeconds", lifetime_seconds, limits.LIFETIME_SECONDS)
    limits.check_length("RequesterAnnotation", annotation, limits.ANNOTATION)
    parse_external(question, settings.MARKETPLACE_HTTP_QUESTION_HOSTS)
    hit = Hit(
        requester=requester,
        hit_type=hit_type,
        question=question,
        max_assignments=max_assignments,
        created_at=now,
        expires_at=now + timedelta(seconds=lifetime_seconds),
        requester_annotation=annotation,
        fee=fee_per_assignment(hit_type.reward, max_assignments, hit_type.requirements),
    )
    try:
        return _insert(hit, token, now)
    except IntegrityError:
        used = _used_token(requester, _CREATE, token, now)
        if used is not None and used.hit is not None:
            raise HitAlreadyExists(used.hit.hit_id) from None
    return _insert(hit, token, now)


def _insert(hit: Hit, token: str, now: datetime) -> Hit:
    with transaction.atomic():
        hit.pk = None
        hit.save(force_insert=True)
        _use_token(hit, _CREATE, token, now)
        money.hold(hit.requester_id, hit.cost * hit.max_assignments, now, hit)
    return hit


def _use_token(hit: Hit, purpose: str, token: str, now: datetime) -> None:
    """Raises IntegrityError when the token was used; a concurrent twin waits here for the first."""
    if token:
        RequestToken.objects.create(
            requester_id=hit.requester_id, purpose=purpose, token=token, hit=hit, created_at=now
        )


def _used_token(requester: Requester, purpose: str, token: str, now: datetime) -> RequestToken | None:
    """The token's first use within its life; an outlived one is removed, so that it can be used again."""
    tokens = RequestToken.objects.filter(requester=requester, purpose=purpose, token=token)
    tokens.filter(created_at__lte=now - limits.REQUEST_TOKEN_LIFE).delete()
    return tokens.select_related("hit").first()


def add_assignments(requester: Requester, hit_id: str, count: int, now: datetime, token: str = "") -> Hit:
    """Offer a HIT `count` more times; a used `token` raises TokenAlreadyProcessed."""
    limits.check_range("NumberOfAdditionalAssignments", count, limits.MAX_ASSIGNMENTS)
    try:
        return _extend(requester, hit_id, count, now, token)
    except IntegrityError:
        if _used_token(requester, _EXTEND, token, now) is not None:
            raise TokenAlreadyProcessed(token) from None
    return _extend(requester, hit_id, count, now, token)


def _extend(requester: Requester, hit_id: str, count: int, now: datetime, token: str) -> Hit:
    with transaction.atomic():
        hit = _lock(requester, hit_id)
        # Before the rules: the repetition of an extension that was made must not complain of its own effect.
        _use_token(hit, _EXTEND, token, now)
        _refuse_disposed(hit, now)
        total = limits.check_range("MaxAssignments", hit.max_assignments + count, limits.MAX_ASSIGNMENTS)
        if hit.max_assignments < MANY_ASSIGNMENTS <= total:
            raise InvalidMaximumAssignmentsIncrease
        hit.max_assignments = total
        hit.reviewing = False
        _save(hit, now, "max_assignments", "reviewing")
        money.hold(hit.requester_id, hit.cost * count, now, hit)
    return hit


def set_expiration(requester: Requester, hit_id: str, expire_at: datetime, now: datetime) -> Hit:
    """Move the end of a HIT, either way; a time that has passed ends it now.

    Whoever has accepted keeps the time to finish. Asking again for the time that a HIT already
    has raises TokenAlreadyProcessed, as the real service did.
    """
    latest = now + timedelta(seconds=limits.LIFETIME_SECONDS[1])
    if expire_at > latest:
        raise ParameterValidationError(f"ExpireAt is out of range: at most {latest:%Y-%m-%dT%H:%M:%SZ} is allowed.")
    with transaction.atomic():
        hit = _lock(requester, hit_id)
        _refuse_disposed(hit, now)
        if expire_at > now and expire_at == hit.expires_at:
            raise TokenAlreadyProcessed(f"{hit_id}{expire_at:%a %b %d %H:%M:%S UTC %Y}")
        if expire_at > now:
            hit.expires_at = expire_at
            hit.reviewing = False
        else:
            hit.expires_at = min(hit.expires_at, now)
        _save(hit, now, "expires_at", "reviewing")
    return hit


def set_reviewing(requester: Requester, hit_id: str, reviewing: bool, now: datetime) -> Hit:
    """Move a HIT between Reviewable and Reviewing; being there already is no error."""
    with transaction.atomic():
        hit = _lock(requester, hit_id)
        status = hit.status(now)
        if status not in (lifecycle.REVIEWABLE, lifecycle.REVIEWING):
            raise InvalidHitState(status, lifecycle.REVIEWING if not reviewing else lifecycle.REVIEWABLE)
        hit.reviewing = reviewing
        _save(hit, now, "reviewing")
    return hit


def dispose(requester: Requester, hit_id: str, now: datetime) -> Hit:
    """Delete a HIT whose answers are all judged, and release what was held for its empty slots."""
    with transaction.atomic():
        hit = _lock(requester, hit_id)
        _dispose(hit, now)
    return hit


def _dispose(hit: Hit, now: datetime) -> None:
    status = hit.status(now)
    if status not in (lifecycle.REVIEWABLE, lifecycle.REVIEWING) or hit.submitted:
        raise InvalidHitState(status, f"{lifecycle.REVIEWING}, {lifecycle.REVIEWABLE}")
    hit.disposed_at = now
    _save(hit, now, "disposed_at")
    if hit.available:
        money.release(hit.requester_id, hit.cost * hit.available, now, hit)


def settle_expired(now: datetime) -> int:
    """Bring the stored state of HITs that have just expired up to date."""
    expired = Hit.objects.filter(state=lifecycle.ASSIGNABLE, expires_at__lte=now)
    if not expired.exists():
        return 0
    return expired.update(
        state=Case(
            When(pending__gt=0, then=Value(lifecycle.UNASSIGNABLE)),
            When(reviewing=True, then=Value(lifecycle.REVIEWING)),
            default=Value(lifecycle.REVIEWABLE),
        )
    )


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
        except InvalidHitState:
            # Somebody extended or disposed it since the query; that is their last word.
            continue
        disposed += 1
    return disposed


def forget_tokens(now: datetime) -> int:
    """Remove request tokens that no longer protect anything."""
    return RequestToken.objects.filter(created_at__lte=now - limits.REQUEST_TOKEN_LIFE).delete()[0]


def _lock(requester: Requester, hit_id: str) -> Hit:
    hits = Hit.objects.select_for_update(of=("self",)).select_related("hit_type")
    hit = hits.filter(requester=requester, hit_id=hit_id).first()
    if hit is None:
        raise HitDoesNotExist(hit_id)
    return hit


def _refuse_disposed(hit: Hit, now: datetime) -> None:
    if hit.disposed_at is not None:
        live = (status for status in lifecycle.HIT_STATUSES if status != lifecycle.DISPOSED)
        raise InvalidHitState(hit.status(now), ", ".join(live))


def _save(hit: Hit, now: datetime, *fields: str) -> None:
    hit.state = hit.status(now)
    hit.save(update_fields=[*fields, "state"])


def locked_by_pk(pk: int) -> Hit:
    """The HIT under lock, for verbs that start from an assignment. Needs a transaction."""
    return Hit.objects.select_for_update(of=("self",)).select_related("hit_type").get(pk=pk)


def save_counters(hit: Hit, now: datetime, counters: Iterable[str]) -> None:
    """Write counters of a locked HIT and the state that follows from them."""
    _save(hit, now, *counters)
