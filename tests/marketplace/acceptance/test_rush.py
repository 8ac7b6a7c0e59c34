"""Fifty people press the same button of a running marketplace at once."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from marketplace.models import Assignment, Hit, HitType, Requester
from marketplace.verbs import assignments
from tests.marketplace.conftest import QUESTION
from tests.marketplace.process import signed_in, stranger

pytestmark = pytest.mark.on_postgresql

RUSH = 50


def at_once(works: Sequence[Callable[[], Any]]) -> list[Any]:
    gate = threading.Barrier(len(works))

    def run(work: Callable[[], Any]) -> Any:
        gate.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


@pytest.mark.parametrize("free", [1, 4])
def test_as_many_win_as_there_are_assignments(
    market: str, make_worker: Any, make_hit: Any, hit_type: HitType, free: int
) -> None:
    make_hit(hit_type, max_assignments=free)
    form = {"groupId": hit_type.hit_group_id}
    browsers = [signed_in(market, make_worker(f"w{number}")) for number in range(RUSH)]
    answers = at_once([lambda b=b: b.post(f"{market}/mturk/accept", form, allow_redirects=False) for b in browsers])
    assert [answer.text for answer in answers if answer.status_code != 302] == []
    places = Counter(answer.headers["Location"].split("/")[2].split("?")[0] for answer in answers)
    assert places == {"work": free, "finished": RUSH - free}
    held = list(Assignment.objects.values_list("assignment_id", "worker_id"))
    assert len(held) == len({name for name, _ in held}) == len({worker for _, worker in held}) == free


def test_one_of_fifty_submits_is_taken(market: str, hit: Hit, hit_type: HitType, worker: Any, now: Any) -> None:
    held = assignments.accept(hit_type, worker, now)
    send = f"{market}/mturk/externalSubmit"
    answers = at_once(
        [lambda n=n: stranger(market).post(send, {"assignmentId": held.assignment_id, "n": n}) for n in range(RUSH)]
    )
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: RUSH - 1}
    hit.refresh_from_db()
    assert (hit.pending, hit.submitted) == (0, 1)


def test_one_token_publishes_one_hit_and_pays_one_bonus(
    market: str, requester: Requester, hit: Hit, hit_type: HitType, worker: Any, answered: Any
) -> None:
    done = answered(hit_type, worker)
    made = _tried(
        market,
        "create_hit_with_hit_type",
        HITTypeId=hit_type.hit_type_id,
        LifetimeInSeconds=60,
        Question=QUESTION,
        UniqueRequestToken="same",
    )
    assert made == {"": 1, "AWS.MechanicalTurk.HITAlreadyExists": RUSH - 1}
    assert Hit.objects.count() == 2
    paid = _tried(
        market,
        "send_bonus",
        WorkerId=worker.worker_id,
        AssignmentId=done.assignment_id,
        BonusAmount="1.00",
        Reason="r",
        UniqueRequestToken="same",
    )
    assert sorted(paid.values()) == [1, RUSH - 1]
    worker.refresh_from_db()
    requester.refresh_from_db()
    assert (worker.earned, requester.charged) == (Decimal("1.00"), Decimal("1.20"))


def _tried(market: str, name: str, **parameters: Any) -> Counter[str]:
    """How often each TurkErrorCode came when fifty clients call at once; '' counts the successes."""
    clients = [
        boto3.session.Session().client(
            "mturk",
            endpoint_url=market,
            region_name="us-east-1",
            aws_access_key_id="alice",
            aws_secret_access_key="secret-of-alice",
            config=Config(retries={"total_max_attempts": 1}),
        )
        for _ in range(5)
    ]

    def call(client: Any) -> str:
        try:
            getattr(client, name)(**parameters)
        except ClientError as error:
            return str(error.response.get("TurkErrorCode", error))
        return ""

    return Counter(at_once([lambda n=n: call(clients[n % len(clients)]) for n in range(RUSH)]))
