"""Compensations at the real marketplace: one private HIT, paid once or given back, whatever gets lost."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from hits.models import BudgetExceededError, Compensation, LedgerEntry, Project
from hits.mturk.gateway import RemoteHit
from hits.payments.verbs import compensating
from hits.publishing.rules.marketplace_account import gateway
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.market import Marketplace, VerbRefusedError
from tests.hits.payments.payments_stage import money_of, spent
from tests.hits.strangers import STRANGER

pytestmark = pytest.mark.django_db
State = Compensation.State
NOTHING = Decimal("0.00")
PRICE = Decimal("1.50")


@pytest.fixture
def river(db: None) -> Project:
    return make.project(budget="100.00")


def order(project: Project, worker_id: str, key: str = "page-1") -> Compensation:
    reason = "The page broke <twice> & you wrote."
    return compensating.order(project, worker_id, Decimal("1.25"), reason, PRICE, key, None)


def offers() -> list[RemoteHit]:
    return list(gateway().all_hits())


def now(row: Compensation) -> Compensation:
    """As it stands, and due to be looked at."""
    Compensation.objects.filter(pk=row.pk).update(looked_at=None)
    row.refresh_from_db()
    return row


def age(row: Compensation, **by: float) -> None:
    """Let it have run out so long ago."""
    moment = timezone.now() - timedelta(**by)
    Compensation.objects.filter(pk=row.pk).update(expires_at=moment, looked_at=None)


def test_a_worker_gets_a_hit_that_nobody_else_sees_and_is_paid_for_it(market: Marketplace, river: Project) -> None:
    worker, stranger = market.sign_up_worker(), market.sign_up_worker()
    row = order(river, worker)
    assert money_of(river) == (PRICE, NOTHING)
    assert compensating.unfinished() == [river.pk]
    assert compensating.finish(river) == 1
    row.refresh_from_db()
    assert row.state == State.OFFERED and row.expires_at > timezone.now() + timedelta(days=13)  # type: ignore[operator]
    (offer,) = offers()
    assert (offer.hit_id, offer.annotation, offer.max_assignments) == (row.hit_id, row.token, 1)
    with pytest.raises(VerbRefusedError):
        market.accept(stranger, hit_id=row.hit_id)
    assert compensating.unfinished() == [], "it is looked at again a little later"
    market.answer(worker, row.hit_id, choice="yes")
    now(row)
    assert compensating.finish(river) == 1
    row.refresh_from_db()
    assert (row.state, row.error, bool(row.assignment_id)) == (State.PAID, "", True)
    assert money_of(river) == (NOTHING, PRICE) == (NOTHING, spent())
    entry = LedgerEntry.objects.get(kind=LedgerEntry.Kind.COMPENSATION)
    assert (entry.compensation, entry.fee) == (row, Decimal("0.25"))
    assert compensating.unfinished() == [] and compensating.finish(river) == 0


def test_an_unknown_worker_is_refused_with_a_sentence_and_the_money_released(
    market: Marketplace, river: Project, stranger_refused: None
) -> None:
    row = order(river, STRANGER)
    assert compensating.finish(river) == 1
    row.refresh_from_db()
    assert row.state == State.REFUSED and STRANGER in row.error
    assert money_of(river) == (NOTHING, NOTHING) and offers() == []


def test_every_step_may_crash_and_is_made_good(market: Marketplace, river: Project) -> None:
    """The steps are done once, their rows forgotten one by one from the last to the first, and done again."""
    worker = market.sign_up_worker()
    row = order(river, worker)
    compensating.finish(river)
    row.refresh_from_db()
    made = row.hit_id
    kept: list[dict[str, Any]] = [
        {"state": State.PLANNED, "looked_at": None},
        {"hit_id": None, "expires_at": None},
        {"hit_type_id": ""},
    ]
    for lost in kept:
        Compensation.objects.filter(pk=row.pk).update(state=State.PLANNED, looked_at=None)
        Compensation.objects.filter(pk=row.pk).update(**lost)
        assert compensating.finish(river) == 1
        row.refresh_from_db()
        assert (row.state, row.hit_id) == (State.OFFERED, made)
    river.qualifications.all().delete()
    Compensation.objects.filter(pk=row.pk).update(
        state=State.PLANNED, looked_at=None, hit_type_id="", hit_id=None, attempted_at=None
    )
    compensating.finish(river)
    row.refresh_from_db()
    assert [offer.hit_id for offer in offers()] == [made] == [row.hit_id]
    assert money_of(river) == (PRICE, NOTHING)


def test_a_hit_whose_token_has_died_is_found_by_its_annotation(market: Marketplace, river: Project) -> None:
    row = order(river, market.sign_up_worker())
    compensating.finish(river)
    market.do("forget_tokens")
    old = timezone.now() - timedelta(hours=25)
    Compensation.objects.update(state=State.PLANNED, looked_at=None, hit_id=None, expires_at=None, attempted_at=old)
    assert compensating.finish(river) == 1
    row.refresh_from_db()
    assert [offer.hit_id for offer in offers()] == [row.hit_id]


def test_what_nobody_takes_up_is_cleared_away_and_released(market: Marketplace, river: Project, settings: Any) -> None:
    settings.MTURK_SETTLE_SECONDS = 900
    row = order(river, market.sign_up_worker())
    compensating.finish(river)
    age(row, minutes=20)
    assert compensating.finish(river) == 0, "a submission may still come to light"
    age(row, minutes=26)
    assert compensating.finish(river) == 1
    row.refresh_from_db()
    assert row.state == State.EXPIRED
    assert offers() == []
    assert money_of(river) == (NOTHING, NOTHING) == (spent(), NOTHING)


def test_an_answer_in_the_last_moment_is_paid(market: Marketplace, river: Project) -> None:
    worker = market.sign_up_worker()
    row = order(river, worker)
    compensating.finish(river)
    row.refresh_from_db()
    held = market.accept(worker, hit_id=row.hit_id)
    compensating.withdraw(row, make.user("lead"))
    assert compensating.finish(river) == 0
    row.refresh_from_db()
    assert row.error == "Withdrawn by lead." and market.hit(row.hit_id)["status"] == "Unassignable"
    assert market.submit(held, choice="yes").status_code == 200
    age(row, hours=1)
    assert compensating.finish(river) == 1
    row.refresh_from_db()
    assert row.state == State.PAID
    assert money_of(river) == (NOTHING, PRICE)


def test_an_offer_that_is_not_made_yet_is_withdrawn_at_once(market: Marketplace, river: Project) -> None:
    row = order(river, market.sign_up_worker())
    compensating.withdraw(row, None)
    row.refresh_from_db()
    assert row.state == State.EXPIRED and money_of(river) == (NOTHING, NOTHING)
    assert compensating.finish(river) == 0 and offers() == []
    with refused("not_withdrawable"):
        compensating.withdraw(row, None)


def test_a_withdrawal_that_meets_the_offer_being_made_is_not_lost(market: Marketplace, river: Project) -> None:
    row = order(river, market.sign_up_worker())
    Compensation.objects.update(attempted_at=timezone.now())
    compensating.withdraw(row, None)
    assert compensating.finish(river) == 1
    row.refresh_from_db()
    assert row.state == State.OFFERED and compensating.is_over(row)
    now(row)
    compensating.finish(river)
    assert market.hit(row.hit_id)["status"] == "Reviewable"
    age(row, hours=1)
    assert compensating.finish(river) == 1
    assert offers() == [] and money_of(river) == (NOTHING, NOTHING)


def test_want_of_money_there_waits_and_then_goes_on(market: Marketplace, river: Project) -> None:
    river.account.budget = Decimal("100000.00")
    river.account.save()
    row = compensating.order(
        river, market.sign_up_worker(), Decimal("8000.00"), "Sorry.", Decimal("9600.00"), "page-1", None
    )  # fmt: skip
    # Another program of the same account spends meanwhile.
    other = order(make.project(budget="100000.00"), market.sign_up_worker(), "page-2")
    Compensation.objects.filter(pk=other.pk).update(amount=Decimal("900.00"))
    compensating.finish(other.project)
    assert compensating.finish(river) == 0
    row.refresh_from_db()
    assert row.state == State.PLANNED and "Add money" in row.error and row.attempted_at is None
    assert compensating.unfinished() == []
    other.refresh_from_db()
    gateway().set_expiration(other.hit_id or "", timezone.now())
    gateway().delete_hit(other.hit_id or "")
    now(row)
    assert compensating.finish(river) == 1
    row.refresh_from_db()
    assert (row.state, row.error) == (State.OFFERED, "")


def test_a_worker_has_one_open_at_a_time(market: Marketplace, river: Project) -> None:
    worker = market.sign_up_worker()
    first = order(river, worker)
    with refused("already_offered", match="withdraw it"):
        order(river, worker, "page-2")
    assert compensating.quote(river, worker, Decimal("1.25"), "Sorry.").problems
    assert money_of(river) == (PRICE, NOTHING)
    compensating.withdraw(first, None)
    assert order(river, worker, "page-3").pk != first.pk


def test_beyond_the_budget_nothing_is_written(market: Marketplace, river: Project) -> None:
    quote = compensating.quote(river, "AWORKER", Decimal("90.00"), "Sorry.")
    assert quote.total == Decimal("108.00") and "Raise the project's budget" in quote.problems[0]
    with pytest.raises(BudgetExceededError):
        compensating.order(river, "AWORKER", Decimal("90.00"), "Sorry.", quote.total, "page-1", None)
    assert not Compensation.objects.exists() and not LedgerEntry.objects.exists()


def test_the_letter_leads_to_the_hit(market: Marketplace, river: Project) -> None:
    row = order(river, market.sign_up_worker())
    assert compensating.task_address(row) == ""
    compensating.finish(river)
    row.refresh_from_db()
    assert f"{market.url}/mturk/preview?groupId={row.hit_type_id}" in compensating.letter(row)
    assert row.worker_id in compensating.letter(row)


def test_it_is_looked_at_ever_more_rarely_and_anew_at_its_end(river: Project) -> None:
    start = timezone.now()
    row = order(river, "AWORKER")
    row.created_at, row.expires_at, row.state = start, start + timedelta(days=14), State.OFFERED
    row.looked_at, looks = start, 0
    certain = compensating.certain_at(row.expires_at)
    while row.looked_at < certain:
        row.looked_at, looks = compensating._next_step(row), looks + 1
        if row.looked_at == row.expires_at:
            assert looks < 220
    assert row.looked_at == certain and looks < 240
