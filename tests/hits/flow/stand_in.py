"""A marketplace of one dictionary, for tests of what happens on this side alone, many times a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from hits.domain import qualification_calls
from hits.flow.people import reviewing
from hits.flow.pipeline import harvesting
from hits.models import Hit, Worker
from hits.mturk.errors import MarketplaceError, UnreachableError, WrongStateError
from hits.mturk.gateway import RemoteAssignment, RemoteHit
from tests.hits import factories as make


class StandIn:
    """The calls of `Gateway` that reviews, blocks and harvests make. `silent`: every call is refused."""

    def __init__(self) -> None:
        self.answers: dict[str, RemoteAssignment] = {}
        self.silent = False

    def submit(self, hit: Hit, worker: Worker, answer: dict[str, str]) -> RemoteAssignment:
        now = timezone.now()
        name = f"3STANDIN{len(self.answers):08d}{hit.pk}"
        row = RemoteAssignment(
            assignment_id=name,
            worker_id=worker.worker_id,
            hit_id=hit.hit_id or "",
            status="Submitted",
            accepted_at=now - timedelta(seconds=40),
            submitted_at=now,
            auto_approval_at=now + timedelta(days=3),
            answer=answer,
        )
        self.answers[name] = row
        return row

    def turn(self, assignment_id: str, status: str) -> None:
        self.answers[assignment_id] = replace(self.answers[assignment_id], status=status)

    # What flow modules call

    def run(self, work: Callable[[Any], Any], rows: Sequence[Any], **_: Any) -> list[tuple[Any, Any]]:
        return [(row, self._outcome(work, row)) for row in rows]

    def _outcome(self, work: Callable[[Any], Any], row: Any) -> Any:
        try:
            return work(row)
        except MarketplaceError as error:
            return error

    def _answering(self) -> None:
        if self.silent:
            raise UnreachableError("The marketplace does not answer.")

    def reviewable_pages(self, hit_type_id: str) -> Iterator[list[RemoteHit]]:
        return iter([])

    def assignments(self, hit_id: str) -> list[RemoteAssignment]:
        self._answering()
        return [row for row in self.answers.values() if row.hit_id == hit_id]

    def hit(self, hit_id: str) -> RemoteHit:
        """Somebody is always at work on it, so that it does not close."""
        self._answering()
        row = Hit.objects.get(hit_id=hit_id)
        there = len(self.assignments(hit_id))
        return RemoteHit(
            hit_id=hit_id,
            annotation=row.token,
            status="Assignable",
            expires_at=row.expires_at or timezone.now(),
            max_assignments=row.max_assignments,
            pending=row.max_assignments - there,
        )

    def assignment(self, assignment_id: str) -> RemoteAssignment:
        self._answering()
        return self.answers[assignment_id]

    def approve(self, assignment_id: str, *, override: bool) -> None:
        self._answering()
        if self.answers[assignment_id].status != "Submitted" and not override:
            raise WrongStateError("RequestError", "It is not submitted.")
        self.turn(assignment_id, "Approved")

    def reject(self, assignment_id: str, feedback: str) -> None:
        self._answering()
        if self.answers[assignment_id].status != "Submitted":
            raise WrongStateError("RequestError", "It is not submitted.")
        self.turn(assignment_id, "Rejected")

    def ensure_qualification_type(self, name: str, description: str) -> str:
        self._answering()
        return "3QUALIFICATION"

    def grant(self, qualification: str, worker_id: str) -> None:
        self._answering()

    def revoke(self, qualification: str, worker_id: str, reason: str) -> None:
        self._answering()


def stand_in(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    made = StandIn()
    for module in (harvesting, qualification_calls, reviewing):
        monkeypatch.setattr(module, "gateway", lambda: made)
    return made


def live_hit(stage: Any, answers: int = 3) -> Hit:
    """A HIT of a new item, its money reserved."""
    hit = make.hit(make.item(stage), max_assignments=answers, created_with=answers)
    make.ledger_entry(stage, reserved=hit.unit_cost * answers, hit=hit)
    return hit
