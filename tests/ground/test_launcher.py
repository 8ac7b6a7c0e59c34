"""`make run`: what dies comes back, and what is stopped leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ops import ensure_database
from ops.healthy import answers
from ops.programs import programs
from ops.stack import Stack, session_members
from ops.surroundings import ROOT, Ports, StackError, whole_environment
from tests.ground.test_surroundings import fresh_url

__all__ = ["fresh_url"]
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Launcher:
    """`make run` without its sample project, in a folder and on ports of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = Ports.free()
        self.output = folder / "launcher.txt"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        settings = {
            "DATA_DIR": str(self.folder),
            "WEB_PORT": str(self.ports.web),
            "MARKETPLACE_PORT": str(self.ports.marketplace),
            "BROKER_PORT": str(self.ports.broker),
        }
        with self.output.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ops.run", "--no-sample"],
                cwd=ROOT,
                env=whole_environment(settings),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        until(lambda: "Ctrl-C ends everything" in self.said() or self.status() is not None, 120)
        assert self.status() is None, self.said()

    def said(self) -> str:
        return self.output.read_text()

    def status(self) -> int | None:
        assert self._process is not None
        return self._process.poll()

    def send(self, sign: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(sign)

    def wait(self, seconds: float) -> int:
        assert self._process is not None
        return self._process.wait(seconds)

    def pid(self, program: str) -> int:
        return int((self.folder / "run" / f"{program}.pid").read_text())

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(60)


def until(true: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"not so after {seconds} seconds"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run with spaces % and a sign")


@pytest.fixture
def launcher(folder: Path) -> Iterator[Launcher]:
    launcher = Launcher(folder)
    launcher.start()
    yield launcher
    launcher.close()


def test_it_says_where_to_look_restarts_what_dies_and_ends_with_ctrl_c(launcher: Launcher) -> None:
    ports = launcher.ports
    for expected in (f"http://localhost:{ports.web}", f"http://127.0.0.1:{ports.marketplace}", "worker1", "logs"):
        assert expected in launcher.said()

    names = [program.name for program in programs(launcher.folder, ports, with_broker=True)]
    old = {name: launcher.pid(name) for name in names}
    for pid in old.values():
        os.kill(pid, signal.SIGKILL)
    until(lambda: all(launcher.pid(name) != old[name] for name in names))
    until(lambda: answers(ports.web, "http://localhost") and answers(ports.marketplace, "http://127.0.0.1"))

    session = launcher.pid("supervisord")
    assert len(session_members(session)) > len(names)
    launcher.send(signal.SIGINT)
    assert launcher.wait(40) == 0
    assert session_members(session) == []
    assert not answers(ports.web, "http://localhost")


def test_nothing_outlives_a_launcher_that_is_killed(launcher: Launcher) -> None:
    session = launcher.pid("supervisord")
    launcher.send(signal.SIGKILL)
    launcher.wait(5)
    until(lambda: session_members(session) == [], 40)


def test_nothing_outlives_a_process_manager_that_is_killed(launcher: Launcher) -> None:
    session = launcher.pid("supervisord")
    os.kill(session, signal.SIGKILL)
    assert launcher.wait(60) == 1
    assert session_members(session) == []
    assert "process manager has ended" in launcher.said()


def test_a_taken_port_is_named_with_a_way_out(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        free = Ports.free()
        stack = Stack(tmp_path, Ports(port, free.marketplace, free.broker))
        with pytest.raises(StackError, match=f"port {port} already.*WEB_PORT={port + 100} make run"):
            stack.prepare()
        stack.stop()


def test_two_stacks_in_one_folder_are_refused(tmp_path: Path) -> None:
    first, second = Stack(tmp_path), Stack(tmp_path)
    first.prepare()
    with pytest.raises(StackError, match="Another stack runs in"):
        second.prepare()
    first.stop()
    second.stop()


def test_a_command_that_fails_says_what_it_printed(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="Unknown command: 'no_such_thing'"):
        Stack(tmp_path).manage("no_such_thing")


def test_it_runs_on_postgresql_without_debugging_and_makes_its_two_databases(tmp_path: Path, fresh_url: str) -> None:
    settings = {"DATABASE_URL": fresh_url, "DEBUG": "False", "MARKETPLACE_DEBUG": "False"}
    try:
        with Stack(tmp_path, settings=settings) as stack:
            for url in (stack.web_url, stack.marketplace_url):
                with DIRECT.open(f"{url}/static/shell/tokens.css", timeout=10) as response:
                    assert response.headers["Content-Type"].startswith("text/css")
            assert "worker1" in stack.market("seed_sandbox")
    finally:
        ensure_database.drop(f"{fresh_url}_marketplace")
