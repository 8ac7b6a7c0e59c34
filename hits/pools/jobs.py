"""Who joined a pool at the marketplace by a link: asked there, and written down as grants.

A worker who joined may answer before anybody here knows of it. So the task page does not refuse such a worker, answers
wait for their scoring until the marketplace was asked, and what was held before is judged again.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from celery import shared_task
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet
from django.utils import timezone

from hits.answers.rules import eligibility
from hits.core.jobs.leases import lease
from hits.formats.pool_keys import PREFIX
from hits.models import Assignment, Grant, Pool, PoolLink, Qualification, Stage
from hits.mturk.errors import MarketplaceError
from hits.mturk.gateway import RemoteQualification
from hits.pools.rules import asking
from hits.publishing.rules.marketplace_account import READS_LAG, gateway
from hits.workers.rules import grant_rows
from hits.workers.rules.project_qualifications import STANDING, presence

log = logging.getLogger(__name__)
LEASE_SECONDS = 30
# How often the marketplace is asked: of links of the last day, and of older ones.
SOON, LATER = timedelta(minutes=1), timedelta(minutes=10)
NEW = timedelta(days=1)
# Five pages of the list.
LARGE = 500
LARGEST_VALUE = 32_767


def due() -> list[int]:
    """Pools of which it is time to ask the marketplace who joined; a large one, whose list is long, less often."""
    now = timezone.now()
    new = PoolLink.objects.open_lately().filter(pool=OuterRef("pk"), created_at__gt=now - NEW)
    rows = Pool.objects.with_open_links().filter(project__archived_at=None).with_workers()
    listed = list(rows.annotate(new=Exists(new)).order_by("pk"))
    waits = {row.pk: (SOON if row.new else LATER) * (1 + row.workers // LARGE) for row in listed}
    return [row.pk for row in listed if row.fetched_at is None or row.fetched_at <= now - waits[row.pk]]


def to_fetch(stage: Stage) -> list[Pool]:
    """The pools of which the marketplace must be asked before the stage's new answers are scored: their workers are not
    in a pool that the stage asks for, and may have joined by a link.
    """
    wanted = [key for key, held in presence(stage.requirements).items() if held and key.startswith(PREFIX)]
    if not wanted:
        return []
    found = Pool.objects.usable_in(stage.project).filter(key__in=wanted).with_open_links()
    return [pool for pool in found.select_related("project") if _unknown(stage, pool).exists()]


def _unknown(stage: Stage, pool: Pool) -> QuerySet[Assignment]:
    standing = pool.members.filter(state__in=STANDING, worker=OuterRef("worker"))
    return stage.assignments.from_marketplace().filter(~Exists(standing), scored=False)


def fetch(pool: Pool) -> int | None:
    """Ask the marketplace who is in the pool; returns how many were not known, None while another process gives or
    takes back qualifications of the project.

    Whom a lead has just taken out is not let in again by an older list. Raises MarketplaceError.
    """
    with lease(grant_rows.lease_name(pool.project_id), seconds=LEASE_SECONDS) as held:
        if held is None:
            return None
        made = Qualification.objects.filter(project=pool.project_id, key=pool.key).first()
        began, new = timezone.now(), 0
        if made:
            for some in gateway().holder_pages(made.qualification_type_id):
                new += _adopt(pool, some, began)
                held.renew()
        Pool.objects.filter(pk=pool.pk).update(fetched_at=began)
    return new


def _adopt(pool: Pool, holders: Sequence[RemoteQualification], read_at: datetime) -> int:
    rows = grant_rows.worker_pks([one.worker_id for one in holders])
    with transaction.atomic():
        mine = pool.members.filter(worker__in=rows.values())
        standing = set(mine.exclude(state=Grant.State.WITHDRAWN).values_list("worker", flat=True))
        taken = mine.filter(state=Grant.State.WITHDRAWN).order_by().values_list("worker_id")
        taken_out: dict[int, datetime] = dict(taken.annotate(Max("withdrawn_at")))
        new = [
            one
            for one in holders
            if (pk := rows[one.worker_id]) not in standing and not _is_older(one.granted_at, taken_out.get(pk), read_at)
        ]
        made = [_row(pool, one, rows[one.worker_id]) for one in new]
        # A lead may have named the same worker at this moment.
        Grant.objects.bulk_create(made, ignore_conflicts=True)
    if new:
        _judge_again(pool, [rows[one.worker_id] for one in new])
    return len(new)


def _is_older(granted_at: datetime, taken_out_at: datetime | None, read_at: datetime) -> bool:
    """Whether what a list says may have been so only before the worker was taken out. The marketplace tells whole
    seconds, and its clock may be another one: once its reads cannot lag that far behind, the list alone counts.
    """
    if taken_out_at is None or read_at > taken_out_at + READS_LAG:
        return False
    return granted_at <= taken_out_at + timedelta(seconds=1)


def _row(pool: Pool, holder: RemoteQualification, worker: int) -> Grant:
    value = min(max(holder.value, 1), LARGEST_VALUE)
    return Grant(project_id=pool.project_id, key=pool.key, worker_id=worker, state=Grant.State.GRANTED, value=value)


def _judge_again(pool: Pool, workers: Sequence[int]) -> None:
    """The answers that were held because their workers were not known to be in the pool."""
    lacking = Assignment.objects.filter(
        stage__in=[stage.pk for stage in asking(pool)],
        worker__in=workers,
        held_for__contains=eligibility.Cause.LACKING.value,
    )
    eligibility.recheck(list(lacking.values_list("pk", flat=True)))


@shared_task
def fetch_pool(pool_pk: int) -> int:
    """Who joined by a link. What the marketplace does not answer to is asked again by `resume_all`."""
    pool = Pool.objects.select_related("project").get(pk=pool_pk)
    try:
        return fetch(pool) or 0
    except MarketplaceError as error:
        log.warning("Who joined %s is fetched later: %s", pool, error)
        return 0
