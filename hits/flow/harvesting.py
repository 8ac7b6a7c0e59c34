"""Harvesting: the only door by which answers enter. The marketplace's record of an answer is the truth."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from hits.flow.common import gateway
from hits.models import Assignment, Hit, Item, LedgerEntry, Stage, Worker
from hits.models.leases import lease
from hits.models.ledger import release, settle
from hits.models.summaries import refresh_summary, refresh_worker_stats
from hits.mturk.errors import GoneError
from hits.mturk.gateway import Gateway, RemoteAssignment

SETTLED = {Assignment.State.APPROVED, Assignment.State.REJECTED}


def harvest(stage: Stage) -> int:
    """Fetch the answers of every HIT that nobody works on any more; returns how many were new.

    Raises MarketplaceError when the marketplace does not answer; what came before is kept, and the next run
    goes on. Two runs at once are one run.
    """
    with lease(f"harvest:{stage.pk}", seconds=60) as held:
        if held is None or not stage.hit_type_id:
            return 0
        market = gateway()
        new = 0
        try:
            _adopt_overdue(stage, market)
            for page in market.reviewable_pages(stage.hit_type_id):
                new += _harvest_page(stage, market, [found.hit_id for found in page])
                held.renew()
        finally:
            if new:
                refresh_summary(stage)
        return new


def _harvest_page(stage: Stage, market: Gateway, hit_ids: Sequence[str]) -> int:
    hits = list(
        stage.hits.filter(hit_id__in=hit_ids, state=Hit.State.LIVE).select_related("stage__project__account", "item")
    )
    with ThreadPoolExecutor(settings.MTURK_CONNECTIONS) as pool:
        answers = list(pool.map(lambda hit: _assignments(market, hit), hits))
    return _record(stage, list(zip(hits, answers, strict=True))) if hits else 0


def _assignments(market: Gateway, hit: Hit) -> list[RemoteAssignment]:
    try:
        return market.assignments(hit.hit_id or "")
    except GoneError:
        return []


def _record(stage: Stage, found: Sequence[tuple[Hit, list[RemoteAssignment]]]) -> int:
    workers = _workers({remote.worker_id for _, answers in found for remote in answers})
    rows = [_row(hit, workers[remote.worker_id], remote) for hit, answers in found for remote in answers]
    with transaction.atomic():
        new = _new_only(rows)
        Assignment.objects.bulk_create(new, batch_size=500)
        entries = [entry for row in new if (entry := _money(row))]
        entries += _close([hit for hit, _ in found], {hit.pk: len(answers) for hit, answers in found})
        if entries:
            stage.project.account.post(entries)
    refresh_worker_stats(stage, [row.worker_id for row in new])
    return len(new)


def _workers(worker_ids: set[str]) -> dict[str, Worker]:
    Worker.objects.bulk_create([Worker(worker_id=found) for found in sorted(worker_ids)], ignore_conflicts=True)
    return {worker.worker_id: worker for worker in Worker.objects.filter(worker_id__in=worker_ids)}


def _row(hit: Hit, worker: Worker, remote: RemoteAssignment) -> Assignment:
    return Assignment(
        hit=hit,
        stage_id=hit.stage_id,
        worker=worker,
        assignment_id=remote.assignment_id,
        state=remote.status,
        accepted_at=remote.accepted_at,
        submitted_at=remote.submitted_at,
        auto_approval_at=remote.auto_approval_at,
        seconds=(remote.submitted_at - remote.accepted_at).total_seconds(),
        answer=remote.answer,
    )


def _new_only(rows: Sequence[Assignment]) -> list[Assignment]:
    ids = [row.assignment_id for row in rows]
    known = set(Assignment.objects.filter(assignment_id__in=ids).values_list("assignment_id", "worker"))
    return [row for row in rows if (row.assignment_id, row.worker_id) not in known]


def _money(row: Assignment) -> LedgerEntry | None:
    if row.state == Assignment.State.APPROVED:
        return settle(row)
    if row.state == Assignment.State.REJECTED:
        return release(row.hit, 1, "rejected")
    return None


def _close(hits: Sequence[Hit], answers: dict[int, int]) -> list[LedgerEntry]:
    """A reviewable HIT is finished. Places that nobody took are released, and the item is looked at again."""
    released = []
    for hit in hits:
        closed = Hit.objects.filter(pk=hit.pk, state=Hit.State.LIVE).update(
            state=Hit.State.CLOSED, harvested=answers[hit.pk]
        )
        unused = hit.max_assignments - answers[hit.pk]
        if closed and unused > 0:
            released.append(release(hit, unused, "expired without an answer"))
    Item.objects.filter(id__in=[hit.item_id for hit in hits]).update(stale=True)
    return released


def _adopt_overdue(stage: Stage, market: Gateway) -> None:
    """Held answers whose deadline passed were approved by the marketplace: adopt what it says."""
    waiting = stage.assignments.filter(state=Assignment.State.SUBMITTED, auto_approval_at__lte=timezone.now())
    for row in waiting.select_related("hit__stage__project__account").order_by("id"):
        remote = market.assignment(row.assignment_id)
        if remote.status in SETTLED and remote.worker_id == row.worker.worker_id:
            _adopt(row, remote.status)


def _adopt(row: Assignment, state: str) -> None:
    with transaction.atomic():
        waiting = Assignment.objects.filter(pk=row.pk, state=Assignment.State.SUBMITTED)
        if not waiting.update(state=state, decision=""):
            return
        row.state = state
        entry = _money(row)
        if entry:
            row.hit.stage.project.account.post([entry])
    refresh_worker_stats(row.hit.stage, [row.worker_id])


def live_stages() -> list[int]:
    """Stages that may still receive answers."""
    return list(
        Stage.objects.exclude(hit_type_id="")
        .filter(hits__state=Hit.State.LIVE)
        .distinct()
        .order_by("pk")
        .values_list("pk", flat=True)
    )
