"""The cutting proxy in front of a small server, and the plan of what it cuts."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from ops.waiting import PATIENCE_SECONDS, until
from tests.faults.proxy import Cut, CuttingProxy, Moment, Plan
from tests.faults.scenarios import every_cut, operations

TARGET = "MTurkRequesterServiceV20170117"


class Marketplace:
    """What it was asked; it answers everything."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, bytes]] = []
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                asked.append((self.headers["X-Amz-Target"], self.headers["Host"], body))
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *given: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def marketplace() -> Iterator[Marketplace]:
    found = Marketplace()
    threading.Thread(target=found.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def killed() -> list[Moment]:
    """The moments at which somebody was killed."""
    return []


@pytest.fixture
def proxy(marketplace: Marketplace, killed: list[Moment]) -> Iterator[CuttingProxy]:
    def kill(port: int, cut: Cut) -> str:
        killed.append(cut.moment)
        return "worker"

    with CuttingProxy(kill) as running:
        running.upstream = marketplace.url
        yield running


def call(proxy: CuttingProxy, operation: str) -> int:
    session = requests.Session()
    session.trust_env = False
    return session.post(
        proxy.url, data=b"{}", headers={"X-Amz-Target": f"{TARGET}.{operation}"}, timeout=PATIENCE_SECONDS
    ).status_code


def test_calls_pass_with_the_host_that_was_signed(proxy: CuttingProxy, marketplace: Marketplace) -> None:
    assert call(proxy, "GetHIT") == 200
    assert marketplace.asked == [(f"{TARGET}.GetHIT", urlsplit(proxy.url).netloc, b"{}")]
    assert proxy.calls == {"GetHIT": 1}


@pytest.mark.parametrize(
    ("moment", "carried_out", "delivered"),
    [(Moment.BEFORE, 0, False), (Moment.AFTER, 1, False), (Moment.DAY, 1, False), (Moment.LATE, 1, True)],
)
def test_a_cut_call_is_carried_out_and_answered_as_its_moment_says(
    proxy: CuttingProxy,
    marketplace: Marketplace,
    killed: list[Moment],
    moment: Moment,
    carried_out: int,
    delivered: bool,
) -> None:
    proxy.plan = Plan([Cut("SendBonus", moment)])
    if delivered:
        assert call(proxy, "SendBonus") == 200
    else:
        with pytest.raises(requests.ConnectionError):
            call(proxy, "SendBonus")
    assert len(marketplace.asked) == carried_out
    assert call(proxy, "SendBonus") == 200
    until(lambda: not proxy.plan.left, "the cut is made")
    assert killed == [moment]
    assert [cut.program for cut in proxy.plan.cuts] == ["worker"]


def test_a_cut_waits_for_its_turn_and_hits_no_other_operation(proxy: CuttingProxy, killed: list[Moment]) -> None:
    proxy.plan = Plan([Cut("CreateHIT", Moment.BEFORE, skip=2)])
    assert [call(proxy, name) for name in ("CreateHIT", "GetHIT", "CreateHIT")] == [200, 200, 200]
    assert killed == []
    with pytest.raises(requests.ConnectionError):
        call(proxy, "CreateHIT")


def test_a_call_that_waited_for_another_cut_is_gone_with_its_caller(marketplace: Marketplace) -> None:
    dying, dead = threading.Event(), threading.Event()

    def kill(port: int, cut: Cut) -> str:
        dying.set()
        dead.wait(PATIENCE_SECONDS)
        return "worker"

    with CuttingProxy(kill) as proxy:
        proxy.upstream = marketplace.url
        proxy.plan = Plan([Cut("SendBonus", Moment.DAY), Cut("SendBonus", Moment.AFTER)])
        first = threading.Thread(target=lambda: suppressed(call, proxy, "SendBonus"))
        first.start()
        dying.wait(PATIENCE_SECONDS)
        address = urlsplit(proxy.url)
        with socket.create_connection((address.hostname, address.port)) as caller:
            head = f"POST / HTTP/1.1\r\nHost: {address.netloc}\r\nX-Amz-Target: {TARGET}.SendBonus\r\n"
            caller.sendall(f"{head}Content-Length: 2\r\n\r\n{{}}".encode())
            until(lambda: proxy.calls["SendBonus"] == 2, "the second call waits")
        dead.set()
        first.join()
        time.sleep(0.2)
        assert len(marketplace.asked) == 1
        assert len(proxy.plan.left) == 1


def suppressed(work: Callable[..., object], *arguments: object) -> None:
    with suppress(requests.ConnectionError):
        work(*arguments)


def test_a_silent_marketplace_is_silent_through_the_proxy_too(proxy: CuttingProxy) -> None:
    proxy.upstream = "http://127.0.0.1:9"
    with pytest.raises((requests.ConnectionError, http.client.HTTPException)):
        call(proxy, "GetHIT")


def test_every_operation_of_the_gateway_is_cut_before_after_and_late() -> None:
    names = operations()
    assert {"CreateHITWithHITType", "ApproveAssignment", "SendBonus", "ListAssignmentsForHIT"} <= set(names)
    cuts = {(cut.operation, cut.moment) for cut in every_cut(names, 300)}
    assert {(name, moment) for name in names for moment in list(Moment)[:3]} <= cuts
    assert ("SendBonus", Moment.DAY) in cuts and ("GetHIT", Moment.DAY) not in cuts
