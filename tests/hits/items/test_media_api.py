"""Media by the API: sent in, listed, used by rows and deleted."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from hits.models import Project, Upload
from tests.hits import samples_of_media as sample
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import HOME

MEDIA = HOME + "media/"
CAT = sample.png(40, 30)


def send(api: APIClient, content: bytes, name: str = "m.zip") -> Any:
    return api.post(MEDIA, {"file": SimpleUploadedFile(name, content)}, format="multipart")


def test_a_zip_is_taken_listed_and_loaded_without_signing_in(
    api: APIClient, river: Project, eager: None, settings: Any
) -> None:
    settings.PUBLIC_URL = "http://testserver"
    answer = send(api, sample.zipped({"images/cat.png": CAT}))
    assert answer.status_code == 202
    assert (answer.json()["kind"], answer.json()["state"], answer.json()["items"]) == ("media", "done", 1)
    (row,) = api.get(MEDIA).json()["results"]
    assert {name: row[name] for name in ("name", "kind", "content_type", "bytes", "width", "height")} == {
        "name": "images/cat.png",
        "kind": "image",
        "content_type": "image/png",
        "bytes": len(CAT),
        "width": 40,
        "height": 30,
    }
    assert b"".join(APIClient().get(row["address"])) == CAT


def test_an_archive_that_is_too_large_is_not_kept(api: APIClient, river: Project, settings: Any) -> None:
    settings.MAX_MEDIA_BYTES = 100
    refused(send(api, CAT + bytes(100), "cat.png"), 400, "upload_refused")
    settings.MAX_MEDIA_BYTES = -100_000
    refused(send(api, CAT, "cat.png"), 400, "upload_refused")
    assert not Upload.objects.exists()


def test_a_file_is_deleted(api: APIClient, river: Project, eager: None) -> None:
    send(api, CAT, "cat.png")
    address = f"{MEDIA}{river.media.get().pk}/"
    assert api.delete(address).status_code == 204
    assert not river.media.exists()
    refused(api.delete(address), 404, "not_found")


@pytest.mark.parametrize("content", [b"", None])
def test_a_form_without_a_file_is_refused(api: APIClient, river: Project, content: bytes | None) -> None:
    form = {} if content is None else {"file": SimpleUploadedFile("m.zip", content)}
    refused(api.post(MEDIA, form, format="multipart"), 400, "invalid")
