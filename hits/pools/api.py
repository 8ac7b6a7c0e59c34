"""Pools, who is in them, their links, and the best of a stage, as the API and the pages read them."""

from __future__ import annotations

from typing import Any

from django.db.models import F, Q, QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import serializers

from hits.api.shapes import Shape, StateField, UsernameField
from hits.core import roles
from hits.core.lists import listing, reading
from hits.core.targets import PROJECT, Target
from hits.models import Block, Grant, Project, Stage
from hits.pools import rules
from hits.pools.models import Pool, PoolLink
from hits.workers.rules.worker_table import ORDERS, WorkerRow, rows_of

TAG = "Pools"
MOST_BEST = 500
LINKS_SHOWN = 50
# By which figure a stage's best are found: the answers that it is of, and what a page calls it.
MEASURES = {"known": "scored", "agreement": "compared"}
_MEASURE_TITLES = {"known": "share of gold answers right", "agreement": "agreement with the others"}

# Of the project: through another one nobody changes it.
POOL = Target("pool", Pool, "pools/<slug:pool>/", lambda project: project.pools.all(), columns={"pool": "key"})
# Of the project, or one that it uses.
USABLE = Target(
    "pool",
    Pool,
    "pools/<slug:pool>/",
    lambda project: Pool.objects.usable_in(project).select_related("project"),
    columns={"pool": "key"},
)
MEMBER = Target(
    "member",
    Grant,
    "pools/<slug:pool>/workers/<int:pk>/",
    lambda project: project.grants.filter(key__in=project.pools.values("key")).select_related("worker", "created_by"),
    columns={"pool": "key"},
)
LINK = Target(
    "link",
    PoolLink,
    "pools/<slug:pool>/links/<int:pk>/",
    lambda project: PoolLink.objects.filter(pool__project=project).select_related("pool__project"),
    owner="pool.project",
    columns={"pool": "pool__key"},
)


class PoolShape(Shape):
    key = serializers.SlugField(
        help_text="As requirements of stages name it: with Exists only its workers are let in, with DoesNotExist they "
        "are not."
    )
    name = serializers.CharField()
    project = serializers.CharField(source="project.slug", help_text="The project that it belongs to.")
    workers = serializers.IntegerField(help_text="Those in it, and those who are being added.")
    archived_at = serializers.DateTimeField(allow_null=True)
    fetched_at = serializers.DateTimeField(
        allow_null=True, help_text="When the marketplace was last asked who joined; null: never."
    )


class AskingStage(Shape):
    project = serializers.CharField(source="project.slug")
    stage = serializers.SlugField(source="key")


