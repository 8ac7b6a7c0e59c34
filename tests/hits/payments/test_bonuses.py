"""Bonuses at the real marketplace: each that is ordered is paid once, whatever gets lost."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from hits.formats.inputs.payments import AskedBonus
from hits.models import Assignment, Bonus, BonusOrder, BudgetExceededError, LedgerEntry, Project
from hits.mturk.errors import NotYetError
from hits.mturk.gateway import Gateway
from hits.payments.rules.commitments import BalanceTooLowError
from hits.payments.verbs import bonuses, ordering_bonuses
from hits.publishing.rules import marketplace_account
from hits.publishing.rules.marketplace_account import gateway
from tests.hits import factories as make
from tests.hits.doing import do, refused
from tests.hits.market import Marketplace
from tests.hits.payments.payments_stage import answered, money_of, spent

pytestmark = pytest.mark.django_db
State = Bonus.State
NOTHING = Decimal("0.00")


@pytest.fixture
def river(db: None) -> Project:
    return make.project(budget="100.00")


def order(project: Project, *asked: tuple[Assignment, str], reason: str = "Well done.", key: str = "page-1") -> Any:
    new = ordering_bonuses.check(
        project, [AskedBonus(None, row.assignment_id, amount, reason) for row, amount in asked]
    )
    return ordering_bonuses.order(project, new, ordering_bonuses.quote(project, new).total, key, None)


def paid_there(row: Assignment) -> list[Decimal]:
    return [found.amount for found in gateway().bonuses(assignment_id=row.assignment_id)]


def lose_the_reply(row: Bonus) -> None:
    """The call is carried out, and its answer never arrives: the row stays as it was before the call."""
    gateway().send_bonus(
        row.worker.worker_id, row.assignment.assignment_id, row.amount, row.reason, row.token
    )  # fmt: skip
    Bonus.objects.filter(pk=row.pk).update(state=State.SENT, attempted_at=timezone.now())


def forget_the_token(market: Marketplace, row: Bonus) -> None:
    """As 24 hours later: the marketplace knows the payment, and the token no more."""
    market.do("forget_tokens")
    Bonus.objects.filter(pk=row.pk).update(attempted_at=timezone.now() - timedelta(hours=25))


def test_a_bonus_is_reserved_then_paid_with_its_fee(market: Marketplace, river: Project) -> None:
    (answer,) = answered(river, market)
    before = spent()
    order(river, (answer, "1.00"))
    assert money_of(river) == (Decimal("1.20"), NOTHING)
    assert bonuses.unfinished() == [river.pk]
    assert bonuses.send(river) == 1
    row = Bonus.objects.get()
    assert (row.state, row.error, row.paid_at is not None) == (State.PAID, "", True)
    assert paid_there(answer) == [Decimal("1.00")]
    assert money_of(river) == (NOTHING, Decimal("1.20")) == (NOTHING, spent() - before)
    entry = LedgerEntry.objects.get(kind=LedgerEntry.Kind.BONUS)
    assert (entry.bonus, entry.fee, entry.stage) == (row, Decimal("0.20"), answer.stage)
    assert bonuses.unfinished() == [] and bonuses.send(river) == 0


def test_fees_are_those_of_the_marketplace_to_the_cent(market: Marketplace, river: Project) -> None:
    (answer,) = answered(river, market)
    for number, amount in enumerate(["0.01", "0.05", "0.12", "1.00", "33.33"]):
        before, (_, paid) = spent(), money_of(river)
        order(river, (answer, amount), key=f"page-{number}")
        bonuses.send(river)
        assert money_of(river)[1] - paid == spent() - before


def test_a_crash_before_the_call_pays_once_afterwards(market: Marketplace, river: Project) -> None:
    (answer,) = answered(river, market)
    order(river, (answer, "0.50"))
    Bonus.objects.update(state=State.SENT, attempted_at=timezone.now())
    assert bonuses.send(river) == 1
    assert paid_there(answer) == [Decimal("0.50")]


def test_a_reply_that_was_lost_is_found_and_not_paid_again(market: Marketplace, river: Project) -> None:
    (answer,) = answered(river, market)
    order(river, (answer, "0.50"))
    lose_the_reply(Bonus.objects.get())
    assert bonuses.send(river) == 1
    assert paid_there(answer) == [Decimal("0.50")]
    assert money_of(river) == (NOTHING, Decimal("0.60"))


def test_a_token_that_has_died_is_no_second_payment(market: Marketplace, river: Project) -> None:
    (answer,) = answered(river, market)
    order(river, (answer, "0.50"))
    lose_the_reply(Bonus.objects.get())
    forget_the_token(market, Bonus.objects.get())
    assert bonuses.send(river) == 1
    assert paid_there(answer) == [Decimal("0.50")]


def test_twins_are_counted_one_by_one(market: Marketplace, river: Project) -> None:
    """Two orders of the same bonus are two payments, also when the second one's reply is lost for a day."""
    (answer,) = answered(river, market)
    order(river, (answer, "0.50"), key="page-1")
    bonuses.send(river)
    order(river, (answer, "0.50"), key="page-2")
    twin = Bonus.objects.get(state=State.PLANNED)
    Bonus.objects.filter(pk=twin.pk).update(state=State.SENT, attempted_at=timezone.now() - timedelta(hours=25))
    assert bonuses.send(river) == 1
    assert paid_there(answer) == [Decimal("0.50")] * 2
    order(river, (answer, "0.50"), key="page-3")
    lose_the_reply(Bonus.objects.get(state=State.PLANNED))
    forget_the_token(market, Bonus.objects.get(state=State.SENT))
    assert bonuses.send(river) == 1
    assert paid_there(answer) == [Decimal("0.50")] * 3


