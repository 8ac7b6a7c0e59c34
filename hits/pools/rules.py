"""Which pools a project may use, and which stages ask for one: what pages, settings and calls ask of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from hits.formats.pool_keys import PREFIX
from hits.pools.models import Pool, PoolLink, PoolUse
from hits.projects.models import Membership, Project
from hits.refusals import Refused
from hits.stages.models import Stage

Role = Membership.Role
MANAGING = (Role.MANAGER, Role.OWNER)


def keys_in(requirements: Iterable[Mapping[str, Any]]) -> set[str]:
    """The keys among these requirements that may be those of pools: a project's own qualification may begin so, too."""
    return {one["qualification"] for one in requirements if one["qualification"].startswith(PREFIX)}


def homes(project_pk: int, keys: Iterable[str]) -> dict[str, int]:
    """Of these keys, those of pools that the project may use, with the project to which each belongs: its grants are
    there. One query; none where no key can be that of a pool.
    """
    wanted = sorted(key for key in keys if key.startswith(PREFIX))
    if not wanted:
        return {}
    used = PoolUse.objects.filter(project=project_pk).values("pool")
    rows = Pool.objects.filter(Q(project=project_pk) | Q(pk__in=used), key__in=wanted)
    return dict(rows.values_list("key", "project"))


def home(project: Project, key: str) -> Project:
    """To which project the qualification of that key belongs: of a pool that the project uses, to the pool's own."""
    found = homes(project.pk, [key]).get(key, project.pk)
    return project if found == project.pk else Project.objects.get(pk=found)


def names(project: Project, keys: Iterable[str] | None = None) -> dict[str, str]:
    """Key to what leads read of a pool, of all that the project may use and that are not archived, or of these keys."""
    rows = Pool.objects.usable_in(project)
    rows = rows.filter(archived_at=None) if keys is None else rows.filter(key__in=list(keys))
    return {key: title(name) for key, name in rows.values_list("key", "name")}


def may_list_workers(pool: Pool, project: Project) -> bool:
    """Whether the person, with the role in the project through which the pool was asked for, sees who is in it: every
    member of the pool's own project, of another one its managers and owners.
    """
    return pool.project_id == project.pk or project.role in MANAGING


def title(name: str) -> str:
    return f"Pool: {name}"


def requirement_faults(project: Project, requirements: Iterable[Mapping[str, Any]]) -> list[str]:
    """What is wrong with these requirements where they ask for pools; the pools are held until the transaction ends, so
    that none is archived meanwhile.

    A key that no pool has may be that of a qualification that the project had before there were pools.
    """
    asked = [one for one in requirements if one["qualification"].startswith(PREFIX)]
    if not asked:
        return []
    usable = Pool.objects.select_for_update(of=("self",), no_key=True).usable_in(project).order_by("pk")
    rows = {pool.key: pool for pool in usable}
    known = set(project.qualifications.values_list("key", flat=True))
    return [fault for one in asked if (fault := _fault(one, rows, known))]


def _fault(asked: Mapping[str, Any], rows: Mapping[str, Pool], known: set[str]) -> str:
    key = asked["qualification"]
    pool = rows.get(key)
    if pool is None:
        there = f"There are: {', '.join(sorted(rows))}." if rows else "It has none: make one under “Pools”."
        return "" if key in known else f"requirements ask for the pool {key!r}, which this project may not use. {there}"
    if pool.archived_at:
        return f"requirements ask for the pool “{pool.name}”, which is archived: take it up again under “Pools” first."
    return ""


def asking(pool: Pool, project: Project | None = None) -> list[Stage]:
    """The stages that ask whether a worker is in the pool, of all projects that may use it or of this one."""
    projects = [project.pk] if project else [pool.project_id, *pool.uses.values_list("project", flat=True)]
    stages = Stage.objects.filter(project__in=projects).select_related("project").order_by("project", "position")
    return [stage for stage in stages if pool.key in keys_in(stage.requirements)]


def managed_by(user: User | None) -> QuerySet[Project]:
    """The projects in use in which the user is a manager or an owner; all for a command, which has no user."""
    projects = Project.objects.filter(archived_at=None)
    if user is None:
        return projects
    return projects.filter(memberships__user=user, memberships__role__in=MANAGING)


def admit(project: Project, owner: User | None, requirements: Iterable[Mapping[str, Any]]) -> None:
    """Let a new project use the pools that its stages ask for. Raises Refused unless the owner is a manager of
    each project to which one belongs.
    """
    keys = keys_in(requirements)
    rows = Pool.objects.select_for_update(of=("self",), no_key=True).filter(key__in=keys, archived_at=None)
    found = {pool.key: pool for pool in rows.filter(project__in=managed_by(owner)).exclude(project=project)}
    if missing := sorted(keys - found.keys()):
        raise Refused(
            "pool_refused",
            f"Its stages ask for workers of {', '.join(f'“{key}”' for key in missing)}. No such pool is there, or you "
            "are no manager of the project to which it belongs. Ask one of that project's managers to do this, or "
            "take the requirement out first. Nothing was made.",
            pools=missing,
        )
    PoolUse.objects.bulk_create(PoolUse(pool=pool, project=project, created_by=owner) for pool in found.values())


def may_have_joined(stage: Stage, key: str) -> bool:
    """Whether somebody may be in the pool of that key whom nobody here knows of yet."""
    if not key.startswith(PREFIX):
        return False
    usable = Pool.objects.usable_in(stage.project).filter(key=key)
    return PoolLink.objects.open_lately().filter(pool__in=usable).exists()
