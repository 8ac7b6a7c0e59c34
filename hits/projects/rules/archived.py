"""Archived projects: everything in them can be looked at, and nothing changes."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet

from hits.answers.models import Assignment
from hits.answers.rules.hits_to_harvest import unconcluded_stages
from hits.items.models import Upload
from hits.judging.models import ComputationRun
from hits.payments.models import Account, BonusFile, LedgerCheck
from hits.projects.models import Project
from hits.publishing.models import Batch, Hit
from hits.refusals import Refusal
from hits.workers.models import Block, Grant, QualificationTest


class ArchivedError(Refusal):
    """The project is archived. Nothing was changed."""

    error_code = "archived"

    def __init__(self, project: Project) -> None:
        self.slug = project.slug
        super().__init__(
            f"{project.name} is archived: it can be looked at, downloaded and cloned, and not changed. An owner can "
            "restore it."
        )


def refuse_archived(project: Project) -> None:
    """Reads the row again. Raises ArchivedError."""
    if is_archived(project.pk):
        raise ArchivedError(project)


def is_archived(project_pk: int) -> bool:
    return Project.objects.filter(pk=project_pk, archived_at__isnull=False).exists()


def unfinished(project: Project) -> list[str]:
    """What still goes on, a sentence each with what to do about it; empty when the project can be archived."""
    hits = Hit.objects.filter(stage__project=project)
    planned = [Hit.State.PLANNED, Hit.State.SENT]
    # Those that are to close, extend or delete HITs count too; the HITs of others are told by themselves.
    batches = Batch.objects.filter(stage__project=project).exclude(state=Batch.State.PUBLISHED)
    batches = batches.exclude(hits__state__in=planned).distinct()
    undecided = Q(state=Assignment.State.SUBMITTED) | ~Q(decision="")
    runs = project.computation_runs.filter(state__in=[ComputationRun.State.QUEUED, ComputationRun.State.RUNNING])
    # What the marketplace refused waits for a lead and goes on no more.
    grants = project.grants.filter(state__in=[Grant.State.INTENDED, Grant.State.WITHDRAWING], error="")
    blocks = project.blocks.filter(state__in=[Block.State.INTENDED, Block.State.LIFTING], error="")
    answers = Assignment.objects.filter(undecided, stage__project=project)
    uploads = project.uploads.filter(state__in=Upload.RUNNING)
    uncounted = project.stages.filter(pk__in=unconcluded_stages())
    tests = project.qualification_tests.filter(
        state__in=[QualificationTest.State.OFFERING, QualificationTest.State.WITHDRAWING]
    )
    files = project.bonus_files.filter(state__in=BonusFile.RUNNING)
    checks = project.ledger_checks.filter(state=LedgerCheck.State.RUNNING)
    kinds: list[tuple[QuerySet[Any], str, str, str]] = [
        (hits.filter(state=Hit.State.LIVE), "HIT is", "HITs are", "at workers. Close early, and wait."),
        (hits.filter(state__in=planned), "HIT is", "HITs are", "to be published. Resume, or wait."),
        (batches, "batch is", "batches are", "not carried out. Resume, or wait."),
        (answers, "answer waits", "answers wait", "to be approved or rejected."),
        (uploads, "import is", "imports are", "not done. Wait, or stop it."),
        (runs, "computation is", "computations are", "running. Wait, or stop it."),
        (uncounted, "stage has", "stages have", "answers that are not counted yet. Wait."),
        (grants, "qualification is", "qualifications are", "being given or taken back. Wait."),
        (blocks, "block is", "blocks are", "being made or undone. Wait."),
        (tests, "test is", "tests are", "being offered or withdrawn. Wait."),
        (checks, "check of the ledger is", "checks of the ledger are", "running. Wait."),
        (files, "file of bonuses is", "files of bonuses are", "not done. Wait."),
    ]
    counts = [(rows.count(), one, many, rest) for rows, one, many, rest in kinds]
    if any(count for count, *_ in counts):
        return [f"{count:,} {one if count == 1 else many} {rest}" for count, one, many, rest in counts if count]
    # Bonuses and compensations on their way, and whatever else has money set apart.
    reserved = Account.objects.get(project=project).reserved
    return [f"${reserved:,.2f} is reserved for payments that are not made yet."] if reserved else []
