"""Workers who submit at a running marketplace over connections that they keep: is any answer lost, any connection cut,
and does everybody go on within a second?

Part of `make bench`; alone `python -m tests.benchmarks.load` runs 50 workers in a tight loop, and 500 who all come
within three seconds and think for 10 seconds (7 to 13), on SQLite as `make run` has it and on PostgreSQL
(TEST_DATABASE_URL names the server). An accept is the form and the page that it leads to. Milliseconds of the processor
are those of the servers, from their start on, and of the workers' programs for each answer, without PostgreSQL's. Exit
status 0 when nothing was lost, nothing was cut, and 95 % of the requests of who thinks took less than a second.
`--workers 20 --think 3 --rounds 5` runs one other load, `--database sqlite` one database; what follows `--` is handed
to gunicorn, as in `-- --keep-alive 2`.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode, urlsplit

import psutil
import requests
import urllib3

from ops.surroundings import ROOT
from tests.benchmarks.databases import own_database

TRIES = 20
# People who think all come within so many seconds, and think for 0.7 to 1.3 times as long as they do on average.
ARRIVAL = 3.0
THOUGHT = (0.7, 1.3)
# What one in twenty of those who think may wait for, at most, in milliseconds.
MOST = 1000
QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
    'ExternalQuestion.xsd"><ExternalURL>https://tasks.example.org/task?item=1</ExternalURL>'
    "<FrameHeight>0</FrameHeight></ExternalQuestion>"
)


@dataclass(frozen=True)
class Load:
    """So many workers at once, each of whom submits so many answers and thinks for so many seconds on average."""

    workers: int
    rounds: int
    think: float = 0.0

    @property
    def title(self) -> str:
        return f"{self.workers} workers, " + (f"{self.think:g} s of thought" if self.think else "tight loop")


@dataclass
class Watch:
    """The servers' processes and PostgreSQL's connections, looked at every few seconds while the load lasts."""

    # Of all processes that this one began, in MiB. Pages that they share count for each.
    memory: list[float] = field(default_factory=list)
    connections: list[int] = field(default_factory=list)
    # Of the processor: what the servers took, and what this process did.
    servers: float = 0.0
    own: float = 0.0

    def __str__(self) -> str:
        if not self.memory:
            return ""
        tenth = max(1, len(self.memory) // 10)
        begin, end = (sum(part) / tenth for part in (self.memory[:tenth], self.memory[-tenth:]))
        return (
            f"    memory of the processes {begin:.0f} MiB in the first tenth, {end:.0f} in the last, "
            f"{max(self.memory):.0f} at most"
            + (f"; at most {max(self.connections)} connections to PostgreSQL" if self.connections else "")
        )


@contextmanager
def watched(pause: float = 2) -> Iterator[Watch]:
    from django.db import connection

    found, over = Watch(servers=-_seconds_of_servers(), own=-time.process_time()), threading.Event()

    def look() -> None:
        while not over.wait(pause):
            processes = psutil.Process().children(recursive=True)
            found.memory.append(sum(map(_resident, processes)) / 2**20)
            if connection.vendor != "postgresql":
                continue
            with connection.cursor() as cursor:
                cursor.execute("SELECT count(*) - 1 FROM pg_stat_activity WHERE datname = current_database()")
                found.connections.append(cursor.fetchone()[0])
        connection.close()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        found.servers += _seconds_of_servers()
        found.own += time.process_time()
        over.set()
        thread.join()


def _seconds_of_servers() -> float:
    """Of the processor, with those that have ended."""
    return sum(sum(each.cpu_times()[:4]) for each in psutil.Process().children(recursive=True))


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        # It has ended.
        return 0


@dataclass
class Tally:
    """What the workers saw. `submitted` are assignments whose answer was called taken; `cut` counts by request."""

    submitted: set[str] = field(default_factory=set)
    cut: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    connections: int = 0
    seconds: float = 0.0
    # Of each answered request, by what it asked for.
    took: dict[str, list[float]] = field(default_factory=dict)

    def within(self, what: str, share: float) -> float:
        """Milliseconds within which this share of the requests was answered."""
        took = sorted(self.took.get(what, [0.0]))
        return 1000 * took[int(share * (len(took) - 1))]


LOADS = (Load(50, 20), Load(500, 6, think=10))
HEAD = (
    *("load", "submitted", "recorded", "lost", "cut", "other faults", "connections", "seconds", "HITs a second"),
    *(
        "accept, median and p95, ms",
        "submit, median and p95, ms",
        "processor ms an answer: servers",
        "workers' programs",
    ),
)


class LoadWorker:
    """Two connections, as a browser has them: one of the site, with the session, and one of the task's frame."""

    def __init__(self, address: str, group: str, person: Any, tally: Tally) -> None:
        from tests.marketplace.process import signed_in, stranger

        self.group, self.worker_id, self.tally = group, person.worker_id, tally
        self.site, self.frame = (_connection(address, of) for of in (signed_in(address, person), stranger(address)))
        self.last = ""

    def submit_one(self, think: float) -> None:
        taken = self._ask("accept", self._next)
        name = taken.data.split(b"assignmentId=")[1].split(b"&")[0].decode()
        time.sleep(think)
        answer = {"assignmentId": name, "workerId": self.worker_id, "answer": "yes"}
        # Told a second time that it was sent: the answer to the first try was what was cut.
        sent = self._ask("submit", lambda: self._post(self.frame, "externalSubmit", answer), fine=(200, 409))
        if sent.status in (200, 409):
            self.tally.submitted.add(name)

    def close(self) -> None:
        for pool in (self.site, self.frame):
            self.tally.connections += pool.num_connections
            pool.close()

    def _next(self) -> urllib3.BaseHTTPResponse:
        sent = self._post(self.site, "accept", {"groupId": self.group} | ({"after": self.last} if self.last else {}))
        if sent.status != 302:
            return sent
        work = urlsplit(sent.headers["Location"]).path
        self.last = work.rstrip("/").rsplit("/", 1)[-1]
        return self.site.urlopen("GET", work, redirect=False, retries=False)

    def _post(self, pool: urllib3.HTTPConnectionPool, verb: str, fields: dict[str, str]) -> urllib3.BaseHTTPResponse:
        headers = {**pool.headers, "Content-Type": "application/x-www-form-urlencoded"}
        return pool.urlopen("POST", f"/mturk/{verb}", urlencode(fields), headers=headers, redirect=False, retries=False)

    def _ask(
        self, what: str, ask: Callable[[], urllib3.BaseHTTPResponse], fine: Sequence[int] = (200,)
    ) -> urllib3.BaseHTTPResponse:
        """Again when the connection was cut, as a person does; what was cut is counted."""
        for _ in range(TRIES):
            began = time.monotonic()
            try:
                reply = ask()
            except urllib3.exceptions.HTTPError:
                self.tally.cut[what] += 1
                continue
            if reply.status in fine:
                self.tally.took.setdefault(what, []).append(time.monotonic() - began)
                return reply
            self.tally.faults[f"{what}: {reply.status}"] += 1
            time.sleep(0.1)
        raise RuntimeError(f"{what} failed {TRIES} times: {self.tally.cut} {self.tally.faults}")


