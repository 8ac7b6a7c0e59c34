"""Annotate beside Turkle, another clone of Mechanical Turk: `python -m tests.benchmarks.turkle`.

Both on one PostgreSQL server of this run's own, each served by gunicorn with ops/gunicorn.py and two processes, both
asked over HTTP from outside, in turns: taking the next task, with 1,000, 10,000 and 100,000 that are free; 30,000 rows
of results as CSV; 10,000 rows imported from CSV. Turkle is installed into a virtual environment under build/.
TURKLE_TASKS, TURKLE_ROWS and TURKLE_ITEMS make it smaller.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import requests

from ops.ensure_database import ensure
from ops.programs import GUNICORN
from ops.stack import Stack
from ops.surroundings import ROOT, Ports, free_port
from ops.waiting import wait_started
from tests.faults.servers import Cluster

TURKLE = "3.1.0"
SIZES = [int(size) for size in os.environ.get("TURKLE_TASKS", "1000,10000,100000").split(",")]
ROWS = int(os.environ.get("TURKLE_ROWS", "30000"))
ITEMS = int(os.environ.get("TURKLE_ITEMS", "10000"))
ROUNDS, RUNS = 15, 3
ENVIRONMENT = ROOT / "build" / f"turkle-{TURKLE}"
SIDE = Path(__file__).parent / "turkle_side"
CSRF_SECRET = "a" * 32
PATIENCE = 1800


def main() -> int:
    install()
    with Cluster() as cluster, tempfile.TemporaryDirectory(prefix="annotate-turkle-") as folder:
        settings = {
            "DATABASE_URL": f"{cluster.url}/annotate",
            "ANNOTATE_TEST_SETTINGS": '{"HARVEST_SECONDS": 3600, "RESUME_SECONDS": 3600}',
            # As on a server; Turkle runs without it too.
            "DEBUG": "False",
        }
        with (
            Stack(Path(folder), Ports.free(), settings) as stack,
            turkle(f"{cluster.url}/turkle", Path(folder)) as (url, fill),
        ):
            return run(Annotate(stack), Turkle(url, fill))


def run(ours: Annotate, theirs: Turkle) -> int:
    print(f"\nAnnotate beside Turkle {TURKLE}, PostgreSQL, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'':38} {'Annotate':>12} {'Turkle':>12}   Turkle's time / Annotate's")
    fine = True
    for size in SIZES:
        mine, other = ours.tasks(size), theirs.tasks(size)
        fine &= line(f"take the next of {size:,} tasks, ms", *in_turns(mine, other, ROUNDS, median), 1000)
    mine, other = ours.results(ROWS), theirs.results(ROWS)
    fine &= line(f"{ROWS:,} rows of results as CSV, s", *in_turns(mine, other, RUNS, min))
    rows = table(ITEMS)
    mine, other = ours.importing(rows), theirs.importing(rows)
    fine &= line(f"import of {ITEMS:,} rows, s", *in_turns(mine, other, RUNS, min))
    return 0 if fine else 1


Timed = Callable[[], float]


def in_turns(ours: Timed, theirs: Timed, rounds: int, choose: Callable[[list[float]], float]) -> tuple[float, float]:
    """Seconds of either side; what else the machine does meets both."""
    mine, others = [], []
    for _ in range(rounds):
        mine.append(ours())
        others.append(theirs())
    return choose(mine), choose(others)


def line(what: str, ours: float, theirs: float, factor: int = 1) -> bool:
    fine = ours <= theirs
    times = f"{ours * factor:12.2f} {theirs * factor:12.2f}"
    print(f"{what:38} {times}   {theirs / ours:8.2f}   {'ok' if fine else 'SLOWER'}", flush=True)
    return fine


def table(count: int) -> str:
    """Questions with four choices, as samples/choice.csv has them."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["id", "text", "question", *(f"choice{n}" for n in range(1, 5)), "gold"])
    for key in range(count):
        words = " ".join(f"word{key * 7 + at}" for at in range(40))
        writer.writerow([f"row-{key}", words, f"What is {key}?", *(f"Answer {n} of {key}" for n in range(4)), "2"])
    return text.getvalue()


