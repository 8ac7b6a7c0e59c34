"""Any sequence of what requesters, workers and the clock can do keeps counters, states and money true."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Sum
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from marketplace.models import Assignment, BonusPayment, Hit, Message, MoneyEntry, Requester, ReviewLine, Worker
from marketplace.rules.errors import MarketplaceError
from marketplace.verbs import accounts, assignments, bonuses, hits
from tests.marketplace.conftest import QUESTION
from tests.marketplace.rules.test_review_policies import known, plurality

NUMBER = st.integers(0, 5)
# Accepting and submitting come more often: everything else needs them first.
ACTS = ["accept"] * 3 + ["submit"] * 3
ACTS += ["create", "give_back", "approve", "reject", "override", "expire", "prolong", "extend", "dispose", "review"]
ACTS += ["wait_a_little", "wait_long", "sweep", "bonus", "move", "move"]
KNOWN = known(RejectIfKnownAnswerScoreIsLessThan=100, ExtendIfKnownAnswerScoreIsLessThan=100)
AGREED = plurality(
    ApproveIfWorkerAgreementScoreIsAtLeast=100,
    RejectIfWorkerAgreementScoreIsLessThan=100,
    ExtendIfHITAgreementScoreIsLessThan=100,
    ExtendMaximumAssignments=4,
    ExtendMinimumTimeInSeconds=60,
)
STEPS = st.lists(st.tuples(st.sampled_from(ACTS), NUMBER, NUMBER), min_size=8, max_size=30)


class Market:
    """One requester with two HIT types, three workers, and a clock that only this test moves."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.requester = accounts.create_requester("Alice", Decimal("12.00"), self.now).requester
        self.workers = [accounts.create_worker(f"w{i}", "worker") for i in range(3)]
        self.types = [self._type(reward, delay) for reward, delay in (("0.05", 0), ("1.00", 900))]
        for kind in self.types:
            hits.create(self.requester, kind, question=QUESTION, max_assignments=2, lifetime_seconds=600, now=self.now)

    def _type(self, reward: str, delay: int) -> Any:
        return hits.find_or_create_type(
            self.requester,
            title="t",
            description="d",
            keywords="",
            reward=Decimal(reward),
            assignment_duration_seconds=120,
            auto_approval_delay_seconds=delay,
            requirements=[],
        )

    def create(self, a: int, b: int) -> None:
        hits.create(
            self.requester,
            self.types[a % 2],
            question=QUESTION,
            max_assignments=1 + b,
            lifetime_seconds=60 * (1 + a),
            token=f"token-{a}{b}",
            now=self.now,
            assignment_review_policy=KNOWN if a % 3 == 0 else None,
            hit_review_policy=AGREED if b % 2 == 0 else None,
        )

    def accept(self, a: int, b: int) -> None:
        assignments.accept(self.types[a % 2], self.workers[b % 3], self.now)

    def give_back(self, a: int, b: int) -> None:
        held = self._assignment(a, b)
        assignments.give_back(held, held.worker, self.now)

    def submit(self, a: int, b: int) -> None:
        assignments.submit(self._assignment(a, b).assignment_id, {"q1": ["AB"[a % 2]]}, self.now)

    def approve(self, a: int, b: int) -> None:
        assignments.approve(self.requester, self._assignment(a, b).assignment_id, self.now)

    def override(self, a: int, b: int) -> None:
        assignments.approve(self.requester, self._assignment(a, b).assignment_id, self.now, override=True)

    def reject(self, a: int, b: int) -> None:
        assignments.reject(self.requester, self._assignment(a, b).assignment_id, self.now, "no")

    def expire(self, a: int, b: int) -> None:
        hits.set_expiration(self.requester, self._hit(a), self.now - timedelta(days=b), self.now)

    def prolong(self, a: int, b: int) -> None:
        hits.set_expiration(self.requester, self._hit(a), self.now + timedelta(seconds=100 * (b + 1)), self.now)

    def extend(self, a: int, b: int) -> None:
        hits.add_assignments(self.requester, self._hit(a), 1 + b, self.now)

    def dispose(self, a: int, b: int) -> None:
        hits.dispose(self.requester, self._hit(a), self.now)

    def review(self, a: int, b: int) -> None:
        hits.set_reviewing(self.requester, self._hit(a), b % 2 == 0, self.now)

    def bonus(self, a: int, b: int) -> None:
        paid = self._assignment(a, b)
        amount = Decimal(1 + a) / 100
        bonuses.pay(
            self.requester, paid.worker.worker_id, paid.assignment_id, amount, "thanks", self.now, token=f"b{a}{b}"
        )

    def move(self, a: int, b: int) -> None:
        hits.change_type(self.requester, self._hit(a), self.types[b % 2].hit_type_id, self.now)

    def wait_a_little(self, a: int, b: int) -> None:
        self.now += timedelta(seconds=10 * a + b)

    def wait_long(self, a: int, b: int) -> None:
        self.now += timedelta(seconds=200 * (a + 1))

    def sweep(self, a: int, b: int) -> None:
        assignments.sweep(self.now)
        for hit in Hit.objects.select_related("hit_type"):
            assert hit.state == hit.status(self.now)

    def _hit(self, number: int) -> str:
        ids = Hit.objects.order_by("-pk").values_list("hit_id", flat=True)
        return ids[number % len(ids)]

    def _assignment(self, a: int, b: int) -> Assignment:
        rows = Assignment.objects.order_by("-pk").select_related("worker")
        if not rows:
            raise MarketplaceError("nobody has accepted anything yet")
        return rows[(a + b) % min(len(rows), 6)]


