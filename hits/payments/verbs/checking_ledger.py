"""Auditing: a project's books are compared with themselves and with the marketplace, each difference by name.

Changes nothing but its own row. The own books are read in one snapshot. At the marketplace all HITs are listed once
(ListHITs, 100 a call) and their counters compared; only what stands out is read one by one. So N HITs in order cost
N/100 calls. An approval there of an answer that is rejected here, and the reverse, keeps all counters: HITs with
answers that wait or are rejected are always read one by one, all HITs in a `deep` check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import TypeVar

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from hits.core.jobs.leases import Held, lease
from hits.core.reading import snapshot
from hits.formats.files.faults import counted
from hits.models import Account, Assignment, Batch, Bonus, Compensation, Hit, LedgerCheck, LedgerEntry, Project
from hits.mturk.errors import GoneError, MarketplaceError
from hits.mturk.gateway import Gateway, RemoteAssignment, RemoteBonus, RemoteHit
from hits.payments.rules import ledger_checks as own
from hits.payments.rules.ledger_differences import Difference
from hits.publishing.rules.marketplace_account import READS_LAG, gateway, if_there

T = TypeVar("T")
CHUNK = 200
LEASE_SECONDS = 60
# Differences kept of one check; checks kept of one project.
MOST, KEPT = 1000, 100
MOST_ATTEMPTS = 3
TRIED = (
    f"The comparison began {MOST_ATTEMPTS} times and did not come to an end. Compare again; if it stays so, tell the "
    "operator, whose log says more."
)
# Answers of a finished HIT that are older have been forgotten, not just not fetched yet.
PATIENCE = timedelta(hours=1)
# The marketplace clears HITs away by itself so long after their expiry.
FORGOTTEN = timedelta(days=120)
FINISHED = ("Reviewable", "Reviewing")


def check(project: Project, user: User | None, *, deep: bool = False) -> LedgerCheck:
    """Compare now. What the marketplace does not answer is said in the check's message (state "failed")."""
    return run(begin(project, user, deep=deep).pk)


def begin(project: Project, user: User | None, *, deep: bool = False) -> LedgerCheck:
    """The row of a new comparison, or of the one that is under way; `run` makes it."""
    with transaction.atomic():
        # Two leads who ask at the same moment get one comparison.
        Account.objects.select_for_update().get(project=project)
        running = project.ledger_checks.filter(state=LedgerCheck.State.RUNNING).first()
        if running:
            return running
        kept = project.ledger_checks.values_list("pk", flat=True)[: KEPT - 1]
        project.ledger_checks.exclude(pk__in=list(kept)).delete()
        return LedgerCheck.objects.create(project=project, created_by=user, deep=deep)


def run(check_pk: int) -> LedgerCheck:
    """Make a comparison; after a crash it begins anew. Another process at the same one leaves it as it is."""
    row = LedgerCheck.objects.select_related("project__account").get(pk=check_pk)
    with lease(f"audit:{check_pk}", seconds=LEASE_SECONDS) as held:
        if held is not None and row.state == LedgerCheck.State.RUNNING and _begin(row):
            _run(row, held)
    row.refresh_from_db()
    return row


def _begin(row: LedgerCheck) -> bool:
    if row.attempts >= MOST_ATTEMPTS:
        fail(row.pk, TRIED)
        return False
    LedgerCheck.objects.filter(pk=row.pk).update(attempts=row.attempts + 1)
    return True


def fail(check_pk: int, why: str) -> None:
    """`why` is a sentence for the lead. A comparison that has ended stays as it is."""
    running = LedgerCheck.objects.filter(pk=check_pk, state=LedgerCheck.State.RUNNING)
    running.update(state=LedgerCheck.State.FAILED, message=why, finished_at=timezone.now())


def unfinished() -> list[int]:
    """Comparisons that were asked for and have no end yet."""
    running = LedgerCheck.objects.filter(state=LedgerCheck.State.RUNNING)
    return list(running.order_by("pk").values_list("pk", flat=True))


def _run(row: LedgerCheck, held: Held) -> None:
    figures, found = _own_books(row.project)
    audit = _Audit(row, gateway(), held, found)
    try:
        figures += audit.compare()
    except MarketplaceError as error:
        message = f"{error} Only the project's own books were compared. Compare again when the marketplace is back."
        _finish(row, LedgerCheck.State.FAILED, figures, found, message)
    else:
        _finish(row, LedgerCheck.State.DONE, figures, found, "")


def _own_books(project: Project) -> tuple[list[own.Figure], list[Difference]]:
    with snapshot():
        return own.figures(project), list(islice(own.differences(project), MOST + 1))


