"""A whole installation to be hurt: both sides, a crowd, and the cutting proxy on the wire between them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import psycopg2
import requests

from ops import programs
from ops.ensure_database import drop, ensure
from ops.stack import Stack
from ops.surroundings import ROOT, Ports, StackError
from ops.waiting import PATIENCE_SECONDS
from tests.benchmarks.synthetic import examples
from tests.demo.checks import Row, select
from tests.faults.proxy import Cut, CuttingProxy, Moment
from tests.marketplace.controls import TestControls

# What would take minutes on a server takes seconds here, so that a run is short.
QUICK = {
    "HARVEST_SECONDS": 2,
    "HARVEST_SWEEP_SECONDS": 4,
    "RESUME_SECONDS": 3,
    "MTURK_SETTLE_SECONDS": 4,
    "MTURK_TIMEOUT_SECONDS": 10,
}
# Logs that programs read, and counts that they may.
WATCHED = {
    "LOG_FORMAT": "json",
    "METRICS_TOKEN": "a-token-for-tests-of-both-sites",
}
# Longer than a token lives at the marketplace.
A_DAY = timedelta(hours=25)
WORKERS = 16
CROWD_OPTIONS = {"--spammers": 3, "--accuracy": 0.9, "--returns": 0.03, "--time-scale": 0.01}
PATIENCE = 3600
# A person waits so long for a page, and then takes the site for broken.
LONGEST_PAGE_SECONDS = 15.0
_PAGES = re.compile(r"(\d+) pages, the slowest after ([\d.]+) s \((.*)\), (\d+) not answered")
RETURNED_AT_MOST = 5
BEGIN = """
import json, sys
from dataclasses import asdict
from decimal import Decimal
from django.contrib.auth import get_user_model
from hits.items.verbs import importing
from hits.projects.verbs import projects
from hits.accounts.verbs.api_tokens import make_token
from hits.stats.blocking import Policy
given = json.loads({given!r})
lead, _ = get_user_model().objects.get_or_create(username="lead")
project = projects.create_project(
    "Faults", "record", Decimal(given["budget"]), "lead@annotate.invalid", lead, seed=given["seed"]
)
projects.want_seconds(project, 0)
upload = importing.create_upload(project, "faults.jsonl", open(given["file"], "rb").read(), "public", lead)
importing.import_upload(upload.pk)
# Who loses a HIT out of sight, because a page did not come, loses it for a minute and not for fifteen. And no lead is
# here to decide about answers of workers who were blocked meanwhile: these are approved by time, soon.
project.stages.update(assignment_seconds=40, auto_approval_seconds=5, unchecked_answers=1000)
first = project.stages.get(position=1)
projects.want_answers(first, given["answers"], 1)
first.quality = asdict(Policy(check_every=20, min_answers=10, floor=0.45, alpha=0.01))
if given["review"]:
    first.approval, first.auto_approval_seconds = "review", 2_592_000
first.save()
upload.refresh_from_db()
print(json.dumps({{"project": project.pk, "slug": project.slug, "namespace": project.namespace,
                   "items": upload.items, "token": make_token(lead, "faults", "pay")[1]}}))
"""


@dataclass
class WorkerPages:
    """How both sites answered the crowd's workers; `silent` got no answer, or an error of the server."""

    count: int = 0
    slowest: float = 0.0
    path: str = ""
    silent: int = 0

    def add(self, count: int, slowest: float, path: str, silent: int) -> None:
        self.count, self.silent = self.count + count, self.silent + silent
        if slowest > self.slowest:
            self.slowest, self.path = slowest, path


