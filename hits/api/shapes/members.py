"""Members of a project."""

from __future__ import annotations

from rest_framework import serializers

from hits.api.shapes.base import Shape
from hits.models import Membership


class MemberShape(Shape):
    username = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(Membership.Role.choices)
    since = serializers.DateTimeField()


class NewMember(Shape):
    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(Membership.Role.choices)


class ChangedRole(Shape):
    role = serializers.ChoiceField(Membership.Role.choices)
