"""Shapes of uploads and media."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from hits.api.shapes import FaultShape, Shape, UsernameField
from hits.formats.files.encodings import ENCODINGS
from hits.formats.files.reading import MOST_COLUMNS
from hits.formats.files.rows import LONGEST_NAME
from hits.items.rules.media import address_of
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


LONGEST_MAPPING = 2 * LONGEST_NAME * MOST_COLUMNS


@extend_schema_field(OpenApiTypes.STR)
class MappingField(serializers.CharField):
    """An object as a text, column by field, as (field, column) pairs: what names two columns is refused by the verb."""

    def to_internal_value(self, data: Any) -> list[tuple[str, str]]:  # type: ignore[override]
        text = super().to_internal_value(data)
        try:
            given = json.loads(text, object_pairs_hook=list)
        except (ValueError, RecursionError):
            given = None
        pairs = [(name, column) for name, columns in _pairs(given) for column in columns]
        if not pairs or not all(isinstance(column, str) for _, column in pairs):
            raise serializers.ValidationError('Write an object, such as {"text": "passage"}.')
        return pairs


def _pairs(given: Any) -> list[tuple[str, list[Any]]]:
    """Of the object, with its columns in lists; nothing of any other value."""
    if not isinstance(given, list) or not all(isinstance(pair, tuple) for pair in given):
        return []
    return [(name, column if isinstance(column, list) else [column]) for name, column in given]


class TextFile(Shape):
    file = serializers.FileField()
    encoding = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=40,
        help_text=f"Of a file of text that is not UTF-8: {', '.join(ENCODINGS)}. Without it such a file is refused "
        "with a guess.",
    )


class NewUpload(TextFile):
    origin = serializers.ChoiceField(["public", "crawled"], default="public")
    mapping = MappingField(
        required=False,
        max_length=LONGEST_MAPPING,
        help_text='Of a table: the column by field, as a JSON object such as {"text": "passage"}. '
        "A field that it does not name is read as last time or by its name; an empty column leaves it out.",
    )


class TableFieldShape(Shape):
    name = serializers.CharField()
    says = serializers.CharField(help_text="What it is.")
    needed = serializers.BooleanField(help_text="Every row needs it.")
    column = serializers.CharField(allow_null=True, help_text="The column that an import without a mapping would read.")


class TableRowShape(Shape):
    line = serializers.IntegerField()
    cells = serializers.DictField(child=serializers.CharField(), help_text="By column.")


class TableShape(Shape):
    kind = serializers.CharField(help_text="`csv`, `tsv`, `jsonl` or `xlsx`.")
    columns = serializers.ListField(child=serializers.CharField())
    rows = TableRowShape(many=True, help_text="The first five that can be read.")
    count = serializers.IntegerField(allow_null=True, help_text="Rows; null for a file too large to count them here.")
    fields = TableFieldShape(many=True)  # type: ignore[assignment]  # every serializer has an attribute of this name
    unused = serializers.ListField(child=serializers.CharField(), help_text="Columns that are kept as they are.")
    note = serializers.CharField(help_text="What of the file is not read; empty where all is.")


class UploadShape(Shape):
    id = serializers.IntegerField()
    kind = serializers.CharField(help_text="What the file holds: `items`, `media` or `results`.")
    name = serializers.CharField()
    origin = serializers.CharField(allow_blank=True)
    state = serializers.CharField(
        help_text="`mapping`, `queued`, `reading`, `storing`, `done`, `refused`, `stopped`, `failed` or `removed`."
    )
    error = serializers.CharField(help_text="Why it failed; empty in every other state.")
    mapping = serializers.DictField(
        allow_null=True, help_text="The column by field, as it was confirmed; null: by the names of the columns."
    )
    bytes = serializers.IntegerField(source="blob.size")
    done = serializers.IntegerField(help_text="Documents, or files of media, read so far.")
    total = serializers.IntegerField()
    items = serializers.IntegerField(help_text="Items, files of media, or answers, that came in.")
    notes = serializers.ListField(child=serializers.CharField(), help_text="What of the file was not read, and why.")
    fault_count = serializers.IntegerField()
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class UploadDetailShape(UploadShape):
    faults = FaultShape(many=True, help_text="1,000 at most, of every kind. With any, nothing was imported.")
