"""nginx before both sites, with the configuration that we ship: what it lets through, bounds and refuses."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from ops.healthy import answers
from ops.programs import GUNICORN
from ops.proxy import UPLOADS, configuration
from ops.surroundings import ROOT, StackError, free_port
from ops.waiting import until, wait_started
from tests.nginx import Proxy, nginx

WEB, MARKET, FRAMES = "annotate.example.org", "crowd.example.org", "tasks.example.net"
ADDRESSES = {
    "PUBLIC_URL": f"https://{WEB}",
    "MARKETPLACE_PUBLIC_URL": f"https://{MARKET}",
    "MARKETPLACE_FRAMES_URL": f"https://{FRAMES}",
}
SECRET = "a-secret-of-this-test-0123456789-abcdefghijklmnopqrstuvwxyz"
RATE = 30
SLOW = 64
LIMITS = {"header": 10, "body": 15}


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp("proxy")
    web, market = free_port(), free_port()
    environment = _environment(folder)
    with ExitStack() as running:
        for module, port, name in (
            ("annotate.wsgi", web, "PUBLIC_URL"),
            ("marketplace.wsgi", market, "MARKETPLACE_PUBLIC_URL"),
        ):
            running.enter_context(_gunicorn(module, port, environment, name, folder))
        yield running.enter_context(_nginx(folder, web, market))


def _environment(folder: Path) -> dict[str, str]:
    ours = ("MARKETPLACE_", "AWS_", "DJANGO_")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return plain | ADDRESSES | {
        "DEBUG": "False",
        "SECRET_KEY": SECRET,
        "DATA_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'annotate.sqlite3'}",
        "MTURK_SUBMIT_ORIGINS": ADDRESSES["MARKETPLACE_PUBLIC_URL"],
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "MARKETPLACE_SECRET_KEY": SECRET[::-1],
        "MARKETPLACE_DATABASE_URL": f"sqlite:///{folder / 'marketplace.sqlite3'}",
        "MARKETPLACE_ALLOWED_HOSTS": "marketplace",
        "GUNICORN_WORKERS": "1",
    }  # fmt: skip


@contextmanager
def _gunicorn(module: str, port: int, environment: Mapping[str, str], name: str, folder: Path) -> Iterator[None]:
    settings = module.partition(".")[0] + ".settings"
    command = [sys.executable, "-m", "gunicorn", module, "--config", str(GUNICORN), "--bind", f"127.0.0.1:{port}"]
    # Nobody wrote down how this table was made, so nothing is said to be missing: these pages ask for none.
    with closing(sqlite3.connect(folder / f"{module.partition('.')[0]}.sqlite3")) as database:
        database.execute("CREATE TABLE other (id INTEGER)")
    log = folder / f"{module}.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            command, env={**environment, "DJANGO_SETTINGS_MODULE": settings}, cwd=ROOT, stdout=out, stderr=out
        )
        try:
            wait_started(module, lambda: answers(port), process, log.read_text)
            yield
        finally:
            process.terminate()
            process.wait(30)


@contextmanager
def _nginx(folder: Path, web: int, market: int) -> Iterator[Proxy]:
    if not shutil.which("nginx"):
        complain = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        complain("nginx is not installed.")
    options = {"web": f"127.0.0.1:{web}", "marketplace": f"127.0.0.1:{market}", "requests_a_second": RATE}
    # So that who is slow is cut off while the test looks on.
    quick = {f"client_{part}_timeout {seconds}s": f"client_{part}_timeout 2s" for part, seconds in LIMITS.items()}
    with nginx(folder, (free_port(), free_port()), ADDRESSES, options, quick) as running:
        yield running


@pytest.mark.parametrize(("host", "path", "status"), [(WEB, "/sign-in/", 200), (MARKET, "/static/missing.css", 404)])
def test_pages_come_by_tls_and_browsers_are_told_to_use_it_alone(
    proxy: Proxy, host: str, path: str, status: int
) -> None:
    page = proxy.ask(host, path)
    assert page.status == status
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"


def test_cookies_are_for_tls_alone(proxy: Proxy) -> None:
    assert "; Secure" in proxy.ask(WEB, "/sign-in/").headers["Set-Cookie"]


def test_a_request_without_tls_is_sent_to_the_same_address_with_it(proxy: Proxy) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", proxy.http_port)
    connection.request("GET", "/sign-in/?next=/a", headers={"Host": WEB})
    response = connection.getresponse()
    assert response.status == 308
    assert response.headers["Location"] == f"https://{WEB}/sign-in/?next=/a"


def test_a_name_that_is_not_served_gets_no_answer(proxy: Proxy) -> None:
    with pytest.raises(ssl.SSLError):
        proxy.connect("elsewhere.example.org")
    connection = http.client.HTTPConnection("127.0.0.1", proxy.http_port)
    connection.request("GET", "/", headers={"Host": "elsewhere.example.org"})
    with pytest.raises(http.client.RemoteDisconnected):
        connection.getresponse()


@pytest.mark.parametrize("host", [WEB, MARKET])
@pytest.mark.parametrize("path", ["/metrics", "/metrics/", "/ready/", "//metrics", "/static/../metrics"])
def test_what_monitoring_reads_is_not_shown_to_the_public(proxy: Proxy, host: str, path: str) -> None:
    answer = proxy.ask(host, path)
    assert answer.status == 404
    assert b"nginx" in answer.data


def test_a_form_that_is_too_large_is_refused_before_a_server_hears_of_it(proxy: Proxy) -> None:
    assert proxy.ask(WEB, "/sign-in/", "POST", b"x" * 4_000_000).status == 413
    assert proxy.ask(MARKET, "/accounts/login/", "POST", b"x" * 4_000_000).status == 413


def test_a_large_file_reaches_the_call_that_takes_files(proxy: Proxy) -> None:
    """Who is not known is told so, though nobody has read the file."""
    for _ in range(3):
        answer = proxy.ask(WEB, "/api/projects/river/uploads/", "POST", b"x" * 40_000_000)
        assert answer.status == 401
        assert b"credentials" in answer.data


@pytest.mark.parametrize("path", ["/sign-in/", "/", "/task/1:a/", "/events/", "/account/", "/projects/river/"])
def test_no_other_page_may_be_sent_large_files(path: str) -> None:
    assert not re.search(UPLOADS, path)


@pytest.mark.parametrize(
    "beginning",
    [
        b"GET / HTTP/1.1\r\nHost: %b\r\nX-Slow: ",
        b"POST /sign-in/ HTTP/1.1\r\nHost: %b\r\nContent-Length: 1000\r\n\r\nx",
    ],
)
def test_many_slow_requests_keep_nobody_waiting_and_are_cut_off(proxy: Proxy, beginning: bytes) -> None:
    slow = [proxy.connect(WEB) for _ in range(SLOW)]
    for each in slow:
        each.sendall(beginning % WEB.encode())
    for _ in range(5):
        assert proxy.ask(WEB, "/sign-in/").status == 200
    end = time.monotonic() + 60
    for each in slow:
        each.settimeout(max(0.1, end - time.monotonic()))
        # Nothing, or the words that its time is over: either way the connection ends.
        while each.recv(1000):
            pass
        each.close()


def test_a_line_of_the_log_names_the_request_and_holds_no_answer(proxy: Proxy) -> None:
    proxy.ask(MARKET, "/mturk/externalSubmit?assignmentId=3A&answer=Lisbon")
    until(lambda: "externalSubmit" in proxy.log.read_text(), "the line")
    line = next(json.loads(line) for line in proxy.log.read_text().splitlines() if "externalSubmit" in line)
    assert line["path"] == "/mturk/externalSubmit"
    assert re.fullmatch("[0-9a-f]{32}", line["request_id"])
    assert "Lisbon" not in proxy.log.read_text()


def test_who_asks_too_often_is_told_so_and_files_of_pages_do_not_count(proxy: Proxy) -> None:
    statuses = []
    # How many it takes depends on how fast this machine asks.
    while 429 not in statuses and len(statuses) < 100 * RATE:
        statuses.append(proxy.ask(MARKET, "/health/").status)
    assert 429 in statuses
    assert statuses[:RATE] == [200] * RATE
    assert {proxy.ask(MARKET, "/static/missing.css").status for _ in range(20)} == {404}
    until(lambda: proxy.ask(MARKET, "/health/").status == 200, "the end of the limit")


@pytest.mark.parametrize("module", ["annotate", "marketplace"])
def test_what_is_shipped_passes_the_checks_for_deployment_without_a_warning(module: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "django", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(
        [*command, "--settings", f"{module}.settings"],
        env=_environment(tmp_path),
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_all_that_cannot_be_used_is_named_at_once() -> None:
    with pytest.raises(StackError) as refused:
        configuration({"PUBLIC_URL": "http://a.example.org", "PROXY_LOG": "/log"}, web="here; }")
    for what in (
        "PUBLIC_URL must be",
        "MARKETPLACE_PUBLIC_URL must be",
        "--web must be",
        "PROXY_LOG is no longer read",
    ):
        assert what in str(refused.value)


def test_what_a_site_may_be_sent_comes_through_the_proxy() -> None:
    # Of the leads' site its forms and files, a file with its media; of both names of the marketplace its forms.
    sizes = re.findall(r"client_max_body_size (\w+);", configuration(ADDRESSES))
    assert sizes == ["3m", "577m", "3m", "3m"]


def test_two_sites_under_one_name_are_refused() -> None:
    with pytest.raises(match="differ"):
        configuration({"PUBLIC_URL": f"https://{WEB}", "MARKETPLACE_PUBLIC_URL": f"https://{WEB}"})


def test_the_file_is_written_whole() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "annotate.conf"
        command = [sys.executable, "-m", "ops.proxy", "--write", str(file), "--log", "/dev/stdout"]
        subprocess.run(command, cwd=ROOT, env=os.environ | ADDRESSES, check=True)
        assert file.read_text() == configuration(ADDRESSES, log="/dev/stdout")
        assert [found.name for found in Path(folder).iterdir()] == ["annotate.conf"]
