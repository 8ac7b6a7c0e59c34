"""Qualification types, who holds them, and whether a worker meets a HIT's requirements.

Locks: the type first, then the worker, then requests and qualifications. Whoever adds a row to a type
holds the type's lock, so that nothing is added to one that is just being removed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef

from marketplace.models import (
    Hit,
    HitType,
    Qualification,
    QualificationRequest,
    QualificationTest,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.rules import limits
from marketplace.rules import qualifications as rules
from marketplace.rules.answer_key import check_fits, parse_answer_key
from marketplace.rules.errors import DoesNotExist, InvalidState, ParameterValidationError, RequestError
from marketplace.rules.qualifications import Requirement
from marketplace.rules.questions.form_parser import parse_form
from marketplace.verbs import messages, workers

# Of one type, for IDs that no worker has: a requester could make rows without end.
MOST_UNKNOWN = 100_000


def install_system_types() -> None:
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


@dataclass(frozen=True)
class NewTest:
    """A test as the requester gives it; an empty `answer_key` means that the requester grades by hand."""

    questions: str
    seconds: int
    answer_key: str = ""


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
    test: NewTest | None = None,
) -> QualificationType:
    """A new type; raises QualificationTypeAlreadyExists when the requester has one of this name."""
    limits.check_length("Name", name, limits.QUALIFICATION_NAME, blank=False)
    limits.check_length("Description", description, limits.DESCRIPTION, blank=False)
    limits.check_length("Keywords", keywords, limits.KEYWORDS)
    _check_retry_delay(retry_delay_seconds)
    _check_automatic(auto_granted, test is not None)
    if test is not None:
        _check_test(test)
    try:
        with transaction.atomic():
            kind = QualificationType.objects.create(
                requester=requester,
                name=name,
                description=description,
                keywords=keywords,
                status=status,
                auto_granted=auto_granted,
                auto_granted_value=_automatic_value(auto_granted, auto_granted_value),
                retry_delay_seconds=retry_delay_seconds,
                created_at=now,
            )
            if test is not None:
                _set_test(kind, test, now)
            return kind
    except IntegrityError:
        existing = QualificationType.objects.filter(requester=requester, name=name).first()
        if existing is None:
            raise
        raise RequestError(
            "You have already created a QualificationType with this name. A QualificationType's name must be unique "
            f"among all of the QualificationTypes created by the same user. "
            f"Its ID is {existing.qualification_type_id}.",
            "QualificationTypeAlreadyExists",
        ) from None


def _check_retry_delay(seconds: int | None) -> None:
    if seconds is not None:
        limits.check_range("RetryDelayInSeconds", seconds, limits.RETRY_DELAY_SECONDS)


def _check_automatic(automatic: bool, tested: bool) -> None:
    if automatic and tested:
        raise ParameterValidationError("A QualificationType with a Test cannot be AutoGranted.")


def check_test_seconds(seconds: int) -> None:
    limits.check_range("TestDurationInSeconds", seconds, limits.TEST_SECONDS)


def _check_test(test: NewTest) -> None:
    """Everything about a test that can be wrong, before anything is written."""
    check_test_seconds(test.seconds)
    form = parse_form(test.questions, "Test")
    if test.answer_key:
        check_fits(parse_answer_key(test.answer_key), form)


def _set_test(kind: QualificationType, test: NewTest, now: datetime) -> None:
    kind.test = QualificationTest.objects.create(
        type=kind,
        questions=test.questions,
        answer_key=test.answer_key,
        duration_seconds=test.seconds,
        created_at=now,
    )
    kind.save(update_fields=["test"])


def update_type(
    requester: Requester,
    type_id: str,
    now: datetime,
    *,
    description: str | None = None,
    status: str | None = None,
    auto_granted: bool | None = None,
    auto_granted_value: int | None = None,
    retry_delay_seconds: int | None = None,
    test: NewTest | None = None,
    test_seconds: int | None = None,
    answer_key: str | None = None,
) -> QualificationType:
    """Change what is given and leave the rest; `test_seconds` and `answer_key` alone are for the test that is there.

    Requests that wait keep the test that was answered, and a test that somebody is taking goes on as it began.
    """
    if description is not None:
        limits.check_length("Description", description, limits.DESCRIPTION, blank=False)
    _check_retry_delay(retry_delay_seconds)
    with transaction.atomic():
        kind = owned_type(requester, type_id, lock=True)
        automatic = kind.auto_granted if auto_granted is None else auto_granted
        _check_automatic(automatic, test is not None or kind.test_id is not None)
        edition = test or _next_edition(kind, test_seconds, answer_key)
        if edition is not None:
            _check_test(edition)
            _set_test(kind, edition, now)
        kind.description = kind.description if description is None else description
        kind.status = kind.status if status is None else status
        if retry_delay_seconds is not None:
            kind.retry_delay_seconds = retry_delay_seconds
        kind.auto_granted = automatic
        kind.auto_granted_value = _automatic_value(automatic, auto_granted_value, kind.auto_granted_value)
        kind.is_requestable = kind.is_requestable or automatic or kind.test_id is not None
        changed = [
            "description",
            "status",
            "retry_delay_seconds",
            "auto_granted",
            "auto_granted_value",
            "is_requestable",
        ]
        kind.save(update_fields=changed)
    return kind


def _next_edition(kind: QualificationType, seconds: int | None, answer_key: str | None) -> NewTest | None:
    """The type's test with another duration or key; None when neither is given, or there is no test to change."""
    if seconds is not None:
        check_test_seconds(seconds)
    before = kind.test
    if before is None:
        if answer_key is not None:
            raise ParameterValidationError("AnswerKey needs a Test: this QualificationType has none.")
        return None
    if seconds is None and answer_key is None:
        return None
    return NewTest(
        before.questions,
        before.duration_seconds if seconds is None else seconds,
        before.answer_key if answer_key is None else answer_key,
    )


