"""Adopting qualifications: blocks, grants and tests as the marketplace has them, after a restore.

Whom the marketplace keeps out and this side does not, is paused here: that makes no answer void and buys none anew,
until a lead decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from hits.judging.rules.counting import recount
from hits.models import Assignment, Block, Grant, Pool, Project, Qualification, QualificationTest, Stage, Worker
from hits.mturk.gateway import Gateway
from hits.publishing.rules.hit_types import own_qualification_name
from hits.publishing.rules.reconciliation import Report
from hits.workers.rules.project_qualifications import POOR_QUALITY, held_in

# As long as a pause may be.
PAUSE = timedelta(days=30)
REASON = "Found at the marketplace after the database was restored: a block or a pause."
Holders = Mapping[str, int]


def adopt(market: Gateway, report: Report) -> None:
    """Raises MarketplaceError."""
    for project in Project.objects.filter(stages__state__in=[Stage.State.LIVE, Stage.State.PAUSED]).distinct():
        for key in [POOR_QUALITY, *(held.key for held in held_in(project))]:
            kind = _type_id(market, project, key)
            holders = _holders(market, kind) if kind else {}
            with transaction.atomic():
                if key == POOR_QUALITY:
                    _adopt_blocks(project, holders, report)
                elif kind:
                    _adopt_grants(project, key, holders, report)
        _adopt_tests(market, project, report)
    for pool in Pool.objects.select_related("project").order_by("pk"):
        # Also of a project in which nothing is published: others may use the pool.
        if kind := _type_id(market, pool.project, pool.key):
            holders = _holders(market, kind)
            with transaction.atomic():
                _adopt_grants(pool.project, pool.key, holders, report)


def _type_id(market: Gateway, project: Project, key: str) -> str:
    """Empty where the account has none of that name."""
    known = project.qualifications.filter(key=key).first()
    if known:
        return known.qualification_type_id
    found = market.find_qualification_type(own_qualification_name(project, key))
    if found:
        Qualification.objects.get_or_create(project=project, key=key, defaults={"qualification_type_id": found})
    return found


def _holders(market: Gateway, kind: str) -> dict[str, int]:
    return {one.worker_id: one.value for page in market.holder_pages(kind) for one in page}


def _workers(ids: Holders) -> dict[str, Worker]:
    Worker.objects.bulk_create([Worker(worker_id=one) for one in sorted(ids)], ignore_conflicts=True)
    return {worker.worker_id: worker for worker in Worker.objects.filter(worker_id__in=list(ids))}


# Blocks


def _adopt_blocks(project: Project, holders: Holders, report: Report) -> None:
    standing = Block.objects.standing().filter(project=project).select_related("worker")
    rows = {row.worker.worker_id: row for row in standing}
    for worker_id, row in rows.items():
        _adopt_block(project, row, worker_id in holders, report)
    new = {worker_id: value for worker_id, value in holders.items() if worker_id not in rows}
    workers = _workers(new)
    for worker_id in sorted(new):
        stage = _stage_of(project, workers[worker_id])
        Block.objects.create(
            project=project,
            stage=stage,
            worker=workers[worker_id],
            state=Block.State.GRANTED,
            evidence={"by_hand": True, "reason": REASON, "figures": None},
            until=timezone.now() + PAUSE,
        )
        report.changed("pause_adopted", project.slug, f"worker {worker_id}", f"for {PAUSE.days} days")


def _adopt_block(project: Project, row: Block, is_held: bool, report: Report) -> None:
    subject = f"worker {row.worker.worker_id}"
    if is_held and row.state == Block.State.INTENDED:
        Block.objects.filter(pk=row.pk).update(state=Block.State.GRANTED, error="")
        report.changed("block_found", project.slug, subject)
    elif not is_held and row.state in (Block.State.GRANTED, Block.State.LIFTING):
        Block.objects.filter(pk=row.pk).update(state=Block.State.UNDONE, undone_at=timezone.now(), error="")
        recount(Assignment.objects.filter(stage__project=project, worker=row.worker))
        report.changed("block_ended", project.slug, subject)
    elif not is_held:
        report.not_known("block_pending", project.slug, subject)


def _stage_of(project: Project, worker: Worker) -> Stage:
    """Where the worker answered most; else the first with a crowd."""
    counted = project.stages.filter(assignments__worker=worker).annotate(n=Count("assignments")).order_by("-n", "pk")
    return counted.first() or project.stages.filter(crowd=True).order_by("position")[0]


# Grants


def _adopt_grants(project: Project, key: str, holders: Holders, report: Report) -> None:
    standing = Grant.objects.filter(project=project, key=key).exclude(state=Grant.State.WITHDRAWN)
    rows = {row.worker.worker_id: row for row in standing.select_related("worker")}
    for worker_id, row in rows.items():
        _adopt_grant(project, row, holders.get(worker_id), report)
    new = {worker_id: value for worker_id, value in holders.items() if worker_id not in rows}
    workers = _workers(new)
    giving = project.stages.filter(grants=key).first()
    for worker_id, value in sorted(new.items()):
        answered = giving and giving.assignments.filter(worker=workers[worker_id]).exists()
        Grant.objects.create(
            project=project,
            worker=workers[worker_id],
            key=key,
            state=Grant.State.GRANTED,
            value=value,
            stage=giving if answered else None,
        )
        report.changed("grant_adopted", project.slug, f"{key} of worker {worker_id}", str(value))


def _adopt_grant(project: Project, row: Grant, value: int | None, report: Report) -> None:
    subject = f"{row.key} of worker {row.worker.worker_id}"
    mine = Grant.objects.filter(pk=row.pk)
    if value is None:
        # One that is about to be given is given when calls are made again.
        if row.state != Grant.State.INTENDED:
            mine.update(state=Grant.State.WITHDRAWN, withdrawn_at=row.withdrawn_at or timezone.now(), error="")
            report.changed("grant_ended", project.slug, subject)
    elif row.state == Grant.State.INTENDED and row.value == value:
        mine.update(state=Grant.State.GRANTED, error="")
        report.changed("grant_adopted", project.slug, subject, str(value))
    elif row.state == Grant.State.GRANTED and row.value != value:
        mine.update(value=value)
        report.changed("grant_value", project.slug, subject, f"{row.value} here, {value} there")


# Tests


def _adopt_tests(market: Gateway, project: Project, report: Report) -> None:
    for row in project.qualification_tests.filter(state=QualificationTest.State.DRAFT):
        if found := market.find_qualification_type(row.remote_name):
            offered = {"state": QualificationTest.State.OFFERED, "qualification_type_id": found}
            QualificationTest.objects.filter(pk=row.pk).update(**offered, offered_at=timezone.now(), error="")
            report.changed("test_offered", project.slug, f"test {row.key}")
