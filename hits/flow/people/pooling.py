"""Pools: a lead names a set of workers, fills it, lets other projects use it, and invites people by a link.

Security behavior: a pool belongs to one project, and the roles there say who may change it. Another project uses it
when somebody who manages both says so. A link is 256 random bits, of which the digest alone is kept; it lets people
into one qualification of this account and nowhere else, at the marketplace, which counts how many. Who shall be in a
pool is a row (`Grant`) before the marketplace is told; `granting.finish` tells it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count, F, Max, Q
from django.utils import timezone
from django.utils.text import slugify

from hits.domain import grant_rows, pools
from hits.domain.action_log import record
from hits.domain.hit_types import own_qualification
from hits.domain.marketplace_account import gateway
from hits.domain.worker_table import ORDERS, WorkerRow, rows_of
from hits.formats.pool_keys import PREFIX
from hits.formats.worker_lists import read_worker_list
from hits.models import Block, Grant, Pool, PoolLink, PoolUse, Project, Stage
from hits.models.access import token_digest
from hits.models.pools import LONGEST_KEY, LONGEST_NAME, LONGEST_NOTE
from hits.mturk.pool_links import Joining
from hits.refusals import Refusal
from hits.text.written import line_fault

MOST_POOLS, MOST_LINKS = 100, 20
MOST_WORKERS = 10_000
MOST_USES, MOST_DAYS = 1000, 365
LAST_NUMBER = 32_000
MOST_BEST = 500
# By which figure a stage's best are found: the figure, and the answers that it is of.
MEASURES = {"known": "scored", "agreement": "compared"}

MADE, RENAMED = "made a pool", "renamed a pool"
ARCHIVED, TAKEN_UP = "archived a pool", "took up an archived pool"
ADDED, REMOVED = "added workers to a pool", "took a worker out of a pool"
SHARED, NO_LONGER_SHARED = "let a project use a pool", "ended the use of a pool"
LINKED, REVOKED = "made an invitation link of a pool", "revoked an invitation link of a pool"
VERBS = (MADE, RENAMED, ARCHIVED, TAKEN_UP, ADDED, REMOVED, SHARED, NO_LONGER_SHARED, LINKED, REVOKED)


class PoolNameError(Refusal):
    """The name is blank, too long, or another pool of the project has it. Nothing was changed."""

    error_code = "pool_name"
    http_status = 400


class PoolInUseError(Refusal):
    """Stages ask for the pool. Nothing was changed."""

    error_code = "pool_in_use"

    def __init__(self, pool: Pool, stages: Sequence[Stage]) -> None:
        self.stages = [f"{stage.project.slug}/{stage.key}" for stage in stages]
        named = ", ".join(f"“{stage.title}” of {stage.project.name}" for stage in stages[:5])
        more = f" and {len(stages) - 5} more" if len(stages) > 5 else ""
        super().__init__(
            f"“{pool.name}” is asked for by {named}{more}. Take that requirement out on the page “Settings” there "
            "first. Nothing was changed."
        )

    def details(self) -> dict[str, Any]:
        return {"stages": self.stages}


class ArchivedPoolError(Refusal):
    """The pool is archived. Nothing was changed."""

    error_code = "pool_archived"

    def __init__(self, pool: Pool) -> None:
        super().__init__(f"“{pool.name}” is archived: take it up again first. Nothing was changed.")


class TooManyPoolsError(Refusal):
    """The project has as many pools, or the pool as many links, as there may be. Nothing was changed."""

    error_code = "too_many_pools"


class NotShareableError(Refusal):
    """The other project cannot use the pool. Nothing was changed."""

    error_code = "pool_not_shareable"


class LinksNotTakenError(Refusal):
    """This marketplace lets nobody in by links. Nothing was made."""

    error_code = "no_pool_links"

    def __init__(self, is_ours: bool) -> None:
        why = (
            "The operator of this marketplace has switched invitation links of pools off."
            if is_ours
            else "Invitation links work with the marketplace that comes with Annotate, and this is another one."
        )
        super().__init__(f"{why} Add workers by their ids instead. Nothing was made.")


class LinkRefusedError(Refusal):
    """The link's number of people, its days or its note are out of range. Nothing was made."""

    error_code = "pool_link_refused"
    http_status = 400


