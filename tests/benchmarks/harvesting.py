"""The answers of 10,000 HITs that are due at once, from a marketplace in a process of its own, over HTTP.

Part of `make bench`; alone: `python -m tests.benchmarks.harvesting`. Each HIT has one answer. A first HIT is published,
answered and told of by the marketplace as any other; the others are copies of its rows, made by the databases of both
sides, on PostgreSQL. Harvest, labels and verdicts run in a process of their own: once for the time, calls and queries,
and once, on a stage as large, for what they hold at their most. Then the same of 1,000. Exit status 0 when each answer
is recorded and paid exactly once, no operation is called more often than the job needs, and a hundred of the many HITs
take no more queries, one takes at most TIMES_WORK times the processor, and all at most TIMES_MEMORY times the memory of
the few. The processor's time is that of the process and of the one of PostgreSQL that serves it, on this machine.
HARVEST_HITS makes it smaller; below 2,000 the few fill no part of what is decided at a time. TEST_DATABASE_URL names
the PostgreSQL server.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ops.ensure_database import drop, ensure
from ops.surroundings import ROOT
from tests.benchmarks.databases import SERVER, own_database

if TYPE_CHECKING:
    from hits.models import Stage
    from tests.hits.market import Marketplace

HITS = int(os.environ.get("HARVEST_HITS", "10000"))
FEW = min(1000, HITS // 2)
WORKERS = 50
TIMES_MEMORY, TIMES_WORK = 1.5, 1.5
PAGE = 100
# Steps by their names, as they are printed.
STEPS = ("harvest", "labels", "verdicts")


@dataclass(frozen=True)
class Job:
    """A stage whose HITs are due. `account` is the key of a requester of its own at the marketplace."""

    slug: str
    hits: int
    account: str


def main() -> int:
    # A line for each answer otherwise.
    os.environ["LOG_LEVEL"] = "WARNING"
    with own_database("bench_harvesting"), _marketplace() as market:
        return run(market)


def run(market: Marketplace) -> int:
    from tests.benchmarks.rows import vacuumed

    workers = [market.sign_up_worker() for _ in range(WORKERS)]
    jobs = {
        (what, hits): _filled(market, workers, Job(f"{what}-{hits}", hits, f"BENCH{what.upper()}{hits}"))
        for hits in (FEW, HITS)
        for what in ("time", "memory")
    }
    vacuumed()
    print(
        f"\n{FEW:,} and {HITS:,} HITs that are due, one answer each, on PostgreSQL with {os.cpu_count()} cores",
        end=", ",
    )
    print(f"load {os.getloadavg()[0]:.1f}")
    few, many = (_timed(market, jobs["time", hits]) for hits in (FEW, HITS))
    fine = [_told_of_rows(found) for found in (few, many)] + [_told_of_time(few, many)]
    fine += [_told_of_calls(found) for found in (few, many)]
    fine.append(_told_of_memory(*(_apart(market, "memory", jobs["memory", hits]) for hits in (FEW, HITS))))
    return 0 if all(fine) else 1


# The marketplace


@contextmanager
def _marketplace() -> Iterator[Marketplace]:
    from tests.hits.market import Marketplace

    url = f"{SERVER}/annotate_bench_harvesting_marketplace_{os.getpid()}"
    drop(url)
    ensure(url)
    try:
        with tempfile.TemporaryDirectory() as folder:
            settings = {"MARKETPLACE_DATABASE_URL": url, "MARKETPLACE_TEST_CONTROLS": "True"}
            market = Marketplace(Path(folder), **settings)
            _at_the_marketplace(url, "migrate")
            market.start()
            try:
                yield market
            finally:
                market.close()
    finally:
        drop(url)


def _at_the_marketplace(url: str, *arguments: str) -> None:
    """In a process with the marketplace's settings."""
    own = {"DJANGO_SETTINGS_MODULE": "tests.settings.marketplace", "MARKETPLACE_DATABASE_URL": url}
    command = [sys.executable, "-m", "tests.benchmarks.harvesting", *arguments]
    subprocess.run(command, cwd=ROOT, env=os.environ | own, check=True)


def migrate() -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def copy_answered(slug: str, hit_id: str, copied: str) -> None:
    """Copies of an answered HIT and its answer, by the workers in turn."""
    from marketplace.models import Hit, Worker
    from tests.benchmarks.rows import NUMBER, copies, vacuumed

    hit = Hit.objects.get(hit_id=hit_id)
    keys = list(Worker.objects.order_by("pk").values_list("pk", flat=True))
    before = copies(hit, int(copied), hit_id=_id("H", slug))
    copies(
        hit.assignments.get(), int(copied), hit_id=f"{before} + {NUMBER}", assignment_id=_id("A", slug),
        worker_id=f"(ARRAY{keys})[1 + {NUMBER} % {len(keys)}]",
    )  # fmt: skip
    vacuumed()


