"""Asking for qualifications, taking tests, and what requesters decide."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from marketplace.models import (
    Hit,
    HitType,
    Message,
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.rules.errors import (
    FormFaults,
    ParameterValidationError,
)
from marketplace.verbs import accounts, hits, qualification_requests, qualifications
from marketplace.verbs.qualifications import NewTest
from tests.marketplace.refusals import refused
from tests.marketplace.rules.test_answer_key import form, key, percent, question

HOUR = timedelta(hours=1)
GRADED = NewTest(form(move="CD", fruit="AB"), 3600, key(question("move", {"D": 1}), mapping=percent(1)))
MANUAL = NewTest(form(move="CD"), 3600)
RIGHT = {"move": ["D"], "fruit": ["A"]}


@pytest.fixture
def make_type(requester: Requester, now: datetime) -> Callable[..., QualificationType]:
    def make(**values: Any) -> QualificationType:
        defaults = {"name": "Chess", "description": "Knows the moves", "status": "Active", "now": now}
        return qualifications.create_type(requester, **(defaults | values))

    return make


def ask(kind: QualificationType, worker: Worker, now: datetime) -> QualificationRequest:
    return qualification_requests.ask(worker, kind.qualification_type_id, now)


def held(worker: Worker) -> int | None:
    return Qualification.objects.filter(worker=worker, status="Granted").values_list("integer_value", flat=True).first()


def test_an_answer_key_grades_at_once(make_type: Any, worker: Worker, now: datetime) -> None:
    kind = make_type(test=GRADED)
    begun = ask(kind, worker, now)
    assert (begun.status, begun.deadline, held(worker)) == ("Started", now + HOUR, None)
    done = qualification_requests.answer_test(begun, RIGHT, now + HOUR)
    assert (done.status, done.integer_value, held(worker)) == ("Granted", 100, 100)
    assert "<SelectionIdentifier>D</SelectionIdentifier>" in done.answer


def test_without_a_key_the_requester_grades(
    make_type: Any, worker: Worker, requester: Requester, now: datetime
) -> None:
    request = qualification_requests.answer_test(ask(make_type(test=MANUAL), worker, now), {"move": ["C"]}, now)
    assert (request.status, held(worker)) == ("Submitted", None)
    qualification_requests.accept(requester, request.request_id, now, 55)
    assert held(worker) == 55
    message = Message.objects.get(worker=worker)
    assert message.sender == requester and "55" in message.text


def test_coming_back_finds_the_same_test_and_deadline(make_type: Any, worker: Worker, now: datetime) -> None:
    kind = make_type(test=GRADED)
    begun = ask(kind, worker, now)
    again = ask(kind, worker, now + HOUR / 2)
    assert (again.pk, again.deadline) == (begun.pk, begun.deadline)


def test_answers_count_once_and_in_time(make_type: Any, worker: Worker, now: datetime) -> None:
    kind = make_type(test=MANUAL, retry_delay_seconds=60)
    begun = ask(kind, worker, now)
    with pytest.raises(FormFaults):
        qualification_requests.answer_test(begun, {"move": ["X"]}, now)
    with refused("InvalidQualificationRequestState", match="time for this test is over"):
        qualification_requests.answer_test(begun, {"move": ["C"]}, now + HOUR + timedelta(seconds=1))
    qualification_requests.answer_test(begun, {"move": ["C"]}, now + HOUR)
    with refused("InvalidQualificationRequestState", match="handed in before"):
        qualification_requests.answer_test(begun, {"move": ["D"]}, now)
    begun.refresh_from_db()
    assert ">C<" in begun.answer and ">D<" not in begun.answer


def test_a_test_left_lying_counts_as_an_attempt(make_type: Any, worker: Worker, now: datetime) -> None:
    begun = ask(make_type(test=GRADED, retry_delay_seconds=60), worker, now)
    later = now + HOUR + timedelta(seconds=30)
    assert qualification_requests.expire_overdue(later) == 1
    with refused("QualificationTypeRetryDelayNotElapsed") as refusal:
        ask(begun.type, worker, later)
    again_at = now + HOUR + timedelta(seconds=60)
    assert f"from {again_at:%Y-%m-%d %H:%M:%S} UTC on" in str(refusal.value)
    assert ask(begun.type, worker, again_at).pk != begun.pk


def test_a_later_attempt_replaces_the_value(make_type: Any, worker: Worker, now: datetime) -> None:
    kind = make_type(test=GRADED, retry_delay_seconds=60)
    for minutes, move, value in ((0, "D", 100), (2, "C", 0), (4, "D", 100)):
        moment = now + timedelta(minutes=minutes)
        qualification_requests.answer_test(ask(kind, worker, moment), {"move": [move]}, moment)
        assert held(worker) == value


def test_without_a_retry_delay_there_is_one_attempt(
    make_type: Any, worker: Worker, requester: Requester, now: datetime
) -> None:
    kind = make_type()
    request = ask(kind, worker, now)
    assert ask(kind, worker, now).pk == request.pk
    qualification_requests.reject(requester, request.request_id, now, "Not yet")
    with refused("QualificationTypeDoesNotAllowRetake"):
        ask(kind, worker, now + timedelta(days=9999))
    assert "Not yet" in Message.objects.get(worker=worker).text


def test_automatic_ones_are_granted_when_asked_for(make_type: Any, worker: Worker, now: datetime) -> None:
    kind = make_type(auto_granted=True, auto_granted_value=7, retry_delay_seconds=0)
    assert (ask(kind, worker, now).status, held(worker)) == ("Granted", 7)
    with refused("QualificationAlreadyExists"):
        ask(kind, worker, now)


def test_inactive_system_and_deleted_types_cannot_be_asked_for(
    make_type: Any, worker: Worker, requester: Requester, now: datetime
) -> None:
    with refused("InvalidQualificationTypeState"):
        ask(make_type(status="Inactive"), worker, now)
    gone = make_type(name="Gone")
    qualifications.delete_type(requester, gone.qualification_type_id, now)
    for type_id in ("000000000000000000L0", "3NOBODY", gone.qualification_type_id):
        with refused("QualificationTypeDoesNotExist"):
            qualification_requests.ask(worker, type_id, now)


def test_only_the_owner_decides_and_only_once(
    make_type: Any, worker: Worker, requester: Requester, now: datetime
) -> None:
    mallory = accounts.create_requester("Mallory", requester.funds, now).requester
    begun = ask(make_type(test=MANUAL), worker, now)
    with refused("QualificationRequestDoesNotExist"):
        qualification_requests.accept(requester, begun.request_id, now)
    qualification_requests.answer_test(begun, {"move": ["C"]}, now)
    with refused("QualificationRequestDoesNotExist"):
        qualification_requests.accept(mallory, begun.request_id, now)
    qualification_requests.accept(requester, begun.request_id, now)
    for decide in (qualification_requests.accept, qualification_requests.reject):
        with refused("InvalidQualificationRequestState", match="'Granted'"):
            decide(requester, begun.request_id, now)
    assert held(worker) == 1


def test_granting_directly_leaves_the_request_open(
    make_type: Any, worker: Worker, requester: Requester, now: datetime
) -> None:
    kind = make_type()
    request = ask(kind, worker, now)
    qualifications.grant(requester, kind.qualification_type_id, worker.worker_id, now, 90, notify=True)
    qualification_requests.reject(requester, request.request_id, now)
    assert held(worker) == 90
    assert Message.objects.filter(worker=worker).count() == 2


def test_the_time_of_a_running_test_stays_when_the_type_gets_another(
    make_type: Any, worker: Worker, requester: Requester, now: datetime
) -> None:
    kind = make_type(test=GRADED)
    begun = ask(kind, worker, now)
    updated = qualifications.update_type(requester, kind.qualification_type_id, now, test_seconds=60)
    assert updated.test == kind.tests.get(duration_seconds=60)
    assert (updated.test.questions, updated.test.answer_key) == (GRADED.questions, GRADED.answer_key)
    assert begun.deadline == now + timedelta(seconds=GRADED.seconds)
    again = ask(kind, worker, now)
    assert again.pk == begun.pk and again.deadline == begun.deadline
    assert qualification_requests.answer_test(begun, RIGHT, now + timedelta(seconds=90)).integer_value == 100


def test_an_update_leaves_running_tests_as_they_began(
    make_type: Any, worker: Worker, requester: Requester, now: datetime
) -> None:
    kind = make_type(test=GRADED)
    begun = ask(kind, worker, now)
    harder = NewTest(form(move="XY"), 60)
    updated = qualifications.update_type(
        requester, kind.qualification_type_id, now, test=harder, status="Inactive", retry_delay_seconds=5
    )
    assert updated.test is not None and updated.test.answer_key == ""
    assert qualification_requests.answer_test(begun, RIGHT, now + HOUR).integer_value == 100


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"auto_granted": True}, "cannot be AutoGranted"),
        ({"test_seconds": 0}, "out of range"),
        ({"answer_key": key(question("other", {"A": 1}))}, "does not ask"),
        ({"description": " "}, "blank"),
        ({"retry_delay_seconds": 10**9}, "out of range"),
        ({"test": NewTest(form(move="CD"), 0)}, "TestDurationInSeconds"),
        ({"test": NewTest("<x/>", 60)}, "error parsing"),
        ({"test": NewTest(form(move="AB"), 60, GRADED.answer_key)}, "which the Test does not offer"),
    ],
)
def test_a_refused_update_changes_nothing(
    make_type: Any, requester: Requester, now: datetime, change: Any, words: str
) -> None:
    kind = make_type(test=GRADED)
    before = QualificationType.objects.filter(pk=kind.pk).values().get()
    with pytest.raises(ParameterValidationError, match=words):
        qualifications.update_type(requester, kind.qualification_type_id, now, **change)
    assert QualificationType.objects.filter(pk=kind.pk).values().get() == before


def test_a_deleted_type_serves_its_hits_to_the_end(
    make_type: Any, make_hit_type: Any, make_hit: Any, worker: Worker, requester: Requester, now: datetime
) -> None:
    kind = make_type()
    need = {"QualificationTypeId": kind.qualification_type_id, "Comparator": "Exists", "ActionsGuarded": "Accept"}
    hit_type: HitType = make_hit_type(requirements=[need])
    hit: Hit = make_hit(hit_type)
    qualifications.grant(requester, kind.qualification_type_id, worker.worker_id, now)
    request = QualificationRequest.objects.create(type=kind, worker=worker, asked_at=now, submitted_at=now)
    qualifications.delete_type(requester, kind.qualification_type_id, now)
    request.refresh_from_db()
    assert request.status == "Rejected"
    assert qualifications.failing(worker, hit_type.requirements, "accept") == []
    assert qualifications.finish_deletions() == 0
    with refused("QualificationTypeAlreadyExists"):
        make_type()
    with refused("QualificationTypeDoesNotExist"):
        hits.change_type(requester, make_hit(make_hit_type(title="Free")).hit_id, hit_type.hit_type_id, now)
    hits.set_expiration(requester, hit.hit_id, now, now)
    hits.dispose(requester, hit.hit_id, now)
    assert qualifications.finish_deletions() == 1
    assert not Qualification.objects.exists() and not QualificationRequest.objects.exists()
    assert make_type().name == "Chess"


def test_new_hits_cannot_require_what_is_gone_or_inactive(make_type: Any, requester: Requester, now: datetime) -> None:
    kind = make_type(status="Inactive")
    need = [{"QualificationTypeId": kind.qualification_type_id, "Comparator": "Exists"}]
    with refused("InvalidQualificationTypeState"):
        qualifications.check_types_exist(need)
    qualifications.delete_type(requester, kind.qualification_type_id, now)
    with refused("QualificationTypeDoesNotExist"):
        qualifications.check_types_exist(need)


def test_hit_types_from_before_are_noted_once(make_type: Any, make_hit_type: Any) -> None:
    kind = make_type()
    asked = {"QualificationTypeId": kind.qualification_type_id, "Comparator": "Exists", "ActionsGuarded": "Accept"}
    hit_type = make_hit_type(requirements=[asked])
    assert list(hit_type.required_types.all()) == [kind]
    hit_type.required_types.clear()
    for _ in range(2):
        qualifications.note_all_requirements()
    assert list(kind.required_by.all()) == [hit_type]
