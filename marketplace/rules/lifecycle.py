"""When a HIT is what. Pure: counters and the clock in, a word out."""

from datetime import datetime
from typing import Protocol

ASSIGNABLE = "Assignable"
UNASSIGNABLE = "Unassignable"
REVIEWABLE = "Reviewable"
REVIEWING = "Reviewing"
DISPOSED = "Disposed"
HIT_STATUSES = (ASSIGNABLE, UNASSIGNABLE, REVIEWABLE, REVIEWING, DISPOSED)


class HitCounters(Protocol):
    """What the rules look at. `submitted` waits for review; `completed` is approved or rejected."""

    max_assignments: int
    pending: int
    submitted: int
    completed: int
    expires_at: datetime
    disposed_at: datetime | None
    reviewing: bool


def available(hit: HitCounters) -> int:
    """Slots that nobody holds; not lowered by expiry."""
    return hit.max_assignments - hit.pending - hit.submitted - hit.completed


def hit_status(hit: HitCounters, now: datetime) -> str:
    """The status that the API reports at `now`."""
    if hit.disposed_at is not None:
        return DISPOSED
    if now < hit.expires_at and available(hit) > 0:
        return ASSIGNABLE
    if hit.pending > 0:
        return UNASSIGNABLE
    return REVIEWING if hit.reviewing else REVIEWABLE
