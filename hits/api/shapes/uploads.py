"""Files that were brought."""

from __future__ import annotations

from rest_framework import serializers

from hits.api.shapes.base import Shape, UsernameField
from hits.api.shapes.payments import FaultShape


class NewUpload(Shape):
    file = serializers.FileField()
    origin = serializers.ChoiceField(["public", "crawled"], default="public")


class UploadShape(Shape):
    id = serializers.IntegerField()
    name = serializers.CharField()
    origin = serializers.CharField()
    state = serializers.CharField(help_text="`queued`, `reading`, `storing`, `done`, `refused`, `stopped` or `failed`.")
    error = serializers.CharField(help_text="Why it failed; empty in every other state.")
    bytes = serializers.IntegerField(source="blob.size")
    done = serializers.IntegerField(help_text="Documents read so far.")
    total = serializers.IntegerField()
    items = serializers.IntegerField(help_text="Items that came in.")
    fault_count = serializers.IntegerField()
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class UploadDetailShape(UploadShape):
    faults = FaultShape(many=True, help_text="The first 1,000. With any, nothing was imported.")
