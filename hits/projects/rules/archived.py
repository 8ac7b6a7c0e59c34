"""Archived projects: everything in them can be looked at, and nothing changes."""

from __future__ import annotations

from django.db.models import Q

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
    found = [
        _said(_hits(project, "live"), "HIT is", "HITs are", "at workers. Close early, and wait."),
        _said(_hits(project, "planned", "sent"), "HIT is", "HITs are", "to be published. Resume, or wait."),
        _said(_batches(project), "batch is", "batches are", "not carried out. Resume, or wait."),
        _said(_answers(project), "answer waits", "answers wait", "to be approved or rejected."),
        _said(_uploads(project), "import is", "imports are", "not done. Wait, or stop it."),
        _said(_runs(project), "computation is", "computations are", "running. Wait, or stop it."),
        _said(_uncounted(project), "stage has", "stages have", "answers that are not counted yet. Wait."),
        _said(_grants(project), "qualification is", "qualifications are", "being given or taken back. Wait."),
        _said(_blocks(project), "block is", "blocks are", "being made or undone. Wait."),
        _said(_tests(project), "test is", "tests are", "being offered or withdrawn. Wait."),
        _said(_checks(project), "check of the ledger is", "checks of the ledger are", "running. Wait."),
        _said(_bonus_files(project), "file of bonuses is", "files of bonuses are", "not done. Wait."),
    ]
    return [text for text in found if text] or _reserved(project)


def _hits(project: Project, *states: str) -> int:
    return Hit.objects.filter(stage__project=project, state__in=states).count()


def _batches(project: Project) -> int:
    """Those that are to close, extend or delete HITs count too; the HITs of others are told by themselves."""
    waiting = Batch.objects.filter(stage__project=project).exclude(state=Batch.State.PUBLISHED)
    return waiting.exclude(hits__state__in=[Hit.State.PLANNED, Hit.State.SENT]).distinct().count()


def _uncounted(project: Project) -> int:
    return project.stages.filter(pk__in=unconcluded_stages()).count()


def _grants(project: Project) -> int:
    """What the marketplace refused waits for a lead and goes on no more."""
    return project.grants.filter(state__in=[Grant.State.INTENDED, Grant.State.WITHDRAWING], error="").count()


def _blocks(project: Project) -> int:
    return project.blocks.filter(state__in=[Block.State.INTENDED, Block.State.LIFTING], error="").count()


def _tests(project: Project) -> int:
    state = QualificationTest.State
    return project.qualification_tests.filter(state__in=[state.OFFERING, state.WITHDRAWING]).count()


def _checks(project: Project) -> int:
    return project.ledger_checks.filter(state=LedgerCheck.State.RUNNING).count()


def _answers(project: Project) -> int:
    undecided = Q(state=Assignment.State.SUBMITTED) | ~Q(decision="")
    return Assignment.objects.filter(undecided, stage__project=project).count()


def _uploads(project: Project) -> int:
    return project.uploads.filter(state__in=Upload.RUNNING).count()


def _runs(project: Project) -> int:
    state = ComputationRun.State
    return project.computation_runs.filter(state__in=[state.QUEUED, state.RUNNING]).count()


def _bonus_files(project: Project) -> int:
    return project.bonus_files.filter(state__in=BonusFile.RUNNING).count()


def _reserved(project: Project) -> list[str]:
    """Bonuses and compensations on their way, and whatever else has money set apart."""
    reserved = Account.objects.get(project=project).reserved
    return [f"${reserved:,.2f} is reserved for payments that are not made yet."] if reserved else []


def _said(number: int, one: str, many: str, rest: str) -> str:
    return f"{number:,} {one if number == 1 else many} {rest}" if number else ""
