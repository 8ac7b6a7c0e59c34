"""Webhooks and what was sent to them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from common.addresses import LONGEST_ADDRESS
from hits.api.paging import PageQuery
from hits.api.shapes.base import Shape, StateField, UsernameField
from hits.domain.roles import may, route_verb
from hits.models import Webhook, WebhookDelivery

EVENTS = "; ".join(f"`{value}` {label}" for value, label in Webhook.Event.choices)


def _events(**options: Any) -> serializers.ListField:
    word = serializers.CharField(max_length=40)
    return serializers.ListField(child=word, max_length=20, help_text=EVENTS, **options)


class NewWebhook(Shape):
    address = serializers.CharField(max_length=LONGEST_ADDRESS, help_text="https, and on the internet.")
    events = _events()


class ChangedWebhook(Shape):
    address = serializers.CharField(max_length=LONGEST_ADDRESS, required=False)
    events = _events(required=False)
    active = serializers.BooleanField(required=False)


class WebhookShape(Shape):
    id = serializers.IntegerField()
    host = serializers.CharField()
    address = serializers.SerializerMethodField(help_text="Null for who may not change it: a path may hold a secret.")
    events = _events(read_only=True)
    state = serializers.CharField(help_text="`on`, `off` or `ended`.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    failing_since = serializers.DateTimeField(
        allow_null=True, help_text="The first attempt in vain since the last success; null: the last one arrived."
    )
    error = serializers.CharField(help_text="Why the last attempt was in vain.")
    not_before = serializers.DateTimeField(allow_null=True, help_text="Nothing is posted before.")

    def get_address(self, row: Webhook) -> str | None:
        shown = may(self.context["role"], route_verb("webhook", "PATCH"))
        return row.address if shown else None


class MadeWebhook(WebhookShape):
    secret = serializers.CharField(help_text="Signs what is sent. It is not shown again.")


class NewSecret(Shape):
    secret = serializers.CharField(help_text="Signs from now on; for a day the one before signs too. Not shown again.")


class DeliveryQuery(PageQuery):
    state = serializers.ChoiceField(WebhookDelivery.State.choices, required=False, default="")


class DeliveryShape(Shape):
    id = serializers.IntegerField()
    message_id = serializers.CharField(help_text="The header `webhook-id`, the same at each attempt.")
    event_id = serializers.CharField(help_text="The same at each webhook that is told the event.")
    event = serializers.CharField()
    state = StateField(WebhookDelivery.State)
    created_at = serializers.DateTimeField()
    attempts = serializers.IntegerField(help_text="The header `webhook-attempt` of the last one.")
    attempted_at = serializers.DateTimeField(allow_null=True, help_text="The first attempt.")
    not_before = serializers.DateTimeField(allow_null=True, help_text="The next attempt waits until then.")
    status = serializers.IntegerField(allow_null=True, help_text="What was answered last; null: nobody answered.")
    error = serializers.CharField(help_text="Why the last attempt was in vain.")
    done_at = serializers.DateTimeField(allow_null=True)
    body = serializers.CharField(help_text="As it is posted: JSON as text.")
