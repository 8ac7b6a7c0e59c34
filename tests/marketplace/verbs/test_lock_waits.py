"""Who waits for a lock finds what it was waited for, whatever happened to it meanwhile."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction

from marketplace.models import Assignment, Concern, Hit, HitType, Requester, Worker
from marketplace.rules.errors import RequestError
from marketplace.verbs import assignments, concerns, hits

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]


def behind(first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    """What `second` comes to, which begins when `first` is done and not yet committed."""

    def run() -> Any:
        try:
            return second()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            first()
            waiting = pool.submit(run)
            time.sleep(0.3)
        return waiting.result()


def test_a_hit_that_moves_to_another_type_is_still_there(
    hit: Hit, hit_type: HitType, make_hit_type: Any, worker: Worker, requester: Requester, now: datetime
) -> None:
    """PostgreSQL joins the new row with what was joined before the wait, and finds nothing."""
    dearer = make_hit_type(reward=Decimal("0.60"))
    held = assignments.accept(hit_type, worker, now)

    def move(kind: HitType) -> Callable[[], Any]:
        return lambda: hits.change_type(requester, hit.hit_id, kind.hit_type_id, now)

    answer = behind(move(dearer), lambda: assignments.submit(held.assignment_id, {"answer": ["x"]}, now))
    assert (answer.status, answer.hit.hit_type) == (Assignment.Status.SUBMITTED, dearer)
    assert behind(move(hit_type), lambda: hits.add_assignments(requester, hit.hit_id, 1, now)).max_assignments == 2


def test_a_second_report_and_the_resolution_of_the_first_do_not_wait_for_each_other(
    hit: Hit, worker: Worker, now: datetime
) -> None:
    concern = concerns.report(worker, hit, "broken", "", now)

    def again() -> str:
        with pytest.raises(RequestError, match="reported this HIT before"):
            concerns.report(worker, hit, "broken", "", now)
        return "refused"

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            concerns.resolve(concern, "Thank you", now)
            waiting = pool.submit(lambda: (again(), connection.close())[0])
            time.sleep(0.3)
            hits.set_expiration(hit.requester, hit.hit_id, now, now)
            list(Worker.objects.select_for_update(no_key=True).filter(pk=worker.pk))
        assert waiting.result() == "refused"
    assert Concern.objects.get().resolution == "Thank you"