def _id(letter: str, slug: str) -> str:
    """SQL for the id of a copy, the same on both sides: the API takes capital letters and digits."""
    from tests.benchmarks.rows import NUMBER

    return f"'3{letter}{slug.upper().replace('-', '')}X' || {NUMBER}"


# Rows


def _filled(market: Marketplace, workers: list[str], job: Job) -> Job:
    """One HIT goes the usual way until its answer is at the marketplace; the others are copies of it."""
    _use(market.url, job.account)
    stage = _published(job)
    hit = stage.hits.select_related("item__document").get()
    reference = hit.item.data["answers"][0]
    held = market.accept(workers[0], hit_id=hit.hit_id)
    market.submit(held, answer=f"{reference['start']}-{reference['end']}", text=reference["text"]).raise_for_status()
    _at_the_marketplace(market.database_url, "copy_answered", job.slug, hit.hit_id or "", str(job.hits - 1))
    _copied(stage, job)
    return job


def _use(url: str, account: str) -> None:
    """Point this process to the marketplace, as that requester."""
    import boto3
    from django.conf import settings

    from hits.publishing.rules.marketplace_account import gateway

    settings.MTURK_ENDPOINT_URL, settings.MTURK_SUBMIT_ORIGINS = url, [url]
    os.environ |= {"AWS_ACCESS_KEY_ID": account, "AWS_SECRET_ACCESS_KEY": "x"}
    # It holds the first key pair that it found.
    boto3.DEFAULT_SESSION = None
    gateway.cache_clear()


def _published(job: Job) -> Stage:
    """A project with one published item."""
    from django.contrib.auth import get_user_model

    from hits.items.verbs import importing
    from hits.projects.verbs import projects
    from hits.publishing.verbs import publishing, sending
    from tests.benchmarks.synthetic import examples

    owner, _ = get_user_model().objects.get_or_create(username="bench")
    made = projects.create_project(job.slug, "record", Decimal(job.hits), "lab@example.org", owner, seed=1)
    projects.want_seconds(made, 0)
    stage = made.stages.get(key="validate")
    # Workers of a new sandbox have no history.
    stage.requirements, stage.quality = [], {}
    stage.save(update_fields=["requirements", "quality"])
    made.stages.update(auto_publish=False)
    content = next(examples(1)).encode()
    importing.import_upload(importing.create_upload(made, "one.jsonl", content, "public", None).pk)
    quote = publishing.quote(stage)
    sending.send(publishing.publish(stage, quote.items, quote.total, job.slug, None).pk)
    stage.refresh_from_db()
    return stage


def _copied(stage: Stage, job: Job) -> None:
    """Copies of the stage's HIT with its item, its text and its money, all due now."""
    from django.utils import timezone

    from hits.models import LedgerEntry
    from tests.benchmarks.rows import NUMBER, copies

    hit, more = stage.hits.select_related("item__document").get(), job.hits - 1
    stage.project.account.post([LedgerEntry(stage=stage, kind="reserve", reserved=hit.unit_cost * more)])
    texts = copies(hit.item.document, more, key=f"'{job.slug}-' || {NUMBER}")
    items = copies(hit.item, more, key=f"'{job.slug}-' || {NUMBER}", document_id=f"{texts} + {NUMBER}")
    token = f"'{job.slug}-' || {NUMBER}"
    copies(hit, more, item_id=f"{items} + {NUMBER}", token=token, hit_id=_id("H", job.slug))
    stage.hits.update(due_at=timezone.now())


# Measuring


def _timed(market: Marketplace, job: Job) -> dict[str, Any]:
    from tests.marketplace.controls import TestControls

    controls = TestControls(market.url)
    controls.turn(reset=True)
    found = _apart(market, "time", job)
    return {**found, "calls": controls.counts(), "rows": _rows(job), "hits": job.hits}


def _apart(market: Marketplace, what: str, job: Job) -> dict[str, Any]:
    """In a process of its own, as a worker of Celery has it."""
    command = [sys.executable, "-m", "tests.benchmarks.harvesting", what, job.slug, market.url, job.account]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _steps(slug: str) -> list[tuple[str, Callable[[], int]]]:
    from hits.answers.verbs import harvesting
    from hits.judging.verbs import deciding, scoring
    from hits.models import Stage

    stage = Stage.objects.select_related("project__account").get(project__slug=slug, key="validate")
    does = (lambda: harvesting.harvest(stage), lambda: scoring.score(stage), lambda: deciding.decide(stage))
    return list(zip(STEPS, does, strict=True))