class NoLinkError(Refusal):
    """The link is wrong, has expired or was revoked."""

    error_code = "no_pool_link"
    http_status = 404

    def __init__(self) -> None:
        super().__init__("No such link lets anybody in: it is wrong, has expired or was revoked.")


class BestRefusedError(Refusal):
    """What was asked for finds no best workers, or not those that were shown. Nothing was changed."""

    error_code = "best_refused"
    http_status = 400


# The pool itself


def create(project: Project, name: str, user: User | None) -> Pool:
    """A new pool with nobody in it. Raises PoolNameError and TooManyPoolsError."""
    name = _checked_name(name)
    with transaction.atomic():
        # Of two leads at once, the second one sees the first one's pool.
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if project.pools.count() >= MOST_POOLS:
            raise TooManyPoolsError(f"A project has at most {MOST_POOLS} pools. Rename one that nobody uses.")
        _refuse_taken(project, name)
        made = _insert(project, name, user)
        record(project, user, MADE, detail=_about(made))
    return made


def _checked_name(name: str) -> str:
    plain = " ".join(name.split())
    if fault := line_fault(plain, LONGEST_NAME):
        raise PoolNameError(f"The name of a pool {fault}. Nothing was changed.")
    return plain


def _refuse_taken(project: Project, name: str, but: Pool | None = None) -> None:
    others = project.pools.exclude(pk=but.pk) if but else project.pools.all()
    if others.filter(name=name).exists():
        raise PoolNameError(f"This project has a pool “{name}” already. Nothing was changed.")


def _insert(project: Project, name: str, user: User | None) -> Pool:
    """With a key that nobody uses yet: pools of all projects have one account at the marketplace."""
    base = f"{PREFIX}{slugify(name)[: LONGEST_KEY - len(PREFIX) - 8].strip('-_').replace('_', '-') or 'workers'}"
    taken = set(project.qualifications.values_list("key", flat=True))
    taken |= {one["qualification"] for stage in project.stages.all() for one in stage.requirements}
    taken |= set(project.stages.values_list("grants", flat=True))
    taken |= set(project.qualification_tests.values_list("key", flat=True))
    for tail in ("", *(f"-{secrets.token_hex(2)}" for _ in range(20))):
        key = f"{base}{tail}"
        if key in taken or Pool.objects.filter(key=key).exists():
            continue
        try:
            with transaction.atomic():
                return Pool.objects.create(project=project, key=key, name=name, created_by=user)
        except IntegrityError:
            # Another project has just made one of this name.
            continue
    raise PoolNameError(f"No key is free for a pool “{name}”: choose another name. Nothing was changed.")


def _about(pool: Pool, **more: Any) -> dict[str, Any]:
    return {"pool": pool.name, "key": pool.key, **more}


def _locked(pool: Pool) -> Pool:
    found = Pool.objects.select_for_update(of=("self",), no_key=True).select_related("project")
    return found.get(pk=pool.pk)


def _in_use(pool: Pool) -> Pool:
    """Under lock. Raises ArchivedPoolError."""
    locked = _locked(pool)
    if locked.archived_at:
        raise ArchivedPoolError(locked)
    return locked


def rename(pool: Pool, name: str, user: User | None) -> None:
    """Its key, and its name at the marketplace, stay. Raises PoolNameError."""
    name = _checked_name(name)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=pool.project_id)
        locked = _locked(pool)
        if locked.name == name:
            return
        _refuse_taken(locked.project, name, locked)
        before, locked.name = locked.name, name
        locked.save(update_fields=["name"])
        record(locked.project, user, RENAMED, detail=_about(locked, before=before))


def archive(pool: Pool, user: User | None) -> None:
    """No stage can ask for it any more, and its links let nobody in; who is in it stays. Raises PoolInUseError."""
    with transaction.atomic():
        locked = _locked(pool)
        if locked.archived_at:
            return
        if stages := pools.asking(locked):
            raise PoolInUseError(locked, stages)
        locked.archived_at = timezone.now()
        locked.save(update_fields=["archived_at"])
        locked.links.filter(revoked_at=None).update(revoked_at=locked.archived_at)
        record(locked.project, user, ARCHIVED, detail=_about(locked))


def take_up(pool: Pool, user: User | None) -> None:
    """Stages can ask for it again. The links of before stay revoked."""
    with transaction.atomic():
        locked = _locked(pool)
        if locked.archived_at is None:
            return
        locked.archived_at = None
        locked.save(update_fields=["archived_at"])
        record(locked.project, user, TAKEN_UP, detail=_about(locked))


