"""The fixture that other tests stand on: a marketplace of its own process."""

from decimal import Decimal

import pytest

from hits.mturk.errors import UnreachableError
from hits.mturk.gateway import HitTypeSpec
from hits.mturk.question import external_question
from hits.publishing.rules.marketplace_account import gateway
from tests.hits.market import Marketplace, VerbRefusedError

# Whether calls are made is asked of the database.
pytestmark = pytest.mark.django_db


def publish(answers: int = 1) -> str:
    spec = HitTypeSpec("Pick one", "Pick a name", "names", Decimal("0.10"), 600, 3600, ())
    hit_type_id = gateway().create_hit_type(spec)
    question = external_question("http://localhost:8000/task/x/")
    made = gateway().create_hit(
        hit_type_id, question=question, max_assignments=answers, lifetime_seconds=3600, token="t.1"
    )
    return made.hit_id


def test_each_test_has_an_account_of_its_own(market: Marketplace) -> None:
    publish()
    assert gateway().balance().available == Decimal("9999.88")


def test_a_worker_s_answer_comes_back_over_the_wire(market: Marketplace) -> None:
    hit_id = publish()
    worker_id = market.sign_up_worker()
    held = market.answer(worker_id, hit_id, start="3", end="7")
    found = gateway().assignments(hit_id)
    assert [(row.worker_id, row.answer) for row in found] == [(worker_id, {"start": "3", "end": "7"})]
    assert market.status(held)["status"] == "Submitted"
    assert market.let_time_pass(3601) >= 1
    assert market.status(held)["status"] == "Approved"


def test_it_says_why_a_worker_gets_nothing(market: Marketplace) -> None:
    hit_id = publish()
    market.answer(market.sign_up_worker(), hit_id, text="first")
    with pytest.raises(VerbRefusedError, match="NoHitsAvailable"):
        market.accept(market.sign_up_worker(), hit_id=hit_id)


def test_what_is_given_back_can_be_taken_by_another_worker(market: Marketplace) -> None:
    hit_id = publish()
    market.give_back(market.accept(market.sign_up_worker(), hit_id=hit_id))
    market.answer(market.sign_up_worker(), hit_id, text="second")
    assert market.hit(hit_id)["status"] == "Reviewable"


def test_it_keeps_everything_over_a_stop(market: Marketplace) -> None:
    hit_id = publish()
    market.stop()
    with pytest.raises(UnreachableError):
        gateway().balance()
    market.start()
    assert gateway().hit(hit_id).annotation == "t.1"


def test_who_looks_for_work_is_not_offered_what_was_ended(market: Marketplace) -> None:
    worker_id, left = market.sign_up_worker(), publish()
    market.end_open_hits()
    with pytest.raises(VerbRefusedError, match="NoHitsAvailable"):
        market.accept(worker_id, hit_id=left)
