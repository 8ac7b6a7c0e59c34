"""Workers who submit at a running marketplace over connections that they keep: is any answer lost, any connection cut?

`python -m tests.benchmarks.load` runs 50 workers in a tight loop and 200 who think for 10 seconds, on PostgreSQL
(TEST_DATABASE_URL names the server). An accept is the form and the page that it leads to. Exit status 0 when nothing
was lost and nothing was cut. `--workers 20 --think 3 --rounds 5` runs one other load; what follows `--` is handed to
gunicorn, as in `-- --keep-alive 2`.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import psutil
import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection

from tests.benchmarks.databases import own_database

TRIES = 20
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

    def __str__(self) -> str:
        if not self.memory:
            return ""
        tenth = max(1, len(self.memory) // 10)
        begin, end = (sum(part) / tenth for part in (self.memory[:tenth], self.memory[-tenth:]))
        return (
            f"    memory of the processes {begin:.0f} MiB in the first tenth, {end:.0f} in the last, "
            f"{max(self.memory):.0f} at most; "
            f"at most {max(self.connections)} connections to PostgreSQL"
        )


@contextmanager
def watched(pause: float = 2) -> Iterator[Watch]:
    from django.db import connection

    found, over = Watch(), threading.Event()

    def look() -> None:
        while not over.wait(pause):
            processes = psutil.Process().children(recursive=True)
            found.memory.append(sum(map(_resident, processes)) / 2**20)
            with connection.cursor() as cursor:
                cursor.execute("SELECT count(*) - 1 FROM pg_stat_activity WHERE datname = current_database()")
                found.connections.append(cursor.fetchone()[0])
        connection.close()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


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

    def p95(self, what: str) -> float:
        """Milliseconds that the slowest of twenty took at least."""
        took = sorted(self.took.get(what, [0.0]))
        return 1000 * took[int(0.95 * (len(took) - 1))]


LOADS = (Load(50, 60), Load(200, 8, think=10))
HEAD = (
    *("load", "submitted", "recorded", "lost", "cut", "other faults", "connections", "seconds"),
    *("HITs a second", "p95 of accept, ms", "p95 of submit, ms"),
)


class CountingAdapter(HTTPAdapter):
    """Counts every connection that is made, also anew after the server has closed one."""

    def __init__(self, tally: Tally) -> None:
        class Counted(HTTPConnection):
            def connect(self) -> None:
                tally.connections += 1
                super().connect()

        self._counted = Counted
        super().__init__()

    def get_connection_with_tls_context(self, *arguments: Any, **options: Any) -> Any:
        pool = super().get_connection_with_tls_context(*arguments, **options)
        pool.ConnectionCls = self._counted
        return pool


class LoadWorker:
    """Two connections, as a browser has them: one of the site, with the session, and one of the task's frame."""

    def __init__(self, address: str, group: str, site: requests.Session, frame: requests.Session, tally: Tally) -> None:
        self.address, self.group, self.site, self.frame, self.tally = address, group, site, frame, tally
        for session in (site, frame):
            session.mount(address, CountingAdapter(tally))

    def submit_one(self, think: float) -> None:
        taken = self._ask("accept", lambda: self.site.post(self._at("accept"), {"groupId": self.group}))
        name = taken.text.split("assignmentId=")[1].split("&")[0]
        time.sleep(think)
        sent = self._ask(
            "submit",
            lambda: self.frame.post(self._at("externalSubmit"), {"assignmentId": name, "answer": "yes"}),
            # Told a second time that it was sent: the answer to the first try was what was cut.
            fine=(200, 409),
        )
        if sent.status_code in (200, 409):
            self.tally.submitted.add(name)

    def close(self) -> None:
        self.site.close()
        self.frame.close()

    def _at(self, verb: str) -> str:
        return f"{self.address}/mturk/{verb}"

    def _ask(self, what: str, ask: Callable[[], requests.Response], fine: Sequence[int] = (200,)) -> requests.Response:
        """Again when the connection was cut, as a person does; what was cut is counted."""
        for _ in range(TRIES):
            began = time.monotonic()
            try:
                reply = ask()
            except requests.ConnectionError:
                self.tally.cut[what] += 1
                continue
            if reply.status_code in fine:
                self.tally.took.setdefault(what, []).append(time.monotonic() - began)
                return reply
            self.tally.faults[f"{what}: {reply.status_code}"] += 1
            time.sleep(0.1)
        raise RuntimeError(f"{what} failed {TRIES} times: {self.tally.cut} {self.tally.faults}")


def labour(load: Load, address: str, group: str, people: Sequence[Any]) -> Tally:
    """Let them all work to the end; in a tight loop they begin at once. `people` are marketplace Workers, one a
    worker of the load.
    """
    from tests.marketplace.process import signed_in, stranger

    tallies = [Tally() for _ in range(load.workers)]
    workers = [
        LoadWorker(address, group, signed_in(address, person), stranger(address), tally)
        for person, tally in zip(people, tallies, strict=True)
    ]

    def work(number: int) -> None:
        draw = random.Random(number)
        # People who think do not all come in the same moment.
        time.sleep(draw.uniform(0, 2 * load.think))
        for _ in range(load.rounds):
            workers[number].submit_one(draw.uniform(0, 2 * load.think))
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
    """Prints one row a load; whether nothing was lost, cut or faulty. `url` is a migrated database."""
    from django.db import connections

    from tests.marketplace.process import serve

    rows = []
    for number, load in enumerate(loads):
        group, people = prepare(load, f"load-{number}")
        with serve(url, options=options) as address, watched() as watch:
            tally = labour(load, address, group, people)
        kept = recorded(tally.submitted)
        lost = load.workers * load.rounds - kept
        faults = sum(tally.faults.values())
        rows.append((lost, sum(tally.cut.values()), faults))
        figures = (
            *(load.title, len(tally.submitted), kept, *rows[-1], tally.connections, f"{tally.seconds:.0f}"),
            f"{len(tally.submitted) / tally.seconds:.1f}",
            *(f"{tally.p95(what):.0f}" for what in ("accept", "submit")),
        )
        if number == 0:
            print(" | ".join(HEAD))
        print(" | ".join(str(each) for each in figures), flush=True)
        print(watch, flush=True)
        for what, times in (*tally.cut.items(), *tally.faults.items()):
            print(f"    {what}: {times}", flush=True)
    connections.close_all()
    return not any(map(any, rows))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.load", description=__doc__)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--think", type=float, default=0.0)
    parser.add_argument("gunicorn", nargs="*", help="options of gunicorn, after --")
    given = parser.parse_args()
    loads = [Load(given.workers, given.rounds, given.think)] if given.workers else LOADS
    with own_database("load", marketplace=True) as url:
        return 0 if run(loads, url, given.gunicorn) else 1


if __name__ == "__main__":
    sys.exit(main())
