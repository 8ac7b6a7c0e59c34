"""One file says how gunicorn serves, wherever it is started."""

from __future__ import annotations

import os
import runpy
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import yaml

from ops.programs import GUNICORN, programs
from ops.surroundings import ROOT, Ports, free_port
from ops.waiting import until

SETTING = "ops/gunicorn.py"


def test_a_connection_at_rest_outlives_that_of_a_proxy_in_front() -> None:
    assert runpy.run_path(str(GUNICORN))["keepalive"] > 60


def test_every_way_to_start_it_reads_the_one_file(tmp_path: Path) -> None:
    here = [list(each.command) for each in programs(tmp_path, Ports(), with_broker=False)]
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"].values()
    found = [command for command in [*here, *(each.get("command", []) for each in services)] if "gunicorn" in command]
    assert len(found) == 4
    for command in found:
        assert (ROOT / command[command.index("--config") + 1]) == GUNICORN
        assert not {"--keep-alive", "--threads", "--worker-class", "--graceful-timeout"} & set(command)


@pytest.mark.parametrize(
    "file", ["Dockerfile", "tests/hits/market.py", "tests/marketplace/process.py", "ops/programs.py"]
)
def test_what_starts_it_says_no_keep_alive_of_its_own(file: str) -> None:
    text = (ROOT / file).read_text()
    assert "--keep-alive" not in text
    assert SETTING in text or "str(GUNICORN)" in text


def test_an_edit_is_served_without_a_restart_where_reloading_is_on(tmp_path: Path) -> None:
    page = tmp_path / "page.py"
    source = "def application(environ, start):\n    start('200 OK', [])\n    return [b'{}']\n"
    page.write_text(source.format("before"))
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "page", "--config", str(GUNICORN), "--bind", f"127.0.0.1:{port}"]
    environment = os.environ | {"GUNICORN_RELOAD": "True", "GUNICORN_WORKERS": "1", "PYTHONDONTWRITEBYTECODE": "1"}

    def served() -> bytes:
        try:
            return bytes(urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30).read())
        except OSError:
            return b""

    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL) as gunicorn:
        try:
            until(lambda: served() == b"before", "the first page")

            def edited() -> bool:
                # What was written before gunicorn looked for the first time is no edit to it.
                page.write_text(source.format("after an edit"))
                return served() == b"after an edit"

            until(edited, "the edited page", pause=1.5)
        finally:
            gunicorn.terminate()


def test_readers_who_take_nothing_are_cut_off_and_hold_no_thread_for_ever(tmp_path: Path) -> None:
    config = tmp_path / "config.py"
    config.write_text(GUNICORN.read_text().replace("SEND_SECONDS = 20", "SEND_SECONDS = 2"))
    source = "def application(environ, start):\n    start('200 OK', [])\n    return [b'x' * 30_000_000]\n"
    (tmp_path / "page.py").write_text(source)
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "page", "--config", str(config), "--bind", f"127.0.0.1:{port}"]
    # The copy lies elsewhere than what it imports.
    environment = os.environ | {"GUNICORN_WORKERS": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)}

    def served() -> bool:
        try:
            return len(urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30).read()) == 30_000_000
        except OSError:
            return False

    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL) as gunicorn:
        try:
            until(served, "the first page")
            readers = [_idle_reader(port) for _ in range(runpy.run_path(str(GUNICORN))["threads"])]
            until(served, "a page while nobody of the others reads")
            for reader in readers:
                reader.close()
        finally:
            gunicorn.terminate()


def _idle_reader(port: int) -> socket.socket:
    """Asks for a page and takes its first bytes alone."""
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.connect(("127.0.0.1", port))
    reader.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert reader.recv(100)
    return reader
