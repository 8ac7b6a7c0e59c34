"""Publishing: price first, then the confirmation; and steering what is published."""

from __future__ import annotations

import uuid
from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import QuotedBy, StageView, operation
from hits.api.paging import PageQuery, asked, page, page_of, sent
from hits.core.jobs import queue
from hits.models import Batch, BudgetExceededError
from hits.payments.api.shapes import BudgetRequestShape
from hits.payments.verbs import requesting_budget
from hits.publishing.api import shapes
from hits.publishing.verbs import publishing
from hits.stages.api.shapes import StageShape

TAG = "Publishing"


class Quote(StageView):
    heavy = frozenset({"GET"})

    @operation(
        "quote",
        "What publishing the waiting items would cost; changes nothing",
        tag=TAG,
        query=shapes.QuoteQuery,
        answer=shapes.QuoteShape,
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        limit = asked(request, shapes.QuoteQuery)["items"]
        found = publishing.quote(self.stage, limit)
        body: dict[str, Any] = {**vars(found), "confirmation": str(uuid.uuid4())}
        return Response(shapes.QuoteShape(body).data)


class Publish(StageView):
    pays = frozenset({"POST"})

    @operation(
        "publish",
        "Confirm a quote: reserve its money and publish its items; the same confirmation gives the same batch. What "
        "the budget has no room for becomes a request, which waits for an owner (200), unless the caller may raise it",
        tag=TAG,
        takes=shapes.Confirmation,
        answer=shapes.BatchShape,
        code=202,
        refuses=[404, 409],
        more={200: BudgetRequestShape},
        undone={200: "Asked, not published: the budget has no room for it, and it is published when an owner agrees."},
        quote=QuotedBy("quote", gives=("items", "total", "confirmation")),
    )
    def post(self, request: Request, **address: str) -> Response:
        wanted = sent(request, shapes.Confirmation)
        # The caller chooses the key, so it counts within the stage: nobody meets another project's batch.
        confirmation = f"api:{self.stage.pk}:{wanted['confirmation']}"
        items, total = wanted["items"], wanted["total"]
        try:
            return _send(publishing.publish(self.stage, items, total, confirmation, self.user))
        except BudgetExceededError:
            row = requesting_budget.ask_for_batch(self.stage, self.user, items, total, confirmation)
            if row is None:
                raise
            return Response(BudgetRequestShape(row).data)


def _send(batch: Batch) -> Response:
    queue.start(tasks.publish_batch, batch.pk)
    batch.refresh_from_db()
    return Response(shapes.BatchShape(batch).data, status=status.HTTP_202_ACCEPTED)


class Batches(StageView):
    @operation(
        "batches_list",
        "What was published, closed, extended and deleted at the marketplace",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.BatchShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.stage.batches.select_related("created_by"), shapes.BatchShape)


class BatchDetail(StageView):
    @operation("batches_show", "How far a batch is", tag=TAG, answer=shapes.BatchShape, refuses=[404])
    def get(self, request: Request, pk: int, **address: str) -> Response:
        row = get_object_or_404(self.stage.batches.select_related("created_by"), pk=pk)
        return Response(shapes.BatchShape(row).data)


class Pause(StageView):
    @operation(
        "pause",
        "Send nothing more; HITs that workers see stay open",
        tag=TAG,
        answer=StageShape,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        publishing.pause(self.stage)
        self.stage.refresh_from_db(fields=["state"])
        return Response(StageShape(self.stage).data)


class Resume(StageView):
    pays = frozenset({"POST"})

    @operation(
        "resume",
        "Go on where pausing stopped",
        tag=TAG,
        answer=StageShape,
        code=202,
        refuses=[404],
    )
    def post(self, request: Request, **address: str) -> Response:
        for pk in publishing.resume(self.stage):
            queue.start(tasks.publish_batch, pk)
        self.stage.refresh_from_db(fields=["state"])
        return Response(StageShape(self.stage).data, status=status.HTTP_202_ACCEPTED)


class Expire(StageView):
    @operation(
        "expire",
        "Close every open HIT now; who has one open may still submit it",
        tag=TAG,
        answer=shapes.BatchShape,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        return _send(publishing.expire(self.stage, self.user))


class Extend(StageView):
    @operation(
        "extend",
        "Keep every open HIT open for longer: by so many seconds, or until a moment",
        tag=TAG,
        takes=shapes.Extend,
        answer=shapes.BatchShape,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        wanted = sent(request, shapes.Extend)
        if "until" in wanted:
            return _send(publishing.extend_until(self.stage, wanted["until"], self.user))
        return _send(publishing.extend(self.stage, wanted["seconds"], self.user))


class DeleteHits(StageView):
    @operation(
        "delete_hits",
        "Delete the finished HITs at the marketplace, for good; answers, verdicts and money stay here",
        tag=TAG,
        answer=shapes.BatchShape,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        return _send(publishing.delete_hits(self.stage, self.user))