def _automatic_value(automatic: bool, given: int | None, before: int | None = None) -> int | None:
    """The value that is granted without asking; 1 when nobody has said. None when nothing is granted so."""
    if not automatic:
        return None
    return next((value for value in (given, before) if value is not None), 1)


def delete_type(requester: Requester, type_id: str, now: datetime) -> None:
    """Take a type out of use: it is gone for everybody, and open requests are rejected.

    While HITs require it, its holders keep it for them and its name stays taken; `finish_deletions` does
    the rest when the last of them is gone, at once when there is none.
    """
    with transaction.atomic():
        kind = owned_type(requester, type_id, lock=True)
        QualificationType.objects.filter(pk=kind.pk).update(deleted_at=now)
        QualificationRequest.objects.filter(type=kind, status__in=QualificationRequest.OPEN).update(
            status=QualificationRequest.Status.REJECTED, decided_at=now, reason="The qualification was deleted."
        )
    _finish_deletion(kind.pk)


def finish_deletions(limit: int = 50) -> int:
    """Remove deleted types that no HIT requires any longer; returns how many."""
    in_use = Hit.objects.filter(disposed_at__isnull=True, hit_type__required_types=OuterRef("pk"))
    done = QualificationType.objects.filter(~Exists(in_use), deleted_at__isnull=False)
    return sum(_finish_deletion(pk) for pk in done.values_list("pk", flat=True)[:limit])


def _finish_deletion(pk: int) -> int:
    if Hit.objects.filter(disposed_at__isnull=True, hit_type__required_types=pk).exists():
        return 0
    with transaction.atomic():
        row = QualificationType.objects.select_for_update().filter(pk=pk, deleted_at__isnull=False)
        if not list(row):
            return 0
        QualificationType.objects.filter(pk=pk).delete()
    return 1


def find_type(type_id: str) -> QualificationType:
    kind = QualificationType.objects.alive().filter(qualification_type_id=type_id).select_related("test").first()
    if kind is None:
        raise DoesNotExist("QualificationType", type_id)
    return kind


def owned_type(requester: Requester, type_id: str, lock: bool = False) -> QualificationType:
    """A type that this requester made; somebody else's does not exist for this purpose."""
    rows = QualificationType.objects.alive().filter(qualification_type_id=type_id, requester=requester)
    # Not joined with the test: a lock that had to wait would join the new row with what was there before.
    kind = rows.select_for_update(no_key=True).first() if lock else rows.first()
    if kind is None:
        raise DoesNotExist("QualificationType", type_id)
    return kind


def check_types_exist(requirements: Sequence[Requirement]) -> None:
    """What new HITs require must be there and in use.

    Raises DoesNotExist or InvalidState for the first that is not.
    """
    asked = [requirement["QualificationTypeId"] for requirement in requirements]
    own = [type_id for type_id in asked if type_id not in rules.SYSTEM_TYPES]
    if not own:
        return
    known = dict(
        QualificationType.objects.alive()
        .filter(qualification_type_id__in=own)
        .values_list("qualification_type_id", "status")
    )
    for type_id in own:
        if type_id not in known:
            raise DoesNotExist("QualificationType", type_id)
        if known[type_id] != QualificationType.Status.ACTIVE:
            raise InvalidState("QualificationType", "Active", known[type_id])


