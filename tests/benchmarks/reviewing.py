"""Review and the lists of items and answers: does a page of a large stage cost what one of a small stage costs?

`python -m tests.benchmarks.reviewing` measures on PostgreSQL and on SQLite, each in a process of its own, the second in
a file. Review: an approval by htmx, with the next answer that it shows, at 100 and at 100,000 answers that wait. Lists:
their pages, orders, filters and searches, at 1,000 and at 1,000,000 items, and at the answers of the review. Prints the
queries, the milliseconds of the processor on the server's side, and those that pass. Exit status 0 when an approval
takes at most 30 ms of the processor, and no page asks more queries of a large stage or takes 15 ms more. PostgreSQL has
to run on this machine.
REVIEW_ANSWERS and LISTED_ITEMS make it smaller, TEST_DATABASE_URL names the PostgreSQL server.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import psutil

from ops.surroundings import ROOT
from tests.benchmarks.databases import own_database

if TYPE_CHECKING:
    from django.test import Client

    from hits.models import Stage

ANSWERS = (100, int(os.environ.get("REVIEW_ANSWERS", "100000")))
ITEMS = (1000, int(os.environ.get("LISTED_ITEMS", "1000000")))
# Each of them fills a page of answers.
WORKERS = (2, 60)
APPROVALS, ROUNDS = 40, 10
# Milliseconds: of an approval with the next answer, and of a page more than the same of a small stage.
MOST, MOST_MORE = 30, 15
PART = {"HX-Request": "true"}
WORDS = "a word that no text has"
ITEM_LISTS: tuple[dict[str, Any], ...] = (
    {}, {"state": "kept"}, {"conclusion": "valid"}, {"sort": "-disagreement"},
    {"sort": "disagreement", "state": "kept"}, {"sort": "confidence"}, {"sort": "-changed"},
    {"find": "copy-7"}, {"after": "middle"}, {"sort": "-disagreement", "after": "middle"},
)  # fmt: skip
ANSWER_LISTS: tuple[dict[str, Any], ...] = (
    {}, {"show": "review"}, {"worker": "first"}, {"sort": "seconds"}, {"sort": "-submitted"}, {"show": "rejected"},
    {"compared": "wrong"}, {"after": "middle"},
)  # fmt: skip
# They look through 20,000 rows at most: slower than a page, and no slower in a larger stage than in one of so many.
SEARCHES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("items", {"find": WORDS}), ("answers", {"find": WORDS}), ("answers", {"conclusion": "valid"}),
)  # fmt: skip


@dataclass(frozen=True)
class Figures:
    """Of one request made again and again: queries of one; milliseconds of the processor, here and in PostgreSQL's
    process, on average; milliseconds that pass, the median. Those of the processor hardly depend on other work.
    """

    queries: int
    processor: float
    passed: float

    def __str__(self) -> str:
        return f"{self.queries:4} {self.processor:8.1f} {self.passed:8.1f}"


def measured(asks: Iterator[Callable[[], Any]], times: int) -> Figures:
    """Of so many requests after a first one that is not measured."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    checked(next(asks)())
    passed = []
    before = worked()
    for _ in range(times):
        ask, began = next(asks), time.perf_counter()
        checked(ask())
        passed.append((time.perf_counter() - began) * 1000)
    processor = (worked() - before) * 1000 / times
    with CaptureQueriesContext(connection) as queries:
        checked(next(asks)())
    return Figures(len(queries), processor, median(passed))


def worked() -> float:
    """Seconds of the processor that this process has had, and the one of PostgreSQL that serves it."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return time.process_time()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    there = psutil.Process(pid).cpu_times()
    return time.process_time() + there.user + there.system


def checked(reply: Any) -> None:
    """Whatever is no answer of a page passes."""
    if getattr(reply, "status_code", 200) != 200:
        raise SystemExit(f"{reply.request['PATH_INFO']} answered {reply.status_code}")


# Rows


def filled(number: int, answers: int, items: int, owner: Any) -> tuple[Stage, Stage]:
    """(a stage in which so many answers wait for review, a stage of so many items)."""
    from hits.judging.rules import stage_statistics
    from hits.judging.rules.summaries import refresh_summary
    from tests.benchmarks.rows import NUMBER, copies
    from tests.hits import factories as make

    project = make.project(owner=owner, slug=f"bench-{number}")
    reviewed = make.stage(project, key="review")
    _answered(reviewed, answers, number)
    listed = make.stage(project, key="lists")
    first = make.item(
        listed, state="kept", conclusion="valid", disagreement=0.5, ballots_at=make.NOON, key=f"copy-{number}-0"
    )
    every = f"{NUMBER} % 100"
    text = copies(first.document, max(1, items // 10), key=f"'text-' || {NUMBER}")
    before = copies(
        first, items - 1, key=f"'copy-' || {NUMBER}", document_id=f"{text} + 1 + {NUMBER} / 10",
        state=f"CASE WHEN {every} < 30 THEN 'kept' ELSE 'open' END",
        conclusion=f"CASE WHEN {every} < 30 THEN 'valid' ELSE '' END",
        disagreement=f"({every}) / 100.0",
    )  # fmt: skip
    run = make.computation_run(project, key=stage_statistics.key_of(listed))
    sure = run.results.create(item=first, data={}, confidence=0.5)
    copies(sure, items - 1, item_id=f"{before} + {NUMBER}", confidence=f"({every}) / 100.0")
    for stage in (reviewed, listed):
        refresh_summary(stage)
    return reviewed, listed


def _answered(stage: Stage, answers: int, number: int) -> None:
    """Each by one of WORKERS[number] on an item of its own."""
    from django.utils import timezone

    from hits.judging.rules.summaries import refresh_worker_stats
    from hits.models import Worker
    from tests.benchmarks.rows import NUMBER, copies
    from tests.hits import factories as make

    item = make.item(stage, state="open", key=f"answered-{number}-0")
    hit = make.hit(item)
    people = Worker.objects.bulk_create(Worker(worker_id=f"ABENCH{number}{at:05d}") for at in range(WORKERS[number]))
    due = timezone.now() + timedelta(days=3)
    answer = make.assignment(hit, people[0], state="Submitted", auto_approval_at=due)
    label = make.label(answer)
    before_items = copies(item, answers - 1, key=f"'answered-' || {NUMBER}")
    before_hits = copies(
        hit, answers - 1, item_id=f"{before_items} + {NUMBER}", token=f"'b{number}-' || {NUMBER}",
        hit_id=f"'3B{number}' || {NUMBER}",
    )  # fmt: skip
    worker = f"{people[0].pk} + {NUMBER} % {WORKERS[number]}"
    before = copies(
        answer, answers - 1, hit_id=f"{before_hits} + {NUMBER}", worker_id=worker,
        assignment_id=f"'3A{number}' || {NUMBER}", seconds=f"10.0 + {NUMBER} % 97",
    )  # fmt: skip
    copies(
        label, answers - 1, assignment_id=f"{before} + {NUMBER}", item_id=f"{before_items} + {NUMBER}", worker_id=worker
    )
    refresh_worker_stats(stage, [person.pk for person in people])


# What is asked


def approvals(client: Client, stage: Stage) -> Figures:
    """Each with the next answer, as a lead's browser asks for it."""
    from django.urls import reverse

    start = [stage.project.slug, stage.key]
    pks = iter(list(stage.assignments.order_by("pk").values_list("pk", flat=True)[: APPROVALS + 2]))

    def asks() -> Iterator[Callable[[], Any]]:
        for pk in pks:
            yield partial(client.post, reverse("review-approve", args=[*start, pk]), headers=PART)

    return measured(asks(), APPROVALS)


