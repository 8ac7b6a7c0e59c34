"""After the requester's database was restored: bring it to what the marketplace says, and say what that changed.

Chains verbs as `hits.pipeline` does, in the process of a command and not in the queue: no call goes out
until the two sides agree. Running it again changes nothing.
"""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass

from django.db import transaction

from hits.answers.verbs import harvesting
from hits.formats.files.faults import counted
from hits.judging.rules import summaries
from hits.judging.rules.required_answers import chunks
from hits.judging.verbs import advancing, deciding, scoring
from hits.models import Assignment, Item, Restoration, Stage, WorkerMessage
from hits.mturk.gateway import Gateway
from hits.payments.verbs import adopting_payments
from hits.projects.rules.plugins import UNUSABLE
from hits.publishing.rules import marketplace_account, restorations
from hits.publishing.rules.reconciliation import Report
from hits.publishing.verbs import adopting_hits
from hits.workers.verbs import adopting_qualifications

# Of `reconcile`: as many as a project has stages, and one more that finds nothing.
MOST_ROUNDS = 30


@dataclass
class Reconciliation:
    """What `reconcile` came to: `agrees` says whether calls are made again."""

    report: Report
    agrees: bool = False


def reconcile(*, dry_run: bool = False, close_unknown: bool = False, leave_unknown: bool = False) -> Reconciliation:
    """Bring this side to what the marketplace says, after the database was restored; once more changes nothing.

    HITs that are there are adopted, their answers fetched and scored, verdicts made and what follows from them, until
    nothing new comes; then payments and qualifications. Nothing is bought and nobody is told anything. Where the two
    sides agree, or with `leave_unknown`, calls are made again. A dry run is taken back as a whole.
    Raises MarketplaceError.
    """
    found = Reconciliation(Report())
    with marketplace_account.reconciling(), transaction.atomic() if dry_run else nullcontext():
        restored = list(Restoration.objects.filter(reconciled_at=None).values_list("pk", flat=True))
        market = marketplace_account.gateway()
        listed = _adopt_all(market, found.report)
        if close_unknown and not dry_run:
            adopting_hits.close_unknown(market, listed, found.report)
        adopting_payments.adopt_compensations(market, listed.offers, found.report)
        adopting_payments.adopt_bonuses(market, found.report)
        adopting_qualifications.adopt(market, found.report)
        moments = list(Restoration.objects.filter(reconciled_at=None).values_list("backup_at", flat=True))
        unknown = WorkerMessage.objects.filter(state=WorkerMessage.State.UNKNOWN, attempted_at__in=moments)
        for row in unknown.select_related("project", "worker"):
            found.report.not_known("message", row.project.slug, f"worker {row.worker.worker_id}", row.subject)
        for stage in Stage.objects.filter(crowd=True).select_related("project__account"):
            summaries.refresh_summary(stage)
        left = [line for line in found.report.holding_up if line.kind != "unknown_item" or not close_unknown]
        found.agrees = not left or leave_unknown
        if found.agrees:
            restorations.agree(restored)
        if dry_run:
            transaction.set_rollback(True)
    return found


def _adopt_all(market: Gateway, report: Report) -> adopting_hits.Listed:
    """Round by round: an answer leads to items, which later HITs ask about."""
    for _ in range(MOST_ROUNDS):
        before = len(report.changes)
        # What could not be told apart a round ago may be known now.
        report.unknown.clear()
        listed = adopting_hits.adopt(market, report)
        stages = Stage.objects.filter(crowd=True).select_related("project__account").order_by("project", "position")
        for stage in stages:
            _catch_up(stage, report)
        if len(report.changes) == before:
            break
    return listed


def _catch_up(stage: Stage, report: Report) -> None:
    """From the answers that are there to the items that follow; without a purchase."""
    slug = stage.project.slug
    open_states = (Assignment.State.SUBMITTED, Assignment.State.REJECTED)
    before = dict(stage.assignments.filter(state__in=open_states).values_list("pk", "state"))
    if new := harvesting.harvest(stage):
        report.changed("answers", slug, stage.key, f"{new:,} new")
    now = (Assignment.objects.filter(pk__in=pks).values_list("pk", "state") for pks in chunks(sorted(before)))
    decided = Counter(state for rows in now for pk, state in rows if state != before[pk])
    if decided:
        said = ", ".join(f"{count:,} {state}" for state, count in sorted(decided.items()))
        report.changed("decisions", slug, stage.key, said)
    items = Item.objects.filter(stage__project=stage.project_id)
    there = items.count()
    try:
        scoring.score(stage)
        deciding.decide(stage)
        advancing.advance(stage)
    except UNUSABLE as error:
        report.not_known("unusable", slug, stage.key, str(error))
    if made := items.count() - there:
        report.changed("made", slug, stage.key, counted(made, "item"))
