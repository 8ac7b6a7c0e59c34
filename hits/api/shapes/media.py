"""Uploaded media."""

from __future__ import annotations

from django.conf import settings
from rest_framework import serializers

from hits.api.shapes.base import Shape
from hits.domain.media import address_of
from hits.models import MediaFile


class NewMedia(Shape):
    file = serializers.FileField(help_text="A zip of pictures, sounds and videos, or one of them.")


class MediaShape(Shape):
    id = serializers.IntegerField()
    name = serializers.CharField(help_text="As rows name it; the end of it is enough where no other file ends so.")
    kind = serializers.CharField(help_text="`image`, `audio` or `video`.")
    content_type = serializers.CharField(help_text="By what the file holds, whatever its name.")
    bytes = serializers.IntegerField(source="blob.size")
    sha256 = serializers.CharField(source="blob.sha256")
    width = serializers.IntegerField(help_text="Of a picture, in pixels; 0 where it is not known.")
    height = serializers.IntegerField()
    address = serializers.SerializerMethodField(help_text="Whoever has it can load the file, without signing in.")
    created_at = serializers.DateTimeField()

    def get_address(self, file: MediaFile) -> str:
        return f"{settings.PUBLIC_URL}{address_of(file)}"
