"""Pools: named sets of workers, who is in them, and the links that invite people."""

from __future__ import annotations

from rest_framework import serializers

from hits.api.shapes.base import Shape, StateField, UsernameField
from hits.flow.people import pooling
from hits.models import Grant
from hits.models.pools import LONGEST_NAME, LONGEST_NOTE

PREFIXED = "As requirements of stages name it: with Exists only its workers are let in, with DoesNotExist they are not."


class PoolShape(Shape):
    key = serializers.SlugField(help_text=PREFIXED)
    name = serializers.CharField()
    project = serializers.CharField(source="project.slug", help_text="The project that it belongs to.")
    workers = serializers.IntegerField(help_text="Those in it, and those who are being added.")
    archived_at = serializers.DateTimeField(allow_null=True)
    fetched_at = serializers.DateTimeField(
        allow_null=True, help_text="When the marketplace was last asked who joined; null: never."
    )


class PoolList(Shape):
    results = PoolShape(many=True)


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
    links = PoolLinkShape(many=True, help_text="The newest 50; none to another project than its own.")


class NewPool(Shape):
    name = serializers.CharField(max_length=LONGEST_NAME)


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


class NewPoolMembers(Shape):
    worker_ids = serializers.ListField(
        child=serializers.CharField(max_length=64), min_length=1, max_length=pooling.MOST_WORKERS
    )


class BestQuery(serializers.Serializer[object]):
    stage = serializers.SlugField(help_text="The key of a stage with a crowd.")
    by = serializers.ChoiceField(
        list(pooling.MEASURES), help_text="`known`: share of gold answers right; `agreement`: with the other workers."
    )
    least = serializers.IntegerField(min_value=1, max_value=1_000_000, help_text="With so many such answers or more.")
    top = serializers.IntegerField(min_value=1, max_value=pooling.MOST_BEST, help_text="At most so many workers.")


class BestWorker(Shape):
    worker_id = serializers.CharField(source="stat.worker.worker_id")
    answers = serializers.IntegerField(source="stat.answers")
    known_answers = serializers.IntegerField(source="stat.scored")
    known_share = serializers.FloatField(source="known", allow_null=True)
    compared = serializers.IntegerField(source="stat.compared")
    agreement = serializers.FloatField(allow_null=True)


class BestWorkers(Shape):
    results = BestWorker(many=True, help_text="Best first.")


class AddBestToPool(BestQuery):
    worker_ids = serializers.ListField(
        child=serializers.CharField(max_length=64), required=False, max_length=pooling.MOST_BEST,
        help_text="Those of them to add; without it all.",
    )  # fmt: skip


class PoolProject(Shape):
    project = serializers.CharField(
        max_length=120, help_text="The slug of a project in which you are a manager or an owner."
    )


class EndedPoolUse(Shape):
    project = serializers.CharField(
        max_length=120,
        required=False,
        default="",
        help_text="Of a pool of this project: the other project's slug. Of another project's pool: leave it out.",
    )


class NewPoolLink(Shape):
    uses = serializers.IntegerField(min_value=1, max_value=pooling.MOST_USES, default=1)
    days = serializers.IntegerField(min_value=1, max_value=pooling.MOST_DAYS, default=14, help_text="Until it expires.")
    note = serializers.CharField(max_length=LONGEST_NOTE, required=False, default="", allow_blank=True)
