"""Pools: a lead names a set of workers, fills it, lets other projects use it, and invites people by a link.

Security behavior: a pool belongs to one project, and the roles there say who may change it. Another project uses it
when somebody who manages both says so. A link is 256 random bits, of which the digest alone is kept; it lets people
into one qualification of this account and nowhere else, at the marketplace, which counts how many. Who shall be in a
pool is a row (`Grant`) before the marketplace is told; `granting.finish` tells it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify
from rest_framework import serializers

from hits import tasks
from hits.accounts.models import token_digest
from hits.core.action_log import record
from hits.core.jobs import queue
from hits.core.roles import MANAGER
from hits.core.targets import PROJECT
from hits.core.verbs import Unchanged, verb
from hits.formats.inputs.worker_lists import MOST_BYTES, read_worker_list
from hits.formats.pool_keys import PREFIX
from hits.models import Grant, Project
from hits.pools import jobs, rules
from hits.pools.api import (
    LINK,
    MEMBER,
    MOST_BEST,
    POOL,
    TAG,
    USABLE,
    BestQuery,
    MadePoolLink,
    PoolMemberShape,
    PoolShape,
    best,
)
from hits.pools.models import LONGEST_KEY, LONGEST_NAME, LONGEST_NOTE, Pool, PoolLink, PoolUse
from hits.publishing.rules.hit_types import own_qualification
from hits.publishing.rules.marketplace_account import gateway
from hits.refusals import Refused
from hits.text.language.amounts import amount_is
from hits.text.written import line_fault
from hits.workers.rules import grant_rows

MOST_POOLS, MOST_LINKS = 100, 20
MOST_WORKERS = 10_000
MOST_USES, MOST_DAYS = 1000, 365
LAST_NUMBER = 32_000
ENDED_USE = "ended the use of a pool"
SHARED = "let a project use a pool"


# What is taken


class NewPool(serializers.Serializer[Any]):
    name = serializers.CharField(
        max_length=LONGEST_NAME,
        label="Name",
        help_text="Such as “Students 2026”. Workers who are in it read the name at the marketplace, too.",
    )

    def validate_name(self, value: str) -> str:
        return _line(value, "The name of a pool", LONGEST_NAME)


def _line(value: str, what: str, longest: int) -> str:
    """Raises ValidationError."""
    plain = " ".join(value.split())
    if fault := line_fault(plain, longest):
        raise serializers.ValidationError(f"{what} {fault}.")
    return plain


class NewPoolMembers(serializers.Serializer[Any]):
    worker_ids = serializers.ListField(
        child=serializers.CharField(max_length=64),
        max_length=MOST_WORKERS,
        label="Workers",
        help_text="Their ids at the marketplace, one a line. Who is in the pool already stays in it.",
        style={
            "kind": "text area",
            "file": lambda file: read_worker_list(file.read(MOST_BYTES + 1)),
            "file_help": f"One id a line, or a table (CSV) with a column worker_id. At most {MOST_WORKERS:,} workers.",
        },
    )


class AddBestToPool(BestQuery):
    worker_ids = serializers.ListField(
        child=serializers.CharField(max_length=64), required=False, max_length=MOST_BEST,
        help_text="Those of them to add; without it all.",
    )  # fmt: skip


def _managed_others(pool: Pool, user: User | None) -> list[tuple[str, str]]:
    others = rules.managed_by(user).exclude(pk=pool.project_id).exclude(pk__in=pool.uses.values("project"))
    return list(others.order_by("name").values_list("slug", "name")[:200])


class PoolProject(serializers.Serializer[Any]):
    project = serializers.CharField(
        max_length=120,
        label="Project",
        help_text="By its slug, one in which you are a manager or an owner. Its managers and owners then see who is in "
        "the pool, and its members read the name of this project.",
        style={"choices": _managed_others},
    )


class EndedPoolUse(serializers.Serializer[Any]):
    project = serializers.CharField(
        max_length=120,
        required=False,
        default="",
        help_text="Of a pool of this project: the other project's slug. Of another project's pool: leave it out.",
    )


class NewPoolLink(serializers.Serializer[Any]):
    uses = serializers.IntegerField(
        min_value=1, max_value=MOST_USES, default=1, label="People that it lets in", style={"inputmode": "numeric"}
    )
    days = serializers.IntegerField(
        min_value=1, max_value=MOST_DAYS, default=14, label="Days", help_text="Until it expires.",
        style={"inputmode": "numeric"},
    )  # fmt: skip
    note = serializers.CharField(
        max_length=LONGEST_NOTE, required=False, default="", allow_blank=True, label="Whom it is for",
        help_text="May stay empty. Nobody but the members of your projects reads it.",
    )  # fmt: skip

    def validate_note(self, value: str) -> str:
        return _line(value, "The note", LONGEST_NOTE) if value.strip() else ""


# What is kept in the activity log and done behind the commit


def _key(pool: Pool, result: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """By which the page of a pool finds what was done to it."""
    return {"key": pool.key}


def _finish(row: Any, _: Any) -> None:
    queue.start(tasks.finish_grants, row.project_id)


def _page(row: Pool) -> tuple[str, str, str]:
    return "pool", row.project.slug, row.key


def _refuse_archived(pool: Pool) -> None:
    if pool.archived_at:
        raise Refused("pool_archived", f"“{pool.name}” is archived: take it up again first. Nothing was changed.")


def _refuse_asked_for(pool: Pool, project: Project | None = None) -> None:
    stages = rules.asking(pool, project)
    if stages:
        named = ", ".join(f"“{stage.title}” of {stage.project.name}" for stage in stages[:5])
        more = f" and {len(stages) - 5} more" if len(stages) > 5 else ""
        raise Refused(
            "pool_in_use",
            f"“{pool.name}” is asked for by {named}{more}. Take that requirement out on the page “Settings” there "
            "first. Nothing was changed.",
            stages=[f"{stage.project.slug}/{stage.key}" for stage in stages],
        )


# The pool itself


@verb(
    "pools.create", "Make a pool", tag=TAG, on=PROJECT, role=MANAGER, route="POST pools/", status=201,
    summary="Make a pool with nobody in it", takes=NewPool, gives=PoolShape, leads_to=_page,
    activity="made a pool {pool}", makes="pool", detail=lambda project, made, values: {"key": made.key},
    done=lambda made, values: f"The pool “{made.name}” is made. Put workers in it, below.",
    refuses=("pool_name", "too_many_pools"),
)  # fmt: skip
def create(project: Project, user: User | None, *, name: str) -> Pool:
    """The project is locked: of two leads at once, the second one sees the first one's pool."""
    if project.pools.count() >= MOST_POOLS:
        raise Refused("too_many_pools", f"A project has at most {MOST_POOLS} pools. Rename one that nobody uses.")
    if project.pools.filter(name=name).exists():
        raise _taken(name)
    return _insert(project, name, user)


