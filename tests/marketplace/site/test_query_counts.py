"""A page asks the database as often for many HITs as for few."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from marketplace.models import Hit, HitType, Requester, Worker
from marketplace.rules.qualifications import NUMBER_APPROVED
from marketplace.verbs import assignments, qualifications
from tests.marketplace.site.conftest import requirement

# Session, user and worker are three of each; the bar is one; the sweep is three.
PAGES = {
    "/?filtered=1": 10,
    "/mturk/preview?groupId={group}": 9,
    "/mturk/work/{held}/": 4,
    "/mturk/work/{done}/after/": 8,
    "/mturk/finished?groupId={group}": 8,
    "/worker/": 10,
    "/worker/earnings/": 10,
    "/worker/qualifications/": 6,
    "/worker/profile/": 4,
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
            for _ in range(size + 3):
                make_hit(group)
            (done,) = answer_hits(group, worker, 1)
            held = assignments.accept(group, worker, now)
        return {"group": group.hit_group_id, "done": done.pk, "held": held.pk}

    return make


@pytest.mark.parametrize("path", PAGES)
def test_the_number_of_queries_does_not_grow(
    client: Client, grow: Callable[[int], dict[str, Any]], django_assert_num_queries: Any, path: str
) -> None:
    for size in (1, 8):
        address = path.format(**grow(size))
        client.get(address)
        with django_assert_num_queries(PAGES[path]):
            assert client.get(address).status_code == 200


def test_accepting_costs_the_same_among_many(
    client: Client, grow: Callable[[int], dict[str, Any]], django_assert_num_queries: Any
) -> None:
    for size in (1, 8):
        made = grow(size)
        with django_assert_num_queries(14):
            assert "/mturk/work/" in client.post("/mturk/accept", {"groupId": made["group"]}).headers["Location"]
