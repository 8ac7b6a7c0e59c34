"""The members of a project with their roles, and its invitations: what is read of them."""

from __future__ import annotations

from rest_framework import serializers

from hits.api.shapes import MoneyField, Shape
from hits.core.lists import reading
from hits.core.targets import PROJECT, Target
from hits.models import Invitation, Membership

TAG = "Members"
MEMBER = Target(
    "membership",
    Membership,
    "members/<str:username>/",
    lambda project: project.memberships.with_users(),
    columns={"username": "user__username"},
    project_first=True,
)
INVITATION = Target(
    "invitation",
    Invitation,
    "invitations/<int:pk>/",
    lambda project: project.invitations.all(),
    project_first=True,
)


class MemberShape(Shape):
    username = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(Membership.Role.choices)
    since = serializers.DateTimeField()
    may_budget = MoneyField(help_text="How high somebody who is no owner may set the budget; 0: not at all.")


class InvitationShape(Shape):
    id = serializers.IntegerField()
    role = serializers.ChoiceField(Membership.Role.choices)
    email = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class MadeInvitation(InvitationShape):
    link = serializers.CharField(help_text="Shown once: only its digest is kept.")
    sent = serializers.BooleanField(help_text="Whether it was sent by e-mail.")


reading(
    "members.list",
    "Who is in the project, with the roles",
    tag=TAG,
    on=PROJECT,
    route="members/",
    gives=MemberShape,
    many=True,
    read=MEMBER.rows,
)
reading(
    "invitations.list",
    "Invitations that wait to be accepted",
    tag=TAG,
    on=PROJECT,
    route="invitations/",
    gives=InvitationShape,
    many=True,
    read=lambda project: project.invitations.living().order_by("id"),
    by="invitations.create",
)
