"""Fills a running stack: `python -m tests.benchmarks.fill prepare` and `... project ITEMS`. Prints JSON.

Importing and publishing go through the verbs and the wire and are timed; the answers behind the pages are rows
put into the tables, one an item, as the harvest would leave them.
"""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import timedelta
from decimal import Decimal

os.environ["DJANGO_SETTINGS_MODULE"] = "annotate.settings"
import django  # noqa: E402

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from hits.items.verbs import importing  # noqa: E402
from hits.judging.rules.summaries import refresh_summary, refresh_worker_stats  # noqa: E402
from hits.judging.verbs import deciding  # noqa: E402
from hits.models import Assignment, Hit, Item, Label, Project, Stage, Upload, Worker  # noqa: E402
from hits.projects.verbs import projects  # noqa: E402
from hits.publishing.verbs import publishing, sending  # noqa: E402
from tests.benchmarks.synthetic import examples  # noqa: E402

WORKERS = 60


def prepare() -> dict:
    get_user_model().objects.get_or_create(username="bench")
    return {"cpus": os.cpu_count()}


def project(items: int) -> dict:
    owner = get_user_model().objects.get(username="bench")
    made = projects.create_project(f"Bench {items}", "record", Decimal(items), "lab@example.org", owner, seed=1)
    import_rate = _import(made, items)
    stage = made.stages.get(position=1)
    # Workers of a new sandbox have no history: the group is open to everybody.
    Stage.objects.filter(pk=stage.pk).update(requirements=[])
    publish_rate = _publish(Stage.objects.get(pk=stage.pk), items)
    stage.refresh_from_db()
    _answer(stage)
    return {
        "slug": made.slug,
        "hit_type_id": stage.hit_type_id,
        "import_rate": import_rate,
        "publish_rate": publish_rate,
    }


def _import(made: Project, items: int) -> float:
    content = "\n".join(examples(items)).encode()
    start = time.perf_counter()
    upload = importing.create_upload(made, "bench.jsonl", content, "public", None)
    stored = importing.import_upload(upload.pk)
    seconds = time.perf_counter() - start
    if stored != items:
        raise SystemExit(f"imported {stored}: {Upload.objects.get(pk=upload.pk).faults[:3]}")
    return stored / seconds


def _publish(stage: Stage, items: int) -> float:
    quote = publishing.quote(stage)
    start = time.perf_counter()
    batch = publishing.publish(stage, quote.items, quote.total, f"bench:{stage.pk}", None)
    sending.send(batch.pk)
    seconds = time.perf_counter() - start
    live = stage.hits.filter(state=Hit.State.LIVE).count()
    if live != items:
        batch.refresh_from_db()
        raise SystemExit(f"published {live} of {items}: {batch.message}")
    return live / seconds


def _answer(stage: Stage) -> None:
    """All HITs but the last fifty have an answer of one of sixty workers."""
    hits = list(stage.hits.order_by("id")[: max(1, stage.hits.count() - 50)])
    Worker.objects.bulk_create([Worker(worker_id=f"A{n:05}") for n in range(WORKERS)], ignore_conflicts=True)
    workers = list(Worker.objects.order_by("id")[:WORKERS])
    now = timezone.now()
    rows = [
        Assignment(
            hit=hit,
            stage=stage,
            worker=workers[n % WORKERS],
            assignment_id=f"3{hit.pk:029}",
            state=Assignment.State.APPROVED,
            accepted_at=now - timedelta(seconds=n + 40),
            submitted_at=now - timedelta(seconds=n),
            seconds=30 + n % 25,
            answer={"answer": "0-1"},
            scored=True,
        )
        for n, hit in enumerate(hits)
    ]
    Assignment.objects.bulk_create(rows, batch_size=2000)
    Label.objects.bulk_create(
        (
            Label(
                assignment=row,
                item_id=row.hit.item_id,
                stage=stage,
                worker=row.worker,
                unit="entity",
                value={"start": 0, "end": 1, "text": "x"},
                # A crowd that is right six times of ten, each worker too.
                correct=n // WORKERS % 10 < 6,
            )
            for n, row in enumerate(rows)
        ),
        batch_size=2000,
    )
    Hit.objects.filter(pk__in=[hit.pk for hit in hits]).update(state=Hit.State.CLOSED, harvested=1)
    Item.objects.filter(stage=stage).update(stale=True)
    refresh_worker_stats(stage, [worker.pk for worker in workers])
    deciding.decide(stage)
    refresh_summary(stage)
    with connection.cursor() as cursor:
        # What the database does by itself within a minute of so many new rows.
        cursor.execute("ANALYZE")


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    print(json.dumps(prepare() if verb == "prepare" else project(int(rest[0]))))
