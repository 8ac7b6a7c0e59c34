"""Shapes of batches, HITs and the marketplace account's calls."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from hits.api.shapes import MoneyField, Shape, UsernameField
from hits.mturk.calls import Window
from hits.recipes.stage_settings import LONGEST_SECONDS


class QuoteQuery(Shape):
    items = serializers.IntegerField(
        min_value=1, max_value=10_000_000, default=None, help_text="How many of the waiting items; all by default."
    )


class QuoteShape(Shape):
    """Send `items`, `total` and `confirmation` to publish/ to confirm it."""

    items = serializers.IntegerField()
    hits = serializers.IntegerField(help_text="HITs that ask about them.")
    answers = serializers.IntegerField(help_text="Each about all items of its HIT.")
    check_questions = serializers.IntegerField(help_text="Mixed in beside the items; among `hits` and `total`.")
    check_answers = serializers.IntegerField()
    check_cost = MoneyField()
    reward = MoneyField()
    fee = MoneyField()
    unit_cost = MoneyField(help_text="Reward and fee of one answer.")
    total = MoneyField(help_text="The most that it can cost, which is reserved.")
    least = MoneyField(help_text="Less than `total` where items get further answers until they have enough.")
    expected = MoneyField(help_text="By the items that are decided, or by an assumed accuracy of 80 %.")
    hourly_wage = MoneyField(allow_null=True, help_text="Null where nobody knows how long an answer takes.")
    wage_assumed = serializers.BooleanField(help_text="Reckoned with the expected time: too few answers are measured.")
    median_seconds = serializers.FloatField(allow_null=True)
    budget_left = MoneyField()
    balance = MoneyField(allow_null=True, help_text="Of the marketplace account; null when it does not answer.")
    planned = MoneyField(help_text="Of the balance: reserved by this installation for calls on their way.")
    closes_at = serializers.DateTimeField()
    problems = serializers.ListField(child=serializers.CharField(), help_text="Sentences that stop it.")
    warnings = serializers.ListField(child=serializers.CharField(), help_text="Sentences that want a second look.")
    confirmation = serializers.CharField(help_text="A fresh key; any of your own does as well.")


class Confirmation(Shape):
    items = serializers.IntegerField(min_value=1, max_value=10_000_000)
    total = MoneyField(help_text="What the quote said.")
    confirmation = serializers.RegexField(
        r"\A[A-Za-z0-9_.:-]{8,40}\Z",
        help_text="8 to 40 letters, digits and _.:- of your choice. Sent again, it gives the same batch.",
    )


class BatchShape(Shape):
    id = serializers.IntegerField()
    kind = serializers.CharField(help_text="`first`, `again`, `expire`, `extend` or `delete`.")
    state = serializers.CharField(help_text="`publishing`, `paused`, `waiting` or `published`.")
    until = serializers.DateTimeField(allow_null=True, help_text="The new expiry, when this closes or extends HITs.")
    total = serializers.IntegerField(help_text="Calls to make.")
    done = serializers.IntegerField()
    refused = serializers.IntegerField()
    message = serializers.CharField(help_text="What the marketplace said last, when it was not yes.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class Extend(Shape):
    """Either of the two."""

    seconds = serializers.IntegerField(
        min_value=60,
        max_value=LONGEST_SECONDS,
        required=False,
        help_text="Added to the time at which the last open HIT closes now.",
    )
    until = serializers.DateTimeField(
        required=False, help_text="The new closing time; not before the present one. Sending it twice is harmless."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            raise serializers.ValidationError("Give either `seconds` or `until`.")
        return attrs


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
