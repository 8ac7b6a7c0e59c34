"""Workers ask for qualifications, some by taking a test; requesters decide, or an answer key does.

Locks: the type, then the worker, then the worker's requests and qualifications.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction

from marketplace.models import QualificationRequest, QualificationTest, QualificationType, Requester, Worker
from marketplace.rules import limits
from marketplace.rules.answer_key import grade, parse_answer_key
from marketplace.rules.errors import DoesNotExist, InvalidState, RequestError
from marketplace.rules.questions.form_answers import form_answers_xml, read_form
from marketplace.rules.questions.form_parser import parse_form
from marketplace.rules.sentences import Sentence
from marketplace.verbs import messages, qualifications

_Status = QualificationRequest.Status


@dataclass(frozen=True)
class Outlook:
    """Whether a worker may ask now; if not, `again_at` is when, or None for never."""

    may_ask: bool
    again_at: datetime | None = None


def outlook(kind: QualificationType, last: QualificationRequest | None, now: datetime) -> Outlook:
    """What the worker's last request (None: never asked) means for the next one."""
    if last is None:
        return Outlook(True)
    if kind.retry_delay_seconds is None:
        return Outlook(False)
    again_at = last.attempt_ended_at + timedelta(seconds=kind.retry_delay_seconds)
    return Outlook(now >= again_at, again_at)


def ask(worker: Worker, type_id: str, now: datetime) -> QualificationRequest:
    """Ask for a qualification; an open request of the worker comes back as it is.

    Granted at once, waiting for the requester, or, with a test, begun: its time runs from now.
    Raises DoesNotExist, InvalidState, or a RequestError for who holds it already, or may not ask again yet, or ever.
    """
    with transaction.atomic():
        kind = _askable(type_id)
        _lock_worker(worker.pk)
        expire_overdue(now, worker)
        last = QualificationRequest.objects.filter(type=kind, worker=worker).order_by("-pk").first()
        if last is not None and last.status in QualificationRequest.OPEN:
            return last
        if kind.status != QualificationType.Status.ACTIVE:
            raise InvalidState("QualificationType", "Active", kind.status)
        _refuse_repetition(kind, worker, last, now)
        if kind.auto_granted:
            return _grant_at_once(kind, worker, now)
        if kind.test is not None:
            return _begin(kind, kind.test, worker, now)
        return QualificationRequest.objects.create(type=kind, worker=worker, asked_at=now, submitted_at=now)


def _askable(type_id: str) -> QualificationType:
    """The type, locked; system types are not given on request, so they do not exist for this purpose."""
    rows = QualificationType.objects.alive().filter(qualification_type_id=type_id, is_requestable=True)
    # Not joined with the test: a lock that had to wait would join the new row with what was there before.
    kind = rows.select_for_update(no_key=True).first()
    if kind is None:
        raise DoesNotExist("QualificationType", type_id)
    return kind


def _lock_worker(pk: int) -> Worker:
    return Worker.objects.select_for_update(no_key=True).get(pk=pk)


def _lock_type(pk: int) -> QualificationType | None:
    """None when it was deleted a moment ago."""
    return QualificationType.objects.alive().select_for_update(no_key=True).filter(pk=pk).first()


def _refuse_repetition(
    kind: QualificationType, worker: Worker, last: QualificationRequest | None, now: datetime
) -> None:
    held = kind.qualifications.filter(worker=worker, status="Granted")
    if kind.auto_granted and held.exists():
        raise RequestError(
            "You hold this qualification already; there is nothing to ask for.", "QualificationAlreadyExists"
        )
    next_time = outlook(kind, last, now)
    if next_time.may_ask:
        return
    if next_time.again_at is None:
        raise RequestError(
            "This qualification can be asked for once only, and you have asked for it before.",
            "QualificationTypeDoesNotAllowRetake",
        )
    raise RequestError(
        f"You can ask for this qualification again from {next_time.again_at:%Y-%m-%d %H:%M:%S} UTC on.",
        "QualificationTypeRetryDelayNotElapsed",
    )


def _grant_at_once(kind: QualificationType, worker: Worker, now: datetime) -> QualificationRequest:
    value = 1 if kind.auto_granted_value is None else kind.auto_granted_value
    request = QualificationRequest.objects.create(
        type=kind,
        worker=worker,
        status=_Status.GRANTED,
        asked_at=now,
        submitted_at=now,
        decided_at=now,
        integer_value=value,
    )
    qualifications.give(kind, worker, value, now)
    return request


def _begin(kind: QualificationType, test: QualificationTest, worker: Worker, now: datetime) -> QualificationRequest:
    return QualificationRequest.objects.create(
        type=kind,
        worker=worker,
        test=test,
        status=_Status.STARTED,
        asked_at=now,
        deadline=now + timedelta(seconds=test.duration_seconds),
    )


