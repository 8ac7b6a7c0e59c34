"""Which qualifications of its own a project's stages ask for or give, and which of them a worker holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Value

from hits.models.answers import Assignment
from hits.models.projects import Project, Stage
from hits.models.qualification_tests import QualificationTest
from hits.models.workers import Grant

# Granted to whom the project blocks, and to nobody else.
POOR_QUALITY = "poor-quality"
STANDING = (Grant.State.INTENDED, Grant.State.GRANTED)
_GRANTED_THERE = "hit__stage__grants"


@dataclass
class Held:
    """One qualification that the project grants, and what it does: the stages by what they make of it."""

    key: str
    opens: list[Stage] = field(default_factory=list)
    closes: list[Stage] = field(default_factory=list)
    given_by: list[Stage] = field(default_factory=list)


@dataclass(frozen=True)
class Misfit:
    """Why a worker may not answer in a stage: a qualification that is lacking, or one that is too many.

    `answered` says that an answer of the worker's own made it one too many.
    """

    key: str
    lacking: bool
    answered: bool = False


def held_in(project: Project) -> list[Held]:
    """The qualifications that the project's stages give, or ask whether a worker holds, by key.

    Left out are those that workers earn by a test and the one of blocked workers.
    """
    tests = set(project.qualification_tests.values_list("key", flat=True))
    found: dict[str, Held] = {}
    for stage in project.stages.order_by("position"):
        asked = presence(stage.requirements)
        for key in {*asked, stage.grants} - {"", *tests}:
            held = found.setdefault(key, Held(key))
            if key in asked:
                (held.opens if asked[key] else held.closes).append(stage)
            if key == stage.grants:
                held.given_by.append(stage)
    return [found[key] for key in sorted(found)]


def misfit(stage: Stage, worker_id: str, assignment_id: str) -> Misfit | None:
    """Why the worker may not answer there; None where nothing speaks against it. One query at most.

    The marketplace asks the same; but between an answer and the qualification that it gives lies a while, and what
    the marketplace let in before that is refused here. The answer to `assignment_id`, the worker's own, is left out.
    """
    asked = presence(stage.requirements)
    if not asked:
        return None
    said = set(_said(stage, asked, worker_id, assignment_id))
    for key, wanted in sorted(asked.items()):
        about = {word for found, word in said if found == key}
        if wanted and not about:
            return Misfit(key, lacking=True)
        if not wanted and about - {"test"}:
            return Misfit(key, lacking=False, answered="answered" in about)
    return None


def presence(requirements: Iterable[Mapping[str, Any]]) -> dict[str, bool]:
    """Own qualification to whether a worker has to hold it, or must not."""
    wanted = {"Exists": True, "DoesNotExist": False}
    return {
        one["qualification"]: wanted[one["comparator"]]
        for one in requirements
        # A hyphen makes a qualification the project's own.
        if "-" in one["qualification"] and one["comparator"] in wanted and one["qualification"] != POOR_QUALITY
    }


def _said(stage: Stage, asked: Mapping[str, bool], worker_id: str, assignment_id: str) -> QuerySet[Any, Any]:
    """(key, "given" | "answered" | "test"). Who passed a test, the marketplace alone knows."""
    project = stage.project_id
    grants = Grant.objects.filter(project=project, key__in=asked, state__in=STANDING, worker__worker_id=worker_id)
    closing = {
        "hit__stage__project": project,
        "hit__stage__grants__in": [key for key, wanted in asked.items() if not wanted],
    }
    answers = Assignment.objects.filter(**closing, worker__worker_id=worker_id).exclude(assignment_id=assignment_id)
    tests = QualificationTest.objects.filter(project=project, key__in=asked).order_by()
    return _keyed(grants.filter(stage=None), "key", "given").union(
        _keyed(grants.filter(stage__isnull=False), "key", "answered"),
        _keyed(answers.exclude(withdrawn_since("worker__worker_id", "submitted_at")), _GRANTED_THERE, "answered"),
        _keyed(tests, "key", "test"),
    )


def _keyed(rows: QuerySet[Any], column: str, word: str) -> QuerySet[Any, Any]:
    return rows.values_list(column, Value(word))


def withdrawn_since(worker_id: str, answered_at: str) -> Exists:
    """Whether what the stage gives was taken back from the worker after that: then the answer gives it no more.

    For answers and drafts; the columns of the worker's id at the marketplace and of the moment.
    """
    return Exists(
        Grant.objects.filter(
            project=OuterRef("hit__stage__project"),
            key=OuterRef(_GRANTED_THERE),
            worker__worker_id=OuterRef(worker_id),
            withdrawn_at__gte=OuterRef(answered_at),
        )
    )
