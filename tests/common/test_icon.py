"""Browsers ask every site for /favicon.ico."""

from __future__ import annotations

from django.test import Client

from common.icon import ROOT_FILES


def test_the_icon_is_at_the_address_where_browsers_look_for_it(client: Client) -> None:
    icon = client.get("/favicon.ico")
    assert icon.status_code == 200
    assert b"".join(icon.streaming_content) == (ROOT_FILES / "favicon.ico").read_bytes()  # type: ignore[attr-defined]
    assert icon["Content-Type"] in ("image/x-icon", "image/vnd.microsoft.icon")
    assert icon["Cache-Control"] == "max-age=86400, public"
    assert not icon.cookies
    again = client.get("/favicon.ico", headers={"If-None-Match": icon["ETag"]})
    assert again.status_code == 304


def test_only_the_icon_is_kept_for_a_day(client: Client) -> None:
    assert "86400" not in client.get("/static/shell/icon.svg")["Cache-Control"]
