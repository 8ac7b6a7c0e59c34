"""Any sequence of asking, answering, granting, revoking, deciding and deleting keeps the documented life cycle."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from marketplace.models import Message, Qualification, QualificationRequest, QualificationType
from marketplace.rules.errors import FormFaults, MarketplaceError
from marketplace.verbs import accounts, qualification_requests, qualifications
from marketplace.verbs.qualifications import NewTest
from tests.marketplace.rules.test_answer_key import form, key, question

NUMBER = st.integers(0, 5)
ACTS = (
    ["ask"] * 5 + ["answer"] * 3 + ["accept"] * 2 + ["reject", "grant", "revoke", "delete", "switch", "wait", "expire"]
)
STEPS = st.lists(st.tuples(st.sampled_from(ACTS), NUMBER, NUMBER), min_size=8, max_size=30)
# From each status to those that may follow it; a status may stay.
FOLLOWS = {
    None: {"Started", "Submitted", "Granted"},
    "Started": {"Submitted", "Granted", "TimedOut", "Rejected"},
    "Submitted": {"Granted", "Rejected"},
    "Granted": set[str](),
    "Rejected": set[str](),
    "TimedOut": set[str](),
}
GRADED = NewTest(form(q="AB"), 60, key(question("q", {"A": 7})))


class Market:
    """Four types: on request, automatic, graded by key, graded by hand; two workers and a clock."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.requester = accounts.create_requester("Alice", Decimal("1.00"), self.now).requester
        self.workers = [accounts.create_worker(f"w{i}", "worker") for i in range(2)]
        self.types = [
            self._type("asked", retry_delay_seconds=30),
            self._type("automatic", auto_granted=True, retry_delay_seconds=0),
            self._type("graded", test=GRADED, retry_delay_seconds=30),
            self._type("by hand", test=NewTest(form(q="AB"), 60)),
        ]

    def _type(self, name: str, **values: Any) -> str:
        made = qualifications.create_type(
            self.requester, name=name, description="d", status="Active", now=self.now, **values
        )
        return made.qualification_type_id

    def ask(self, a: int, b: int) -> None:
        qualification_requests.ask(self.workers[b % 2], self.types[a % 4], self.now)

    def answer(self, a: int, b: int) -> None:
        qualification_requests.answer_test(self._request(a), {"q": ["AB?"[b % 3]]}, self.now)

    def accept(self, a: int, b: int) -> None:
        qualification_requests.accept(self.requester, self._request(a).request_id, self.now, b)

    def reject(self, a: int, b: int) -> None:
        qualification_requests.reject(self.requester, self._request(a).request_id, self.now)

    def grant(self, a: int, b: int) -> None:
        worker_id = self.workers[b % 2].worker_id
        qualifications.grant(self.requester, self.types[a % 4], worker_id, self.now, b, notify=b > 2)

    def revoke(self, a: int, b: int) -> None:
        worker_id = self.workers[b % 2].worker_id
        qualifications.revoke(self.requester, self.types[a % 4], worker_id, self.now, "no" * b)

    def delete(self, a: int, b: int) -> None:
        qualifications.delete_type(self.requester, self.types[a % 4], self.now)

    def switch(self, a: int, b: int) -> None:
        status = ("Active", "Inactive")[b % 2]
        qualifications.update_type(self.requester, self.types[a % 4], self.now, status=status)

    def wait(self, a: int, b: int) -> None:
        self.now += timedelta(seconds=10 * a + b)

    def expire(self, a: int, b: int) -> None:
        qualification_requests.expire_overdue(self.now)

    def _request(self, number: int) -> QualificationRequest:
        rows = QualificationRequest.objects.order_by("-pk")
        if not rows:
            raise MarketplaceError("nobody has asked yet")
        return rows[number % len(rows)]


def snapshot() -> Any:
    tables = (QualificationType, Qualification, QualificationRequest, Message)
    return [list(table.objects.order_by("pk").values()) for table in tables]


def statuses() -> dict[int, str]:
    return dict(QualificationRequest.objects.values_list("pk", "status"))


def check(before: dict[int, str], market: Market) -> None:
    for pk, status in statuses().items():
        assert status == before.get(pk) or status in FOLLOWS[before.get(pk)], (before.get(pk), status)
    pairs = Qualification.objects.values("type", "worker").annotate(rows=Count("pk"))
    assert all(pair["rows"] == 1 for pair in pairs)
    waiting = QualificationRequest.objects.filter(status__in=("Started", "Submitted"))
    assert all(pair["rows"] == 1 for pair in waiting.values("type", "worker").annotate(rows=Count("pk")))
    for request in QualificationRequest.objects.all():
        assert (request.integer_value is not None) == (request.status == "Granted")
        assert (request.submitted_at is None) == (request.status in ("Started", "TimedOut"))
        if request.deadline and request.submitted_at:
            assert request.submitted_at <= request.deadline
    for worker in market.workers:
        worker.refresh_from_db()
        assert worker.unread_messages == worker.messages.count()


class AnySequence(TestCase):
    @settings(max_examples=50, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
    @given(STEPS)
    def test_it_keeps_the_life_cycle(self, steps: list[tuple[str, int, int]]) -> None:
        market = Market()
        before = snapshot()
        for name, a, b in steps:
            act: Callable[[int, int], None] = getattr(market, name)
            seen = statuses()
            try:
                act(a, b)
            except (MarketplaceError, FormFaults):
                assert snapshot() == before, f"{name} was refused and changed something"
                continue
            check(seen, market)
            before = snapshot()
