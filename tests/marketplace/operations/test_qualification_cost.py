"""The lists about qualifications ask the database as often for many rows as for few."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from marketplace.models import Requester, Worker
from marketplace.operations import Call, find
from marketplace.verbs import qualification_requests, qualifications
from marketplace.verbs.qualifications import NewTest
from tests.marketplace.rules.test_answer_key import form

LISTS: dict[str, Callable[[str], dict[str, Any]]] = {
    "ListQualificationTypes": lambda type_id: {"MustBeRequestable": False, "Query": "type"},
    "ListQualificationRequests": lambda type_id: {"QualificationTypeId": type_id},
    "ListHITsForQualificationType": lambda type_id: {"QualificationTypeId": type_id},
    "ListWorkersWithQualificationType": lambda type_id: {"QualificationTypeId": type_id},
}


def test_lists_cost_the_same_for_few_and_many(
    requester: Requester, make_worker: Callable[..., Worker], make_hit_type: Any, make_hit: Any, now: datetime
) -> None:
    def grow(size: int) -> str:
        test = NewTest(form(q="AB"), 60)
        kinds = [
            qualifications.create_type(
                requester, name=f"Type {size}-{i}", description="d", status="Active", now=now, test=test
            )
            for i in range(size)
        ]
        type_id = kinds[0].qualification_type_id
        need = {"QualificationTypeId": type_id, "Comparator": "Exists", "ActionsGuarded": "Accept"}
        for number in range(size):
            worker = make_worker(f"w{size}-{number}")
            qualifications.grant(requester, type_id, worker.worker_id, now)
            begun = qualification_requests.ask(worker, type_id, now)
            qualification_requests.answer_test(begun, {"q": ["A"]}, now)
            make_hit(make_hit_type(title=f"T{size}-{number}", requirements=[need]))
        return type_id

    def cost(type_id: str, size: int) -> dict[str, int]:
        found = {}
        for name, parameters in LISTS.items():
            with CaptureQueriesContext(connection) as queries:
                page = find(name)(Call(name, requester, now), parameters(type_id) | {"MaxResults": 100})
            assert page["NumResults"] >= size
            found[name] = len(queries)
        return found

    few = cost(grow(1), 1)
    assert cost(grow(8), 8) == few
    assert max(few.values()) <= 6
