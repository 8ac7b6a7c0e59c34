"""Sheets and scripts go out compressed, and as they are to whoever does not take that."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

SHEET = "/static/shell/tokens.css"
CONTENT = (Path(settings.ROOT) / "static/shell/tokens.css").read_bytes()


def body(response) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_a_sheet_is_sent_in_less_than_half_its_size(client: Client) -> None:
    response = client.get(SHEET, headers={"Accept-Encoding": "gzip, br"})
    assert response["Content-Encoding"] == "gzip"
    assert len(response.content) == int(response["Content-Length"]) < len(CONTENT) / 2
    assert gzip.decompress(response.content) == CONTENT
    assert response["Content-Type"].startswith("text/css")
    assert "Accept-Encoding" in response["Vary"]
    assert response["Last-Modified"] and response["Cache-Control"]


@pytest.mark.parametrize("takes", ["", "br", "gzip;q=0", "gzip; q=0.0, br", "gzip;Q=0"])
def test_who_does_not_take_gzip_gets_the_file_as_it_is(client: Client, takes: str) -> None:
    response = client.get(SHEET, headers={"Accept-Encoding": takes})
    assert "Content-Encoding" not in response
    assert body(response) == CONTENT
    assert "Accept-Encoding" in response["Vary"]


def test_a_part_of_a_file_and_a_file_that_did_not_change_are_left_alone(client: Client) -> None:
    part = client.get(SHEET, headers={"Accept-Encoding": "gzip", "Range": "bytes=0-9"})
    assert (part.status_code, body(part)) == (206, CONTENT[:10])
    whole = client.get(SHEET, headers={"Accept-Encoding": "gzip"})
    same = client.get(SHEET, headers={"Accept-Encoding": "gzip", "If-Modified-Since": whole["Last-Modified"]})
    assert same.status_code == 304
    assert client.head(SHEET, headers={"Accept-Encoding": "gzip"})["Content-Length"] == str(len(CONTENT))


def test_pages_are_not_compressed(client: Client, db: None) -> None:
    page = client.get("/accounts/login/", headers={"Accept-Encoding": "gzip"})
    assert page.status_code in (200, 404) and "Content-Encoding" not in page


def test_each_form_of_a_file_has_a_name_of_its_own_and_is_not_sent_twice(client: Client) -> None:
    names = {takes: client.get(SHEET, headers={"Accept-Encoding": takes})["ETag"] for takes in ("gzip", "identity")}
    assert len(set(names.values())) == 2
    for takes, own in names.items():
        for held in names.values():
            headers = {"Accept-Encoding": takes, "If-None-Match": f'"other", {held}'}
            response = client.get(SHEET, headers=headers)
            assert response.status_code == (304 if held == own else 200)
            assert response["ETag"] == own
            assert "Accept-Encoding" in response["Vary"]
            assert (body(response) == b"") == (held == own)


def test_a_name_that_a_proxy_made_weak_is_known_and_goes_before_the_date(client: Client) -> None:
    whole = client.get(SHEET, headers={"Accept-Encoding": "gzip"})
    headers = {"Accept-Encoding": "gzip", "If-Modified-Since": whole["Last-Modified"]}
    assert client.get(SHEET, headers={**headers, "If-None-Match": f"W/{whole['ETag']}"}).status_code == 304
    assert client.get(SHEET, headers={**headers, "If-None-Match": '"other"'}).status_code == 200
