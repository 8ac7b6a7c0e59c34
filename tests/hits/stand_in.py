"""A marketplace in memory, for tests of what happens on this side: many calls in a second.

It has the methods of `Gateway` that publishing, harvesting, reviews, blocks and payments call, and of
`tests.hits.market.Marketplace` what workers do there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.utils import timezone

from hits.models import Hit
from hits.mturk.errors import (
    AlreadyDoneError,
    AlreadyExistsError,
    GoneError,
    MarketplaceError,
    UnreachableError,
    WrongStateError,
)
from hits.mturk.gateway import PAGE_SIZE, Balance, HitTypeSpec, RemoteAssignment, RemoteBonus, RemoteHit
from tests.hits import factories as make
from tests.hits.market import STARTING_BALANCE, Accepted, VerbRefusedError

CENT = Decimal("0.01")
USUAL = HitTypeSpec("Click", "Click a name", "names", Decimal("0.04"), 600, 259_200, ())
DECIDED = ("Approved", "Rejected")


@dataclass
class _Hit:
    """A HIT there. `free` are the assignment ids that nobody holds, `held` those at work with their workers."""

    hit_id: str
    token: str
    spec: HitTypeSpec
    type_id: str
    max_assignments: int
    unit_cost: Decimal
    expires_at: datetime
    held: dict[str, tuple[str, datetime]] = field(default_factory=dict)
    returned: list[str] = field(default_factory=list)
    answers: dict[str, RemoteAssignment] = field(default_factory=dict)
    deleted: bool = False

    @property
    def available(self) -> int:
        return self.max_assignments - len(self.held) - len(self.answers)

    @property
    def status(self) -> str:
        open_still = self.available > 0 and self.expires_at > timezone.now()
        return "Assignable" if open_still else "Unassignable" if self.held else "Reviewable"

    @property
    def on_hold(self) -> Decimal:
        decided = sum(row.status in DECIDED for row in self.answers.values())
        return Decimal(0) if self.deleted else self.unit_cost * (self.max_assignments - decided)

    def seen(self) -> RemoteHit:
        return RemoteHit(
            hit_id=self.hit_id,
            annotation=self.token,
            status=self.status,
            expires_at=self.expires_at,
            max_assignments=self.max_assignments,
            pending=len(self.held),
            available=self.available,
            completed=sum(row.status in DECIDED for row in self.answers.values()),
        )


def _fee(amount: Decimal, percent: int) -> Decimal:
    return max(CENT, (amount * percent / 100).quantize(CENT, ROUND_HALF_UP))


class StandIn:
    """`paid` are the assignments whose price was taken, `bonuses_paid` the bonuses, `holders` the workers who hold a
    qualification, `values` what they hold by (qualification, worker), `notes` the messages to workers. `silent`: no
    call is answered.
    """

    def __init__(self) -> None:
        self.silent = False
        self.paid: list[str] = []
        self.bonuses_paid: list[RemoteBonus] = []
        self.holders: set[str] = set()
        self.values: dict[tuple[str, str], int] = {}
        self.notes: list[tuple[str, str, str]] = []
        self._hits: dict[str, _Hit] = {}
        self._types: dict[str, HitTypeSpec] = {}
        self._tokens: dict[str, str] = {}
        self._numbers = itertools.count(1)
        self._spent = Decimal(0)

    # What workers do

    def sign_up_worker(self) -> str:
        return f"ASTANDIN{next(self._numbers):06d}"

    def accept(self, worker_id: str, *, hit_id: str | None, seconds_ago: int = 40) -> Accepted:
        """Raises VerbRefusedError where there is no place, or the worker has or had one there."""
        found = self._hits[hit_id or ""]
        theirs = {worker for worker, _ in found.held.values()} | {row.worker_id for row in found.answers.values()}
        if found.deleted or found.status != "Assignable" or worker_id in theirs:
            raise VerbRefusedError("NotAvailable")
        # An id is passed on when its worker returns it.
        name = found.returned.pop() if found.returned else f"3STANDIN{next(self._numbers):08d}"
        found.held[name] = (worker_id, timezone.now() - timedelta(seconds=seconds_ago))
        return Accepted(worker_id, name, found.hit_id, "")

    def submit(self, held: Accepted, **fields: str) -> RemoteAssignment:
        found, now = self._there(held.hit_id), timezone.now()
        worker_id, accepted_at = found.held.pop(held.assignment_id)
        waits = timedelta(seconds=found.spec.auto_approval_seconds)
        row = RemoteAssignment(
            held.assignment_id, worker_id, found.hit_id, "Submitted", accepted_at, now, now + waits, fields
        )
        found.answers[row.assignment_id] = row
        if not waits:
            self.turn(row.assignment_id, "Approved")
        return found.answers[row.assignment_id]

    def answer(self, worker_id: str, hit_id: str | None, **fields: str) -> Accepted:
        held = self.accept(worker_id, hit_id=hit_id)
        self.submit(held, **fields)
        return held

    def give_back(self, held: Accepted) -> None:
        found = self._there(held.hit_id)
        del found.held[held.assignment_id]
        found.returned.append(held.assignment_id)

    # What somebody else does, and what time does

    def turn(self, assignment_id: str, status: str) -> None:
        """Decide an answer without a call from here."""
        found = self._hit_of(assignment_id)
        found.answers[assignment_id] = replace(found.answers[assignment_id], status=status)
        if status == "Approved":
            self.paid.append(assignment_id)
            self._spent += found.unit_cost

    def forget_tokens(self) -> None:
        self._tokens.clear()

    def open(self, hit: Hit) -> None:
        """Have a HIT here of a row that no verb published."""
        found = _Hit(
            hit_id=hit.hit_id or "",
            token=hit.token,
            spec=USUAL,
            type_id="",
            max_assignments=hit.max_assignments,
            unit_cost=hit.unit_cost,
            expires_at=hit.expires_at or timezone.now(),
        )
        self._hits[found.hit_id] = found

    # What verbs call

    def run(self, work: Callable[[Any], Any], rows: Sequence[Any], **_: Any) -> list[tuple[Any, Any]]:
        return [(row, self._outcome(work, row)) for row in rows]

    def _outcome(self, work: Callable[[Any], Any], row: Any) -> Any:
        try:
            return work(row)
        except MarketplaceError as error:
            return error

    def balance(self) -> Balance:
        self._answering()
        on_hold = sum((found.on_hold for found in self._hits.values()), Decimal(0))
        return Balance(Decimal(STARTING_BALANCE) - self._spent - on_hold, on_hold)

    def create_hit_type(self, spec: HitTypeSpec) -> str:
        self._answering()
        name = f"3TYPE{len(self._types):06d}"
        self._types[name] = spec
        return name

    def create_hit(
        self,
        hit_type_id: str,
        *,
        question: str,
        max_assignments: int,
        lifetime_seconds: int,
        token: str,
        annotation: str = "",
    ) -> RemoteHit:
        self._answering()
        if token in self._tokens:
            raise AlreadyExistsError("HITAlreadyExists", f"There is a HIT with ID {self._tokens[token]} already.")
        spec = self._types[hit_type_id]
        found = _Hit(
            hit_id=f"3HITTHERE{next(self._numbers):08d}",
            token=token,
            spec=spec,
            type_id=hit_type_id,
            max_assignments=max_assignments,
            unit_cost=spec.reward + _fee(spec.reward, 40 if max_assignments >= 10 else 20),
            expires_at=timezone.now() + timedelta(seconds=lifetime_seconds),
        )
        self._hits[found.hit_id] = found
        self._tokens[token] = found.hit_id
        return found.seen()

    def add_assignments(self, hit_id: str, number: int, token: str) -> None:
        self._answering()
        found = self._there(hit_id)
        if token in self._tokens:
            raise AlreadyDoneError("RequestAlreadyProcessed", "It was carried out before.")
        self._tokens[token] = hit_id
        found.max_assignments += number

    def set_expiration(self, hit_id: str, moment: datetime) -> None:
        self._answering()
        self._there(hit_id).expires_at = moment

    def delete_hit(self, hit_id: str) -> None:
        self._answering()
        found = self._there(hit_id)
        if found.status != "Reviewable" or any(row.status == "Submitted" for row in found.answers.values()):
            raise WrongStateError("RequestError", "It is not reviewed.")
        found.deleted = True

    def hit(self, hit_id: str) -> RemoteHit:
        self._answering()
        return self._there(hit_id).seen()

    def all_hits(self) -> Iterator[RemoteHit]:
        self._answering()
        return iter([found.seen() for found in self._hits.values() if not found.deleted])

    def reviewable_pages(self, hit_type_id: str) -> Iterator[list[RemoteHit]]:
        self._answering()
        mine = [found for found in self._hits.values() if found.type_id == hit_type_id and not found.deleted]
        rows = [found.seen() for found in mine if found.status == "Reviewable"]
        return iter([rows[start : start + PAGE_SIZE] for start in range(0, len(rows), PAGE_SIZE)])

    def assignments(self, hit_id: str) -> list[RemoteAssignment]:
        """Newest first: nobody promises an order."""
        self._answering()
        return list(self._there(hit_id).answers.values())[::-1]

    def assignment(self, assignment_id: str) -> RemoteAssignment:
        self._answering()
        return self._hit_of(assignment_id).answers[assignment_id]

    def approve(self, assignment_id: str, *, override: bool = False) -> None:
        self._decide(assignment_id, "Approved", ("Submitted", "Rejected") if override else ("Submitted",))

    def reject(self, assignment_id: str, feedback: str) -> None:
        self._decide(assignment_id, "Rejected", ("Submitted",))

    def _decide(self, assignment_id: str, status: str, before: Sequence[str]) -> None:
        self._answering()
        if self.assignment(assignment_id).status not in before:
            raise WrongStateError("RequestError", "It is in another state.")
        self.turn(assignment_id, status)

    def send_bonus(self, worker_id: str, assignment_id: str, amount: Decimal, reason: str, token: str) -> None:
        self._answering()
        if token in self._tokens:
            raise AlreadyDoneError("RequestAlreadyProcessed", "It was paid before.")
        self._tokens[token] = assignment_id
        self.bonuses_paid.append(RemoteBonus(worker_id, assignment_id, amount, reason, timezone.now()))
        self._spent += amount + _fee(amount, 20)

    def bonuses(self, *, hit_id: str = "", assignment_id: str = "") -> list[RemoteBonus]:
        self._answering()
        wanted = {assignment_id} if assignment_id else set(self._there(hit_id).answers)
        return [row for row in self.bonuses_paid if row.assignment_id in wanted]

    def ensure_qualification_type(self, name: str, description: str) -> str:
        self._answering()
        return f"3{name}"

    def grant(self, qualification: str, worker_id: str, value: int = 1, *, notify: bool = False) -> None:
        self._answering()
        self.holders.add(worker_id)
        self.values[qualification, worker_id] = value

    def notify(self, worker_id: str, subject: str, text: str) -> str:
        self._answering()
        self.notes.append((worker_id, subject, text))
        return ""

    def revoke(self, qualification: str, worker_id: str, reason: str) -> None:
        self._answering()
        self.holders.discard(worker_id)
        self.values.pop((qualification, worker_id), None)

    def _answering(self) -> None:
        if self.silent:
            raise UnreachableError("The marketplace does not answer.")

    def _there(self, hit_id: str | None) -> _Hit:
        found = self._hits.get(hit_id or "")
        if found is None or found.deleted:
            raise GoneError("HITDoesNotExist", f"There is no HIT {hit_id}.")
        return found

    def _hit_of(self, assignment_id: str) -> _Hit:
        there = (found for found in self._hits.values() if not found.deleted and assignment_id in found.answers)
        found = next(there, None)
        if found is None:
            raise GoneError("AssignmentDoesNotExist", f"There is no assignment {assignment_id}.")
        return found


def live_hit(market: StandIn, stage: Any, answers: int = 3) -> Hit:
    """A HIT of a new item, its money reserved."""
    hit = make.hit(make.item(stage), max_assignments=answers, created_with=answers)
    make.ledger_entry(stage, reserved=hit.unit_cost * answers, batch=hit.batch)
    market.open(hit)
    return hit
