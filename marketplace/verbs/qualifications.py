"""Qualification types, who holds them, and whether a worker meets a HIT's requirements."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import IntegrityError, transaction

from marketplace.models import Qualification, QualificationType, Requester, Worker
from marketplace.rules import limits
from marketplace.rules import qualifications as rules
from marketplace.rules.errors import (
    InvalidQualificationState,
    ParameterValidationError,
    QualificationDoesNotExist,
    QualificationTypeAlreadyExists,
    QualificationTypeDoesNotExist,
    WorkerDoesNotExist,
)
from marketplace.rules.qualifications import Requirement

_NAME = 200


def install_system_types(**kwargs: Any) -> None:
    """Create the rows of the system qualifications; runs after every migrate."""
    for kind in rules.SYSTEM_TYPES.values():
        QualificationType.objects.update_or_create(
            qualification_type_id=kind.type_id,
            defaults={"name": kind.name, "description": kind.description, "is_requestable": False},
            create_defaults={
                "name": kind.name,
                "description": kind.description,
                "is_requestable": False,
                "created_at": datetime(2017, 1, 17, tzinfo=UTC),
            },
        )


def create_type(
    requester: Requester,
    *,
    name: str,
    description: str,
    status: str,
    now: datetime,
    keywords: str = "",
    auto_granted: bool = False,
    auto_granted_value: int | None = None,
    retry_delay_seconds: int | None = None,
) -> QualificationType:
    """A new type; raises QualificationTypeAlreadyExists when the requester has one of this name."""
    limits.check_length("Name", name, _NAME, blank=False)
    limits.check_length("Description", description, limits.DESCRIPTION, blank=False)
    limits.check_length("Keywords", keywords, limits.KEYWORDS)
    if auto_granted_value is not None and not auto_granted:
        raise ParameterValidationError("AutoGrantedValue needs AutoGranted.")
    if retry_delay_seconds is not None and retry_delay_seconds < 0:
        raise ParameterValidationError("RetryDelayInSeconds is out of range: at least 0 is allowed.")
    try:
        with transaction.atomic():
            return QualificationType.objects.create(
                requester=requester,
                name=name,
                description=description,
                keywords=keywords,
                status=status,
                auto_granted=auto_granted,
                auto_granted_value=(1 if auto_granted_value is None else auto_granted_value) if auto_granted else None,
                retry_delay_seconds=retry_delay_seconds,
                created_at=now,
            )
    except IntegrityError:
        existing = QualificationType.objects.get(requester=requester, name=name)
        raise QualificationTypeAlreadyExists(existing.qualification_type_id) from None


def find_type(type_id: str) -> QualificationType:
    kind = QualificationType.objects.filter(qualification_type_id=type_id).first()
    if kind is None:
        raise QualificationTypeDoesNotExist(type_id)
    return kind


def owned_type(requester: Requester, type_id: str) -> QualificationType:
    """A type that this requester made; somebody else's does not exist for this purpose."""
    kind = QualificationType.objects.filter(qualification_type_id=type_id, requester=requester).first()
    if kind is None:
        raise QualificationTypeDoesNotExist(type_id)
    return kind


def check_types_exist(requirements: Sequence[Requirement]) -> None:
    """Raises QualificationTypeDoesNotExist for the first requirement on an unknown type."""
    asked = [requirement["QualificationTypeId"] for requirement in requirements]
    own = [type_id for type_id in asked if type_id not in rules.SYSTEM_TYPES]
    if not own:
        return
    known = set(
        QualificationType.objects.filter(qualification_type_id__in=own).values_list("qualification_type_id", flat=True)
    )
    for type_id in own:
        if type_id not in known:
            raise QualificationTypeDoesNotExist(type_id)


def grant(requester: Requester, type_id: str, worker_id: str, now: datetime, value: int = 1) -> Qualification:
    """Give a worker a qualification, or a new value for one that the worker holds."""
    kind = owned_type(requester, type_id)
    qualification, _ = Qualification.objects.update_or_create(
        type=kind,
        worker=_worker(worker_id),
        defaults={
            "integer_value": value,
            "status": Qualification.Status.GRANTED,
            "granted_at": now,
            "reason": "",
        },
    )
    return qualification


def revoke(requester: Requester, type_id: str, worker_id: str, reason: str = "") -> None:
    """Take a qualification away; whoever holds an accepted HIT keeps it."""
    limits.check_length("Reason", reason, limits.FEEDBACK)
    kind = owned_type(requester, type_id)
    held = Qualification.objects.filter(type=kind, worker=_worker(worker_id))
    granted = held.filter(status=Qualification.Status.GRANTED)
    if not granted.update(status=Qualification.Status.REVOKED, reason=reason):
        if held.exists():
            raise InvalidQualificationState(Qualification.Status.REVOKED)
        raise QualificationDoesNotExist(type_id, worker_id)


def score(requester: Requester, type_id: str, worker_id: str) -> Qualification:
    """The granted qualification of a worker; raises when it was never granted or is revoked."""
    kind = owned_type(requester, type_id)
    held = Qualification.objects.filter(type=kind, worker__worker_id=worker_id).select_related("type", "worker").first()
    if held is None:
        raise QualificationDoesNotExist(type_id, worker_id)
    if held.status != Qualification.Status.GRANTED:
        raise InvalidQualificationState(held.status)
    return held


def held_values(worker: Worker) -> dict[str, int]:
    """Type id to value of everything that requesters granted to the worker: one query for many checks."""
    granted = Qualification.objects.filter(worker=worker, status=Qualification.Status.GRANTED)
    return dict(granted.values_list("type__qualification_type_id", "integer_value"))


def failing(
    worker: Worker, requirements: Sequence[Requirement], action: str, held: Mapping[str, int] | None = None
) -> list[Requirement]:
    """The requirements that keep the worker from `action` (accept, preview or discover).

    Pass `held` (from held_values) when checking many HIT types.
    """
    guarding = [requirement for requirement in requirements if rules.guards(requirement, action)]
    if held is None and any(r["QualificationTypeId"] not in rules.SYSTEM_TYPES for r in guarding):
        held = held_values(worker)
    return [r for r in guarding if not rules.is_met(r, _standing(worker, r["QualificationTypeId"], held or {}))]


def _standing(worker: Worker, type_id: str, held: Mapping[str, int]) -> rules.Standing:
    return worker.system_standing(type_id) if type_id in rules.SYSTEM_TYPES else held.get(type_id)


def type_names(requirements: Sequence[Requirement]) -> dict[str, str]:
    """Names of the types that the requirements speak of; one query."""
    asked = {requirement["QualificationTypeId"] for requirement in requirements}
    return dict(
        QualificationType.objects.filter(qualification_type_id__in=asked).values_list("qualification_type_id", "name")
    )


def explain(requirement: Requirement, names: Mapping[str, str] | None = None) -> str:
    """The requirement as a sentence to a worker; pass `names` (from type_names) when explaining many."""
    type_id = requirement["QualificationTypeId"]
    if type_id in rules.SYSTEM_TYPES:
        return rules.explain(requirement)
    return rules.explain(requirement, (names or type_names([requirement])).get(type_id))


def _worker(worker_id: str) -> Worker:
    worker = Worker.objects.filter(worker_id=worker_id).first()
    if worker is None:
        raise WorkerDoesNotExist(worker_id)
    return worker
