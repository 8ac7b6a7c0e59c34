"""Webhooks: where a project's events are posted to, and what became of each message."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import ProjectView, Started, operation, started
from hits.api.paging import PageQuery, asked, page, page_of
from hits.api.shapes import webhooks as shapes
from hits.flow.setup import webhooks as flow
from hits.models import Webhook, WebhookDelivery

TAG = "Webhooks"


class _WebhookView(ProjectView):
    def hooks(self) -> QuerySet[Webhook]:
        return self.project.webhooks.select_related("project", "created_by")

    def hook(self, pk: int) -> Webhook:
        return get_object_or_404(self.hooks(), pk=pk)

    def shown(self, row: Webhook) -> dict[str, Any]:
        return dict(shapes.WebhookShape(row, context={"role": self.project.role}).data)


class Webhooks(_WebhookView):
    heavy = frozenset({"POST"})

    @operation(
        "webhooks_list",
        "The project's webhooks, ended ones included while their messages are kept",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.WebhookShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.hooks(), shapes.WebhookShape, role=self.project.role)

    @operation(
        "webhooks_add",
        "Have events of the project posted to an address, with a signature",
        tag=TAG,
        takes=shapes.NewWebhook,
        answer=shapes.MadeWebhook,
        code=201,
        refuses=[403, 404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = shapes.NewWebhook(data=request.data)
        given.is_valid(raise_exception=True)
        row, secret = flow.add(self.project, user=self.user, **given.validated_data)
        return Response({**self.shown(row), "secret": secret}, status=status.HTTP_201_CREATED)


class OneWebhook(_WebhookView):
    heavy = frozenset({"PATCH"})

    @operation("webhooks_read", "One webhook", tag=TAG, answer=shapes.WebhookShape, refuses=[404])
    def get(self, request: Request, pk: int, **address: str) -> Response:
        return Response(self.shown(self.hook(pk)))

    @operation(
        "webhooks_change",
        "Change address or events, or switch it on or off; what waits goes to the new address",
        tag=TAG,
        takes=shapes.ChangedWebhook,
        answer=shapes.WebhookShape,
        refuses=[403, 404, 409],
    )
    def patch(self, request: Request, pk: int, **address: str) -> Response:
        given = shapes.ChangedWebhook(data=request.data)
        given.is_valid(raise_exception=True)
        flow.change(self.hook(pk), self.user, **given.validated_data)
        tasks.announce()
        return Response(self.shown(self.hook(pk)))

    @operation(
        "webhooks_end",
        "End a webhook: nothing more is sent, not even what waits",
        tag=TAG,
        code=204,
        refuses=[403, 404],
    )
    def delete(self, request: Request, pk: int, **address: str) -> Response:
        flow.end(self.hook(pk), self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RotateSecret(_WebhookView):
    @operation(
        "webhooks_rotate",
        "Make another secret; for a day both sign",
        tag=TAG,
        answer=shapes.NewSecret,
        refuses=[403, 404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        return Response({"secret": flow.rotate(self.hook(pk), self.user)})


class TryOut(_WebhookView):
    @operation(
        "webhooks_test", "Send a test event", tag=TAG, answer=Started, code=202, refuses=[403, 404, 409]
    )  # fmt: skip
    def post(self, request: Request, pk: int, **address: str) -> Response:
        row = self.hook(pk)
        flow.try_out(row, self.user)
        tasks.announce()
        return started("A test event is on its way.", f"{self.address('webhooks')}{row.pk}/deliveries/")


class Deliveries(_WebhookView):
    @operation(
        "webhooks_deliveries",
        "What was and is to be sent to a webhook",
        tag=TAG,
        query=shapes.DeliveryQuery,
        answer=page_of(shapes.DeliveryShape),
        refuses=[404],
    )
    def get(self, request: Request, pk: int, **address: str) -> Response:
        wanted = asked(request, shapes.DeliveryQuery)["state"]
        rows = self.hook(pk).deliveries.all()
        return page(request, rows.filter(state=wanted) if wanted else rows, shapes.DeliveryShape)


class SendAgain(_WebhookView):
    @operation(
        "webhooks_send_again",
        "Send a message once more that arrived or was given up",
        tag=TAG,
        answer=shapes.DeliveryShape,
        code=202,
        refuses=[403, 404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        rows = WebhookDelivery.objects.filter(webhook__project=self.project).select_related("webhook__project")
        row = get_object_or_404(rows, pk=pk)
        flow.send_again(row, self.user)
        tasks.announce()
        row.refresh_from_db()
        return Response(shapes.DeliveryShape(row).data, status=status.HTTP_202_ACCEPTED)