def _taken(name: str) -> Refused:
    return Refused("pool_name", f"This project has a pool “{name}” already. Nothing was changed.", field="name")


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
    raise Refused("pool_name", f"No key is free for a pool “{name}”: choose another name.", field="name")


@verb(
    "pools.rename", "Rename a pool", tag=TAG, on=POOL, role=MANAGER, route="PATCH ",
    summary="Give a pool another name; its key stays", takes=NewPool, gives=PoolShape,
    activity="renamed a pool {pool}", detail=lambda row, result, values: {"key": row.key, "before": row.before},
    done="The pool has its new name.", refuses=("pool_name",),
)  # fmt: skip
def rename(row: Pool, user: User | None, *, name: str) -> Pool | Unchanged:
    """Its key, and its name at the marketplace, stay."""
    if row.name == name:
        return Unchanged(row, "It has that name already.")
    row.before, row.name = row.name, name  # type: ignore[attr-defined]
    try:
        with transaction.atomic():
            row.save(update_fields=["name"])
    except IntegrityError:
        raise _taken(name) from None
    return row


@verb(
    "pools.archive", "Archive a pool", tag=TAG, on=POOL, role=MANAGER, route="POST archive/",
    summary="Archive a pool for which no stage asks: no stage can, and its links let nobody in", gives=PoolShape,
    activity="archived a pool {pool}", detail=_key, undo="pools.take_up",
    done="The pool is archived. Who is in it stays, and its links let nobody in.", refuses=("pool_in_use",),
)  # fmt: skip
def archive(row: Pool, user: User | None) -> Pool | Unchanged:
    if row.archived_at:
        return Unchanged(row, "It is archived already.")
    _refuse_asked_for(row)
    row.archived_at = timezone.now()
    row.save(update_fields=["archived_at"])
    row.links.filter(revoked_at=None).update(revoked_at=row.archived_at)
    return row