class Annotate:
    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._web = stack.web_url.replace("localhost", "127.0.0.1")
        self._token = self._fill("lead")["token"]
        self._projects = 0

    def _fill(self, *arguments: object) -> dict[str, Any]:
        return printed([sys.executable, "-m", "tests.benchmarks.annotate_side", *arguments], self._stack.env)

    def tasks(self, number: int) -> Timed:
        """The time until the page around the task is there; then it is answered."""
        filled, url = self._fill("tasks", number), self._stack.marketplace_url
        worker, frame = browser(url, filled["session"]), browser(url)
        worker.cookies.set(filled["csrf"], CSRF_SECRET, domain=urlsplit(url).hostname)
        worker.headers["X-CSRFToken"] = CSRF_SECRET

        def take() -> float:
            began = time.perf_counter()
            page = ok(worker.post(f"{url}/mturk/accept", {"groupId": filled["group"]}, timeout=PATIENCE)).text
            took = time.perf_counter() - began
            name = page.split("assignmentId=")[1].split("&")[0]
            ok(frame.post(f"{url}/mturk/externalSubmit", {"assignmentId": name, "answer": "yes"}, timeout=PATIENCE))
            return took

        take()
        return take

    def results(self, rows: int) -> Timed:
        filled, url = self._fill("results", rows), self._web
        lead = browser(url, filled["session"])
        return lambda: downloaded(lead, f"{url}/projects/{filled['slug']}/stages/ask/results/file/?file=mturk", rows)

    def importing(self, rows: str) -> Timed:
        """From sending the file until the API says that its items are there."""
        api = f"{self._web}/api/projects/"
        lead = browser(api)
        lead.headers["Authorization"] = f"Token {self._token}"

        def bring() -> float:
            self._projects += 1
            about = {"recipe": "choice", "budget": "5.00", "contact_email": "lab@example.org"}
            made = ok(lead.post(api, json={"name": f"Rows {self._projects}", **about}, timeout=PATIENCE)).json()
            uploads = f"{api}{made['slug']}/uploads/"
            began = time.perf_counter()
            sent = lead.post(uploads, data={"origin": "public"}, files={"file": ("rows.csv", rows)}, timeout=PATIENCE)
            upload = ok(sent).json()
            while upload["state"] not in ("done", "failed"):
                time.sleep(0.02)
                upload = ok(lead.get(f"{uploads}{upload['id']}/", timeout=PATIENCE)).json()
            took = time.perf_counter() - began
            if upload["items"] != rows.count("\n") - 1:
                raise SystemExit(f"Annotate imported {upload}")
            return took

        return bring


class Turkle:
    def __init__(self, url: str, fill: Callable[..., dict[str, Any]]) -> None:
        self._url, self._fill = url, fill
        self._begun = fill("begin")

    def tasks(self, number: int) -> Timed:
        """As of Annotate."""
        batch, worker = self._fill("tasks", number)["batch"], browser(self._url)
        ok(worker.get(f"{self._url}/login/", timeout=PATIENCE))
        given = {"username": "worker", "password": self._begun["password"]}
        given["csrfmiddlewaretoken"] = worker.cookies["csrftoken"]
        ok(worker.post(f"{self._url}/login/", given, timeout=PATIENCE))

        def take() -> float:
            began = time.perf_counter()
            page = ok(worker.get(f"{self._url}/batch/{batch}/accept_next_task/", timeout=PATIENCE))
            took = time.perf_counter() - began
            if not re.search(r"/task/\d+/assignment/\d+/$", page.url):
                raise SystemExit(f"Turkle gave no task: {page.url}")
            answer = {"mask": "correctly", "csrfmiddlewaretoken": worker.cookies["csrftoken"]}
            sent = worker.post(page.url, answer, allow_redirects=False, timeout=PATIENCE)
            if sent.status_code != requests.codes.found:
                raise SystemExit(f"Turkle took no answer: {sent.status_code}")
            return took

        take()
        return take

    def results(self, rows: int) -> Timed:
        batch, lead = self._fill("results", rows)["batch"], self._lead()
        return lambda: downloaded(lead, f"{self._url}/api/batches/{batch}/results/", rows)

    def importing(self, rows: str) -> Timed:
        lead = self._lead()
        batch = {"name": "Rows", "project": self._begun["project"], "filename": "rows.csv", "csv_text": rows}

        def bring() -> float:
            began = time.perf_counter()
            ok(lead.post(f"{self._url}/api/batches/", json=batch, timeout=PATIENCE))
            return time.perf_counter() - began

        return bring

    def _lead(self) -> requests.Session:
        lead = browser(self._url)
        lead.headers["Authorization"] = f"Token {self._begun['token']}"
        return lead