def snapshot() -> Any:
    models = (Requester, Worker, Hit, Assignment, MoneyEntry, BonusPayment, Message, ReviewLine)
    return [list(model.objects.order_by("pk").values()) for model in models]


def check_counters() -> None:
    live: Counter[str] = Counter()
    for hit in Hit.objects.all():
        rows = Counter(hit.assignments.values_list("status", flat=True))
        assert hit.pending == rows["Accepted"]
        assert hit.submitted == rows["Submitted"]
        assert hit.completed == rows["Approved"] + rows["Rejected"]
        assert hit.available >= 0
    live.update(Assignment.objects.exclude(status__in=Assignment.GIVEN_BACK).values_list("assignment_id", flat=True))
    assert max(live.values(), default=1) == 1
    for worker in Worker.objects.all():
        rows = Counter(worker.assignments.values_list("status", flat=True))
        judged = (rows["Approved"], rows["Rejected"])
        assert (worker.approved_count, worker.rejected_count) == judged
        assert worker.submitted_count == rows["Submitted"] + sum(judged)
        assert worker.unread_messages == worker.messages.filter(read_at=None).count()


def check_money() -> None:
    requester = Requester.objects.get()
    totals = dict(MoneyEntry.objects.values_list("kind").annotate(total=Sum("amount")))
    kinds = ("deposit", "hold", "charge", "release", "bonus")
    deposit, hold, charge, release, bonus = (totals.get(kind, Decimal(0)) for kind in kinds)
    assert (requester.funds, requester.charged) == (deposit, charge + bonus)
    assert requester.held == hold - charge - release
    live = Hit.objects.filter(disposed_at__isnull=True).select_related("hit_type")
    rows = list(Assignment.objects.select_related("hit__hit_type"))
    in_hand = sum(max(row.cost, row.hit.cost) for row in rows if row.status == "Accepted")
    waiting = sum(row.cost for row in rows if row.status == "Submitted")
    assert requester.held == sum(hit.cost * hit.available for hit in live) + in_hand + waiting
    approved = [row for row in rows if row.status == "Approved"]
    bonuses_paid = list(BonusPayment.objects.all())
    assert charge == sum(row.cost for row in approved)
    assert bonus == sum(paid.amount + paid.fee for paid in bonuses_paid)
    earned = sum(worker.earned for worker in Worker.objects.all())
    assert earned == sum(row.reward for row in approved) + sum(paid.amount for paid in bonuses_paid)
    assert requester.available >= 0


class AnySequence(TestCase):
    # Without shrinking: a failing sequence is short enough to read, and shrinking it takes minutes.
    @settings(max_examples=30, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
    @given(STEPS)
    def test_it_keeps_counters_states_and_money_true(self, steps: list[tuple[str, int, int]]) -> None:
        market = Market()
        before = snapshot()
        for name, a, b in steps:
            act: Callable[[int, int], None] = getattr(market, name)
            # accept sweeps first, and the clock's work stays done even when the worker is refused.
            if name == "accept" and assignments.sweep(market.now):
                before = snapshot()
            try:
                act(a, b)
            except MarketplaceError:
                assert snapshot() == before, f"{name} was refused and changed something"
                continue
            check_counters()
            check_money()
            before = snapshot()