@verb(
    "pools.take_up", "Take up an archived pool again", tag=TAG, on=POOL, role=MANAGER, route="POST take-up/",
    summary="Take up an archived pool again; its links stay revoked", gives=PoolShape,
    activity="took up an archived pool {pool}", detail=_key, undo="pools.archive",
    done="Stages can ask for the pool again. Make new links if you want some.",
)  # fmt: skip
def take_up(row: Pool, user: User | None) -> Pool | Unchanged:
    if row.archived_at is None:
        return Unchanged(row, "It is in use already.")
    row.archived_at = None
    row.save(update_fields=["archived_at"])
    return row


# Who is in it


def _put(new: int, values: Mapping[str, Any]) -> str:
    return f"{amount_is(new, 'worker')} being put in the pool." if new else ALL_IN


ALL_IN = "All of these workers are in the pool already."


def _amount(row: Pool, new: int, values: Mapping[str, Any]) -> dict[str, Any]:
    how = {"how": f"the best of {values['stage']} by {values['by']}"} if "stage" in values else {}
    return {"key": row.key, "workers": f"{new:,} {'worker' if new == 1 else 'workers'}", **how}


@verb(
    "pools.add", "Add workers to a pool", tag=TAG, on=POOL, role=MANAGER, route="POST workers/",
    summary="Add workers to a pool; who is in it stays in it", takes=NewPoolMembers, see="pools.show",
    activity="added workers to a pool {pool}", detail=_amount, done=_put, refuses=("pool_archived",), after=_finish,
)  # fmt: skip
def add(row: Pool, user: User | None, *, worker_ids: Iterable[str]) -> int | Unchanged:
    """How many were not in it. Raises Refused (workers_refused) too."""
    wanted = grant_rows.read_workers(worker_ids, MOST_WORKERS)
    _refuse_archived(row)
    return grant_rows.intend(row.project, row.key, wanted, user) or Unchanged(0, ALL_IN)


@verb(
    "pools.add_best", "Add the best of a stage to a pool", tag=TAG, on=POOL, role=MANAGER, route="POST best/",
    summary="Add the best of a stage to a pool, or those of them that are named", takes=AddBestToPool, see="pools.show",
    activity="added workers to a pool {pool}", detail=_amount, done=_put, heavy=True,
    refuses=("best_refused", "pool_archived"), after=_finish,
)  # fmt: skip
def add_best(row: Pool, user: User | None, *, worker_ids: Sequence[str] | None = None, **query: Any) -> int | Unchanged:
    """How many were not in it. Refused also where a chosen one is not among the best any more."""
    found = [one.stat.worker.worker_id for one in best(row, **query)]
    if missing := sorted(set(worker_ids or ()) - set(found)):
        raise Refused(
            "best_refused",
            f"{', '.join(missing[:5])}{' and others' if len(missing) > 5 else ''}: not among the best any more, for "
            "the figures have changed. Look at the list again. Nothing was changed.",
        )
    if not found:
        raise Refused("best_refused", "No worker of this stage has so many answers. Nothing was changed.")
    return add(row, user, worker_ids=found if worker_ids is None else worker_ids)


