"""Signing in and tokens."""

from __future__ import annotations

from rest_framework import serializers

from hits.accounts.verbs.api_tokens import MOST_DAYS, USUAL_DAYS
from hits.api.shapes import MoneyField, Shape, StateField
from hits.models import ApiToken, LeadSession


class Credentials(Shape):
    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=1000, trim_whitespace=False, style={"input_type": "password"})
    code = serializers.CharField(
        max_length=40, default="", help_text="Of an account with a second factor: of its app, or a recovery code."
    )
    name = serializers.CharField(max_length=60, default="API", help_text="What uses it, to recognise it by.")
    scope = serializers.ChoiceField(
        choices=ApiToken.Scope.choices,
        default=ApiToken.Scope.WRITE.value,
        help_text="`write` changes what costs nothing; what spends money takes `pay`.",
    )
    days = serializers.IntegerField(
        min_value=1, max_value=MOST_DAYS, default=USUAL_DAYS, help_text="How long it signs in."
    )


class TokenShape(Shape):
    id = serializers.IntegerField()
    name = serializers.CharField()
    start = serializers.CharField(help_text="Its first characters. The whole token is shown once, when it is made.")
    scope = StateField(ApiToken.Scope)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="Five minutes exact.")


class NewToken(TokenShape):
    token = serializers.CharField(help_text="Send it as `Authorization: Token <token>`. It is shown this once.")


class BudgetLimitShape(Shape):
    limit = MoneyField()
    budgeted = MoneyField(help_text="The budgets of all projects that you own, archived ones too.")
    left = MoneyField()


class OwnAccountShape(Shape):
    username = serializers.CharField()
    email = serializers.CharField()
    second_factor = serializers.BooleanField(help_text="Whether signing in takes a code of an app, too.")
    recovery_codes = serializers.IntegerField(help_text="Recovery codes that were not used.")
    budget_limit = BudgetLimitShape(
        allow_null=True, help_text="The most that you may budget in all; null: whoever runs the server set no limit."
    )


class SessionShape(Shape):
    id = serializers.IntegerField()
    device = serializers.CharField(help_text="In words, such as “Firefox on Windows”.")
    first_seen_at = serializers.DateTimeField()
    last_seen_at = serializers.DateTimeField(help_text="Five minutes exact.")
    this_one = serializers.SerializerMethodField(help_text="Whether it signs this call.")

    def get_this_one(self, row: LeadSession) -> bool:
        return bool(row.session_id == self.context["key"])


class EndedSessions(Shape):
    ended = serializers.IntegerField()


class AccountChangeShape(Shape):
    id = serializers.IntegerField()
    at = serializers.DateTimeField()
    verb = serializers.CharField()
    about = serializers.CharField()
    by = serializers.CharField(help_text="Such as “by anna through the API”.")
