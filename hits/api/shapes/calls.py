"""Calls to the marketplace."""

from __future__ import annotations

from rest_framework import serializers

from hits.api.shapes.base import MoneyField, Shape
from hits.mturk.calls import Window


class CallsQuery(Shape):
    window = serializers.ChoiceField(
        choices=[window.value for window in Window], default=Window.HOUR.value, help_text="How far back."
    )


class CallFiguresShape(Shape):
    operation = serializers.CharField(help_text="The operation's name in the requester API; empty for all together.")
    calls = serializers.IntegerField(help_text="Attempts on the wire.")
    retries = serializers.IntegerField(help_text="Attempts that were not the first of their call.")
    throttled = serializers.IntegerField()
    refused = serializers.IntegerField()
    failed = serializers.IntegerField(help_text="Attempts without an answer, or with a passing fault.")
    milliseconds = serializers.IntegerField(help_text="Of all attempts together.")
    median_ms = serializers.FloatField(allow_null=True, help_text="Estimated; throttled attempts are left out.")
    p95_ms = serializers.FloatField(allow_null=True, help_text="95 % took no longer; estimated in the same way.")


class CallMomentShape(Shape):
    at = serializers.DateTimeField(help_text="Where the minute (window hour) or the hour begins.")
    calls = serializers.IntegerField()
    rate = serializers.FloatField(allow_null=True, help_text="Calls a second that were allowed then.")


class MarketplaceCallsShape(Shape):
    endpoint = serializers.CharField()
    rate = serializers.FloatField(help_text="Calls a second that the account may make now.")
    throttled_at = serializers.DateTimeField(allow_null=True, help_text="When the marketplace last slowed us.")
    shared = serializers.BooleanField(help_text="Whether Redis answers, so that all programs keep to one rate.")
    known = serializers.BooleanField(help_text="Whether the figures could be read.")
    since = serializers.DateTimeField()
    total = CallFiguresShape()
    operations = CallFiguresShape(many=True)
    timeline = CallMomentShape(many=True)


class BalanceShape(Shape):
    available = MoneyField()
    on_hold = MoneyField(allow_null=True, help_text="What the marketplace keeps back for HITs, where it says so.")