@verb(
    "pools.remove", "Take a worker out of a pool", tag=TAG, on=MEMBER, role=MANAGER, route="POST remove/", status=202,
    summary="Take a worker out of a pool; adding the worker again undoes that", gives=PoolMemberShape,
    activity="took a worker out of a pool {worker}",
    detail=lambda row, result, values: {"key": row.key, "pool": row.project.pools.get(key=row.key).name},
    done=lambda row, values: (
        f"{row.worker} is being taken out of the pool. You can put the worker in again at any time."
    ),
    after=_finish,
)  # fmt: skip
def remove(row: Grant, user: User | None) -> Grant | Unchanged:
    if not grant_rows.intend_withdrawal(row):
        return Unchanged(row, f"{row.worker} is not in the pool any more.")
    row.refresh_from_db(fields=["state", "withdrawn_at", "error"])
    return row


# Other projects


@verb(
    "pools.share", "Let another project use a pool", tag=TAG, on=POOL, role=MANAGER, route="POST share/", status=204,
    summary="Let another project that you manage, too, ask for a pool", takes=PoolProject,
    activity=f"{SHARED} {{pool}} {{project}}", detail=_key,
    done=lambda use, values: f"Stages of {use.project.name} can ask for this pool now.",
    refuses=("pool_not_shareable", "pool_archived"),
)  # fmt: skip
def share(row: Pool, user: User | None, *, project: str) -> PoolUse | Unchanged:
    """Whether there is a project that the user does not manage is not said."""
    _refuse_archived(row)
    if project == row.project.slug:
        raise _not_shareable(f"“{row.name}” belongs to {row.project.name}.")
    managed = {one.slug: one for one in rules.managed_by(user).filter(slug__in=[project, row.project.slug])}
    if len(managed) < 2:
        raise _not_shareable(
            "Only who is a manager or an owner of both projects, neither of them archived, lets one use a pool of the "
            "other."
        )
    other = managed[project]
    if any(rows.filter(key=row.key).exists() for rows in (other.qualifications, other.qualification_tests)):
        raise _not_shareable(f"{other.name} has a qualification of its own called “{row.key}”.")
    use, made = PoolUse.objects.get_or_create(pool=row, project=other, defaults={"created_by": user})
    if not made:
        return Unchanged(use, f"Stages of {other.name} can ask for this pool already.")
    record(other, user, SHARED, detail={"pool": row.name, "key": row.key, "project": row.project.slug})
    return use


def _not_shareable(why: str) -> Refused:
    return Refused("pool_not_shareable", f"{why} Nothing was changed.", field="project")


@verb(
    "pools.stop_sharing", "End the use of a pool", tag=TAG, on=USABLE, role=MANAGER, route="POST stop-sharing/",
    summary="End the use of a pool by another project, or by this one", takes=EndedPoolUse, status=204,
    activity=f"{ENDED_USE} {{pool}}", detail=lambda row, use, values: {"key": row.key, "project": _other(use).slug},
    done=lambda use, values: f"Stages of {use.project.name} can ask for “{use.pool.name}” no more.",
    leads_to=lambda use: _page(use.pool) if _is_own(use.pool) else ("pools", use.project.slug),
    refuses=("pool_in_use", "pool_not_used"),
)  # fmt: skip
def stop_sharing(row: Pool, user: User | None, *, project: str = "") -> PoolUse:
    """Of this project's own pool the use by the project that is named; of another one's, the use by this one."""
    here = USABLE.project_of(row)
    named = project if _is_own(row) else here.slug
    use = row.uses.select_related("project").filter(project__slug=named).first()
    if use is None:
        raise Refused("pool_not_used", f"No project {named!r} uses this pool. Nothing was changed.", field="project")
    _refuse_asked_for(row, use.project)
    row.uses.filter(pk=use.pk).delete()
    use.pool = row
    record(_other(use), user, ENDED_USE, detail={"pool": row.name, "key": row.key, "project": here.slug})
    return use