def test_bonuses_of_one_answer_are_paid_one_after_another_as_ordered(market: Marketplace, river: Project) -> None:
    (answer,) = answered(river, market)
    for page, amount in enumerate(("0.50", "0.30", "0.40")):
        order(river, (answer, amount), key=f"page-{page}")
    assert bonuses.send(river) == 3
    assert [str(row.amount) for row in Bonus.objects.order_by("paid_at")] == ["0.50", "0.30", "0.40"]


def test_a_reply_that_reads_do_not_show_yet_is_saved_by_the_token(
    market: Marketplace, river: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (answer,) = answered(river, market)
    order(river, (answer, "0.50"))
    lose_the_reply(Bonus.objects.get())
    with monkeypatch.context() as stale:
        stale.setattr(Gateway, "bonuses", lambda *_, **__: [])
        assert bonuses.send(river) == 1
    assert paid_there(answer) == [Decimal("0.50")]
    assert Bonus.objects.get().state == State.PAID


def test_a_refusal_releases_the_money_and_says_why(market: Marketplace, river: Project) -> None:
    (answer,) = answered(river, market)
    order(river, (answer, "0.50"))
    answer.worker.worker_id = "ANOBODY00000001"
    answer.worker.save()
    assert bonuses.send(river) == 1
    row = Bonus.objects.get()
    assert row.state == State.REFUSED and "ANOBODY00000001" in row.error
    assert money_of(river) == (NOTHING, NOTHING)


def test_an_answer_that_is_not_shown_yet_is_waited_for_and_not_for_ever(market: Marketplace, river: Project) -> None:
    (answer,) = answered(river, market)
    order(river, (answer, "0.50"))
    real = answer.assignment_id
    Assignment.objects.update(assignment_id="3NOTYETTHERE")
    assert bonuses.send(river) == 0
    row = Bonus.objects.get()
    assert row.state == State.PLANNED and row.not_before is not None and "does not show" in row.error
    assert bonuses.unfinished() == [] and bonuses.send(river) == 0
    Assignment.objects.update(assignment_id=real)
    Bonus.objects.update(not_before=timezone.now())
    assert bonuses.send(river) == 1 and Bonus.objects.get().state == State.PAID
    order(river, (answer, "0.70"), key="page-2")
    Assignment.objects.update(assignment_id="3NEVERTHERE")
    Bonus.objects.filter(state=State.PLANNED).update(attempted_at=timezone.now() - timedelta(minutes=16))
    assert bonuses.send(river) == 1
    assert Bonus.objects.filter(state=State.REFUSED).count() == 1


def test_a_lagging_look_keeps_the_outcome_unknown(
    market: Marketplace, river: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (answer,) = answered(river, market)
    order(river, (answer, "0.50"))
    lose_the_reply(Bonus.objects.get())

    def lagging(*_: object, **__: object) -> list[Any]:
        raise NotYetError("The marketplace refused: status of: null")

    with monkeypatch.context() as stale:
        stale.setattr(Gateway, "bonuses", lagging)
        assert bonuses.send(river) == 0
    assert Bonus.objects.get().state == State.SENT
    Bonus.objects.update(not_before=None)
    assert bonuses.send(river) == 1
    assert paid_there(answer) == [Decimal("0.50")]


def test_want_of_money_there_waits_and_is_no_refusal(market: Marketplace, river: Project) -> None:
    river.account.budget = Decimal("100000.00")
    river.account.save()
    first, second = answered(river, market, 2)
    order(river, (first, "8000.00"), (second, "0.50"))
    # Another program of the same account spends meanwhile.
    gateway().send_bonus(second.worker.worker_id, second.assignment_id, Decimal("1000.00"), "Ours.", "other-token")
    assert bonuses.send(river) == 1
    row = Bonus.objects.get(assignment=first)
    assert row.state == State.PLANNED and "Add money" in row.error
    assert Bonus.objects.get(assignment=second).error == "", "what is paid waits for nothing"
    assert paid_there(first) == []
    assert money_of(river) == (Decimal("9600.00"), Decimal("0.60"))
    assert bonuses.unfinished() == []


def test_an_order_beyond_the_balance_is_refused(market: Marketplace, river: Project) -> None:
    river.account.budget = Decimal("100000.00")
    river.account.save()
    (answer,) = answered(river, market)
    order(river, (answer, "8000.00"))
    with pytest.raises(BalanceTooLowError, match=r"\$9,600\.00 is planned"):
        do("bonuses.pay", answer, amount="400.00", reason="Clear.", total="480.00", confirmation="page-002")
    assert BonusOrder.objects.count() == 1


def test_a_silent_marketplace_stops_the_run_and_the_next_one_goes_on(
    market: Marketplace, river: Project, settings: Any
) -> None:
    (answer,) = answered(river, market)
    order(river, (answer, "0.50"))
    there, settings.MTURK_ENDPOINT_URL = settings.MTURK_ENDPOINT_URL, "http://127.0.0.1:1"
    marketplace_account.gateway.cache_clear()
    assert bonuses.send(river) == 0
    row = Bonus.objects.get()
    assert row.state == State.SENT and "goes on by itself" in row.error
    assert bonuses.unfinished() == [river.pk]
    settings.MTURK_ENDPOINT_URL = there
    marketplace_account.gateway.cache_clear()
    assert bonuses.send(river) == 1
    assert paid_there(answer) == [Decimal("0.50")]


def test_an_order_beyond_the_budget_leaves_nothing(market: Marketplace, river: Project) -> None:
    (answer,) = answered(river, market)
    new = ordering_bonuses.check(river, [AskedBonus(None, answer.assignment_id, "84.00", "Well done.")])
    quote = ordering_bonuses.quote(river, new)
    assert quote.total == Decimal("100.80") and "Raise the project's budget" in quote.problems[0]
    with pytest.raises(BudgetExceededError):
        ordering_bonuses.order(river, new, quote.total, "page-1", None)
    assert not BonusOrder.objects.exists() and not Bonus.objects.exists() and not LedgerEntry.objects.exists()


def test_a_price_that_is_not_the_one_confirmed_orders_nothing(market: Marketplace, river: Project) -> None:
    (answer,) = answered(river, market)
    new = ordering_bonuses.check(river, [AskedBonus(None, answer.assignment_id, "1.00", "Well done.")])
    with refused("order_changed", match=r"\$1\.20"):
        ordering_bonuses.order(river, new, Decimal("1.10"), "page-1", None)
    assert not BonusOrder.objects.exists()


def test_ordering_the_same_again_is_warned_of(market: Marketplace, river: Project) -> None:
    (answer,) = answered(river, market)
    new = ordering_bonuses.check(river, [AskedBonus(None, answer.assignment_id, "1.00", "Well done.")])
    assert ordering_bonuses.quote(river, new, "d" * 64).warnings == []
    ordering_bonuses.order(river, new, Decimal("1.20"), "page-1", None, "march.csv", "d" * 64)
    said = " ".join(ordering_bonuses.quote(river, new, "d" * 64).warnings)
    assert "This very file was ordered before: march.csv" in said and "1 line has the same answer" in said


def test_a_payment_that_is_found_there_is_noted_with_its_own_time(market: Marketplace, river: Project) -> None:
    (answer,) = answered(river, market)
    order(river, (answer, "0.50"))
    lose_the_reply(Bonus.objects.get())
    (there,) = gateway().bonuses(assignment_id=answer.assignment_id)
    assert bonuses.send(river) == 1
    row = Bonus.objects.get()
    assert (row.state, row.paid_at, row.error) == (State.PAID, there.granted_at, "")


def test_the_later_of_two_that_look_the_same_has_the_later_time(market: Marketplace, river: Project) -> None:
    (answer,) = answered(river, market)
    for page in ("page-1", "page-2"):
        order(river, (answer, "0.50"), key=page)
        lose_the_reply(Bonus.objects.latest("pk"))
        if page == "page-1":
            assert bonuses.send(river) == 1
    assert bonuses.send(river) == 1
    first, second = Bonus.objects.order_by("pk")
    times = sorted(one.granted_at for one in gateway().bonuses(assignment_id=answer.assignment_id))
    assert [first.paid_at, second.paid_at] == times and len(times) == 2


def test_another_payment_of_the_same_answer_is_not_taken_for_it(market: Marketplace, river: Project) -> None:
    (answer,) = answered(river, market)
    for amount, reason in (("0.50", "Clear."), ("0.60", "Well done.")):
        gateway().send_bonus(answer.worker.worker_id, answer.assignment_id, Decimal(amount), reason, f"t-{amount}")
    order(river, (answer, "0.50"))
    Bonus.objects.update(state=State.SENT, attempted_at=timezone.now())
    assert bonuses.send(river) == 1
    assert sorted(paid_there(answer)) == [Decimal("0.50"), Decimal("0.50"), Decimal("0.60")]


def test_one_that_was_refused_for_want_of_money_lets_all_that_were_not_sent_wait_a_minute(
    market: Marketplace, river: Project
) -> None:
    river.account.budget = Decimal("100000.00")
    river.account.save()
    first, second = answered(river, market, 2)
    order(river, (first, "8000.00"))
    order(river, (second, "0.40"), key="page-2")
    planned = Bonus.objects.get(assignment=second)
    Bonus.objects.filter(pk=planned.pk).update(not_before=timezone.now() + timedelta(seconds=30))
    gateway().send_bonus(second.worker.worker_id, second.assignment_id, Decimal("1000.00"), "Ours.", "other-token")
    before = timezone.now()
    assert bonuses.send(river) == 0
    for row in Bonus.objects.all():
        assert (row.state, row.attempted_at) == (State.PLANNED, None) and "Add money" in row.error
        assert timedelta(seconds=60) <= row.not_before - before < timedelta(seconds=120)


def test_an_unknown_one_stays_unknown_when_there_is_no_money_for_it(market: Marketplace, river: Project) -> None:
    river.account.budget = Decimal("100000.00")
    river.account.save()
    (answer,) = answered(river, market)
    order(river, (answer, "8000.00"))
    sent_at = timezone.now() - timedelta(hours=1)
    Bonus.objects.update(state=State.SENT, attempted_at=sent_at)
    gateway().send_bonus(answer.worker.worker_id, answer.assignment_id, Decimal("1000.00"), "Ours.", "other-token")
    assert bonuses.send(river) == 0
    row = Bonus.objects.get()
    assert (row.state, row.attempted_at) == (State.SENT, sent_at) and row.not_before > timezone.now()


@pytest.mark.parametrize(("minutes", "state"), [(14, State.PLANNED), (15, State.REFUSED)])
def test_an_answer_that_is_not_shown_is_waited_for_a_quarter_of_an_hour(
    market: Marketplace, river: Project, minutes: int, state: str
) -> None:
    (answer,) = answered(river, market)
    order(river, (answer, "0.50"))
    Assignment.objects.update(assignment_id="3NOTYETTHERE")
    Bonus.objects.update(attempted_at=timezone.now() - timedelta(minutes=minutes))
    assert bonuses.send(river) == (state == State.REFUSED)
    row = Bonus.objects.get()
    assert row.state == state
    if state == State.PLANNED:
        # It has waited so long that the longest wait is due.
        assert timedelta(minutes=3) < row.not_before - timezone.now() <= timedelta(minutes=4)


def test_the_bonuses_of_one_project_are_paid_and_those_of_others_wait(market: Marketplace, river: Project) -> None:
    others = [make.project(budget="100.00") for _ in range(2)]
    for project in reversed([river, *others]):
        order(project, (answered(project, market)[0], "0.50"), key=f"page-{project.pk}")
    Bonus.objects.create(**_twin_of(Bonus.objects.filter(project=others[0]).get()))
    assert bonuses.unfinished() == [river.pk, *(project.pk for project in others)]
    assert bonuses.send(river) == 1
    assert bonuses.unfinished() == [project.pk for project in others]
    assert Bonus.objects.filter(state=State.PLANNED, attempted_at=None).count() == 3


def _twin_of(row: Bonus) -> dict[str, Any]:
    names = ("project", "order", "assignment", "worker", "amount", "fee", "reason")
    return {name: getattr(row, name) for name in names}


def test_an_outcome_that_was_recorded_already_settles_nothing_again(
    market: Marketplace, river: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (answer,) = answered(river, market)
    order(river, (answer, "0.50"))
    send_bonus = Gateway.send_bonus

    def meanwhile(*given: Any, **named: Any) -> None:
        send_bonus(*given, **named)
        Bonus.objects.update(state=State.REFUSED, error="Recorded by another process.")

    # Threads of a test have other connections: the call is made in this one.
    monkeypatch.setattr(Gateway, "run", lambda self, work, rows, beat=None: [(row, work(row)) for row in rows])
    monkeypatch.setattr(Gateway, "send_bonus", meanwhile)
    assert bonuses.send(river) == 0
    assert (Bonus.objects.get().state, Bonus.objects.get().error) == (State.REFUSED, "Recorded by another process.")
    assert not LedgerEntry.objects.filter(kind=LedgerEntry.Kind.BONUS).exists()
