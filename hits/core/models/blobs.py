"""Contents of files, in the database."""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import BinaryIO

from django.db import models, transaction

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
