"""Pools: named sets of workers that projects of one marketplace account share.

Who is in a pool is a `Grant` of the project that the pool belongs to, with the pool's key: so it is given, withdrawn
and kept as every other qualification of a project.
"""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property

from django.conf import settings
from django.db import models
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from hits.projects.models import Project
from hits.workers.models import Grant

LONGEST_KEY, LONGEST_NAME, LONGEST_NOTE = 60, 80, 80
# An address of a link that has ended is good for an hour, and the marketplace's reads may lag behind.
AFTERWARDS = timedelta(hours=2)
IN_IT = (Grant.State.INTENDED, Grant.State.GRANTED)


class PoolQuerySet(models.QuerySet["Pool"]):
    def usable_in(self, project: Project) -> PoolQuerySet:
        """Those that belong to the project, and those of others that it uses."""
        return self.filter(Q(project=project) | Q(pk__in=PoolUse.objects.filter(project=project).values("pool")))

    def with_workers(self) -> PoolQuerySet:
        """`workers` of all of them in this one query."""
        rows = Grant.objects.filter(project=OuterRef("project"), key=OuterRef("key"), state__in=IN_IT)
        return self.annotate(workers=_number(rows, "key", Count("id")))

    def with_open_links(self) -> PoolQuerySet:
        """Those by whose links somebody may have joined since the marketplace was last asked."""
        return self.filter(Exists(PoolLink.objects.open_lately().filter(pool=OuterRef("pk"))))


def _number(rows: QuerySet[Grant], by: str, count: Count) -> Coalesce:
    """How many rows a subquery finds."""
    return Coalesce(Subquery(rows.order_by().values(by).annotate(n=count).values("n")), 0)


class Pool(models.Model):
    """A named set of workers. It belongs to the project in which it was made, whose members may change it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="pools")
    key = models.SlugField(max_length=LONGEST_KEY, unique=True, help_text="As requirements of stages name it.")
    name = models.CharField(max_length=LONGEST_NAME)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True, help_text="Since when no stage can ask for it; empty: it is in use.")
    fetched_at = models.DateTimeField(null=True, help_text="When the marketplace was last asked who holds it.")

    objects = PoolQuerySet.as_manager()

    class Meta:
        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint("project", "name", name="pool_name_once_a_project")]

    def __str__(self) -> str:
        return self.name

    @property
    def members(self) -> QuerySet[Grant]:
        """The rows of all who are, were or shall be in the pool."""
        return Grant.objects.filter(project=self.project_id, key=self.key)

    @cached_property
    def workers(self) -> int:
        """How many are in it, or are about to be."""
        return self.members.filter(state__in=IN_IT).count()


class PoolUse(models.Model):
    """Another project whose stages may ask for the pool. Its members cannot change the pool."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="uses")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="used_pools")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint("pool", "project", name="pool_used_once_a_project")]

    def __str__(self) -> str:
        return f"{self.pool_id} in {self.project_id}"


class PoolLinkQuerySet(models.QuerySet["PoolLink"]):
    def living(self) -> PoolLinkQuerySet:
        """Those that lead to the marketplace at this moment; the marketplace knows which are used up."""
        return self.filter(revoked_at=None, expires_at__gt=timezone.now(), pool__archived_at=None)

    def open_lately(self) -> PoolLinkQuerySet:
        """Those by which somebody may have joined since the marketplace was last asked."""
        since = timezone.now() - AFTERWARDS
        return self.filter(Q(revoked_at=None) | Q(revoked_at__gt=since), expires_at__gt=since)

    def with_joined(self) -> PoolLinkQuerySet:
        """`joined`: how many are known to have joined by each; those who were taken out since count too."""
        rows = Grant.objects.filter(
            project=OuterRef("pool__project"), key=OuterRef("pool__key"), value=OuterRef("number")
        )
        return self.annotate(joined=_number(rows, "value", Count("worker", distinct=True)))


class PoolLink(models.Model):
    """Whoever has the link may join the pool at the marketplace. Only the link's digest is kept.

    `number` is the value with which the marketplace grants the qualification, so that it is known who came by which
    link; 1 is what a lead gives.
    """

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="links")
    number = models.PositiveSmallIntegerField()
    note = models.CharField(max_length=LONGEST_NOTE, blank=True, help_text="Whom it is for, as leads read it.")
    digest = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=40, unique=True, help_text="As the marketplace counts its uses; no secret.")
    qualification_type_id = models.CharField(max_length=64)
    uses = models.PositiveSmallIntegerField(help_text="How many people it lets in.")
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    objects = PoolLinkQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint("pool", "number", name="pool_link_number_once_a_pool"),
            models.CheckConstraint(condition=Q(number__gte=2), name="pool_link_number_above_one"),
        ]

    def __str__(self) -> str:
        return f"link {self.number} of {self.pool_id}"

    @property
    def ending(self) -> str:
        """Why it lets nobody in any more, as a word; empty while it does."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at <= timezone.now() else ""
