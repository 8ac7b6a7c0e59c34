"""Uploaded media over HTTP: whole and by ranges, out of chunks, with headers under which nothing of it runs."""

from __future__ import annotations

import hashlib
import io
import tracemalloc
import urllib.request
from typing import Any
from urllib.error import HTTPError

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from hits.core.models.blobs import CHUNK_BYTES
from hits.items.pages.media import PIECE_BYTES
from hits.items.rules.media import address_of
from hits.items.verbs import importing
from hits.models import MediaFile, Project
from hits.views.byte_ranges import byte_range
from tests.hits import factories as make
from tests.hits import samples_of_media as sample

pytestmark = pytest.mark.django_db
MEGABYTE = 1 << 20


def kept(project: Project, name: str, content: bytes) -> MediaFile:
    upload = importing.create_media_upload(project, [(name, io.BytesIO(content))], None)
    importing.import_upload(upload.pk)
    return project.media.get(name=name)


@pytest.fixture
def sound() -> MediaFile:
    """More than four chunks, and no whole number of them."""
    return kept(make.project(), "rain.wav", sample.wav(550))


def body(response: Any) -> bytes:
    return b"".join(response.streaming_content)


def test_a_file_comes_whole_with_everything_that_a_browser_has_to_know(sound: MediaFile, client: Client) -> None:
    response = client.get(address_of(sound))
    assert response.status_code == 200
    assert body(response) == sample.wav(550)
    assert {name: response.headers[name] for name in ("Content-Type", "Content-Length", "Accept-Ranges", "ETag")} == {
        "Content-Type": "audio/wav",
        "Content-Length": str(sound.blob.size),
        "Accept-Ranges": "bytes",
        "ETag": f'"{hashlib.sha256(sample.wav(550)).hexdigest()}"',
    }
    assert response.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert response.headers["Content-Disposition"] == 'inline; filename="rain.wav"'
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert not response.cookies
    assert "Cookie" not in response.headers.get("Vary", "")


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=100-199", 100, 200),
        (f"bytes={CHUNK_BYTES - 1}-{CHUNK_BYTES}", CHUNK_BYTES - 1, CHUNK_BYTES + 1),
        (f"bytes={CHUNK_BYTES}-{2 * CHUNK_BYTES - 1}", CHUNK_BYTES, 2 * CHUNK_BYTES),
        ("bytes=4300000-99999999", 4_300_000, None),
        ("bytes=4300000-", 4_300_000, None),
        ("bytes=-1000", -1000, None),
        ("bytes=-99999999", 0, None),
        ("bytes=0-", 0, PIECE_BYTES),
    ],
)
def test_a_range_is_exactly_these_bytes(sound: MediaFile, client: Client, asked: str, start: int, end: int) -> None:
    whole = sample.wav(550)
    response = client.get(address_of(sound), headers={"range": asked})
    wanted = whole[start:end]
    assert response.status_code == 206
    assert body(response) == wanted
    first = start % len(whole)
    assert response.headers["Content-Range"] == f"bytes {first}-{first + len(wanted) - 1}/{len(whole)}"
    assert response.headers["Content-Length"] == str(len(wanted))


@pytest.mark.parametrize(
    "asked", ["bytes=0-1,5-6", "lines=0-1", "bytes=5-1", "bytes=-", "bytes=a-b", "bytes=1-2-3", ""]
)
def test_what_is_no_single_range_gets_the_whole_file(sound: MediaFile, client: Client, asked: str) -> None:
    response = client.get(address_of(sound), headers={"range": asked})
    assert (response.status_code, response.headers["Content-Length"]) == (200, str(sound.blob.size))


@pytest.mark.parametrize("asked", ["bytes=99999999-", "bytes=99999999-100000000", "bytes=-0"])
def test_a_range_behind_the_end_is_refused_with_the_size(sound: MediaFile, client: Client, asked: str) -> None:
    response = client.get(address_of(sound), headers={"range": asked})
    assert (response.status_code, response.headers["Content-Range"]) == (416, f"bytes */{sound.blob.size}")