def answer_test(
    request: QualificationRequest, data: Mapping[str, Sequence[str]], now: datetime
) -> QualificationRequest:
    """Take a worker's answers, once; with an answer key the value follows at once.

    Raises FormFaults, which leaves the test open, or a RequestError (too late, or handed in before).
    """
    _refuse_closed(request, now)
    test = request.test
    if test is None:
        raise _attempt_refused(Sentence("This request has no test."))
    # Before the locks: the requester's own patterns take what time they take.
    answers = read_form(parse_form(test.questions, "Test"), data)
    with transaction.atomic():
        kind = _lock_type(request.type_id)
        worker = _lock_worker(request.worker_id)
        found = QualificationRequest.objects.select_for_update().filter(pk=request.pk).first()
        if kind is None or found is None:
            raise _attempt_refused(Sentence("This qualification was deleted, so the answers are no longer wanted."))
        _refuse_closed(found, now)
        found.answer = form_answers_xml(answers)
        found.submitted_at = now
        found.status = _Status.SUBMITTED
        found.save(update_fields=["answer", "submitted_at", "status"])
        if test.answer_key:
            value = grade(parse_answer_key(test.answer_key), answers)
            _decide(found, _Status.GRANTED, now, value)
            qualifications.give(kind, worker, value, now)
    return found


def _attempt_refused(why: str) -> RequestError:
    return RequestError(why, "InvalidQualificationRequestState")


def _refuse_closed(request: QualificationRequest, now: datetime) -> None:
    if request.status not in (_Status.STARTED, _Status.TIMED_OUT):
        raise _attempt_refused(
            Sentence("These answers were handed in before, or are no longer wanted. Nothing was changed.")
        )
    if request.status == _Status.TIMED_OUT or request.deadline is None or now > request.deadline:
        raise _attempt_refused(Sentence("The time for this test is over, so these answers could not be taken."))


def accept(requester: Requester, request_id: str, now: datetime, value: int = 1) -> QualificationRequest:
    """Grant what a worker asked for; a value from before is replaced."""
    with transaction.atomic():
        request = _lock(requester, request_id)
        _decide(request, _Status.GRANTED, now, value)
        kind = request.type
        qualifications.give(kind, request.worker, value, now)
        text = f"Your request for “{kind.name}” was granted; your value is {value:,}."
        messages.send(request.worker, sender=requester, subject=f"Qualification: {kind.name}", text=text, now=now)
    return request


def reject(requester: Requester, request_id: str, now: datetime, reason: str = "") -> QualificationRequest:
    """Decline a request; what the worker holds already stays as it is."""
    limits.check_length("Reason", reason, limits.FEEDBACK)
    with transaction.atomic():
        request = _lock(requester, request_id)
        request.reason = reason
        _decide(request, _Status.REJECTED, now)
        name = request.type.name
        text = f"Your request for “{name}” was declined."
        text += f" The requester gave this reason:\n\n{reason}" if reason.strip() else " No reason was given."
        messages.send(request.worker, sender=requester, subject=f"Qualification: {name}", text=text, now=now)
    return request


def _lock(requester: Requester, request_id: str) -> QualificationRequest:
    """A request that the requester may decide on, under lock, its worker first."""
    mine = QualificationRequest.objects.filter(
        request_id=request_id, type__requester=requester, type__deleted_at__isnull=True
    ).exclude(status__in=(_Status.STARTED, _Status.TIMED_OUT))
    found = mine.values_list("pk", "type_id", "worker_id").first()
    kind = _lock_type(found[1]) if found is not None else None
    if found is None or kind is None:
        raise DoesNotExist("QualificationRequest", request_id)
    worker = _lock_worker(found[2])
    request = mine.select_for_update(of=("self",)).filter(pk=found[0]).first()
    if request is None:
        raise DoesNotExist("QualificationRequest", request_id)
    request.type = kind
    request.worker = worker
    if request.status != _Status.SUBMITTED:
        raise InvalidState("QualificationRequest", "Submitted", request.status)
    return request


def _decide(request: QualificationRequest, status: str, now: datetime, value: int | None = None) -> None:
    request.status = status
    request.decided_at = now
    request.integer_value = value
    request.save(update_fields=["status", "decided_at", "integer_value", "reason"])


def expire_overdue(now: datetime, worker: Worker | None = None) -> int:
    """Close tests whose time has run out; of one worker, or of all."""
    overdue = QualificationRequest.objects.filter(status=_Status.STARTED, deadline__lt=now)
    if worker is not None:
        overdue = overdue.filter(worker=worker)
    with transaction.atomic():
        # Several rows, and whoever deletes their type holds others of them: nobody is waited for.
        skip_locked = connection.features.has_select_for_update_skip_locked
        keys = list(overdue.select_for_update(skip_locked=skip_locked).values_list("pk", flat=True))
        if not keys:
            return 0
        return QualificationRequest.objects.filter(pk__in=keys).update(status=_Status.TIMED_OUT)
