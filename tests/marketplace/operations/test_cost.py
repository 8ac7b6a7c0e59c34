"""What a call costs the database: few queries, and the same with many HITs as with few."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from marketplace import operations
from marketplace.models import Hit, HitType, Requester
from marketplace.verbs import assignments
from tests.marketplace.conftest import QUESTION

pytestmark = pytest.mark.on_postgresql


@pytest.fixture
def ask(requester: Requester) -> Callable[..., dict[str, Any]]:
    def make(name: str, **parameters: Any) -> dict[str, Any]:
        return operations.find(name)(operations.Call(name, requester, timezone.now()), parameters)

    return make


def queries(work: Callable[[], Any]) -> int:
    with CaptureQueriesContext(connection) as captured:
        work()
    return sum(not query["sql"].startswith(("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT")) for query in captured)


def fill(hit_type: HitType, count: int) -> None:
    """HITs straight into the table: three of four are open, one of four waits for review."""
    now = timezone.now()
    Hit.objects.bulk_create(
        [
            Hit(
                requester=hit_type.requester,
                hit_type=hit_type,
                question=QUESTION,
                max_assignments=1,
                created_at=now,
                expires_at=now + timedelta(hours=1),
                submitted=int(number % 4 == 0),
                fee="0.10",
                state="Reviewable" if number % 4 == 0 else "Assignable",
            )
            for number in range(count)
        ],
        batch_size=500,
    )


def test_publishing_a_hit_takes_five_queries(ask: Any, hit_type: HitType) -> None:
    """Six with the key's look-up."""
    values = {
        "HITTypeId": hit_type.hit_type_id,
        "LifetimeInSeconds": 60,
        "Question": QUESTION,
        "UniqueRequestToken": "t",
    }
    assert queries(lambda: ask("CreateHITWithHITType", **values)) == 5


def test_the_balance_takes_no_query_beyond_the_keys(ask: Any) -> None:
    assert queries(lambda: ask("GetAccountBalance")) == 0


@pytest.mark.parametrize("count", [20, 400])
def test_lists_and_single_hits_take_the_same_queries_whatever_the_number(
    ask: Any, hit_type: HitType, worker: Any, count: int
) -> None:
    fill(hit_type, count)
    hit_id = Hit.objects.earliest("pk").hit_id
    sweep = 3
    assert queries(lambda: ask("GetHIT", HITId=hit_id)) == sweep + 1
    assert queries(lambda: ask("ListHITs", MaxResults=100)) == sweep + 1
    assert queries(lambda: ask("ListReviewableHITs", MaxResults=100)) == sweep + 1
    assert queries(lambda: ask("ListReviewableHITs", HITTypeId=hit_type.hit_type_id)) == sweep + 2
    assert queries(lambda: ask("ListAssignmentsForHIT", HITId=hit_id)) == sweep + 2
    # What has become due is looked for only where no HIT is left.
    assert queries(lambda: assignments.accept(hit_type, worker, timezone.now())) == 6


@pytest.mark.parametrize(
    "rows",
    [
        lambda requester, kind: Hit.objects.filter(requester=requester).reviewable(timezone.now()).order_by("pk"),
        lambda requester, kind: Hit.objects.filter(hit_type=kind).assignable(timezone.now()).order_by("pk"),
        lambda requester, kind: Hit.objects.filter(state="Assignable", expires_at__lte=timezone.now()),
    ],
    ids=["reviewable", "assignable", "expired"],
)
def test_hit_lists_are_answered_from_an_index(requester: Requester, hit_type: HitType, rows: Any) -> None:
    fill(hit_type, 2000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    plan = rows(requester, hit_type)[:100].explain()
    assert "hit_" in plan and "SCAN marketplace_hit\n" not in plan and "Seq Scan" not in plan, plan