def _connection(address: str, browser: requests.Session) -> urllib3.HTTPConnectionPool:
    """As the browser, for half of the processor: it shares the cores with what is measured."""
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in browser.cookies)
    headers = {"Cookie": cookies, "X-CSRFToken": str(browser.headers["X-CSRFToken"])}
    here = urlsplit(address)
    return urllib3.HTTPConnectionPool(here.hostname or "", here.port, maxsize=1, headers=headers)


def labour(load: Load, address: str, group: str, people: Sequence[Any]) -> Tally:
    """Let them all work to the end; in a tight loop they begin at once. `people` are marketplace Workers, one a
    worker of the load.
    """
    tallies = [Tally() for _ in range(load.workers)]
    workers = [LoadWorker(address, group, person, tally) for person, tally in zip(people, tallies, strict=True)]

    def work(number: int) -> None:
        draw = random.Random(number)
        time.sleep(draw.uniform(0, min(ARRIVAL, load.think)))
        for _ in range(load.rounds):
            workers[number].submit_one(load.think * draw.uniform(*THOUGHT))
        workers[number].close()

    began = time.monotonic()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(load.workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Tally(
        set().union(*(each.submitted for each in tallies)),
        sum((each.cut for each in tallies), Counter()),
        sum((each.faults for each in tallies), Counter()),
        sum(each.connections for each in tallies),
        time.monotonic() - began,
        {what: [took for each in tallies for took in each.took.get(what, ())] for what in ("accept", "submit")},
    )


def prepare(load: Load, name: str) -> tuple[str, list[Any]]:
    """A group with a HIT a round that every worker may take, and the workers."""
    from marketplace.verbs import accounts, clock, hits

    now = clock.now()
    funds = Decimal(load.workers * load.rounds) / 10 + 100
    requester = accounts.create_requester(name, funds, now, name, "secret-of-load").requester
    kind = hits.find_or_create_type(
        requester,
        title=name,
        description="Read a passage and click the entity that fits",
        keywords="reading",
        reward=Decimal("0.01"),
        assignment_duration_seconds=3600,
        auto_approval_delay_seconds=2_592_000,
        requirements=[],
    )
    for _ in range(load.rounds):
        hits.create(requester, kind, question=QUESTION, max_assignments=load.workers, lifetime_seconds=36_000, now=now)
    people = [accounts.create_worker(f"{name}-{number}", "worker") for number in range(load.workers)]
    return kind.hit_group_id, people


def recorded(submitted: set[str]) -> int:
    """How many of these assignments the marketplace holds an answer of."""
    from marketplace.models import Assignment

    held = Assignment.objects.exclude(status="Accepted").exclude(submitted_at=None)
    return len(submitted & set(held.values_list("assignment_id", flat=True)))


def run(loads: Sequence[Load], url: str, options: Sequence[str]) -> bool:
    """Prints one row a load; whether nothing was lost, cut, faulty or slow. `url` is a migrated database."""
    from django.db import connection, connections

    from tests.marketplace.process import serve

    print(f"\n{connection.display_name}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n{' | '.join(HEAD)}")
    fine = True
    for number, load in enumerate(loads):
        group, people = prepare(load, f"load-{number}")
        with serve(url, options=options) as address, watched() as watch:
            tally = labour(load, address, group, people)
        kept, answers = recorded(tally.submitted), load.workers * load.rounds
        faults = (answers - kept, sum(tally.cut.values()), sum(tally.faults.values()))
        slow = load.think and max(tally.within(what, 0.95) for what in ("accept", "submit")) > MOST
        fine &= not any(faults) and not slow
        figures = (
            *(load.title, len(tally.submitted), kept, *faults, tally.connections, f"{tally.seconds:.0f}"),
            f"{len(tally.submitted) / tally.seconds:.1f}",
            *(f"{tally.within(what, 0.5):.0f} {tally.within(what, 0.95):.0f}" for what in ("accept", "submit")),
            *(f"{1000 * seconds / answers:.1f}" for seconds in (watch.servers, watch.own)),
        )
        print(" | ".join(str(each) for each in figures), "  MISSED" if any(faults) or slow else "  ok", flush=True)
        print(watch, flush=True)
        for what, times in (*tally.cut.items(), *tally.faults.items()):
            print(f"    {what}: {times}", flush=True)
    connections.close_all()
    return fine


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.load", description=__doc__)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--think", type=float, default=0.0)
    parser.add_argument("--database", choices=("sqlite", "postgresql"))
    parser.add_argument("gunicorn", nargs="*", help="options of gunicorn, after --")
    given = parser.parse_args()
    if not given.database:
        # Django knows one database in a process.
        command = [sys.executable, "-m", "tests.benchmarks.load", "--database"]
        return max(
            subprocess.run([*command, name, *sys.argv[1:]], cwd=ROOT).returncode for name in ("sqlite", "postgresql")
        )
    loads = [Load(given.workers, given.rounds, given.think)] if given.workers else LOADS
    with own_database("load", marketplace=True, embedded=given.database == "sqlite") as url:
        return 0 if run(loads, url, given.gunicorn) else 1


if __name__ == "__main__":
    sys.exit(main())
