"""An invitation link from the lead's button to the worker's first answer, against a marketplace as on a server.

It runs in a process of its own, checks signatures, and lets nobody sign up without an invitation.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
import requests
from django.test import Client

from hits.models import Pool, PoolLink
from hits.mturk.errors import UnreachableError
from hits.pools import jobs
from hits.pools.api import links_of
from hits.publishing.rules import marketplace_account
from hits.refusals import Refused
from ops.surroundings import ROOT
from tests.hits.doing import do
from tests.hits.market import Marketplace
from tests.hits.pools.links import make_link

pytestmark = pytest.mark.django_db(transaction=True)
FORM = {"password": "long-enough-7", "email": "", "country": "CA"}


@pytest.fixture(scope="module")
def strict_marketplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marketplace]:
    running = Marketplace(
        tmp_path_factory.mktemp("strict"), MARKETPLACE_ACCEPT_ANY_KEY="False", MARKETPLACE_SIGN_UP="invitation"
    )
    running.start()
    yield running
    running.close()


def key_pair(market: Marketplace, name: str) -> dict[str, str]:
    command = [sys.executable, "-m", "marketplace", "createrequester", name]
    done = subprocess.run(command, cwd=ROOT, env=market._environment, capture_output=True, text=True, check=True)
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


@pytest.fixture
def strict(strict_marketplace: Marketplace, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Marketplace]:
    settings.MTURK_ENDPOINT_URL = strict_marketplace.url
    settings.MTURK_SUBMIT_ORIGINS = [strict_marketplace.url]
    for name, value in key_pair(strict_marketplace, "Reading lab").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    marketplace_account.gateway.cache_clear()
    yield strict_marketplace
    marketplace_account.gateway.cache_clear()


@pytest.fixture
def pool(project: Any) -> Pool:
    return do("pools.create", project, None, name="Students")


def leads_to(token: str) -> str:
    """Where the link leads; opening it signs nobody in and sets no cookie."""
    answer = Client().get(f"/join/{token}/")
    assert answer.status_code == 302
    assert not answer.cookies
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    return str(answer.headers["Location"])


def sign_up(address: str, name: str) -> requests.Response:
    """What somebody new does at the marketplace."""
    browser = requests.Session()
    page = browser.get(address, timeout=60)
    assert page.status_code == 200, page.text
    [path] = re.findall(r'href="(/pool/sign-up/\?[^"]+)"', page.text)
    there = address.partition("/pool/")[0] + path.replace("&amp;", "&")
    form = browser.get(there, timeout=60).text
    [token] = set(re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', form))
    data = {**FORM, "username": name, "csrfmiddlewaretoken": token}
    return browser.post(there, data=data, headers={"Referer": there}, timeout=60)


def test_whoever_has_the_link_signs_up_and_is_in_the_pool(strict: Marketplace, pool: Pool) -> None:
    made, token = make_link(pool, 2, 1, None, "Mondays")
    address = leads_to(token)
    assert address.startswith(f"{strict.url}/pool/?")
    assert token not in address
    assert "You have joined" in sign_up(address, "nina").text
    assert "You have joined" in sign_up(leads_to(token), "omar").text
    assert jobs.fetch(pool) == 2
    assert [(link.number, link.joined) for link in links_of(pool)] == [(made.number, 2)]
    page = requests.get(leads_to(token), timeout=60)
    assert (page.status_code, "used already" in page.text) == (410, True)


def test_nobody_changes_what_the_address_says(strict: Marketplace, pool: Pool) -> None:
    address = leads_to(make_link(pool, 2, 1, None)[1])
    assert requests.get(address, timeout=60).status_code == 200
    for changed in (
        address.replace("Uses=2", "Uses=500"),
        address.replace("Value=2", "Value=1"),
        address + "&WorkerId=A1",
    ):
        assert changed != address
        assert requests.get(changed, timeout=60).status_code == 410


def test_a_link_of_another_requester_s_qualification_lets_nobody_in(
    strict: Marketplace, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = make_link(pool, 2, 1, None)[1]
    for name, value in key_pair(strict, "Another lab").items():
        monkeypatch.setenv(name, value)
    marketplace_account.gateway.cache_clear()
    page = requests.get(leads_to(token), timeout=60)
    assert (page.status_code, "no invitation" in page.text) == (410, True)


@pytest.mark.parametrize("ending", ["revoked", "expired", "archived pool", "archived project", "wrong"])
def test_a_link_that_has_ended_leads_nowhere(strict: Marketplace, pool: Pool, ending: str) -> None:
    from django.utils import timezone

    made, token = make_link(pool, 2, 1, None)
    if ending == "revoked":
        do("pools.revoke_link", made, None)
    elif ending == "expired":
        PoolLink.objects.update(expires_at=timezone.now())
    elif ending == "archived pool":
        do("pools.archive", pool, None)
    elif ending == "archived project":
        type(pool.project).objects.update(archived_at=timezone.now())
    else:
        token = token[:-1] + ("A" if token[-1] != "A" else "B")
    answer = Client().get(f"/join/{token}/")
    assert (answer.status_code, "This link lets nobody in" in answer.content.decode()) == (404, True)


def test_another_marketplace_takes_no_links_and_the_lead_is_told(
    strict: Marketplace, pool: Pool, settings: Any
) -> None:
    """The web site of this side stands for one: it answers, and has no such page."""
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    class Other(BaseHTTPRequestHandler):
        status, body = 404, b"<html>"

        def do_GET(self) -> None:
            self.send_response(self.status)
            self.send_header("Location", f"{strict.url}/pool/links/")
            self.end_headers()
            self.wfile.write(self.body)

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Other)
    Thread(target=server.serve_forever, daemon=True).start()
    settings.MTURK_ENDPOINT_URL = f"http://127.0.0.1:{server.server_port}"
    marketplace_account.gateway.cache_clear()
    try:
        for status, body in ((404, b""), (200, b"<html>"), (200, b'{"pool_links": "maybe"}'), (200, b"[]"), (302, b"")):
            Other.status, Other.body = status, body
            with pytest.raises(Refused, match="this is another one"):
                make_link(pool, 1, 1, None)
        Other.status, Other.body = 200, b'{"pool_links": "off"}'
        with pytest.raises(Refused, match="switched invitation links of pools off"):
            make_link(pool, 1, 1, None)
        Other.status = 503
        with pytest.raises(UnreachableError):
            make_link(pool, 1, 1, None)
    finally:
        server.shutdown()
        server.server_close()
    with pytest.raises(UnreachableError):
        make_link(pool, 1, 1, None)
    assert not PoolLink.objects.exists()
    assert not pool.members.exists()
