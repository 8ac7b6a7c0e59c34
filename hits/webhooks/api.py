"""Webhooks and what was sent to them, as the API and the pages show them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from hits.api.shapes import Shape, StateField, UsernameField
from hits.core.lists import listing, reading
from hits.core.roles import declared, may
from hits.core.targets import PROJECT, Target
from hits.webhooks.models import Webhook, WebhookDelivery

TAG = "Webhooks"
WEBHOOK = Target(
    "webhook",
    Webhook,
    "webhooks/<int:pk>/",
    lambda project: project.webhooks.select_related("project", "created_by"),
)
DELIVERY = Target(
    "message",
    WebhookDelivery,
    "webhooks/deliveries/<int:pk>/",
    lambda project: WebhookDelivery.objects.filter(webhook__project=project).select_related("webhook__project"),
    owner="webhook.project",
)


class EventsField(serializers.MultipleChoiceField):
    """Each event once, in the order of `Webhook.Event`."""

    default_error_messages = {"empty": "Choose at least one event."}

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=Webhook.Event.choices, allow_empty=False, **options)

    def to_internal_value(self, data: Any) -> Any:
        chosen = super().to_internal_value(data)
        return [event for event in Webhook.Event.values if event in chosen]


class WebhookShape(Shape):
    id = serializers.IntegerField()
    host = serializers.CharField()
    address = serializers.SerializerMethodField(help_text="Null for who may not change it: a path may hold a secret.")
    events = serializers.ListField(child=serializers.CharField())
    state = serializers.CharField(help_text="`on`, `off` or `ended`.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    failing_since = serializers.DateTimeField(
        allow_null=True, help_text="The first failed attempt since the last success; null: the last one arrived."
    )
    error = serializers.CharField(help_text="Why the last attempt failed.")
    not_before = serializers.DateTimeField(allow_null=True, help_text="Nothing is posted before.")

    def get_address(self, row: Webhook) -> str | None:
        return row.address if may(self.context["role"], declared("webhooks.change")) else None


class MadeWebhook(WebhookShape):
    secret = serializers.CharField(help_text="Signs what is sent. It is not shown again.")


class NewSecret(Shape):
    secret = serializers.CharField(help_text="Signs from now on; for a day the one before signs too. Not shown again.")


class DeliveryFilters(Shape):
    state = serializers.ChoiceField(WebhookDelivery.State.choices, required=False, default="")


class DeliveryShape(Shape):
    id = serializers.IntegerField()
    message_id = serializers.CharField(help_text="The header `webhook-id`, the same at each attempt.")
    event_id = serializers.CharField(help_text="The same at each webhook to which the event is reported.")
    event = serializers.CharField()
    state = StateField(WebhookDelivery.State)
    created_at = serializers.DateTimeField()
    attempts = serializers.IntegerField(help_text="The header `webhook-attempt` of the last one.")
    attempted_at = serializers.DateTimeField(allow_null=True, help_text="The first attempt.")
    not_before = serializers.DateTimeField(allow_null=True, help_text="The next attempt waits until then.")
    status = serializers.IntegerField(allow_null=True, help_text="The last HTTP status; null: nobody answered.")
    error = serializers.CharField(help_text="Why the last attempt failed.")
    done_at = serializers.DateTimeField(allow_null=True)
    body = serializers.CharField(help_text="As it is posted: JSON as text.")


listing(
    "webhooks.list",
    "The project's webhooks, ended ones included while their messages are kept",
    tag=TAG,
    on=PROJECT,
    route="webhooks/",
    gives=WebhookShape,
    rows=WEBHOOK.rows,
)
reading("webhooks.show", "One webhook", tag=TAG, on=WEBHOOK, gives=WebhookShape)
DELIVERIES = listing(
    "webhooks.deliveries",
    "What was and is to be sent to a webhook",
    tag=TAG,
    on=WEBHOOK,
    route="deliveries/",
    gives=DeliveryShape,
    rows=lambda hook: hook.deliveries.all(),
    filters=DeliveryFilters,
    newest_first=True,
)
