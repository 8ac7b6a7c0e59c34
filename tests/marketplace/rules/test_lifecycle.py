from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from marketplace.rules.lifecycle import available, hit_status

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Counters:
    max_assignments: int = 3
    pending: int = 0
    submitted: int = 0
    completed: int = 0
    expires_at: datetime = NOW + timedelta(hours=1)
    disposed_at: datetime | None = None
    reviewing: bool = False


OVER = NOW


@pytest.mark.parametrize(
    ("hit", "status"),
    [
        (Counters(), "Assignable"),
        (Counters(pending=2), "Assignable"),
        (Counters(pending=3), "Unassignable"),
        (Counters(pending=1, submitted=1, completed=1), "Unassignable"),
        (Counters(submitted=2, completed=1), "Reviewable"),
        (Counters(submitted=3, reviewing=True), "Reviewing"),
        (Counters(reviewing=True), "Assignable"),
        (Counters(expires_at=OVER), "Reviewable"),
        (Counters(expires_at=OVER, pending=1), "Unassignable"),
        (Counters(expires_at=OVER, reviewing=True), "Reviewing"),
        (Counters(expires_at=OVER, disposed_at=NOW), "Disposed"),
    ],
)
def test_the_status_follows_from_counters_and_clock(hit: Counters, status: str) -> None:
    assert hit_status(hit, NOW) == status


def test_expiry_leaves_the_free_slots_as_they_are() -> None:
    assert available(Counters(expires_at=OVER, pending=1)) == 2
