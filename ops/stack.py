"""A whole Annotate on one machine: broker, worker, beat, web and marketplace under a process manager.

`make run`, `make demo` and the browser tests start the same stack, each in a folder and on ports of its own.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO

import psutil

from common import full_disk
from ops import programs
from ops.ensure_database import ensure
from ops.healthy import answers
from ops.surroundings import ROOT, Ports, StackError, as_shell, surroundings, whole_environment, write_private
from ops.waiting import ServiceNotStartedError

# What a killed start left is asked to end by the system itself; after so long it is killed.
LEFTOVER_SECONDS = 3.0


@contextmanager
def _telling_of_a_full_disk() -> Iterator[None]:
    """Raises StackError for a file that could not be written."""
    try:
        yield
    except OSError as error:
        if not full_disk.is_full(error):
            raise
        raise StackError(full_disk.SENTENCE) from error


class Stack:
    """`with Stack(folder) as stack:` prepares, starts, waits until everything answers, and stops.

    `settings` are environment variables of either project and win over the defaults for a laptop.
    `env` is the environment that the processes run in. `further` are programs beside the usual ones, as further
    machines would run them.
    """

    @_telling_of_a_full_disk()
    def __init__(
        self,
        data_dir: Path,
        ports: Ports | None = None,
        settings: Mapping[str, str] | None = None,
        further: Sequence[programs.Program] = (),
    ) -> None:
        self.data_dir = data_dir.resolve()
        self.ports = ports or Ports.free()
        self.own_broker = "REDIS_URL" not in (settings or {})
        self.further = tuple(further)
        for folder in ("", "logs", "run", "redis"):
            (self.data_dir / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        self.settings = surroundings(self.data_dir, self.ports, settings or {})
        self.env = whole_environment(self.settings)
        self.web_url = self.settings["PUBLIC_URL"]
        self.marketplace_url = self.settings["MARKETPLACE_PUBLIC_URL"]
        self._manager: subprocess.Popen[bytes] | None = None
        self._lock: IO[str] | None = None
        self._ping_seconds = 1

    def __enter__(self) -> Stack:
        try:
            self.prepare()
            self.start()
            self.wait_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @_telling_of_a_full_disk()
    def prepare(self) -> None:
        """End what a killed start left, check the ports, create what is missing, migrate both databases.

        Then add the sandbox's workers.
        """
        self._claim_folder()
        self._end_leftovers()
        self._check_ports()
        write_private(self.data_dir / "local.env", as_shell(self.settings))
        for name in ("DATABASE_URL", "MARKETPLACE_DATABASE_URL"):
            if name in self.settings:
                ensure(self.settings[name])
        # Strangers to each other, so at the same time; migrate begins with the system checks.
        with ThreadPoolExecutor(2) as both:
            for side in (both.submit(self.manage, "migrate", "--noinput"), both.submit(self._prepare_marketplace)):
                side.result()

    def _prepare_marketplace(self) -> None:
        self.market("migrate", "--noinput")
        if self.settings["MARKETPLACE_SANDBOX"] == "True":
            self.market("seed_sandbox")

    @_telling_of_a_full_disk()
    def start(self) -> None:
        """Start the process manager and with it every program; returns at once."""
        if self.own_broker:
            password = self.settings["REDIS_URL"].split("@")[0].split(":")[-1]
            text = programs.redis_config(self.data_dir, self.ports, password)
            write_private(self.data_dir / "run" / "redis.conf", text)
        wanted = [*programs.programs(self.data_dir, self.ports, with_broker=self.own_broker), *self.further]
        config = self.data_dir / "run" / "supervisord.conf"
        write_private(config, programs.supervisor_config(self.data_dir, wanted))
        self._manager = subprocess.Popen(
            programs.tied(
                self.data_dir, "supervisord", [sys.executable, "-m", "supervisor.supervisord", "-n", "-c", str(config)]
            ),
            env=self.env,
            cwd=self.data_dir,
            stdin=subprocess.DEVNULL,
            # A session of its own: Ctrl-C reaches the launcher alone, which then stops the rest in order.
            start_new_session=True,
        )

    def wait_ready(self, seconds: float = 300) -> None:
        """Return when web, marketplace and both workers answer.

        Raises ServiceNotStartedError with the last lines of the silent ones.
        """
        # The worker is asked by a process of its own: last, when it answers at the first question.
        probes: dict[str, Callable[[], bool]] = {
            "marketplace": lambda: answers(self.ports.marketplace),
            "web": lambda: answers(self.ports.web),
            "worker": self._workers_answer,
        }
        end = time.monotonic() + seconds
        while probes:
            name = next(iter(probes))
            if probes[name]():
                del probes[name]
                continue
            if self._manager is None or self._manager.poll() is not None:
                raise ServiceNotStartedError(f"The process manager has ended. {self.log_tail('supervisord')}")
            if time.monotonic() > end:
                silent = [*probes, *(["long-worker"] if "worker" in probes else [])]
                tails = "\n".join(map(self.log_tail, silent))
                raise ServiceNotStartedError(f"Not ready after {seconds:.0f} seconds: {', '.join(probes)}.\n{tails}")
            time.sleep(0.2)

    def wait(self) -> int:
        """Block until the process manager ends; its exit status."""
        assert self._manager is not None, "start() comes first"
        return self._manager.wait()

    def stop(self, seconds: float = 90) -> None:
        """End every process of the stack: in order at first, then by force. A second call does nothing."""
        manager, self._manager = self._manager, None
        if manager is not None:
            if manager.poll() is None:
                manager.terminate()
            try:
                manager.wait(seconds)
            except subprocess.TimeoutExpired:
                manager.kill()
                manager.wait()
            _end_session(manager.pid)
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def manage(self, *arguments: str, seconds: float = 900) -> str:
        """Run `manage.py ...` of the requester side; what it printed. Raises StackError when it fails."""
        return self._run([sys.executable, "manage.py", *arguments], seconds)

    def annotate(self, *arguments: str, token: str = "", seconds: float = 900) -> str:
        """Run `annotate ...`, without a token as the sample's lead; what it printed. Raises StackError on failure."""
        # What the program keeps of the server is this stack's alone.
        own = {"ANNOTATE_URL": self.web_url, "PYTHONPATH": str(ROOT / "client"), "HOME": str(self.data_dir)}
        given = {"ANNOTATE_TOKEN": token} if token else {}
        return self._run([sys.executable, "-m", "annotate_client", *arguments], seconds, own | given)

    def market(self, *arguments: str, seconds: float = 900) -> str:
        """Run `python -m marketplace ...`; what it printed. Raises StackError when it fails."""
        return self._run([sys.executable, "-m", "marketplace", *arguments], seconds)

    def pid(self, program: str) -> int:
        """The process id that a program (web, marketplace, tick, worker, beat, broker) has now or had last."""
        return int((self.data_dir / "run" / f"{program}.pid").read_text())

    def kill(self, program: str, sign: signal.Signals = signal.SIGKILL) -> int:
        """Send a signal to a program; the process manager starts it anew. Returns the old process id."""
        pid = self.pid(program)
        os.kill(pid, sign)
        return pid

    def stop_program(self, program: str) -> None:
        """End a program, which stays away until `start_program`. Raises StackError."""
        self._control("stop", program)

    def start_program(self, program: str) -> None:
        """Start a program that was stopped; returns when it has stayed up for two seconds. Raises StackError."""
        self._control("start", program)

    def _control(self, verb: str, program: str) -> None:
        command = [sys.executable, "-m", "supervisor.supervisorctl", "-s", f"unix://{programs.CONTROL}", verb, program]
        done = subprocess.run(command, cwd=self.data_dir, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise StackError(f"The process manager did not {verb} {program}: {done.stdout}{done.stderr}".rstrip())

    def log_tail(self, program: str, lines: int = 15) -> str:
        file = self.data_dir / "logs" / f"{program}.log"
        text = file.read_text(errors="replace") if file.exists() else "(nothing written)"
        return f"Last lines of {file}:\n" + "\n".join(text.splitlines()[-lines:])

    def _run(self, command: list[str], seconds: float, further: Mapping[str, str] | None = None) -> str:
        """`further` are settings of the environment beside those of the stack."""
        env = self.env | dict(further or {})
        done = subprocess.run(
            command, env=env, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds
        )
        if done.returncode:
            raise StackError(f"{' '.join(command[1:4])} failed:\n{done.stdout}{done.stderr}".rstrip())
        return done.stdout

    def _workers_answer(self) -> bool:
        """It takes as long as it waits for answers, also when they have come: longer only after a try in vain."""
        command = [sys.executable, "-m", "celery", "-A", "annotate", "inspect", "ping"]
        command += ["--timeout", str(self._ping_seconds)]
        self._ping_seconds = min(2 * self._ping_seconds, 30)
        done = subprocess.run(command, env=self.env, cwd=ROOT, capture_output=True)
        # The one for urgent jobs, the one for long ones, and further ones.
        wanted = 2 + sum(program.is_worker for program in self.further)
        return done.returncode == 0 and done.stdout.count(b"pong") == wanted

    def _claim_folder(self) -> None:
        self._lock = (self.data_dir / "run" / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StackError(
                f"Another stack runs in {self.data_dir}: stop it, or choose another folder with DATA_DIR."
            ) from None

    def _end_leftovers(self) -> None:
        """Programs whose process manager was killed keep their ports and leases until they have noticed it."""
        run = self.data_dir / "run"
        manager = run / "supervisord.pid"
        # Written on a full disk, it is empty.
        said = manager.read_text().strip() if manager.exists() else ""
        # What else wrote its id there, such as a simulated crowd, is not of the process manager's session.
        if said and any(_session_of(file) == int(said) for file in run.glob("*.pid")):
            _end_session(int(said), LEFTOVER_SECONDS)

    def _check_ports(self) -> None:
        wanted = {"WEB_PORT": self.ports.web, "MARKETPLACE_PORT": self.ports.marketplace}
        if self.own_broker:
            wanted["BROKER_PORT"] = self.ports.broker
        taken = {name: port for name, port in wanted.items() if not _is_free(port)}
        if taken:
            ports = " and ".join(str(port) for port in taken.values())
            example = " ".join(f"{name}={port + 100}" for name, port in taken.items())
            raise StackError(
                f"Somebody listens on port {ports} already, perhaps another `make run`. "
                f"Stop it, or choose other ports: {example} make run"
            )


def _session_of(file: Path) -> int | None:
    """That of the process which wrote its id to this file, if it lives; one that began later only has its number."""
    try:
        pid = int(file.read_text())
        return os.getsid(pid) if psutil.Process(pid).create_time() <= file.stat().st_mtime + 1 else None
    except (OSError, ValueError, psutil.Error):
        return None


def session_members(session: int) -> list[int]:
    """The living processes that belong to a session (zombies are not living)."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (ProcessLookupError, PermissionError, psutil.Error):
            continue
    return found


def _end_session(session: int, patience: float = 10) -> None:
    """Helpers of a program that was killed notice it by themselves within a moment; the rest is killed."""
    end = time.monotonic() + patience
    while members := session_members(session):
        if time.monotonic() > end:
            for pid in members:
                os.kill(pid, signal.SIGKILL)
            end += patience
        time.sleep(0.05)


def _is_free(port: int) -> bool:
    """Nobody answers under any address of localhost, and the port can be bound."""
    for family, kind, protocol, _, address in socket.getaddrinfo("localhost", port, type=socket.SOCK_STREAM):
        with socket.socket(family, kind, protocol) as client:
            client.settimeout(1)
            if client.connect_ex(address) == 0:
                return False
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