# Who is in it


def add(pool: Pool, worker_ids: Iterable[str], user: User | None, how: str = "") -> int:
    """Write down that these workers shall be in the pool; returns how many were not. `how` says where they come from.

    Raises WorkersRefusedError, ArchivedPoolError.
    """
    wanted = grant_rows.read_workers(worker_ids, MOST_WORKERS)
    with transaction.atomic():
        locked = _in_use(pool)
        new = grant_rows.intend(locked.project, locked.key, wanted, user)
        if new:
            said = {"workers": f"{new:,} {'worker' if new == 1 else 'workers'}", **({"how": how} if how else {})}
            record(locked.project, user, ADDED, detail=_about(locked, **said))
    return new


def ids_of_file(content: bytes) -> list[str]:
    """The workers' ids that a file has. Raises WorkersRefusedError."""
    try:
        return read_worker_list(content)
    except ValueError as error:
        raise grant_rows.WorkersRefusedError(f"{error} Nothing was changed.") from error


def remove(pool: Pool, row: Grant, user: User | None) -> bool:
    """Write down that this worker shall not be in the pool any more; False where that is so already."""
    with transaction.atomic():
        if not grant_rows.intend_withdrawal(row):
            return False
        record(pool.project, user, REMOVED, detail=_about(pool, worker=row.worker.worker_id))
    return True


def best(stage: Stage, by: str, least: int, top: int) -> list[WorkerRow]:
    """The `top` workers of the stage with `least` answers or more that the figure is of, best first.

    `by` is "known" (share of gold answers right) or "agreement" (with the others). Left out are workers of files, and
    those whom the project blocks or pauses. Raises BestRefusedError.
    """
    if by not in MEASURES or not 1 <= least <= 1_000_000 or not 1 <= top <= MOST_BEST:
        raise BestRefusedError(
            f"Name {' or '.join(MEASURES)}, a least number of answers from 1 on, and 1 to {MOST_BEST} workers."
        )
    blocked = Block.objects.standing().filter(project=stage.project_id)
    stats = stage.worker_stats.select_related("worker").annotate(figure=ORDERS[by])
    stats = stats.filter(Q(**{f"{MEASURES[by]}__gte": least}), worker__imported_into=None)
    stats = stats.exclude(worker__in=blocked.values("worker"))
    return rows_of(stage, stats.order_by(F("figure").desc(), F(MEASURES[by]).desc(), "id")[:top])


def add_best(
    pool: Pool, stage: Stage, by: str, least: int, top: int, user: User | None, chosen: Sequence[str] | None = None
) -> int:
    """Put the best of the stage in the pool, or those of them that are chosen; returns how many were not in it.

    Raises BestRefusedError, also where a chosen one is not among them any more, and what `add` raises.
    """
    found = [row.stat.worker.worker_id for row in best(stage, by, least, top)]
    if missing := sorted(set(chosen or ()) - set(found)):
        raise BestRefusedError(
            f"{', '.join(missing[:5])}{' and others' if len(missing) > 5 else ''}: not among the best any more, for "
            "the figures have changed. Look at the list again. Nothing was changed."
        )
    wanted = found if chosen is None else list(chosen)
    if not wanted:
        raise BestRefusedError("No worker of this stage has so many answers. Nothing was changed.")
    return add(pool, wanted, user, f"the best of {stage.key} by {by}")


# Other projects


def share(pool: Pool, project: Project, user: User | None) -> bool:
    """Let stages of another project ask for the pool; False where they may already.

    Raises NotShareableError unless the user manages both projects, and ArchivedPoolError.
    """
    with transaction.atomic():
        locked = _in_use(pool)
        if project.pk == locked.project_id:
            raise NotShareableError(f"“{locked.name}” belongs to {project.name}. Nothing was changed.")
        managed = pools.managed_by(user).filter(pk__in=[project.pk, locked.project_id])
        if managed.count() < 2:
            raise NotShareableError(
                "Only who is a manager or an owner of both projects, neither of them archived, lets one use a pool of "
                "the other. Nothing was changed."
            )
        own = (project.qualifications, project.qualification_tests)
        if any(rows.filter(key=locked.key).exists() for rows in own):
            raise NotShareableError(
                f"{project.name} has a qualification of its own called “{locked.key}”. Nothing was changed."
            )
        _, made = PoolUse.objects.get_or_create(pool=locked, project=project, defaults={"created_by": user})
        if made:
            for where, other in ((locked.project, project), (project, locked.project)):
                record(where, user, SHARED, detail=_about(locked, project=other.slug))
    return made


