"""`make run`: what dies comes back, and what is stopped leaves nothing behind."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import psycopg2
import pytest

from ops import ensure_database, run_tests
from ops.healthy import answers
from ops.programs import programs
from ops.stack import Stack, _is_free, session_members
from ops.surroundings import ROOT, Ports, StackError, whole_environment
from ops.waiting import PATIENCE_SECONDS, ServiceNotStartedError, until
from tests.migrated import bring

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Launcher:
    """`make run` without its sample project, in a folder and on ports of its own, with `settings` besides."""

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.settings = dict(settings or {})
        self.ports = Ports.free()
        self.output = folder / "launcher.txt"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, until_said: str = "Ctrl-C ends everything") -> None:
        settings = {
            "DATA_DIR": str(self.folder),
            "WEB_PORT": str(self.ports.web),
            "MARKETPLACE_PORT": str(self.ports.marketplace),
            "BROKER_PORT": str(self.ports.broker),
            **self.settings,
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
        until(lambda: until_said in self.said() or self.status() is not None, f"it says “{until_said}”", 600)
        if self.status() is not None:
            raise ServiceNotStartedError(self.said())

    def said(self) -> str:
        return self.output.read_text()

    def status(self) -> int | None:
        assert self._process is not None
        return self._process.poll()

    def send(self, sign: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(sign)

    def wait(self) -> int:
        assert self._process is not None
        return self._process.wait(PATIENCE_SECONDS)

    def has_program(self, program: str) -> bool:
        """Whether it was started, this time."""
        file = self.folder / "run" / f"{program}.pid"
        return file.exists() and psutil.pid_exists(self.pid(program))

    def pid(self, program: str) -> int:
        return int((self.folder / "run" / f"{program}.pid").read_text())

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(PATIENCE_SECONDS)


@contextmanager
def launched(launcher: Launcher, until_said: str = "Ctrl-C ends everything") -> Iterator[Launcher]:
    try:
        launcher.start(until_said)
        yield launcher
    finally:
        launcher.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its databases are migrated; those of the server are not there yet."""
    return bring(tmp_path_factory.mktemp("run with spaces % and a sign"))


@pytest.fixture
def launcher(folder: Path) -> Iterator[Launcher]:
    with launched(Launcher(folder)) as running:
        yield running


@pytest.fixture(scope="module")
def server_settings() -> Iterator[dict[str, str]]:
    """Those of a server: two databases that are not there yet, where there is a PostgreSQL, and no debugging."""
    strict = {"DEBUG": "False"}
    server = run_tests.postgresql()
    if server is None:
        yield strict
        return
    url = f"{server}ground_{secrets.token_hex(4)}"
    yield strict | {"DATABASE_URL": url}
    for each in (url, f"{url}_marketplace"):
        ensure_database.drop(each)


@pytest.fixture(scope="module")
def on_a_server(tmp_path_factory: pytest.TempPathFactory, server_settings: dict[str, str]) -> Iterator[Launcher]:
    """Up until the last test here kills its process manager."""
    with launched(Launcher(tmp_path_factory.mktemp("server"), server_settings)) as running:
        yield running


def test_it_says_where_to_look_restarts_what_dies_and_ends_with_ctrl_c(launcher: Launcher) -> None:
    ports = launcher.ports
    for expected in (f"http://localhost:{ports.web}", f"http://127.0.0.1:{ports.marketplace}", "worker1", "logs"):
        assert expected in launcher.said()

    names = [program.name for program in programs(launcher.folder, ports, with_broker=True)]
    old = {name: launcher.pid(name) for name in names}
    for pid in old.values():
        os.kill(pid, signal.SIGKILL)
    until(lambda: all(launcher.pid(name) != old[name] for name in names), "every program is started again")
    until(
        lambda: answers(ports.web) and answers(ports.marketplace),
        "both sites answer again",
    )

    session = launcher.pid("supervisord")
    assert len(session_members(session)) > len(names)
    launcher.send(signal.SIGINT)
    assert launcher.wait() == 0
    assert session_members(session) == []
    assert not answers(ports.web)


def test_nothing_outlives_a_launcher_that_is_killed(folder: Path) -> None:
    with launched(Launcher(folder), until_said="Starting") as launcher:
        until(lambda: launcher.has_program("marketplace"), "the marketplace is started")
        session = launcher.pid("supervisord")
        launcher.send(signal.SIGKILL)
        launcher.wait()
        until(lambda: session_members(session) == [], "every process has ended")


def test_a_start_ends_what_a_killed_one_left_and_is_not_refused(folder: Path) -> None:
    launcher = Launcher(folder)
    with launched(launcher, until_said="Starting"):
        until(lambda: launcher.has_program("broker") and not _is_free(launcher.ports.broker), "the broker listens")
        session = launcher.pid("supervisord")
        # It would not end by itself, as a program that is busy for a while.
        os.kill(launcher.pid("broker"), signal.SIGSTOP)
        launcher.send(signal.SIGKILL)
        os.kill(session, signal.SIGKILL)
        launcher.wait()
        assert session_members(session)
        launcher.start(until_said="Starting")
        assert session_members(session) == []


def test_a_taken_port_is_named_with_a_way_out(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        free = Ports.free()
        stack = Stack(tmp_path, Ports(port, free.marketplace, free.broker))
        with pytest.raises(StackError, match=f"port {port} already.*WEB_PORT={port + 100} make run"):
            stack.prepare()
        stack.stop()


def test_a_command_that_fails_says_what_it_printed(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="Unknown command: 'no_such_thing'"):
        Stack(tmp_path).manage("no_such_thing")


def test_it_runs_on_postgresql_without_debugging_and_makes_its_two_databases(on_a_server: Launcher) -> None:
    url = on_a_server.settings.get("DATABASE_URL")
    if url is None:
        complain = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        complain("No PostgreSQL on this machine.")
    assert _people(url) == []
    assert {"operator", "worker1"} <= set(_people(f"{url}_marketplace"))
    ports = on_a_server.ports
    for port in (ports.web, ports.marketplace):
        with DIRECT.open(f"http://localhost:{port}/static/shell/tokens.css", timeout=PATIENCE_SECONDS) as response:
            assert response.headers["Content-Type"].startswith("text/css")


def _people(url: str) -> list[str]:
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT username FROM auth_user")
        return [name for (name,) in cursor.fetchall()]


def test_two_stacks_in_one_folder_are_refused(on_a_server: Launcher) -> None:
    with pytest.raises(StackError, match="Another stack runs in"):
        Stack(on_a_server.folder).prepare()


def test_nothing_outlives_a_process_manager_that_is_killed(on_a_server: Launcher) -> None:
    session = on_a_server.pid("supervisord")
    os.kill(session, signal.SIGKILL)
    assert on_a_server.wait() == 1
    assert session_members(session) == []
    assert "process manager has ended" in on_a_server.said()