def browser(url: str, session: list[str] | None = None) -> requests.Session:
    made = requests.Session()
    made.trust_env = False
    if session:
        made.cookies.set(*session, domain=urlsplit(url).hostname)
    return made


def ok(reply: requests.Response) -> requests.Response:
    if not reply.ok:
        raise SystemExit(f"{reply.request.method} {reply.url}: {reply.status_code} {reply.text[:1000]}")
    return reply


def downloaded(lead: requests.Session, address: str, rows: int) -> float:
    began = time.perf_counter()
    text = ok(lead.get(address, timeout=PATIENCE)).text
    took = time.perf_counter() - began
    found = sum(1 for _ in csv.reader(io.StringIO(text.lstrip("\ufeff")))) - 1
    if found != rows:
        raise SystemExit(f"{address} has {found} rows and not {rows}.")
    return took


def printed(command: list[Any], environment: dict[str, str]) -> dict[str, Any]:
    """The last line that a program prints, as JSON."""
    done = subprocess.run(
        [str(part) for part in command], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


# Turkle's installation


def install() -> None:
    """Once: its packages are pinned by itself, gunicorn and the database's client are of the version that we use."""
    if (ENVIRONMENT / "installed").exists():
        return
    venv.create(ENVIRONMENT, with_pip=True, clear=True)
    same = [f"{name}=={version(name)}" for name in ("gunicorn", "psycopg2-binary")]
    # Its API needs pkg_resources, which newer versions of setuptools do not have.
    wanted = [f"turkle=={TURKLE}", "setuptools<81", *same]
    subprocess.run([ENVIRONMENT / "bin" / "python", "-m", "pip", "install", "--quiet", *wanted], check=True)
    (ENVIRONMENT / "installed").touch()


@contextmanager
def turkle(database_url: str, folder: Path) -> Iterator[tuple[str, Callable[..., dict[str, Any]]]]:
    """Its address, and what fills it."""
    ensure(database_url)
    python = ENVIRONMENT / "bin" / "python"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}
    environment |= {
        "DJANGO_SETTINGS_MODULE": "turkle_settings",
        "TURKLE_DATABASE_URL": database_url,
        "PYTHONPATH": str(SIDE),
    }
    subprocess.run([python, "-m", "django", "migrate", "-v", "0"], env=environment, cwd=SIDE, check=True)
    port, log = free_port(), folder / "turkle.log"
    command = [python, "-m", "gunicorn", "turkle_wsgi", "--config", GUNICORN, "--bind", f"127.0.0.1:{port}"]
    with log.open("wb") as said:
        process = subprocess.Popen(
            [str(part) for part in (*command, "--workers", "2")], env=environment, cwd=SIDE, stdout=said, stderr=said
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_started("Turkle", lambda: _answers(url), process, lambda: log.read_text()[-4000:])
        yield url, lambda *arguments: printed([python, SIDE / "turkle_fill.py", *arguments], environment)
    finally:
        process.terminate()
        process.wait(60)


def _answers(url: str) -> bool:
    try:
        return requests.get(f"{url}/login/", timeout=PATIENCE).ok
    except requests.RequestException:
        return False


if __name__ == "__main__":
    sys.exit(main())
