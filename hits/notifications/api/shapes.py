from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers

from hits.api.paging import PageQuery
from hits.api.shapes import Shape, StateField
from hits.models import Notice


class NoticesQuery(PageQuery):
    project = serializers.SlugField(required=False, default="", help_text="Of this project only.")
    new = serializers.BooleanField(required=False, default=False, help_text="Only what is neither seen nor over.")


class NoticeShape(Shape):
    id = serializers.IntegerField(read_only=True)
    project = serializers.CharField(source="project.slug", read_only=True)
    kind = StateField(Notice.Kind)
    words = serializers.CharField(read_only=True)
    more = serializers.CharField(read_only=True)
    link = serializers.SerializerMethodField(help_text="The page of its rows.")
    told_at = serializers.DateTimeField(read_only=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True, help_text="When the state was over.")
    is_new = serializers.BooleanField(read_only=True, help_text="Neither seen nor over.")

    def get_link(self, row: Any) -> str:
        return f"{settings.PUBLIC_URL}{row.address}"


class SeenUntil(Shape):
    until = serializers.DateTimeField(help_text="The `told_at` of the newest notice that was seen.")
    project = serializers.SlugField(required=False, default="", help_text="Of this project only.")


class ChoiceShape(Shape):
    kind = serializers.ChoiceField(choices=Notice.Kind.choices)
    on_page = serializers.BooleanField()
    by_email = serializers.BooleanField()


class ChoicesShape(Shape):
    choices = ChoiceShape(many=True)


class AddressShape(Shape):
    email = serializers.EmailField(allow_blank=True, help_text="Empty: no notices are sent by e-mail.")
    why_no_email = serializers.CharField(read_only=True, help_text="Why none are sent, as a sentence; empty: they are.")


class NewAddress(Shape):
    email = serializers.EmailField(
        allow_blank=True, max_length=254, help_text="A link is sent there first. Empty: no notices by e-mail."
    )
    password = serializers.CharField(max_length=1000, trim_whitespace=False, help_text="Your present password.")
    code = serializers.CharField(
        max_length=40, required=False, default="", allow_blank=True, help_text="Where you have a second factor."
    )
