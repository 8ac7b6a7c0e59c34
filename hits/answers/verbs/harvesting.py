"""Harvesting: the only door by which answers enter. The marketplace's record of an answer is the truth.

What is fetched, and when: a HIT is due when its page, an event or the list of reviewable HITs says that there is
something to fetch, and costs one call then. A read may lag behind by a quarter of an hour: so a HIT that shows fewer
answers than wanted is looked at again, an answer once recorded stays whatever a later read shows, and an expired HIT
closes when two looks MTURK_SETTLE_SECONDS apart agree and nobody works on it any more.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import cast

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Least
from django.utils import timezone

from common import request_id
from hits.answers.rules import drafts, text_evidence
from hits.answers.rules.hits_to_harvest import mark_due, mark_overdue, mark_unlisted, sweeps_due
from hits.answers.rules.reported_decisions import how_it_came, money_for
from hits.core.jobs.leases import Held, lease
from hits.judging.rules.counting import recount
from hits.judging.rules.summaries import refresh_summary, refresh_worker_stats
from hits.model_assist.rules import suggestions
from hits.models import Assignment, BudgetExceededError, Draft, Hit, Item, LedgerEntry, Stage, TextEvidence, Worker
from hits.mturk.errors import GoneError, MarketplaceError, UnreachableError
from hits.mturk.gateway import PAGE_SIZE, Gateway, RemoteAssignment, RemoteHit
from hits.people.rules import terms
from hits.publishing.rules.hit_ending import (
    LONGEST_WAIT_AFTER_EXPIRY,
    Patience,
    balance,
    growing,
    has_ended,
    judge,
    short_since,
)
from hits.publishing.rules.hit_items import all_item_pks
from hits.publishing.rules.marketplace_account import gateway

log = logging.getLogger(__name__)
CHUNK = 200
LEASE_SECONDS = 60
MONEY_WAIT = timedelta(minutes=5)
NO_ROOM = "An answer came late and the budget has no room for it. Raise the budget."
NOT_FETCHED = "Its answers could not be fetched: "
HIT_COLUMNS = ["state", "harvested", "due_at", "short_since", "expires_at", "error"]
Known = dict[tuple[str, str], Assignment]


@dataclass(frozen=True)
class Look:
    """What the marketplace shows of a HIT. `remote` is there only where the look had to conclude something."""

    answers: list[RemoteAssignment]
    remote: RemoteHit | None = None
    gone: bool = False
    problem: str = ""

    @property
    def idle(self) -> bool:
        return self.gone or (self.remote is not None and _is_idle(self.remote))


@dataclass
class _Change:
    """What one transaction writes."""

    new: list[Assignment] = field(default_factory=list)
    evidence: list[TextEvidence] = field(default_factory=list)
    adopted: list[Assignment] = field(default_factory=list)
    entries: list[LedgerEntry] = field(default_factory=list)
    closed: list[Hit] = field(default_factory=list)
    judged: list[Hit] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.new or self.adopted or self.closed)


def harvest(stage: Stage, *, sweep: bool = True) -> int:
    """Fetch the answers of every HIT that is due; returns how many were new.

    `sweep` reads the list of reviewable HITs too, whether or not it is time for that. Raises MarketplaceError when
    the marketplace does not answer; what came before is kept, and the next run goes on. Two runs at once are one
    run; the sweep that was asked for is then the next run's.
    """
    if sweep:
        Stage.objects.filter(pk=stage.pk).update(swept_at=None)
    with lease(f"harvest:{stage.pk}", seconds=LEASE_SECONDS) as held:
        if held is None or not stage.hit_types:
            return 0
        return _Run(stage, gateway(), held).go()


def harvest_announced(hit: Hit) -> int:
    """Fetch the answers of this one HIT, with its stage, if its page has announced one that is not here yet.

    Returns how many were new. It does not wait for a run that is at the whole stage, which may take long: what two runs
    see of one HIT at once is recorded once. Raises UnreachableError.
    """
    if not (hit.hit_id and drafts.announced(hit).exists()):
        return 0
    new, changed = _record(hit.stage, [(hit, _look_or_problem(gateway(), hit))])
    if changed:
        refresh_summary(hit.stage)
    return new


class _Run:
    def __init__(self, stage: Stage, market: Gateway, held: Held) -> None:
        self.stage, self.market, self.held = stage, market, held
        self.new = 0
        self.changed = False

    def go(self) -> int:
        try:
            if sweeps_due([self.stage.pk]):
                self._sweep()
            mark_overdue(self.stage)
            while hits := _due(self.stage):
                self._fetch(hits)
                self.held.renew()
        finally:
            if self.changed:
                refresh_summary(self.stage)
        return self.new

    def _sweep(self) -> None:
        began = timezone.now()
        # Before the list is read: whoever asks for a sweep meanwhile gets another one.
        Stage.objects.filter(pk=self.stage.pk).update(swept_at=began)
        told = 0
        try:
            for hit_type in self.stage.hit_types:
                told += self._read_list(hit_type)
        except UnreachableError:
            Stage.objects.filter(pk=self.stage.pk, swept_at=began).update(swept_at=None)
            raise
        told += mark_unlisted(self.stage, began, _patience())
        Stage.objects.filter(pk=self.stage.pk).update(idle_sweeps=0 if told else Least(F("idle_sweeps") + 1, 100))

    def _read_list(self, hit_type: str) -> int:
        told = 0
        for page in self.market.reviewable_pages(hit_type):
            told += self._compare(page)
            self.held.renew()
            if len(page) < PAGE_SIZE:
                break
        return told

    def _compare(self, page: Sequence[RemoteHit]) -> int:
        due, closed = _compare(self.stage, page)
        self.changed |= bool(closed)
        return due + closed

    def _fetch(self, hits: Sequence[Hit]) -> None:
        """Raises UnreachableError after everything that came has been recorded."""
        now = timezone.now()
        outcomes = self.market.run(lambda hit: _look(self.market, hit, now), hits, beat=self.held.renew)
        looks = [(hit, _seen(outcome)) for hit, outcome in outcomes if not isinstance(outcome, UnreachableError)]
        new, changed = _record(self.stage, looks)
        self.new += new
        self.changed |= changed
        for _, outcome in outcomes:
            if isinstance(outcome, UnreachableError):
                raise outcome


# What is due


def _due(stage: Stage) -> list[Hit]:
    rows = stage.hits.filter(due_at__lte=timezone.now(), hit_id__isnull=False)
    return list(rows.order_by("due_at", "id")[:CHUNK])


def _patience() -> Patience:
    return Patience(
        settle=timedelta(seconds=settings.MTURK_SETTLE_SECONDS),
        listing=timedelta(seconds=2 * settings.HARVEST_SWEEP_SECONDS),
    )


# Looking


def _look(market: Gateway, hit: Hit, now: datetime) -> Look:
    """One call; a second one where an answer is missing for so long that something has to be concluded."""
    try:
        answers = market.assignments(hit.hit_id or "")
        short = hit.state == Hit.State.LIVE and max(len(answers), hit.harvested) < hit.max_assignments
        if short and now - (short_since(hit, now) or now) >= _patience().settle:
            return Look(answers, market.hit(hit.hit_id or ""))
        return Look(answers)
    except GoneError:
        # Not shown yet, or deleted at the marketplace.
        return Look([], gone=True)


def _look_or_problem(market: Gateway, hit: Hit) -> Look:
    """Raises UnreachableError."""
    try:
        return _look(market, hit, timezone.now())
    except UnreachableError:
        raise
    except MarketplaceError as error:
        return _seen(error)


def _seen(outcome: Look | MarketplaceError) -> Look:
    """A refusal tells as little as an empty list, and why."""
    return outcome if isinstance(outcome, Look) else Look([], problem=f"{NOT_FETCHED}{outcome}")


def _is_idle(remote: RemoteHit) -> bool:
    return remote.pending == 0 and remote.expires_at <= timezone.now()


def _compare(stage: Stage, page: Sequence[RemoteHit]) -> tuple[int, int]:
    """A page of the list against the rows: marks HITs due, and closes those whose end it confirms.

    Returns how many it marked of which nothing else had told, and how many it closed.
    """
    remotes = {remote.hit_id: remote for remote in page}
    now = timezone.now()
    change = _Change()
    with transaction.atomic():
        rows = stage.hits.filter(hit_id__in=remotes, state__in=[Hit.State.LIVE, Hit.State.CLOSED], deleted_at=None)
        due = []
        for hit in rows.select_for_update().order_by("pk"):
            remote = remotes[hit.hit_id or ""]
            is_live, ended = hit.state == Hit.State.LIVE, has_ended(hit, now)
            # Of which we do not know, and for which no look is planned.
            unknown_end = is_live and hit.due_at is None and remote.expires_at <= now and not ended
            complete = hit.harvested >= hit.max_assignments or (ended and _is_idle(remote))
            if remote.submitted > hit.harvested or unknown_end:
                due.append(hit)
            elif is_live and remote.submitted == hit.harvested and complete:
                _conclude(hit, hit.harvested, True, now, change)
        _write(stage, change)
        mark_due(Hit.objects.filter(pk__in=[hit.pk for hit in due]))
    return sum(hit.due_at is None for hit in due), len(change.closed)


# Recording


def _record(stage: Stage, looks: Sequence[tuple[Hit, Look]]) -> tuple[int, bool]:
    """Returns how many answers are new, and whether anything changed. An answer without money waits for it."""
    try:
        return _record_at_once(stage, looks)
    except BudgetExceededError:
        if len(looks) == 1:
            pk = looks[0][0].pk
            Hit.objects.filter(pk=pk).update(error=NO_ROOM, due_at=timezone.now() + MONEY_WAIT)
            return 0, True
        found = [_record(stage, [look]) for look in looks]
        return sum(new for new, _ in found), any(changed for _, changed in found)


@transaction.atomic
def _record_at_once(stage: Stage, looks: Sequence[tuple[Hit, Look]]) -> tuple[int, bool]:
    now = timezone.now()
    before = {hit.pk: (hit, look) for hit, look in looks}
    workers = _workers({remote.worker_id for _, look in looks for remote in look.answers})
    change = _Change()
    hits = list(Hit.objects.select_for_update().filter(pk__in=before).order_by("pk"))
    known = _known(hits)
    versions = terms.by_field(stage) if looks else {}
    for hit in hits:
        was, look = before[hit.pk]
        hit.stage = stage
        for remote in look.answers:
            _take(hit, remote, known[hit.pk], workers, versions, change)
        _note(hit, was, look, now)
        marked = hit.due_at
        _conclude(hit, len(known[hit.pk]), look.idle, now, change)
        _look_again(hit, known[hit.pk].values(), now)
        if marked != was.due_at:
            # Something happened while we looked.
            hit.due_at = marked
    _write(stage, change)
    return len(change.new), bool(change)


def _workers(worker_ids: set[str]) -> dict[str, Worker]:
    Worker.objects.bulk_create([Worker(worker_id=found) for found in sorted(worker_ids)], ignore_conflicts=True)
    return {worker.worker_id: worker for worker in Worker.objects.filter(worker_id__in=worker_ids)}


def _known(hits: Sequence[Hit]) -> dict[int, Known]:
    """HIT to its recorded answers by (assignment id, worker id): ids are passed on after a return."""
    found: dict[int, Known] = {hit.pk: {} for hit in hits}
    rows = Assignment.objects.filter(hit__in=found).select_related("worker").defer("answer")
    for row in rows.select_for_update(of=("self",)):
        found[cast(int, row.hit_id)][row.assignment_id, row.worker.worker_id] = row
    return found


def _take(
    hit: Hit,
    remote: RemoteAssignment,
    known: Known,
    workers: dict[str, Worker],
    versions: Mapping[str, int],
    change: _Change,
) -> None:
    """`versions` are those of the project's terms, by what an answer says of them."""
    key = (remote.assignment_id, remote.worker_id)
    if key not in known:
        known[key] = _row(hit, workers[remote.worker_id], remote, versions)
        change.new.append(known[key])
        change.evidence += text_evidence.take_counts(hit.stage, known[key], hit.item_count)
    elif known[key].state != remote.status:
        known[key].hit = hit
        _adopt(known[key], remote.status, change)


