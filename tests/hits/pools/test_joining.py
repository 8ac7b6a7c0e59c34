"""The public page behind an invitation link of a pool."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from hits.models import PoolLink
from hits.pools import pages
from hits.publishing.rules import marketplace_account
from tests.hits import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def link(settings: Any, monkeypatch: pytest.MonkeyPatch) -> PoolLink:
    settings.MTURK_SUBMIT_ORIGINS = ["https://crowd.example.org"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret-for-tests")
    marketplace_account.gateway.cache_clear()
    return make.pool_link(make.pool(), "the-token")


def test_it_leads_to_the_worker_site_and_writes_nothing(link: PoolLink) -> None:
    with CaptureQueriesContext(connection) as queries:
        answer = Client().get("/join/the-token/")
    assert answer.status_code == 302
    there = urlsplit(answer.headers["Location"])
    said = parse_qs(there.query)
    assert f"{there.scheme}://{there.netloc}{there.path}" == "https://crowd.example.org/pool/"
    assert (said["Uses"], said["Value"], said["LinkId"]) == (["2"], [str(link.number)], [link.name])
    assert said["X-Amz-Credential"][0].startswith("AKIAEXAMPLE/")
    assert "a-secret-for-tests" not in answer.headers["Location"]
    assert "the-token" not in answer.headers["Location"]
    assert [one["sql"] for one in queries if not one["sql"].startswith("SELECT")] == []
    assert "no-store" in answer.headers["Cache-Control"]


def test_only_looking_is_answered(link: PoolLink) -> None:
    assert Client().head("/join/the-token/").status_code == 302
    assert Client().post("/join/the-token/").status_code == 405


@pytest.mark.parametrize("token", ["another", "x" * 3000, "..%2f..", "é"])
def test_what_is_no_link_says_so(link: PoolLink, token: str) -> None:
    assert Client().get(f"/join/{token}/").status_code == 404
    assert Client().get("/join/%00/").status_code == 400


def test_it_speaks_the_languages_of_the_task_pages(link: PoolLink) -> None:
    assert "Dieser Link" in Client().get("/join/wrong/", HTTP_ACCEPT_LANGUAGE="de").content.decode()
    assert "Este enlace" in Client().get("/join/wrong/", HTTP_ACCEPT_LANGUAGE="es").content.decode()


def test_one_network_opens_so_many_in_a_minute(link: PoolLink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MOST_A_MINUTE", 3)
    monkeypatch.setattr("hits.core.rate_limits.time.time", lambda: 1_000_000.0)
    cache.clear()
    answers = [Client().get("/join/wrong/").status_code for _ in range(5)]
    assert answers == [404, 404, 404, 429, 429]
    assert Client().get("/join/the-token/").headers["Retry-After"] == "60"
    assert Client(REMOTE_ADDR="192.0.2.8").get("/join/the-token/").status_code == 302


def test_without_a_key_pair_it_says_that_it_cannot_be_used(link: PoolLink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hits.mturk.gateway.Session.get_credentials", lambda self: None)
    marketplace_account.gateway.cache_clear()
    answer = Client().get("/join/the-token/")
    marketplace_account.gateway.cache_clear()
    assert (answer.status_code, "Try again later" in answer.content.decode()) == (503, True)