def page(client: Client, name: str, stage: Stage, query: dict[str, Any]) -> Figures:
    from django.urls import reverse

    address, given = reverse(name, args=[stage.project.slug, stage.key]), asked_for(name, stage, query)

    def asks() -> Iterator[Callable[[], Any]]:
        while True:
            yield lambda: client.get(address, given)

    return measured(asks(), 3 if "find" in query else ROUNDS)


def asked_for(name: str, stage: Stage, query: dict[str, Any]) -> dict[str, Any]:
    """`middle` is a place in the middle of the list, `first` the worker of the first answer."""
    given = dict(query)
    rows = stage.items if name == "items" else stage.assignments
    first, last = (rows.order_by(sign).values_list("pk", flat=True)[0] for sign in ("pk", "-pk"))
    if given.get("after") == "middle":
        middle = (first + last) // 2
        given["after"] = f"0.5_{middle}" if "sort" in given else middle
    if given.get("worker") == "first":
        given["worker"] = stage.assignments.order_by("pk").values_list("worker__worker_id", flat=True)[0]
    return given


# Run


def main() -> int:
    if len(sys.argv) > 1:
        return {"postgresql": _on_postgresql, "sqlite": _on_sqlite}[sys.argv[1]]()
    command = [sys.executable, "-m", "tests.benchmarks.reviewing"]
    return max(subprocess.run([*command, name], cwd=ROOT).returncode for name in ("postgresql", "sqlite"))


def _on_postgresql() -> int:
    with own_database("bench_reviewing"):
        return run()


def _on_sqlite() -> int:
    with _own_file():
        return run()


@contextmanager
def _own_file() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "tests.settings.annotate",
            "DATABASE_URL": f"sqlite:///{Path(folder) / 'bench.sqlite3'}",
        }
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        yield


def run() -> int:
    from django.conf import settings
    from django.db import connection
    from django.test import Client

    from tests.benchmarks.rows import vacuumed
    from tests.hits import factories as make

    owner = make.user("bench")
    client = Client(headers={"host": settings.ALLOWED_HOSTS[0]})
    client.force_login(owner)
    small, large = (filled(number, ANSWERS[number], ITEMS[number], owner) for number in (0, 1))
    vacuumed()
    load = os.getloadavg()[0]
    print(f"\n{connection.vendor}, {os.cpu_count()} cores, load {load:.1f}; {ANSWERS} answers, {ITEMS} items")
    print("Of a small and a large stage: queries, ms of the processor, ms that pass")
    before, after = approvals(client, small[0]), approvals(client, large[0])
    fine = [compared("approve, next answer", before, after, max(before.processor, after.processor) <= MOST)]
    for name, queries, at in (("items", ITEM_LISTS, 1), ("answers", ANSWER_LISTS, 0)):
        for query in queries:
            before, after = page(client, name, small[at], query), page(client, name, large[at], query)
            fine.append(compared(_told(name, query), before, after, after.processor - before.processor <= MOST_MORE))
    for name, query in SEARCHES:
        at = 1 if name == "items" else 0
        before, after = page(client, name, small[at], query), page(client, name, large[at], query)
        fine.append(compared(_told(name, query), before, after, True))
    return 0 if all(fine) else 1


def _told(name: str, query: dict[str, Any]) -> str:
    return f"{name} {' '.join(f'{key}={value}' for key, value in query.items())}"[:44]


def compared(text: str, before: Figures, after: Figures, in_time: bool) -> bool:
    fine = in_time and after.queries <= before.queries
    print(f"{text:44} {before}   {after}   {'ok' if fine else 'MISSED'}", flush=True)
    return fine


if __name__ == "__main__":
    sys.exit(main())