class Installation:
    """`with Installation(folder) as it:` runs a stack whose marketplace checks signatures and has test controls.

    `settings` win over everything else: variables of the environment, which are text, and constants of the settings.
    With DATABASE_URL both sides are on that server. `further` are programs that run beside the usual ones.
    """

    def __init__(
        self, folder: Path, settings: Mapping[str, Any] | None = None, further: Sequence[programs.Program] = ()
    ) -> None:
        ports = Ports.free()
        self.proxy = CuttingProxy(self.kill_caller)
        address = f"http://127.0.0.1:{ports.marketplace}"
        self.proxy.upstream = address
        chosen = {
            **QUICK,
            "MARKETPLACE_ACCEPT_ANY_KEY": "False",
            "MARKETPLACE_TEST_CONTROLS": "True",
            "MTURK_ENDPOINT_URL": self.proxy.url,
            "MTURK_SUBMIT_ORIGINS": address,
            **(settings or {}),
        }
        variables = {name: value for name, value in chosen.items() if isinstance(value, str)}
        constants = {name: value for name, value in chosen.items() if name not in variables}
        self.stack = Stack(folder, ports, variables | {"ANNOTATE_TEST_SETTINGS": json.dumps(constants)}, further)
        self.controls = TestControls(address)
        self.kills: Counter[str] = Counter()
        self.project: dict[str, Any] = {}
        self.pages = WorkerPages()
        # What runs the crowd, and what its clients trust: a site behind a proxy has a certificate of its own.
        self.crowd_program: tuple[str, ...] = ("manage.py",)
        self.crowd_options: dict[str, Any] = {}
        self.trusted: str | bool = True
        self._crowd: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Installation:
        self.proxy.__enter__()
        try:
            self._before()
            self.stack.prepare()
            self._get_key()
            self.stack.start()
            self.stack.wait_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop_crowd()
        self.stack.stop()
        self.proxy.__exit__()

    def _before(self) -> None:
        """Nothing: both databases are made when they are migrated."""

    def _get_key(self) -> None:
        """A requester of the marketplace, so that it can tell who signs."""
        said = dict(line.split("=", 1) for line in self.stack.market("createrequester", "Faults").split())
        self._sign_with(said["AWS_ACCESS_KEY_ID"], said["AWS_SECRET_ACCESS_KEY"])

    def _sign_with(self, key: str, secret: str) -> None:
        for name, value in {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret}.items():
            self.stack.settings[name] = self.stack.env[name] = value

    # The job

    def begin(self, items: int, *, answers: int, review: bool, seed: int = 7, budget: str = "1000") -> dict[str, Any]:
        """A project of so many items, imported and not published."""
        file = self._file(items, seed)
        given = {"file": str(file), "answers": answers, "review": review, "seed": seed, "budget": budget}
        said = self.stack.manage("shell", "-v", "0", "-c", BEGIN.format(given=json.dumps(given)))
        self.project = json.loads(said.splitlines()[-1])
        return self.project

    def _file(self, items: int, seed: int) -> Path:
        file = self.stack.data_dir / "faults.jsonl"
        file.write_text("".join(f"{line}\n" for line in examples(items, seed)))
        return file

    def start_crowd(self, seed: int = 7, *, workers: int = WORKERS) -> None:
        """Workers at the marketplace's site, in a process that knows its address and the answer key alone."""
        numbers = {
            **CROWD_OPTIONS,
            "--workers": workers,
            "--key": self.stack.data_dir / "faults.jsonl",
            "--marketplace": self.stack.marketplace_url,
            "--seed": seed,
            "--until-idle": PATIENCE,
            "--max-requests": 10_000_000,
            **self.crowd_options,
        }
        options = [str(part) for option in numbers.items() for part in option]
        command = programs.tied(self.stack.data_dir, "crowd", [sys.executable, *self.crowd_program, "crowd", *options])
        with (self.stack.data_dir / "logs" / "crowd.log").open("wb") as log:
            self._crowd = subprocess.Popen(
                command,
                env=self.stack.env,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def stop_crowd(self) -> None:
        """Its workers go, whatever they hold, and say how the sites answered them."""
        if self._crowd is not None:
            _end(self._crowd)
            self._crowd = None
            log = (self.stack.data_dir / "logs" / "crowd.log").read_text(errors="replace")
            if said := _PAGES.search(log):
                self.pages.add(int(said[1]), float(said[2]), said[3], int(said[4]))

    def check_crowd(self) -> None:
        """Raises StackError when the crowd has ended: nobody would answer any more."""
        if self._crowd is not None and self._crowd.poll() is not None:
            raise StackError(f"The crowd has ended too soon. {self.stack.log_tail('crowd')}")

    def answer(self, worker_id: str, hit_id: str, **fields: str) -> None:
        """Have a worker take that HIT and submit it. Raises StackError when the marketplace does not let them.

        The same worker may be at work in the simulated crowd, which looks at a HIT that is strange to it and returns
        it: then it is taken again.
        """
        for _ in range(RETURNED_AT_MOST):
            form = {"assignmentId": self._take(worker_id, hit_id), "workerId": worker_id, **fields}
            address = f"{self.stack.marketplace_url}/mturk/externalSubmit"
            answer = requests.post(address, data=form, timeout=PATIENCE_SECONDS)
            if answer.status_code != requests.codes.conflict:
                answer.raise_for_status()
                return
        raise StackError(f"{worker_id} could not submit {hit_id}: {answer.text}")

    def _take(self, worker_id: str, hit_id: str) -> str:
        """The id of the worker's assignment of that HIT."""
        asked = {"verb": "accept", "arguments": {"worker_id": worker_id, "hit_id": hit_id, "hit_type_id": None}}
        hands = subprocess.run(
            [sys.executable, "-m", "tests.hits.simulated_workers"],
            env=self.stack.env,
            cwd=ROOT,
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=600,
        )
        taken = json.loads(hands.stdout or "{}").get("ok")
        if taken is None:
            raise StackError(f"{worker_id} could not take {hit_id}: {hands.stdout}{hands.stderr}")
        return str(taken["assignment_id"])

    # Death

    def kill_caller(self, port: int, cut: Cut) -> str:
        """SIGKILL for the program that calls from this local port, all its processes; the program's name."""
        found = _owner(port)
        program = found and self._program_of(found)
        if not program:
            return ""
        self.kill(program)
        if cut.moment is Moment.DAY:
            # What the dead one had sent besides is carried out today.
            self.proxy.wait_quiet()
            self.let_tokens_die()
        return program

    def kill(self, program: str) -> None:
        """SIGKILL for a program with all its helpers, which returns when they are gone."""
        parent = psutil.Process(self.stack.pid(program))
        # The parent first, or it would replace the children.
        members = [parent, *parent.children(recursive=True)]
        for member in members:
            try:
                os.kill(member.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        psutil.wait_procs(members, timeout=PATIENCE_SECONDS)
        self.kills[program] += 1

    def _program_of(self, pid: int) -> str:
        names = {self.stack.pid(name): name for name in ("worker", "long-worker", "web", "beat")}
        try:
            process = psutil.Process(pid)
            line = [process.pid, *(parent.pid for parent in process.parents())]
        except psutil.NoSuchProcess:
            return ""
        return next((names[each] for each in line if each in names), "")

    def let_tokens_die(self) -> None:
        """A day passes for every call whose outcome is unknown: its token protects no more."""
        then = datetime.now(UTC) - A_DAY
        for table, known in _UNKNOWN.items():
            self.change("ours", f"UPDATE {table} SET attempted_at = {{}} WHERE {known}", then)
        self.change("theirs", "UPDATE marketplace_requesttoken SET created_at = {}", then)

    def let_time_pass_for_offer(self, compensation: int) -> None:
        """An offer that was withdrawn was so a quarter of an hour ago."""
        then = datetime.now(UTC) - timedelta(minutes=15)
        self.change("ours", "UPDATE hits_compensation SET expires_at = {} WHERE id = {}", then, compensation)

    # What is written and counted

    def lines(self, program: str) -> list[dict[str, Any]]:
        """What a program has written to its log as JSON."""
        text = (self.stack.data_dir / "logs" / f"{program}.log").read_text(errors="replace")
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    # What stands in the two databases

    def rows(self, side: str, sql: str) -> list[Row]:
        """Of a SELECT on `ours` (the requester's database) or `theirs` (the marketplace's)."""
        url, file = self.database(side)
        return select(url, file, sql)

    def change(self, side: str, sql: str, *values: Any) -> int:
        """An UPDATE with {} for each value; how many rows it changed."""
        url, file = self.database(side)
        if urlsplit(url).scheme.startswith("postgres"):
            connection: Any = psycopg2.connect(url)
            statement = sql.replace("{}", "%s")
        else:
            import sqlite3

            connection = sqlite3.connect(file, timeout=PATIENCE_SECONDS)
            statement = sql.replace("{}", "?")
            # As Django writes moments: UTC, without saying so.
            values = tuple(str(v.replace(tzinfo=None)) if isinstance(v, datetime) else v for v in values)
        try:
            cursor = connection.cursor()
            cursor.execute(statement, values)
            connection.commit()
            return int(cursor.rowcount)
        finally:
            connection.close()

    def lose(self, side: str) -> None:
        """No database any more, as when its disk is gone; on a server an empty one of that name."""
        url, file = self.database(side)
        if url:
            drop(url)
            ensure(url)
            return
        for left in file.parent.glob(f"{file.name}*"):
            left.unlink()

    def database(self, side: str) -> tuple[str, Path]:
        """URL and file of one side's database; the URL is empty on SQLite."""
        settings = self.stack.settings
        if side == "ours":
            return settings.get("DATABASE_URL", ""), Path(settings["DATA_DIR"]) / "annotate.sqlite3"
        return settings.get("MARKETPLACE_DATABASE_URL", ""), Path(settings["DATA_DIR"]) / "marketplace.sqlite3"


@contextmanager
def ended(it: Installation, program: str) -> Iterator[None]:
    """Without that program, until the block ends."""
    it.stack.stop_program(program)
    try:
        yield
    finally:
        it.stack.start_program(program)


@contextmanager
def frozen(it: Installation, program: str) -> Iterator[None]:
    """The program keeps its connections and answers nothing."""
    pid = it.stack.pid(program)
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


_UNKNOWN = {
    "hits_hit": "state = 'sent'",
    "hits_extension": "state = 'planned' AND attempted_at IS NOT NULL",
    "hits_bonus": "state = 'sent'",
    "hits_compensation": "state = 'planned' AND attempted_at IS NOT NULL",
}


def _owner(port: int) -> int | None:
    """The process whose connection has this local port."""
    for found in psutil.net_connections("tcp4"):
        if found.laddr and found.laddr.port == port and found.pid and found.raddr:
            return int(found.pid)
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
