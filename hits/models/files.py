"""Files live in the database, so that any number of machines need nothing but its address."""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import BinaryIO

from django.conf import settings
from django.db import models, transaction

from hits.models.projects import Project, Stage

CHUNK_BYTES = 1 << 20
CHUNKS_AT_ONCE = 4


def _pack(content: bytes) -> bytes:
    return zlib.compress(content, 1)


def _wrap(content: bytes) -> bytes:
    """As `_pack`, for what would not get smaller: a twentieth of the time."""
    return zlib.compress(content, 0)


class Blob(models.Model):
    """Bytes that never change, cut into chunks of 1 MiB, each compressed. Size and sum are of the plain bytes."""

    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)

    def __str__(self) -> str:
        return self.sha256[:12]

    @classmethod
    def store(cls, content: bytes) -> Blob:
        return cls.store_stream(io.BytesIO(content))

    @classmethod
    def store_stream(cls, stream: BinaryIO, *, is_packed: bool = False) -> Blob:
        """Keeps what the stream holds from where it stands, a few chunks in memory at a time.

        With `is_packed`, such as a zip or a video, it is kept as it is: a long transaction holds up others on SQLite.
        """
        size, digest = 0, hashlib.sha256()
        with transaction.atomic(), ThreadPoolExecutor() as pool:
            blob = cls.objects.create(size=0, sha256="")
            numbers = count()
            while parts := [part for part in (stream.read(CHUNK_BYTES) for _ in range(CHUNKS_AT_ONCE)) if part]:
                for part in parts:
                    size += len(part)
                    digest.update(part)
                # Compression lets other threads run, so all cores share it.
                for packed in pool.map(_wrap if is_packed else _pack, parts):
                    BlobChunk.objects.create(blob=blob, number=next(numbers), content=packed)
            blob.size, blob.sha256 = size, digest.hexdigest()
            blob.save(update_fields=["size", "sha256"])
        return blob

    def read_chunks(self) -> Iterator[bytes]:
        for number in self.chunks.order_by("number").values_list("number", flat=True):
            yield zlib.decompress(self.chunks.get(number=number).content)

    def read(self) -> bytes:
        return b"".join(self.read_chunks())

    def read_range(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes from `start` to before `end`; only the chunks that hold them are read, one after another."""
        for number in range(start // CHUNK_BYTES, -(-end // CHUNK_BYTES)):
            first = number * CHUNK_BYTES
            chunk = zlib.decompress(self.chunks.get(number=number).content)
            yield chunk[max(start - first, 0) : end - first]

    def forget_content(self) -> None:
        """Of a file that is needed no more; its size and sum stay."""
        self.chunks.all().delete()


class BlobChunk(models.Model):
    blob = models.ForeignKey(Blob, on_delete=models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint("blob", "number", name="chunk_number_once_a_blob")]

    def __str__(self) -> str:
        return f"{self.blob_id}/{self.number}"


class Upload(models.Model):
    """A file that a lead sent in, and how its import went.

    It holds items, or media: then its `items` are the files that came in, and its content is kept in those. Or answers
    to a stage: then its `items` are the answers that came in.
    """

    class Kind(models.TextChoices):
        ITEMS = "items", "Items"
        MEDIA = "media", "Media"
        RESULTS = "results", "Results"

    class State(models.TextChoices):
        MAPPING = "mapping", "Waits for its columns"
        QUEUED = "queued", "Waiting"
        READING = "reading", "Reading and checking"
        STORING = "storing", "Storing"
        DONE = "done", "Imported"
        REFUSED = "refused", "Refused, nothing imported"
        STOPPED = "stopped", "Stopped, nothing imported"
        FAILED = "failed", "Failed, nothing imported"
        REMOVED = "removed", "Removed"

    RUNNING = (State.QUEUED, State.READING, State.STORING)
    UNFINISHED = (State.MAPPING, *RUNNING)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploads")
    kind = models.CharField(max_length=7, choices=Kind.choices, default=Kind.ITEMS)
    media = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, help_text="Media that came with it, which are imported before it."
    )
    stage = models.ForeignKey(
        Stage, on_delete=models.CASCADE, null=True, related_name="result_files", help_text="Whose answers it holds."
    )
    name = models.CharField(max_length=200)
    origin = models.CharField(max_length=20)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT)
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    mapping = models.JSONField(
        null=True,
        help_text="The column of the file by field, as a lead confirmed it; null: by the names of the columns.",
    )
    columns = models.JSONField(default=list, help_text="Of answers: the columns whose cells are kept, in their order.")
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    items = models.PositiveIntegerField(default=0)
    faults = models.JSONField(default=list, help_text="[{line, place, message}], the first 1,000.")
    fault_count = models.PositiveIntegerField(default=0)
    notes = models.JSONField(default=list, help_text="Sentences on texts that were left out.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often its import began.")
    error = models.TextField(blank=True, help_text="Why it failed, as a sentence.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_running(self) -> bool:
        return self.state in self.RUNNING

    @property
    def holds_results(self) -> bool:
        return self.kind == self.Kind.RESULTS

    @property
    def holds_media(self) -> bool:
        return self.kind == self.Kind.MEDIA


class Release(models.Model):
    """An immutable set of files with a manifest. The same content is the same release."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="releases")
    number = models.PositiveIntegerField()
    digest = models.CharField(max_length=64, help_text="SHA-256 of the manifest's bytes.")
    manifest = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, help_text="Its files are kept, and its splits count as released.")
    withdrawn_reason = models.TextField(blank=True)
    successor = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, help_text="Which release to use instead of a withdrawn one."
    )

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint("project", "number", name="release_number_once_a_project")]

    def __str__(self) -> str:
        return f"{self.project} release {self.number}"


class ReleaseFile(models.Model):
    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=100)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint("release", "name", name="file_name_once_a_release")]

    def __str__(self) -> str:
        return self.name


class ReleasedItem(models.Model):
    """In which split a release had an item: later releases keep it there. Rows are never changed but for the note."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="released_items")
    key = models.CharField(max_length=300)
    group = models.CharField(max_length=32, blank=True, help_text="The digest of its text; empty: not known.")
    split = models.CharField(max_length=20)
    note = models.CharField(max_length=20, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "key", "group", "split"], name="released_item_once_a_split")
        ]

    def __str__(self) -> str:
        return f"{self.key} in {self.split}"


class EvaluatedSystem(models.Model):
    """What a system scored on one file of a release."""

    class Kind(models.TextChoices):
        BASELINE = "baseline", "Baseline"
        PREDICTIONS = "predictions", "Predictions"

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="systems")
    file = models.CharField(max_length=100, help_text="Which has the right answers.")
    split = models.CharField(max_length=20)
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=11, choices=Kind.choices)
    method = models.TextField(blank=True, help_text="Of a baseline: where it comes from.")
    seed = models.BigIntegerField(null=True, help_text="Of a baseline.")
    scores = models.JSONField(help_text="[{measure, division, part, n, value, low, high}]; see hits.quality.scores.")
    sums = models.BinaryField(help_text="Of the first measure: its two sums of each item, as float32.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["split", "-kind", "pk"]
        constraints = [models.UniqueConstraint("release", "file", "name", name="evaluated_system_once_a_file")]

    def __str__(self) -> str:
        return f"{self.name} on {self.file}"
