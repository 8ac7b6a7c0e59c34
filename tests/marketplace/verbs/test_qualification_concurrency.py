"""Many at once, each on a database connection of its own."""

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from marketplace.models import Message, Qualification, QualificationRequest, QualificationType, Requester, Worker
from marketplace.verbs import qualification_requests, qualifications
from marketplace.verbs.qualifications import NewTest
from tests.marketplace.rules.test_answer_key import form, key, question
from tests.marketplace.verbs.test_concurrency import CROWD, at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]


def make(requester: Requester, now: datetime, **values: Any) -> QualificationType:
    return qualifications.create_type(requester, name="Q", description="d", status="Active", now=now, **values)


def test_one_request_is_decided_once(requester: Requester, worker: Worker, now: datetime) -> None:
    kind = make(requester, now)
    asked = at_once([lambda: qualification_requests.ask(worker, kind.qualification_type_id, now)] * CROWD)
    assert len({request.pk for request in asked}) == QualificationRequest.objects.count() == 1
    request_id = asked[0].request_id
    decided = at_once(
        [lambda n=n: qualification_requests.accept(requester, request_id, now, n) for n in range(CROWD // 2)]
        + [lambda: qualification_requests.reject(requester, request_id, now, "no")] * (CROWD // 2)
    )
    won = [result for result in decided if isinstance(result, QualificationRequest)]
    assert len(won) == Message.objects.count() == 1
    values = list(Qualification.objects.values_list("integer_value", flat=True))
    assert values == ([won[0].integer_value] if won[0].status == "Granted" else [])


def test_answers_are_taken_once_while_the_requester_grants(requester: Requester, worker: Worker, now: datetime) -> None:
    kind = make(requester, now, test=NewTest(form(q="AB"), 60, key(question("q", {"A": 7, "B": 3}))))
    begun = qualification_requests.ask(worker, kind.qualification_type_id, now)
    results = at_once(
        [lambda n=n: qualification_requests.answer_test(begun, {"q": ["AB"[n % 2]]}, now) for n in range(CROWD // 2)]
        + [lambda: qualifications.grant(requester, kind.qualification_type_id, worker.worker_id, now, 50, notify=True)]
        * (CROWD // 2)
    )
    taken = [result for result in results if isinstance(result, QualificationRequest)]
    assert len(taken) == 1 and taken[0].integer_value in (3, 7)
    assert Qualification.objects.get().integer_value in (taken[0].integer_value, 50)


def test_a_deletion_leaves_nothing_behind(requester: Requester, worker: Worker, now: datetime) -> None:
    assert requester.funds > Decimal(0)
    kind = make(requester, now)
    type_id = kind.qualification_type_id
    at_once(
        [lambda: qualifications.grant(requester, type_id, worker.worker_id, now)] * 3
        + [lambda: qualification_requests.ask(worker, type_id, now)] * 3
        + [lambda: qualifications.delete_type(requester, type_id, now)] * 2
    )
    qualifications.finish_deletions()
    assert not QualificationType.objects.filter(pk=kind.pk).exists()
    assert not Qualification.objects.exists() and not QualificationRequest.objects.exists()