def _row(hit: Hit, worker: Worker, remote: RemoteAssignment, versions: Mapping[str, int]) -> Assignment:
    answer = dict(remote.answer)
    _tell(hit, remote.assignment_id, answer.pop(request_id.HEADER, ""))
    agreed = answer.pop(terms.FIELD, "") if versions else ""
    row = Assignment(
        hit=hit,
        stage_id=hit.stage_id,
        worker=worker,
        assignment_id=remote.assignment_id,
        state=remote.status,
        accepted_at=remote.accepted_at,
        submitted_at=remote.submitted_at,
        auto_approval_at=remote.auto_approval_at,
        seconds=(remote.submitted_at - remote.accepted_at).total_seconds(),
        answer=answer,
        terms_id=versions.get(agreed),
    )
    if row.state != Assignment.State.SUBMITTED and hit.stage.approval == Stage.Approval.REVIEW:
        row.adopted = how_it_came(row, row.state)
    return row


def _tell(hit: Hit, assignment_id: str, page: str) -> None:
    """In the log, under the id of the page that the answer was given on, where it came with one."""
    said = {"hit_id": hit.hit_id, "assignment_id": assignment_id}
    if known := request_id.usable(page):
        said["request_id"] = known
    log.info("An answer is recorded.", extra=said)