def _is_own(pool: Pool) -> bool:
    return USABLE.project_of(pool).pk == pool.project_id


def _other(use: PoolUse) -> Project:
    """Of the two projects the one through which the pool was not found."""
    return use.project if _is_own(use.pool) else use.pool.project


# Invitation links


def _of_marketplace(row: Pool, **values: Any) -> dict[str, str]:
    """The qualification that the link lets people into. Raises MarketplaceError where nobody answers."""
    market = gateway()
    takes = market.lets_people_in()
    if not takes:
        why = (
            "The operator of this marketplace has switched invitation links of pools off."
            if takes is False
            else "Invitation links work with the marketplace that comes with Annotate, and this is another one."
        )
        raise Refused("no_pool_links", f"{why} Add workers by their ids instead. Nothing was made.")
    return {"qualification_type_id": own_qualification(row.project, row.key, market)}


@verb(
    "pools.make_link", "Make an invitation link of a pool", tag=TAG, on=POOL, role=MANAGER, route="POST links/",
    summary="Make a link by which people join a pool at the marketplace; it is shown once", heavy=True, status=201,
    takes=NewPoolLink, gives=MadePoolLink, shows_once=("link", "uses", "expires_at"), before=_of_marketplace,
    leads_to=lambda made: _page(made.pool), activity="made an invitation link of a pool {pool}",
    detail=lambda row, made, values: {"key": row.key, "workers": f"for {made.uses:,}", "link": made.number},
    refuses=("no_pool_links", "pool_archived", "too_many_pools"),
)  # fmt: skip
def make_link(
    row: Pool, user: User | None, *, uses: int, days: int, note: str = "", qualification_type_id: str
) -> PoolLink:
    """A link that lets `uses` people in within so many days; its token is nowhere kept."""
    _refuse_archived(row)
    if row.links.living().count() >= MOST_LINKS:
        raise Refused("too_many_pools", f"A pool has at most {MOST_LINKS} open links. Revoke one first.")
    number = (row.links.aggregate(last=Max("number"))["last"] or 1) + 1
    if number > LAST_NUMBER:
        raise Refused("too_many_pools", "This pool has had as many links as it can have. Make another pool.")
    token, now = secrets.token_urlsafe(32), timezone.now()
    made = PoolLink.objects.create(
        pool=row, number=number, note=note, digest=token_digest(token), name=secrets.token_hex(16), uses=uses,
        qualification_type_id=qualification_type_id, created_by=user, created_at=now,
        expires_at=now + timedelta(days=days),
    )  # fmt: skip
    made.link = settings.PUBLIC_URL + reverse("join-pool", args=[token])  # type: ignore[attr-defined]
    return made


@verb(
    "pools.revoke_link", "Revoke an invitation link of a pool", tag=TAG, on=LINK, role=MANAGER, route="POST revoke/",
    summary="End a link before it expires", status=204, while_archived=True,
    activity="revoked an invitation link of a pool {pool}",
    detail=lambda row, result, values: {"key": row.pool.key, "workers": f"for {row.uses:,}", "link": row.number},
    done="The link is revoked and lets nobody in. Who opened it just before may still join.",
)  # fmt: skip
def revoke_link(row: PoolLink, user: User | None) -> PoolLink | Unchanged:
    """Who stands at the marketplace's page already may join for another hour."""
    if row.ending or row.pool.archived_at:
        return Unchanged(row, "It had ended already.")
    row.revoked_at = timezone.now()
    row.save(update_fields=["revoked_at"])
    return row


@verb(
    "pools.fetch", "Fetch who joined a pool", tag=TAG, on=POOL, role=MANAGER, route="POST fetch/", heavy=True,
    summary="Ask the marketplace who joined", see="pools.show", activity="fetched who joined a pool {pool}",
    detail=_key, done="The marketplace is being asked who joined. Look again in a moment.",
    after=lambda row, _: queue.start(jobs.fetch_pool, row.pk),
)  # fmt: skip
def fetch(row: Pool, user: User | None) -> Pool:
    return row
