"""Members of a project."""

from __future__ import annotations

from rest_framework import serializers

from hits.api.shapes.base import MoneyField, Shape
from hits.flow.setup.invitations import MOST_DAYS
from hits.models import Membership


class MemberShape(Shape):
    username = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(Membership.Role.choices)
    since = serializers.DateTimeField()
    may_budget = MoneyField(help_text="How high somebody who is no owner may set the budget; 0: not at all.")


class MayBudget(Shape):
    may_budget = MoneyField(help_text="0: not at all.")


class NewMember(Shape):
    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(Membership.Role.choices)


class InvitationShape(Shape):
    id = serializers.IntegerField()
    role = serializers.ChoiceField(Membership.Role.choices)
    email = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class NewInvitation(Shape):
    role = serializers.ChoiceField(Membership.Role.choices)
    email = serializers.EmailField(required=False, default="", help_text="Where the link is sent, too.")
    days = serializers.IntegerField(
        required=False, default=None, allow_null=True, min_value=1, max_value=MOST_DAYS,
        help_text="Until it expires; null: as the server's INVITATION_DAYS says.",
    )  # fmt: skip


class MadeInvitation(InvitationShape):
    link = serializers.CharField(help_text="Shown once: only its digest is kept.")
    sent = serializers.BooleanField(help_text="Whether it was sent by e-mail.")


class InvitationToken(Shape):
    token = serializers.CharField(max_length=100, help_text="The last part of the link.")


class Accepted(Shape):
    project = serializers.CharField(help_text="The slug of the project that you are a member of now.")


class ChangedRole(Shape):
    role = serializers.ChoiceField(Membership.Role.choices)