def test_a_range_of_what_was_there_before_gets_the_whole_file(sound: MediaFile, client: Client) -> None:
    asked = {"range": "bytes=0-9"}
    tag = client.head(address_of(sound)).headers["ETag"]
    codes = [
        client.get(address_of(sound), headers={**asked, "if-range": value}).status_code
        for value in (tag, '"another"', "Wed, 21 Oct 2026 07:28:00 GMT")
    ]
    assert codes == [206, 200, 200]


def test_a_head_has_the_headers_and_no_body_and_what_is_known_is_not_sent_again(
    sound: MediaFile, client: Client
) -> None:
    head = client.head(address_of(sound), headers={"range": "bytes=0-9"})
    assert (head.status_code, head.headers["Content-Length"], body(head)) == (200, str(sound.blob.size), b"")
    again = client.get(address_of(sound), headers={"if-none-match": head.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("size", [1, 10, 1000])
def test_every_range_lies_within_the_file(size: int) -> None:
    for first in range(-1, size + 2, max(1, size // 7)):
        for last in range(-1, size + 2, max(1, size // 5)):
            asked = f"bytes={'' if first < 0 else first}-{'' if last < 0 else last}"
            try:
                found = byte_range(asked, size, 100)
            except ValueError:
                continue
            assert found is None or 0 <= found[0] < found[1] <= size


def test_a_name_in_any_script_comes_back(client: Client) -> None:
    file = kept(make.project(), 'Hafen "früh".svg', sample.SVG)
    response = client.get(address_of(file))
    assert response.status_code == 200
    assert response.headers["Content-Disposition"].startswith("inline; filename*=utf-8''Hafen%20")


@pytest.fixture
def film(transactional_db: None) -> MediaFile:
    """50 MB, of which no two places are alike and little can be compressed."""
    head = b"\x1aE\xdf\xa3\x9fB\x86\x81\x01\x42\x82\x84webm"
    blocks = (hashlib.shake_256(n.to_bytes(2)).digest(MEGABYTE) for n in range(50))
    return kept(make.project(), "film.webm", (head + b"".join(blocks))[: 50 * MEGABYTE])


@pytest.mark.django_db(transaction=True)
def test_a_piece_in_the_middle_of_50_mb_takes_two_chunks_and_little_memory(film: MediaFile, client: Client) -> None:
    address = address_of(film)
    client.get(address, headers={"range": "bytes=0-0"})
    tracemalloc.start()
    with CaptureQueriesContext(connection) as queries:
        start = 30 * MEGABYTE + 500_000
        response = client.get(address, headers={"range": f"bytes={start}-{start + MEGABYTE - 1}"})
        size = sum(map(len, response.streaming_content))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size == MEGABYTE
    assert len([query for query in queries if "blobchunk" in query["sql"]]) == 2
    assert len(queries) <= 4
    assert peak < 8 * MEGABYTE


@pytest.mark.django_db(transaction=True)
def test_50_mb_over_real_http_come_by_ranges_and_whole_in_flat_memory(film: MediaFile, live_server: Any) -> None:
    address = f"{live_server.url}{address_of(film)}"
    whole = hashlib.sha256()
    tracemalloc.start()
    with urllib.request.urlopen(address) as response:
        while part := response.read(MEGABYTE):
            whole.update(part)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert whole.hexdigest() == film.blob.sha256
    assert peak < 20 * MEGABYTE
    pieces, start = hashlib.sha256(), 0
    while start < film.blob.size:
        with urllib.request.urlopen(urllib.request.Request(address, headers={"Range": f"bytes={start}-"})) as response:
            assert response.status == 206
            part = response.read()
        assert len(part) <= PIECE_BYTES
        pieces.update(part)
        start += len(part)
    assert pieces.hexdigest() == film.blob.sha256
    with pytest.raises(HTTPError) as refusal:
        urllib.request.urlopen(urllib.request.Request(address, headers={"Range": f"bytes={start}-"}))
    assert refusal.value.code == 416
