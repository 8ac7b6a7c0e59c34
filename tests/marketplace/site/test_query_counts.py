"""A page asks the database as often for many HITs as for few."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from marketplace.models import Assignment, Hit, HitType, Payout, PayoutLine, Requester, Worker
from marketplace.rules.qualifications import NUMBER_APPROVED
from marketplace.verbs import assignments, bonuses, qualifications
from tests.marketplace.site.conftest import requirement

# The most that each page may ask. Session, user and worker are three; the bar is two; the sweep is three.
PAGES = {
    "/": 18,
    "/?filtered=1": 16,
    "/?filtered=1&sort=most&q=group": 16,
    "/mturk/preview?groupId={group}": 12,
    "/mturk/preview?hitId={hit}": 14,
    "/mturk/report?hitId={hit}": 14,
    "/mturk/work/{held}/": 5,
    "/mturk/work/{done}/after/": 10,
    "/mturk/finished?groupId={group}": 11,
    "/worker/": 15,
    "/worker/?state=rejected": 15,
    "/worker/return-all/": 7,
    "/worker/dispute/{done}/": 8,
    "/worker/earnings/": 12,
    "/worker/earnings/?view=bonuses": 14,
    "/worker/earnings/?view=payments": 14,
    "/worker/earnings/csv/": 6,
    "/worker/profile/": 8,
    "/worker/privacy/delete/": 5,
    "/worker/privacy/data/": 13,
}

# The same of one answer, and how many transactions wait for the database's one writer.
ANSWERING = {
    "accept": 12,
    "transactions of accept": 1,
    "work": 3,
    "transactions of work": 0,
    "submit": 8,
    "transactions of submit": 1,
}


@pytest.fixture
def grow(
    requester: Requester,
    worker: Worker,
    other_worker: Worker,
    make_hit_type: Callable[..., HitType],
    make_hit: Callable[..., Hit],
    answer_hits: Callable[..., Any],
    now: datetime,
) -> Callable[[int], dict[str, Any]]:
    """Make `size` of everything a page can show: groups, HITs, answers, HITs in hand, qualifications."""

    def make(size: int) -> dict[str, Any]:
        for number in range(size):
            kind = qualifications.create_type(
                requester, name=f"Type {size}-{number}", description="x", status="Active", now=now
            )
            qualifications.grant(requester, kind.qualification_type_id, worker.worker_id, now)
            requirements = [
                requirement(type_id=kind.qualification_type_id),
                requirement("GreaterThanOrEqualTo", type_id=NUMBER_APPROVED, IntegerValues=[0]),
            ]
            group = make_hit_type(title=f"Group {size}-{number}", requirements=requirements)
            for _ in range(size + 4):
                make_hit(group)
            (done,) = answer_hits(group, worker, 1)
            held = assignments.accept(group, worker, now)
            assignments.reject(requester, answer_hits(group, worker, 1)[0].assignment_id, now, "No")
            bonuses.pay(requester, worker.worker_id, done.assignment_id, Decimal("0.10"), "Well done", now)
        _pay(worker, size, now)
        return {"group": group.hit_group_id, "done": done.pk, "held": held.pk, "hit": Hit.objects.latest("pk").hit_id}

    return make


def _pay(worker: Worker, count: int, now: datetime) -> None:
    for _ in range(count):
        run = Payout.objects.create(state="paid", workers=1, total="0.01", created_at=now, paid_at=now)
        PayoutLine.objects.create(payout=run, worker=worker, amount=Decimal("0.01"))


def asked(work: Callable[[], Any]) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        work()
    return [query["sql"] for query in captured.captured_queries]


def read(client: Client, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 200, address
    if answer.streaming:
        list(answer)


def counts(client: Client, made: dict[str, Any]) -> dict[str, int]:
    """How often each page asks when it is opened for the second time."""
    found = {}
    for path in PAGES:
        address = path.format(**made)
        # What is kept for some seconds shall not run out between the two.
        cache.clear()
        read(client, address)
        found[path] = len(asked(lambda address=address: read(client, address)))  # type: ignore[misc]
    return found


def test_the_number_of_queries_does_not_grow(client: Client, grow: Callable[[int], dict[str, Any]]) -> None:
    few, many = (counts(client, grow(size)) for size in (1, 7))
    assert few == many
    assert {path: count for path, count in many.items() if count > PAGES[path]} == {}


def test_an_answer_costs_the_same_among_many(client: Client, grow: Callable[[int], dict[str, Any]]) -> None:
    """The next HIT is an accept and the page that it leads to. Transactions count with their beginning and end."""
    few, many = (answering(client, grow(size)["group"]) for size in (1, 7))
    assert few == many
    assert {step: count for step, count in many.items() if count > ANSWERING[step]} == {}


def answering(client: Client, group: str) -> dict[str, int]:
    found: dict[str, int] = {}

    def ask(step: str, work: Callable[[], Any], status: int) -> Any:
        answers: list[Any] = []
        queries = asked(lambda: answers.append(work()))
        found[step], found[f"transactions of {step}"] = len(queries), sum(one.startswith("BEGIN") for one in queries)
        assert answers[0].status_code == status, step
        return answers[0]

    work = ask("accept", lambda: client.post("/mturk/accept", {"groupId": group}), 302)["Location"]
    ask("work", lambda: client.get(work), 200)
    held = Assignment.objects.filter(status="Accepted").latest("pk")
    fields = {"assignmentId": held.assignment_id, "workerId": held.worker.worker_id, "answer": "yes"}
    ask("submit", lambda: Client().post("/mturk/externalSubmit", fields), 200)
    return found