def _adopt(row: Assignment, state: str, change: _Change) -> None:
    """What the marketplace decided stands; only a rejection may still turn into an approval there."""
    if row.state == Assignment.State.REJECTED and state == Assignment.State.APPROVED and not row.decision:
        again = LedgerEntry(
            stage_id=row.stage_id,
            kind=LedgerEntry.Kind.RESERVE,
            reserved=row.hit.unit_cost,
            hit=row.hit,
            assignment=row,
            note="the rejection was taken back",
        )
        change.entries.append(again)
    elif row.state != Assignment.State.SUBMITTED:
        return
    row.adopted = how_it_came(row, state)
    if row.decision and row.decision != state:
        # Nobody was told why it is rejected, for it is not.
        row.feedback = ""
    row.state, row.decision = state, ""
    change.adopted.append(row)


def _note(hit: Hit, was: Hit, look: Look, now: datetime) -> None:
    """What the look says of the HIT itself: an end that was set elsewhere, unless it changed here meanwhile."""
    if look.remote and hit.state == Hit.State.LIVE and hit.expires_at == was.expires_at:
        ended = look.remote.expires_at <= now
        hit.expires_at = hit.expires_at if ended == has_ended(hit, now) else look.remote.expires_at
    if look.problem or hit.error == NO_ROOM or hit.error.startswith(NOT_FETCHED):
        hit.error = look.problem