class PoolLinkShape(Shape):
    id = serializers.IntegerField()
    note = serializers.CharField()
    uses = serializers.IntegerField(help_text="How many people it lets in.")
    joined = serializers.IntegerField(help_text="How many are known to have joined by it.")
    ending = serializers.CharField(help_text="`revoked` or `expired`; empty while it lets people in.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class MadePoolLink(Shape):
    id = serializers.IntegerField()
    uses = serializers.IntegerField()
    expires_at = serializers.DateTimeField()
    link = serializers.CharField(help_text="Shown once: only its digest is kept.")


class PoolDetail(PoolShape):
    asked_for_by = AskingStage(many=True, help_text="The stages that ask for it, of all projects that use it.")
    used_by = serializers.ListField(
        child=serializers.CharField(), help_text="Slugs of other projects whose stages may ask for it."
    )
    links = PoolLinkShape(
        many=True, source="shown_links", help_text="The newest 50; none to another project than its own."
    )

    def to_representation(self, row: Any) -> Any:
        row.asked_for_by = rules.asking(row)
        row.used_by = list(row.uses.order_by("project__slug").values_list("project__slug", flat=True))
        is_own = POOL.project_of(row).pk == row.project_id
        row.shown_links = links_of(row)[:LINKS_SHOWN] if is_own else []
        return super().to_representation(row)


class PoolMemberShape(Shape):
    id = serializers.IntegerField()
    worker_id = serializers.CharField(source="worker.worker_id")
    state = StateField(Grant.State)
    link = serializers.SerializerMethodField(help_text="The number of the link by which the worker joined; null: none.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField(help_text="Why the marketplace did not add the worker, or take the worker out.")

    def get_link(self, row: Grant) -> int | None:
        return row.value if row.value > 1 else None


def _stages(pool: Pool, user: Any) -> list[tuple[str, str]]:
    stages = pool.project.stages.filter(crowd=True).order_by("position")
    return list(stages.values_list("key", "title"))


class BestQuery(serializers.Serializer[object]):
    stage = serializers.SlugField(label="Stage", help_text="One with a crowd, by its key.", style={"choices": _stages})
    by = serializers.ChoiceField(
        list(_MEASURE_TITLES.items()),
        label="By",
    )
    least = serializers.IntegerField(
        min_value=1,
        max_value=1_000_000,
        label="Least answers",
        help_text="With so many such answers or more.",
        style={"inputmode": "numeric"},
    )
    top = serializers.IntegerField(
        min_value=1,
        max_value=MOST_BEST,
        label="Workers",
        help_text="At most so many workers.",
        style={"inputmode": "numeric"},
    )


class BestWorker(Shape):
    worker_id = serializers.CharField(source="stat.worker.worker_id")
    answers = serializers.IntegerField(source="stat.answers")
    known_answers = serializers.IntegerField(source="stat.scored")
    known_share = serializers.FloatField(source="known", allow_null=True)
    compared = serializers.IntegerField(source="stat.compared")
    agreement = serializers.FloatField(allow_null=True)


class BestWorkers(Shape):
    results = BestWorker(many=True, help_text="Best first.")


def best(pool: Pool, stage: str, by: str, least: int, top: int) -> list[WorkerRow]:
    """The `top` workers of the stage of that key with `least` answers or more that the figure is of, best first.

    `by` is "known" (share of gold answers right) or "agreement" (with the others). Left out are workers of files, and
    those whom the project blocks or pauses. Raises Http404 without such a stage with a crowd.
    """
    row = get_object_or_404(Stage, project=pool.project_id, key=stage, crowd=True)
    row.project = pool.project
    blocked = Block.objects.standing().filter(project=row.project_id)
    stats = row.worker_stats.select_related("worker").annotate(figure=ORDERS[by])
    stats = stats.filter(Q(**{f"{MEASURES[by]}__gte": least}), worker__imported_into=None)
    stats = stats.exclude(worker__in=blocked.values("worker"))
    return rows_of(row, stats.order_by(F("figure").desc(), F(MEASURES[by]).desc(), "id")[:top])


def links_of(pool: Pool) -> QuerySet[PoolLink]:
    return pool.links.select_related("created_by").with_joined()


def listed_members(pool: Pool) -> QuerySet[Grant]:
    """Raises RoleRefusedError."""
    through = USABLE.project_of(pool)
    if not rules.may_list_workers(pool, through):
        raise roles.RoleRefusedError(through, through.role, roles.MANAGER)
    return pool.members.select_related("worker", "created_by")


def _usable(project: Project) -> QuerySet[Pool]:
    return USABLE.rows(project).with_workers()  # type: ignore[attr-defined, no-any-return]


POOLS = listing(
    "pools.list",
    "The pools of the project, and those of others that it may use",
    tag=TAG,
    on=PROJECT,
    route="pools/",
    gives=PoolShape,
    rows=_usable,
)
reading("pools.show", "One pool, where it is used, and its links", tag=TAG, on=USABLE, gives=PoolDetail)
MEMBERS = listing(
    "pools.workers",
    "Who is or was in a pool; of another project's pool for managers and owners alone",
    tag=TAG,
    on=USABLE,
    route="workers/",
    gives=PoolMemberShape,
    rows=listed_members,
    refuses=(403,),
)
listing(
    "pools.links",
    "The links of a pool, and how many are known to have joined by each",
    tag=TAG,
    on=POOL,
    route="links/",
    gives=PoolLinkShape,
    rows=links_of,
)
reading(
    "pools.best",
    "Whom adding a stage's best would add",
    tag=TAG,
    on=POOL,
    route="best/",
    query=BestQuery,
    read=lambda pool, **query: {"results": best(pool, **query)},
    gives=BestWorkers,
    heavy=True,
)