def timed(slug: str, url: str, account: str) -> dict[str, Any]:
    """Seconds, those of the processor, queries and rows of each step, and what a second harvest brings."""
    from django.db import connection

    from tests.benchmarks.reviewing import worked

    _use(url, account)
    asked = [0]

    def count(execute: Callable[..., Any], *given: Any) -> Any:
        asked[0] += 1
        return execute(*given)

    found: dict[str, Any] = {}
    for name, do in _steps(slug):
        asked[0], began, before = 0, time.perf_counter(), worked()
        with connection.execute_wrapper(count):
            rows = do()
        took = {"seconds": time.perf_counter() - began, "processor": worked() - before}
        found[name] = {**took, "queries": asked[0], "rows": rows}
    return {"steps": found, "again": _steps(slug)[0][1]()}


def held(slug: str, url: str, account: str) -> dict[str, float]:
    """MiB that each step holds at its most, as the allocators count it. Counting slows it down."""
    _use(url, account)
    found = {}
    for name, do in _warm(slug):
        tracemalloc.start()
        do()
        found[name] = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
    return found


def _warm(slug: str) -> list[tuple[str, Callable[[], int]]]:
    """Loading the libraries and the service's model is no part of what a harvest needs."""
    from hits.models import Stage
    from hits.projects.rules.plugins import protocol_of
    from hits.publishing.rules.marketplace_account import balance

    balance()
    protocol_of(Stage.objects.get(project__slug=slug, key="validate"))
    return _steps(slug)


def _rows(job: Job) -> dict[str, int]:
    """What stands in the requester's tables now."""
    from django.db.models import Count

    from hits.models import Assignment, LedgerEntry, Stage

    stage = Stage.objects.get(project__slug=job.slug, key="validate")
    answers = Assignment.objects.filter(stage=stage)
    return {
        "answers": answers.count(),
        "answered HITs": answers.aggregate(n=Count("hit", distinct=True))["n"],
        "assignments of the marketplace": answers.aggregate(n=Count("assignment_id", distinct=True))["n"],
        "payments": LedgerEntry.objects.filter(stage=stage, kind="settle").count(),
        "labels": stage.labels.count(),
        "kept items": stage.items.filter(state="kept").count(),
        "closed HITs": stage.hits.filter(state="closed", due_at=None).count(),
    }


# Telling


def _line(text: str, fine: bool) -> bool:
    print(f"{text}   {'ok' if fine else 'MISSED'}", flush=True)
    return fine


def _told_of_rows(found: dict[str, Any]) -> bool:
    rows, again = found["rows"], found["again"]
    told = ", ".join(f"{n:,} {what}" for what, n in rows.items())
    return _line(f"{told}; {again} new at a second harvest", set(rows.values()) == {found["hits"]} and not again)


def _told_of_time(few: dict[str, Any], many: dict[str, Any]) -> bool:
    heads = f"{'HITs a second':>22} {'ms of processor a HIT':>24} {'queries per 100 HITs':>24}"
    print(f"{'':10} {heads}   (of {few['hits']:,}, of {many['hits']:,})")
    fine = True
    for name in STEPS:
        of = [(found["hits"], found["steps"][name]) for found in (few, many)]
        rates = [hits / step["seconds"] for hits, step in of]
        work = [1000 * step["processor"] / hits for hits, step in of]
        asked = [100 * step["queries"] / hits for hits, step in of]
        text = f"{name:10} {rates[0]:11,.0f}{rates[1]:11,.0f} {work[0]:12.2f}{work[1]:12.2f}"
        text += f" {asked[0]:12.1f}{asked[1]:12.1f}"
        fine &= _line(text, asked[1] <= asked[0] and work[1] <= TIMES_WORK * work[0])
    return fine


def _told_of_calls(found: dict[str, Any]) -> bool:
    """The list is read once by each harvest, the HITs once each."""
    hits, calls = found["hits"], found["calls"]
    # The last page of the list is empty where the one before it is full.
    needed = {"ListAssignmentsForHIT": hits, "ListReviewableHITs": 2 * (ceil(hits / PAGE) + 1)}
    told = ", ".join(f"{name} {n:,}" for name, n in sorted(calls.items()))
    return _line(f"calls of {hits:,}: {told}", all(n <= needed.get(name, 0) for name, n in calls.items()))


def _told_of_memory(few: dict[str, float], many: dict[str, float]) -> bool:
    print(f"{'':12} {'MiB held at its most':>22}")
    fine = True
    for name in STEPS:
        times = many[name] / few[name]
        text = f"{name:12} {few[name]:11.1f}{many[name]:11.1f} {times:10.2f} times, target {TIMES_MEMORY}"
        fine &= _line(text, times <= TIMES_MEMORY)
    return fine


if __name__ == "__main__":
    if len(sys.argv) > 1:
        import django

        django.setup()
        does: dict[str, Callable[..., Any]] = {
            "migrate": migrate, "copy_answered": copy_answered, "time": timed, "memory": held,
        }  # fmt: skip
        if (found := does[sys.argv[1]](*sys.argv[2:])) is not None:
            print(json.dumps(found))
    else:
        sys.exit(main())