def _conclude(hit: Hit, answers: int, idle: bool, now: datetime, change: _Change) -> None:
    change.judged.append(hit)
    if judge(hit, answers, idle, now, _patience()):
        change.closed.append(hit)


def _look_again(hit: Hit, rows: Iterable[Assignment], now: datetime) -> None:
    """An answer that should be approved by now and does not show it: the read lags behind, or time stands still."""
    late = [row.auto_approval_at for row in rows if row.state == Assignment.State.SUBMITTED and row.auto_approval_at]
    if late and min(late) <= now:
        again = now + growing(now - min(late), LONGEST_WAIT_AFTER_EXPIRY)
        hit.due_at = min(hit.due_at or again, again)


def _write(stage: Stage, change: _Change) -> None:
    Assignment.objects.bulk_create(change.new, batch_size=500)
    TextEvidence.objects.bulk_create(change.evidence, batch_size=500)
    suggestions.keep(stage, change.new)
    Assignment.objects.bulk_update(change.adopted, ["state", "decision", "feedback", "adopted"], batch_size=250)
    recount(stage.assignments.filter(pk__in=[row.pk for row in change.adopted]))
    touched = {row.hit_id for row in [*change.new, *change.adopted]}
    entries = change.entries + [entry for row in [*change.new, *change.adopted] if (entry := money_for(row))]
    moved = [hit for hit in change.judged if hit in change.closed or hit.pk in touched]
    # A HIT that closed before has nothing reserved but for answers that wait: what came late is reserved for anew.
    if ended := [hit for hit in moved if hit.state == Hit.State.CLOSED]:
        entries += balance(ended, entries)
    if entries:
        stage.project.account.post(entries)
    Hit.objects.bulk_update(change.judged, HIT_COLUMNS, batch_size=250)
    Draft.objects.filter(hit__in=change.closed).delete()
    Item.objects.filter(id__in=all_item_pks(moved)).update(stale=True)
    refresh_worker_stats(stage, [row.worker_id for row in [*change.new, *change.adopted]])