def stop_sharing(pool: Pool, project: Project, user: User | None) -> bool:
    """Stages of the other project can ask for the pool no more; False where they could not.

    Raises PoolInUseError while one does.
    """
    with transaction.atomic():
        locked = _locked(pool)
        if stages := pools.asking(locked, project):
            raise PoolInUseError(locked, stages)
        if not locked.uses.filter(project=project).delete()[0]:
            return False
        for where, other in ((locked.project, project), (project, locked.project)):
            record(where, user, NO_LONGER_SHARED, detail=_about(locked, project=other.slug))
    return True


# Invitation links


def make_link(pool: Pool, uses: int, days: int, user: User | None, note: str = "") -> tuple[PoolLink, str]:
    """A link that lets `uses` people in within so many days, and its token, which is nowhere kept.

    Raises LinkRefusedError, LinksNotTakenError, ArchivedPoolError, TooManyPoolsError, and MarketplaceError where the
    marketplace does not answer.
    """
    note = _checked_link(uses, days, note)
    market = gateway()
    takes = market.lets_people_in()
    if not takes:
        raise LinksNotTakenError(is_ours=takes is False)
    made = own_qualification(pool.project, pool.key, market)
    token, now = secrets.token_urlsafe(32), timezone.now()
    with transaction.atomic():
        locked = _in_use(pool)
        if locked.links.living().count() >= MOST_LINKS:
            raise TooManyPoolsError(f"A pool has at most {MOST_LINKS} open links. Revoke one first.")
        number = (locked.links.aggregate(last=Max("number"))["last"] or 1) + 1
        if number > LAST_NUMBER:
            raise TooManyPoolsError("This pool has had as many links as it can have. Make another pool.")
        row = PoolLink.objects.create(
            pool=locked, number=number, note=note, digest=token_digest(token), name=secrets.token_hex(16), uses=uses,
            qualification_type_id=made, created_by=user, created_at=now, expires_at=now + timedelta(days=days),
        )  # fmt: skip
        record(locked.project, user, LINKED, detail=_about(locked, workers=f"for {uses:,}", link=number))
    return row, token


def _checked_link(uses: int, days: int, note: str) -> str:
    plain = " ".join(note.split())
    if not 1 <= uses <= MOST_USES or not 1 <= days <= MOST_DAYS:
        raise LinkRefusedError(
            f"A link lets in 1 to {MOST_USES:,} people, for 1 to {MOST_DAYS} days. Nothing was made."
        )
    if plain and (fault := line_fault(plain, LONGEST_NOTE)):
        raise LinkRefusedError(f"The note {fault}. Nothing was made.")
    return plain


def joined(pool: Pool) -> dict[int, int]:
    """How many are known to have joined by each link, by its number; those who were taken out since count too."""
    rows = pools.members(pool).filter(value__gte=2).order_by()
    return dict(rows.values("value").annotate(n=Count("worker", distinct=True)).values_list("value", "n"))


def revoke_link(pool: Pool, pk: int, user: User | None) -> bool:
    """Whether it was there to be revoked. Who stands at the marketplace's page already may join for another hour."""
    with transaction.atomic():
        locked = _locked(pool)
        row = locked.links.living().filter(pk=pk).first()
        if row is None:
            return False
        row.revoked_at = timezone.now()
        row.save(update_fields=["revoked_at"])
        record(locked.project, user, REVOKED, detail=_about(locked, workers=f"for {row.uses:,}", link=row.number))
    return True


def joining_address(token: str) -> str:
    """The marketplace's page to which a link leads now, good for an hour. Makes no call and changes nothing.

    Raises NoLinkError, and CredentialsError where this installation has no key pair.
    """
    living = PoolLink.objects.living().filter(pool__project__archived_at=None)
    row = living.filter(digest=token_digest(token)).first()
    if row is None:
        raise NoLinkError
    joining = Joining(row.qualification_type_id, row.name, row.uses, row.number, row.expires_at)
    return gateway().joining_address(settings.MTURK_SUBMIT_ORIGINS[0], joining)