def note_requirements(hit_type: HitType) -> None:
    """Write down which qualification types a new HIT type requires, so that they can be found from the other end."""
    asked = {requirement["QualificationTypeId"] for requirement in hit_type.requirements}
    if not asked:
        return
    with transaction.atomic():
        types = QualificationType.objects.filter(qualification_type_id__in=asked).order_by("pk")
        locked = list(types.select_for_update(no_key=True))
        for kind in locked:
            _offer_or_not(kind, hit_type)
        hit_type.required_types.set(locked)


def _offer_or_not(kind: QualificationType, hit_type: HitType) -> None:
    """Take a type off the list of what workers can ask for while HITs only ask that it is not held, or are hidden from
    whoever does not hold it.

    The first keeps workers out: asking for it could only harm. The second is for people whom the requester chooses:
    nobody else shall know of the HITs. A test, or a grant at once, is an offer all the same.
    """
    if kind.requester_id is None or kind.test_id is not None or kind.auto_granted:
        return
    if rules.wants(hit_type.requirements, kind.qualification_type_id):
        offered = True
    elif kind.required_by.exists():
        return
    else:
        offered = False
    if offered != kind.is_requestable:
        kind.is_requestable = offered
        kind.save(update_fields=["is_requestable"])


def note_all_requirements() -> None:
    """Do so for HIT types from before this was written down; runs after every migrate."""
    for hit_type in HitType.objects.filter(required_types=None).exclude(requirements=[]).iterator():
        note_requirements(hit_type)


def grant(
    requester: Requester, type_id: str, worker_id: str, now: datetime, value: int = 1, notify: bool = False
) -> Qualification:
    """Give a worker a qualification, or a new value for one that the worker holds; requests stay as they are.

    A requester does not learn which ids there are: for one that nobody has it is kept, and held once somebody has it.
    """
    with transaction.atomic():
        kind = owned_type(requester, type_id, lock=True)
        who = workers.by_id(worker_id, lock=True)
        holders = Qualification.objects.filter(type=kind)
        # Whether or not this ID is one of them: the refusal does not say which IDs there are.
        if not holders.filter(**who).exists() and holders.exclude(unknown_id="").count() >= MOST_UNKNOWN:
            raise RequestError(
                f"This qualification is kept for {MOST_UNKNOWN:,} IDs that no worker has, which is the most. "
                "Make another qualification."
            )
        qualification = _write(kind, who, value, now)
        if notify and (worker := who["worker"]):
            text = f"You now hold “{kind.name}” with the value {value:,}.\n\n{kind.description}"
            messages.send(worker, sender=requester, subject=f"Qualification: {kind.name}", text=text, now=now)
    return qualification


def give(kind: QualificationType, worker: Worker, value: int, now: datetime) -> Qualification:
    """Write a qualification, type and worker being locked; a value from before is replaced."""
    return _write(kind, {"worker": worker}, value, now)


def _write(kind: QualificationType, who: Mapping[str, Any], value: int, now: datetime) -> Qualification:
    qualification, _ = Qualification.objects.update_or_create(
        type=kind,
        **who,
        defaults={
            "integer_value": value,
            "status": Qualification.Status.GRANTED,
            "granted_at": now,
            "reason": "",
        },
    )
    return qualification


def revoke(requester: Requester, type_id: str, worker_id: str, now: datetime, reason: str = "") -> None:
    """Take a qualification away; whoever holds an accepted HIT keeps it. A reason goes to the worker's inbox."""
    limits.check_length("Reason", reason, limits.FEEDBACK)
    with transaction.atomic():
        kind = owned_type(requester, type_id)
        who = workers.by_id(worker_id, lock=True)
        held = Qualification.objects.filter(type=kind, **who)
        granted = held.filter(status=Qualification.Status.GRANTED)
        if not granted.update(status=Qualification.Status.REVOKED, reason=reason):
            if held.exists():
                raise InvalidState("Qualification", "Granted", Qualification.Status.REVOKED)
            raise DoesNotExist("Qualification", f"{type_id} of worker {worker_id}")
        if reason.strip() and (worker := who["worker"]):
            text = f"You no longer hold “{kind.name}”. The requester gave this reason:\n\n{reason}"
            messages.send(worker, sender=requester, subject=f"Qualification ended: {kind.name}", text=text, now=now)


def score(requester: Requester, type_id: str, worker_id: str) -> Qualification:
    """The granted qualification of a worker; raises when it was never granted or is revoked."""
    kind = owned_type(requester, type_id)
    rows = Qualification.objects.select_related("type", "worker")
    held = rows.filter(type=kind, **workers.by_id(worker_id)).first()
    if held is None:
        raise DoesNotExist("Qualification", f"{type_id} of worker {worker_id}")
    if held.status != Qualification.Status.GRANTED:
        raise InvalidState("Qualification", "Granted", held.status)
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
