"""Any sequence of what requesters, workers and the clock can do tells exactly what happened, each thing once.

The prediction looks at the rows and the clock alone: it knows nothing of the places that tell.
"""

import contextlib
from collections import Counter
from datetime import datetime
from typing import Any

from hypothesis import Phase, example, given, settings
from hypothesis.extra.django import TestCase

from marketplace.models import Assignment, Event, Hit
from marketplace.rules.errors import MarketplaceError
from marketplace.verbs import assignments, events, hits
from tests.marketplace.conftest import QUESTION
from tests.marketplace.verbs.test_any_sequence import STEPS, Market

JUDGED = {"Submitted": "AssignmentSubmitted", "Approved": "AssignmentApproved", "Rejected": "AssignmentRejected"}
ENDED = JUDGED | {"Returned": "AssignmentReturned", "Abandoned": "AssignmentAbandoned"}


class ToldMarket(Market):
    """Without review policies, which do several things within one act; and with a webhook."""

    def __init__(self) -> None:
        super().__init__()
        Event.objects.all().delete()
        events.set_webhook(self.requester, "https://lab.example.org/hook", self.now)
        for kind in self.types:
            kind.requester.webhook_active = True

    def create(self, a: int, b: int) -> None:
        values = {"question": QUESTION, "token": f"token-{a}{b}", "now": self.now}
        kind = self.types[a % 2]
        hits.create(self.requester, kind, max_assignments=1 + b, lifetime_seconds=60 * (1 + a), **values)


class Prediction:
    def __init__(self, now: datetime) -> None:
        self.told: Counter[tuple[str, str, int | None]] = Counter()
        self.hits: dict[int, dict[str, Any]] = {}
        self.statuses: dict[int, str] = {}
        self.assignments: dict[int, str] = {}
        for hit in Hit.objects.all():
            self._remember(hit, now)

    def _remember(self, hit: Hit, now: datetime) -> None:
        self.hits[hit.pk] = {"places": hit.max_assignments, "end": hit.expires_at}
        self.statuses[hit.pk] = self._status(hit, now)

    @staticmethod
    def _status(hit: Hit, now: datetime) -> str:
        if hit.disposed_at:
            return "Disposed"
        rows = hit.assignments.exclude(status__in=["Returned", "Abandoned"])
        if now < hit.expires_at and rows.count() < hit.max_assignments:
            return "Assignable"
        return "Unassignable" if rows.filter(status="Accepted").exists() else "Reviewable"

    def look(self, now: datetime) -> None:
        """Compare with the last look; every difference must have been told."""
        for row in Assignment.objects.select_related("hit"):
            self._look_at_assignment(row)
        for hit in Hit.objects.all():
            self._look_at_hit(hit, now)

    def _look_at_assignment(self, row: Assignment) -> None:
        before = self.assignments.get(row.pk)
        if before is None:
            self.told["AssignmentAccepted", row.hit.hit_id, row.pk] += 1
        if row.status != (before or "Accepted"):
            self.told[ENDED[row.status], row.hit.hit_id, row.pk] += 1
            # Approved at once: it was submitted on the way.
            if before == "Accepted" and row.status == "Approved":
                self.told["AssignmentSubmitted", row.hit.hit_id, row.pk] += 1
        self.assignments[row.pk] = row.status

    def _look_at_hit(self, hit: Hit, now: datetime) -> None:
        if hit.pk not in self.hits:
            self.told["HITCreated", hit.hit_id, None] += 1
            self._remember(hit, now)
            return
        known, before, after = self.hits[hit.pk], self.statuses[hit.pk], self._status(hit, now)
        if hit.max_assignments > known["places"] or hit.expires_at > max(known["end"], now):
            self.told["HITExtended", hit.hit_id, None] += 1
        if before == "Assignable" and after != "Assignable" and hit.expires_at <= now:
            self.told["HITExpired", hit.hit_id, None] += 1
        if before in ("Assignable", "Unassignable") and after == "Reviewable":
            self.told["HITReviewable", hit.hit_id, None] += 1
        if before != "Disposed" and after == "Disposed":
            self.told["HITDisposed", hit.hit_id, None] += 1
        self._remember(hit, now)


def written() -> Counter[tuple[str, str, str | None]]:
    contents = [row.content for row in Event.objects.all()]
    return Counter((entry["EventType"], entry["HITId"], entry.get("AssignmentId")) for entry in contents)


def spoken(told: Counter[tuple[str, str, int | None]]) -> Counter[tuple[str, str, str | None]]:
    """Rows by the ids that the outside knows; a slot's id is given on, so several rows may share one."""
    ids = dict(Assignment.objects.values_list("pk", "assignment_id"))
    found: Counter[tuple[str, str, str | None]] = Counter()
    for (event, hit_id, pk), times in told.items():
        found[event, hit_id, None if pk is None else ids[pk]] += times
    return found


class AnySequence(TestCase):
    @settings(max_examples=30, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
    @given(STEPS)
    @example([("expire", 0, 0), ("dispose", 0, 0), ("dispose", 0, 0)])
    def test_it_tells_exactly_what_happened(self, steps: list[tuple[str, int, int]]) -> None:
        market = ToldMarket()
        prediction = Prediction(market.now)
        for name, a, b in steps:
            with contextlib.suppress(MarketplaceError):
                getattr(market, name)(a, b)
            prediction.look(market.now)
        while assignments.sweep(market.now):
            pass
        prediction.look(market.now)
        assert written() == spoken(prediction.told)