def _finish(
    row: LedgerCheck, state: str, figures: Sequence[own.Figure], found: Sequence[Difference], message: str
) -> None:
    differences = sorted((one.as_row() for one in found), key=lambda one: bool(one["passing"]))
    if len(differences) > MOST:
        message = f"{message} The first {MOST:,} differences are kept; there are more.".strip()
    LedgerCheck.objects.filter(pk=row.pk, state=LedgerCheck.State.RUNNING).update(
        state=state,
        figures=[[what, f"{one:.2f}", f"{other:.2f}"] for what, one, other in figures],
        differences=differences[:MOST],
        message=message,
        finished_at=timezone.now(),
    )


@dataclass
class _Audit:
    """One comparison with the marketplace; what it finds goes into `found`.

    The marketplace is always read before the rows: what is written meanwhile makes the rows newer, never older.
    """

    row: LedgerCheck
    market: Gateway
    held: Held
    found: list[Difference]
    # Mark to the HIT that carries it at the marketplace.
    listed: dict[str, str] = field(default_factory=dict)
    # HITs to read one by one.
    doubtful: set[int] = field(default_factory=set)
    # Dollars held for the open places of the project's HITs, as the rows say and as the marketplace does.
    held_here: Decimal = own.ZERO
    held_there: Decimal = own.ZERO
    bonuses_here: Decimal = own.ZERO
    bonuses_there: Decimal = own.ZERO
    now: datetime = field(default_factory=timezone.now)

    def compare(self) -> list[own.Figure]:
        """Raises MarketplaceError when the marketplace does not answer; what was found until then stays."""
        self._advance(0, total=self._hits().count())
        self._compare_listed()
        self._look_for_missing()
        self._look_at_doubtful()
        self._compare_bonuses()
        return [
            ("Held for open places: books, marketplace", self.held_here, self.held_there),
            ("Bonuses without fees: books, marketplace", self.bonuses_here, self.bonuses_there),
            *self._account(),
        ]

    # HITs, by their counters

    def _compare_listed(self) -> None:
        mark = f"{self.row.project.namespace}."
        ours = (remote for remote in self.market.all_hits() if remote.annotation.startswith(mark))
        for chunk in _chunks(ours):
            hits = own.with_places(self._all_hits().filter(token__in={remote.annotation for remote in chunk}))
            rows = {row.token: row for row in hits.select_related("stage")}
            offers = self._offers(chunk, mark)
            for remote in chunk:
                self._compare_one_listed(remote, rows.get(remote.annotation), offers.get(remote.annotation))
            self._advance(len(chunk))

    def _offers(self, chunk: Sequence[RemoteHit], mark: str) -> dict[str, Compensation]:
        numbers = [remote.annotation.removeprefix(f"{mark}c") for remote in chunk]
        pks = [int(number) for number in numbers if number.isascii() and number.isdigit()]
        found = Compensation.objects.filter(project=self.row.project, pk__in=pks).select_related("project")
        return {offer.token: offer for offer in found}

    def _compare_one_listed(self, remote: RemoteHit, row: Hit | None, offer: Compensation | None) -> None:
        first = self.listed.setdefault(remote.annotation, remote.hit_id)
        known = row.hit_id if row else offer.hit_id if offer else None
        if (known or first) != remote.hit_id:
            subject = f"HIT {remote.hit_id}"
            self._note("second_hit", subject, (known or first, remote.hit_id), row)
        elif row:
            self._compare_hit(remote, row)
        elif offer:
            self._compare_offer(remote, offer)
        else:
            self._note("unknown_hit", f"HIT {remote.hit_id}", ("", remote.annotation))

    def _compare_hit(self, remote: RemoteHit, row: Hit) -> None:
        subject = f"HIT {remote.hit_id}"
        if row.hit_id is None:
            kind = "unknown_hit" if row.state == Hit.State.REFUSED else "publishing"
            self._note(kind, subject, (row.get_state_display(), remote.status), row)
        elif row.deleted_at:
            self._note("cleared_hit", subject, ("", remote.status), row, self._recent(row.deleted_at))
        else:
            settled, waiting = row.settled, row.waiting  # type: ignore[attr-defined]
            self.held_here += row.unit_cost * (row.max_assignments - settled)
            self.held_there += row.unit_cost * (remote.max_assignments - remote.completed)
            here = (row.max_assignments, settled, settled + waiting)
            if here != (remote.max_assignments, remote.completed, remote.submitted):
                self.doubtful.add(row.pk)

    def _compare_offer(self, remote: RemoteHit, offer: Compensation) -> None:
        said = (offer.get_state_display(), counted(remote.submitted, "answer"))
        subject = f"compensation {offer.pk}"
        if offer.state in own.OPEN_COMPENSATION:
            if offer.hit_id is None or remote.submitted:
                self._note("compensating", subject, said)
        elif remote.submitted != (offer.state == Compensation.State.PAID):
            self._note("compensation_differs", subject, said, passing=self._recent(offer.paid_at))

    def _look_for_missing(self) -> None:
        clearing = Batch.objects.filter(stage__project=self.row.project, kind=Batch.Kind.DELETE)
        cleared = set(clearing.exclude(state=Batch.State.PUBLISHED).values_list("stage", flat=True))
        rows = self._hits().filter(Q(expires_at=None) | Q(expires_at__gt=self.now - FORGOTTEN))
        missing = (row for row in _by_key(rows.select_related("stage")) if row.token not in self.listed)
        for chunk in _chunks(missing):
            looks = self.market.run(
                lambda row: if_there(lambda: self.market.hit(row.hit_id or ""), None), chunk, beat=self.held.renew
            )
            for row, remote in looks:
                if isinstance(remote, MarketplaceError):
                    raise remote
                if remote is None or remote.status == "Disposed":
                    kind = "clearing" if row.stage_id in cleared else "missing_hit"
                    said = (row.get_state_display(), "Disposed" if remote else "not there")
                    self._note(kind, f"HIT {row.hit_id}", said, row, self._recent(row.attempted_at))
                else:
                    self.doubtful.add(row.pk)
            self._advance(0)

    # HITs, answer by answer

    def _look_at_doubtful(self) -> None:
        undecided = Assignment.objects.filter(stage__project=self.row.project).exclude(
            state=Assignment.State.APPROVED, decision=""
        )
        wanted = self._hits() if self.row.deep else self._hits().filter(assignments__in=undecided)
        self.doubtful.update(wanted.values_list("pk", flat=True))
        self._advance(0, total=len(self.doubtful))
        for pks in _chunks(iter(sorted(self.doubtful))):
            hits = list(self._hits().filter(pk__in=pks).order_by("pk"))
            looked = self.market.run(partial(_hit_with_answers, self.market), hits, beat=self.held.renew)
            there = {}
            for hit, outcome in looked:
                if isinstance(outcome, MarketplaceError):
                    raise outcome
                if outcome is not None:
                    there[hit.pk] = outcome
            self._compare_answers(there)
            self._advance(len(pks))

    def _compare_answers(self, there: dict[int, tuple[RemoteHit, list[RemoteAssignment]]]) -> None:
        hits = own.with_places(self._hits().filter(pk__in=there)).select_related("stage")
        moved = LedgerEntry.objects.filter(hit__in=there, created_at__gt=self.now - READS_LAG)
        recent = set(moved.values_list("hit", flat=True))
        answers: dict[int, list[Assignment]] = {}
        for row in Assignment.objects.filter(hit__in=there).select_related("stage", "hit", "worker").order_by("pk"):
            answers.setdefault(row.hit.pk, []).append(row)
        for hit in hits.order_by("pk"):
            remote, listed = there[hit.pk]
            self._compare_places(hit, remote, hit.pk in recent)
            self._compare_answers_of(hit, remote, listed, answers.get(hit.pk, []), hit.pk in recent)

    def _compare_places(self, hit: Hit, remote: RemoteHit, recent: bool) -> None:
        if hit.max_assignments == remote.max_assignments:
            return
        said = (counted(hit.max_assignments, "place"), counted(remote.max_assignments, "place"))
        growing = hit.extensions.filter(state="planned").exists()
        self._note("extending" if growing else "places", f"HIT {hit.hit_id}", said, hit, recent)

    def _compare_answers_of(
        self,
        hit: Hit,
        remote: RemoteHit,
        listed: Sequence[RemoteAssignment],
        rows: Sequence[Assignment],
        recent: bool,
    ) -> None:
        there = {(found.assignment_id, found.worker_id): found for found in listed}
        here = {(row.assignment_id, row.worker.worker_id): row for row in rows}
        new = [found for key, found in there.items() if key not in here]
        if new:
            late = remote.status in FINISHED and min(one.submitted_at for one in new) < self.now - PATIENCE
            said = (counted(len(here), "answer"), counted(len(there), "answer"))
            self._note("answers_not_fetched" if late else "answers_coming", f"HIT {hit.hit_id}", said, hit)
        for key, row in here.items():
            if key not in there:
                passing = self._recent(row.submitted_at)
                self.found.append(own.about_answer("unknown_answer", row, row.state, "not listed", passing))
            elif row.state != there[key].status:
                kind = "deciding" if self._on_its_way(row) else "state_differs"
                self.found.append(own.about_answer(kind, row, row.state, there[key].status, recent))

    def _on_its_way(self, row: Assignment) -> bool:
        """A decision is about to be sent, or an approval by time about to be adopted."""
        if row.decision:
            return True
        deadline = row.auto_approval_at
        overdue = deadline is not None and self.now - PATIENCE < deadline <= self.now
        return overdue and row.state == Assignment.State.SUBMITTED

    # Bonuses and the account

    def _compare_bonuses(self) -> None:
        wanted = self._hits() if self.row.deep else self._hits().filter(assignments__bonuses__isnull=False).distinct()
        for hits in _chunks(_by_key(wanted.select_related("stage"))):
            looked = self.market.run(
                lambda row: if_there(lambda: self.market.bonuses(hit_id=row.hit_id or ""), []),
                hits,
                beat=self.held.renew,
            )
            rows: dict[int, list[Bonus]] = {}
            ordered = Bonus.objects.filter(assignment__hit__in=hits).select_related("assignment__hit", "worker")
            for row in ordered.exclude(state=Bonus.State.REFUSED):
                rows.setdefault(row.assignment.hit.pk, []).append(row)
            for hit, paid in looked:
                if isinstance(paid, MarketplaceError):
                    raise paid
                self._compare_bonuses_of(hit, rows.get(hit.pk, []), paid)
            self._advance(0)

    def _compare_bonuses_of(self, hit: Hit, rows: Sequence[Bonus], payments: Sequence[RemoteBonus]) -> None:
        """Bonuses of one amount for one answer cannot be told apart: their numbers are compared."""
        paid, coming, there = Counter[_BonusKey](), Counter[_BonusKey](), Counter[_BonusKey]()
        latest: dict[_BonusKey, datetime] = {}
        for row in rows:
            key = (row.assignment.assignment_id, row.worker.worker_id, row.amount)
            (paid if row.state == Bonus.State.PAID else coming)[key] += 1
            if row.paid_at:
                latest[key] = max(latest.get(key, row.paid_at), row.paid_at)
        for found in payments:
            there[(found.assignment_id, found.worker_id, found.amount)] += 1
        self.bonuses_here += sum((key[2] * n for key, n in paid.items()), own.ZERO)
        self.bonuses_there += sum((key[2] * n for key, n in there.items()), own.ZERO)
        for key in sorted({*paid, *there}):
            kind = _bonus_kind(paid[key], coming[key], there[key])
            if kind:
                subject = f"bonus of ${key[2]:,.2f} for answer {key[0]}"
                passing = kind == "bonus_missing_there" and self._recent(latest.get(key))
                said = (f"{paid[key]} paid", f"{there[key]} paid")
                self._note(kind, subject, said, hit, passing)

    def _account(self) -> Iterator[own.Figure]:
        on_hold = self.market.balance().on_hold
        if on_hold is None:
            return
        ours = own.held_there()
        if ours != on_hold:
            self._note("on_hold", "the whole account", (f"${ours:,.2f}", f"${on_hold:,.2f}"))
        yield "On hold: all projects here, marketplace account", ours, on_hold

    # Small parts

    def _all_hits(self) -> QuerySet[Hit]:
        return Hit.objects.filter(stage__project=self.row.project)

    def _hits(self) -> QuerySet[Hit]:
        """Those that must be at the marketplace."""
        return self._all_hits().filter(hit_id__isnull=False, deleted_at=None)

    def _recent(self, moment: datetime | None) -> bool:
        return moment is not None and moment > self.now - READS_LAG

    def _note(
        self, kind: str, subject: str, said: tuple[str, str], hit: Hit | None = None, passing: bool = False
    ) -> None:
        """`said`: what the books say and what the marketplace does; `hit` leads to the page."""
        stage, item = (hit.stage.key, hit.item_id) if hit else ("", None)
        self.found.append(Difference(kind, subject, *said, stage, item, passing))

    def _advance(self, done: int, total: int = 0) -> None:
        self.held.renew()
        self.row.done += done
        self.row.total += total
        LedgerCheck.objects.filter(pk=self.row.pk).update(done=self.row.done, total=max(self.row.total, self.row.done))


_BonusKey = tuple[str, str, Decimal]


def _bonus_kind(paid: int, coming: int, there: int) -> str:
    """What the numbers of equal bonuses say; empty when they agree."""
    if there < paid:
        return "bonus_missing_there"
    if there == paid:
        return ""
    if there <= paid + coming:
        return "paying_bonus"
    return "bonus_twice" if paid + coming else "bonus_unknown_here"


def _hit_with_answers(market: Gateway, row: Hit) -> tuple[RemoteHit, list[RemoteAssignment]] | None:
    """The HIT last: its counters are never older than its list."""
    try:
        answers = market.assignments(row.hit_id or "")
        return market.hit(row.hit_id or ""), answers
    except GoneError:
        return None


def _chunks(rows: Iterator[T], size: int = CHUNK) -> Iterator[list[T]]:
    while chunk := list(islice(rows, size)):
        yield chunk


def _by_key(rows: QuerySet[Hit], size: int = 2000) -> Iterator[Hit]:
    """In order, page by page: no cursor stays open while calls are made."""
    last = 0
    while page := list(rows.filter(pk__gt=last).order_by("pk")[:size]):
        yield from page
        last = page[-1].pk
