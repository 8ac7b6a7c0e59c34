"""Pools: named sets of workers that projects share, and the links that invite people into one."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.shortcuts import get_object_or_404
from django.urls import reverse
from rest_framework import exceptions, status
from rest_framework.request import Request
from rest_framework.response import Response

from hits import queue, tasks
from hits.api.base import ProjectView, Started, operation, started
from hits.api.paging import PageQuery, asked, page, page_of
from hits.api.shapes import pools as shapes
from hits.domain import pools, roles
from hits.flow.people import pooling
from hits.models import Pool, Project
from hits.text.amounts import amount_is

TAG = "Pools"
MEMBERS = page_of(shapes.PoolMemberShape)


class _PoolView(ProjectView):
    def usable(self, key: str) -> Pool:
        """Of the project, or one that it uses."""
        return get_object_or_404(Pool.objects.usable_in(self.project).select_related("project"), key=key)

    def own(self, key: str) -> Pool:
        """Of the project: through another one nobody changes it."""
        found = get_object_or_404(self.project.pools, key=key)
        found.project = self.project
        return found

    def pool_address(self, pool: Pool) -> str:
        return f"{self.address('pools')}{pool.key}/"

    def shown(self, pool: Pool, code: int = 200) -> Response:
        return Response(shapes.PoolShape(_counted([pool])[0]).data, status=code)

    def told(self, pool: Pool, new: int) -> Response:
        queue.start(tasks.finish_grants, pool.project_id)
        return started(f"{amount_is(new, 'worker')} being put in the pool.", self.pool_address(pool))


def _counted(rows: list[Pool]) -> list[Pool]:
    counts = pools.counts(rows)
    for row in rows:
        row.workers = counts[row.pk]  # type: ignore[attr-defined]
    return rows


class Pools(_PoolView):
    @operation(
        "pools_list",
        "The pools of the project, and those of others that it may use",
        tag=TAG,
        answer=shapes.PoolList,
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        rows = list(Pool.objects.usable_in(self.project).select_related("project"))
        return Response(shapes.PoolList({"results": _counted(rows)}).data)

    @operation(
        "pools_create",
        "Make a pool with nobody in it",
        tag=TAG,
        takes=shapes.NewPool,
        answer=shapes.PoolShape,
        code=201,
        refuses=[403, 404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = shapes.NewPool(data=request.data)
        given.is_valid(raise_exception=True)
        return self.shown(pooling.create(self.project, given.validated_data["name"], self.user), 201)


class OnePool(_PoolView):
    @operation(
        "pools_read", "One pool, where it is used, and its links", tag=TAG, answer=shapes.PoolDetail, refuses=[404]
    )
    def get(self, request: Request, pool: str, **address: str) -> Response:
        row = _counted([self.usable(pool)])[0]
        is_own = row.project_id == self.project.pk
        joined = pooling.joined(row) if is_own else {}
        links = list(row.links.select_related("created_by")[:50]) if is_own else []
        for link in links:
            link.joined = joined.get(link.number, 0)  # type: ignore[attr-defined]
        more: dict[str, Any] = {
            "asked_for_by": shapes.AskingStage(pools.asking(row), many=True).data,
            "used_by": list(row.uses.order_by("project__slug").values_list("project__slug", flat=True)),
            "links": shapes.PoolLinkShape(links, many=True).data,
        }
        return Response({**shapes.PoolShape(row).data, **more})

    @operation(
        "pools_rename",
        "Give a pool another name; its key stays",
        tag=TAG,
        takes=shapes.NewPool,
        answer=shapes.PoolShape,
        refuses=[403, 404],
    )
    def patch(self, request: Request, pool: str, **address: str) -> Response:
        row = self.own(pool)
        given = shapes.NewPool(data=request.data)
        given.is_valid(raise_exception=True)
        pooling.rename(row, given.validated_data["name"], self.user)
        row.refresh_from_db(fields=["name"])
        return self.shown(row)


class Archive(_PoolView):
    @operation(
        "pools_archive",
        "Archive a pool for which no stage asks: no stage can, and its links let nobody in",
        tag=TAG,
        answer=shapes.PoolShape,
        refuses=[403, 404, 409],
    )
    def post(self, request: Request, pool: str, **address: str) -> Response:
        row = self.own(pool)
        pooling.archive(row, self.user)
        row.refresh_from_db(fields=["archived_at"])
        return self.shown(row)


class TakeUp(_PoolView):
    @operation(
        "pools_take_up",
        "Take up an archived pool again; its links stay revoked",
        tag=TAG,
        answer=shapes.PoolShape,
        refuses=[403, 404],
    )
    def post(self, request: Request, pool: str, **address: str) -> Response:
        row = self.own(pool)
        pooling.take_up(row, self.user)
        row.refresh_from_db(fields=["archived_at"])
        return self.shown(row)


class Members(_PoolView):
    @operation(
        "pools_workers",
        "Who is or was in a pool; of another project's pool for managers and owners alone",
        tag=TAG,
        query=PageQuery,
        answer=MEMBERS,
        refuses=[403, 404],
    )
    def get(self, request: Request, pool: str, **address: str) -> Response:
        asked(request, PageQuery)
        row = self.usable(pool)
        if not pools.may_list_workers(row, self.project):
            raise roles.RoleRefusedError(self.project, self.project.role, roles.MANAGER)
        return page(request, pools.members(row).select_related("worker", "created_by"), shapes.PoolMemberShape)

    @operation(
        "pools_add",
        "Add workers to a pool; who is in it stays in it",
        tag=TAG,
        takes=shapes.NewPoolMembers,
        answer=Started,
        code=202,
        refuses=[403, 404, 409],
    )
    def post(self, request: Request, pool: str, **address: str) -> Response:
        row = self.own(pool)
        given = shapes.NewPoolMembers(data=request.data)
        given.is_valid(raise_exception=True)
        return self.told(row, pooling.add(row, given.validated_data["worker_ids"], self.user))


class Remove(_PoolView):
    @operation(
        "pools_remove",
        "Take a worker out of a pool; adding the worker again undoes that",
        tag=TAG,
        answer=shapes.PoolMemberShape,
        code=202,
        refuses=[403, 404],
    )
    def post(self, request: Request, pool: str, pk: int, **address: str) -> Response:
        row = self.own(pool)
        member = get_object_or_404(pools.members(row).select_related("worker", "created_by"), pk=pk)
        pooling.remove(row, member, self.user)
        queue.start(tasks.finish_grants, row.project_id)
        member.refresh_from_db(fields=["state", "withdrawn_at", "error"])
        return Response(shapes.PoolMemberShape(member).data, status=202)


class Best(_PoolView):
    heavy = frozenset({"GET", "POST"})

    @operation(
        "pools_best",
        "Whom adding a stage's best would add",
        tag=TAG,
        query=shapes.BestQuery,
        answer=shapes.BestWorkers,
        refuses=[404],
    )
    def get(self, request: Request, pool: str, **address: str) -> Response:
        self.own(pool)
        wanted = asked(request, shapes.BestQuery)
        found = pooling.best(self._stage(wanted), wanted["by"], wanted["least"], wanted["top"])
        return Response(shapes.BestWorkers({"results": found}).data)

    @operation(
        "pools_add_best",
        "Add the best of a stage to a pool, or those of them that are named",
        tag=TAG,
        takes=shapes.AddBestToPool,
        answer=Started,
        code=202,
        refuses=[403, 404, 409],
    )
    def post(self, request: Request, pool: str, **address: str) -> Response:
        row = self.own(pool)
        given = shapes.AddBestToPool(data=request.data)
        given.is_valid(raise_exception=True)
        wanted = given.validated_data
        how = (self._stage(wanted), wanted["by"], wanted["least"], wanted["top"])
        return self.told(row, pooling.add_best(row, *how, self.user, wanted.get("worker_ids")))

    def _stage(self, wanted: dict[str, Any]) -> Any:
        found = get_object_or_404(self.project.stages, key=wanted["stage"], crowd=True)
        found.project = self.project
        return found


class Share(_PoolView):
    @operation(
        "pools_share",
        "Let another project that you manage, too, ask for a pool",
        tag=TAG,
        takes=shapes.PoolProject,
        code=204,
        refuses=[403, 404, 409],
    )
    def post(self, request: Request, pool: str, **address: str) -> Response:
        row = self.own(pool)
        given = shapes.PoolProject(data=request.data)
        given.is_valid(raise_exception=True)
        mine = Project.objects.visible_to(self.user)
        pooling.share(row, get_object_or_404(mine, slug=given.validated_data["project"]), self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class StopSharing(_PoolView):
    @operation(
        "pools_stop_sharing",
        "End the use of a pool by another project, or by this one",
        tag=TAG,
        takes=shapes.EndedPoolUse,
        code=204,
        refuses=[403, 404, 409],
    )
    def post(self, request: Request, pool: str, **address: str) -> Response:
        row = self.usable(pool)
        given = shapes.EndedPoolUse(data=request.data)
        given.is_valid(raise_exception=True)
        slug = given.validated_data["project"]
        is_own = row.project_id == self.project.pk
        other = get_object_or_404(Project, used_pools__pool=row, slug=slug) if is_own else self.project
        pooling.stop_sharing(row, other, self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Links(_PoolView):
    heavy = frozenset({"POST"})

    @operation(
        "pools_make_link",
        "Make a link by which people join a pool at the marketplace; it is shown once",
        tag=TAG,
        takes=shapes.NewPoolLink,
        answer=shapes.MadePoolLink,
        code=201,
        refuses=[403, 404, 409, 503],
    )
    def post(self, request: Request, pool: str, **address: str) -> Response:
        row = self.own(pool)
        given = shapes.NewPoolLink(data=request.data)
        given.is_valid(raise_exception=True)
        made, token = pooling.make_link(row, user=self.user, **given.validated_data)
        link = settings.PUBLIC_URL + reverse("join-pool", args=[token])
        said = {"id": made.pk, "uses": made.uses, "expires_at": made.expires_at, "link": link}
        return Response(shapes.MadePoolLink(said).data, status=status.HTTP_201_CREATED)


class RevokeLink(_PoolView):
    @operation("pools_revoke_link", "End a link before it expires", tag=TAG, code=204, refuses=[403, 404])
    def post(self, request: Request, pool: str, pk: int, **address: str) -> Response:
        if not pooling.revoke_link(self.own(pool), pk, self.user):
            raise exceptions.NotFound("No such link lets anybody in. It has expired or was revoked.")
        return Response(status=status.HTTP_204_NO_CONTENT)


class Fetch(_PoolView):
    heavy = frozenset({"POST"})

    @operation(
        "pools_fetch", "Ask the marketplace who joined", tag=TAG, answer=Started, code=202, refuses=[403, 404]
    )  # fmt: skip
    def post(self, request: Request, pool: str, **address: str) -> Response:
        row = self.own(pool)
        queue.start(tasks.fetch_pool, row.pk)
        return started("The marketplace is being asked who joined.", self.pool_address(row))
