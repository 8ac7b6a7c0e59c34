"""How many calls of the marketplace a job makes, counted by the marketplace, against the fewest that are possible.

Part of `make bench`; alone: `python -m tests.benchmarks.calls`. CALLS_ITEMS (1,000) items with three answers each and
automatic approval; the requester's calls go over HTTP, the workers act in the marketplace's own process. Three runs:
pages that check an answer before it is posted (as browsers do), events from a queue, and neither, so that the list of
reviewable HITs is all there is. The list may be read 60 times as often as by default: an hour of work passes in a
minute.
"""

from __future__ import annotations

import logging
import os
import secrets
import sys
import tempfile
import time
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

ITEMS = int(os.environ.get("CALLS_ITEMS", "1000"))
ANSWERS = 3
TARGET = 1.02
PAGE = 100
# One second here stands for a minute: where the list is read, that is a page every five minutes.
SWEEP_SECONDS = 5
ROUNDS = 60


WAYS = {
    "pages": "told by the pages' check",
    "events": "told by events of a queue",
    "list": "told by the list of reviewable HITs alone",
}


@dataclass(frozen=True)
class Count:
    """Calls of each operation, and the fewest that the job can do with."""

    calls: dict[str, int]
    items: int
    answers: int
    rejections: int = 0
    seconds: float = 0
    minimum: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        fewest = {
            "CreateHITType": 1,
            "CreateHITWithHITType": self.items,
            "ListReviewableHITs": ceil(self.items / PAGE),
            "ListAssignmentsForHIT": self.items * ceil(self.answers / PAGE),
            "RejectAssignment": self.rejections,
            "ApproveAssignment": self.items * self.answers - self.rejections,
        }
        object.__setattr__(self, "minimum", {name: number for name, number in fewest.items() if number})

    @property
    def ratio(self) -> float:
        return sum(self.calls.values()) / sum(self.minimum.values())

    def table(self) -> list[str]:
        names = [*self.minimum, *sorted(self.calls.keys() - self.minimum.keys())]
        rows = [(name, self.calls.get(name, 0), self.minimum.get(name, 0)) for name in names]
        rows.append(("all", sum(self.calls.values()), sum(self.minimum.values())))
        return [
            f"{name:32} {calls:8,} {fewest:8,}   {f'{calls / fewest:.3f}' if fewest else '':>6}"
            for name, calls, fewest in rows
        ]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "tests.settings.annotate",
            "DATA_DIR": folder,
            "DATABASE_URL": f"sqlite:///{folder}/annotate.sqlite3",
            "LOG_LEVEL": "WARNING",
        }
        import django

        django.setup()
        return _run(Path(folder))


def _run(folder: Path) -> int:
    from django.conf import settings
    from django.core.management import call_command
    from moto.server import ThreadedMotoServer

    from annotate.celery import app
    from tests.hits.market import Marketplace

    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    call_command("migrate", verbosity=0)
    app.conf.update(task_always_eager=True)
    settings.HARVEST_SWEEP_SECONDS = SWEEP_SECONDS
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    cloud = f"http://{host}:{port}"
    market = Marketplace(
        folder,
        MARKETPLACE_TEST_CONTROLS="True",
        MARKETPLACE_SQS_ENDPOINT_URL=cloud,
        MARKETPLACE_AWS_ACCESS_KEY_ID="market",
        MARKETPLACE_AWS_SECRET_ACCESS_KEY="market",
    )
    market.start()
    status = 0
    try:
        for way in WAYS:
            _open_account(market, _queue(cloud) if way == "events" else "")
            status |= _show(way, count_calls(market, ITEMS, way))
    finally:
        market.close()
        server.stop()
    return status


def _show(way: str, count: Count) -> int:
    print(f"\n{count.items:,} items, {count.answers} answers each, {WAYS[way]} ({count.seconds:.0f} s)")
    print(f"{'operation':32} {'calls':>8} {'fewest':>8}   {'ratio':>6}")
    print("\n".join(count.table()))
    fine = count.ratio <= TARGET
    print(f"target at most {TARGET}   {'ok' if fine else 'MISSED'}", flush=True)
    return 0 if fine else 1


def _open_account(market: Any, queue_url: str) -> None:
    """Point the requester's side to the marketplace with an account of its own, and to the queue."""
    from django.conf import settings

    from hits.answers.verbs import marketplace_events
    from hits.publishing.rules.marketplace_account import gateway

    settings.MTURK_ENDPOINT_URL, settings.MTURK_SUBMIT_ORIGINS = market.url, [market.url]
    settings.MTURK_EVENTS_QUEUE_URL = queue_url
    settings.MTURK_EVENTS_ACCESS_KEY_ID = settings.MTURK_EVENTS_SECRET_ACCESS_KEY = "x"
    os.environ |= {"AWS_ACCESS_KEY_ID": f"BENCH{secrets.token_hex(8).upper()}", "AWS_SECRET_ACCESS_KEY": "x"}
    gateway.cache_clear()
    marketplace_events.queue.cache_clear()


def _queue(cloud: str) -> str:
    import boto3

    keys = {"region_name": "us-east-1", "aws_access_key_id": "x", "aws_secret_access_key": "x"}
    name = f"calls-{secrets.token_hex(6)}"
    return str(boto3.client("sqs", endpoint_url=cloud, **keys).create_queue(QueueName=name)["QueueUrl"])


def count_calls(market: Any, items: int, way: str, *, rounds: int = ROUNDS, hurry: bool = False) -> Count:
    """Publish, have everything answered in so many rounds of at least a second each, and let beat's tasks fetch it.

    The settings name the marketplace and, for the way "events", the queue. With `hurry` nobody waits by the clock: what
    is due in a few seconds is due now. SystemExit when an answer is lost.
    """
    from hits.models import Assignment
    from tests.marketplace.controls import TestControls

    controls = TestControls(market.url)
    controls.turn(reset=True)
    start = time.monotonic()
    stage = _publish(items)
    workers = [market.sign_up_worker() for _ in range(ANSWERS)]
    hits = list(stage.hits.select_related("item").order_by("id"))
    step = ceil(items / rounds)
    for number in range(rounds):
        began = time.monotonic()
        _work(market, workers, hits[number * step : (number + 1) * step], checked=way == "pages")
        _fetch(market, hurry)
        time.sleep(0 if hurry else max(0.0, began + 1 - time.monotonic()))
    end = time.monotonic() + 10 * SWEEP_SECONDS * ceil(items / PAGE) + 30
    while (came := Assignment.objects.filter(stage=stage).count()) < items * ANSWERS:
        if time.monotonic() > end:
            raise SystemExit(f"{came} of {items * ANSWERS} answers came")
        _fetch(market, hurry)
        time.sleep(0 if hurry else 0.5)
    counted = controls.counts()
    # The next run has an account of its own, which knows nothing of these HITs.
    stage.project.delete()
    return Count(counted, items, ANSWERS, seconds=time.monotonic() - start)


def _publish(items: int) -> Any:
    from decimal import Decimal

    from django.contrib.auth import get_user_model

    from hits import tasks
    from hits.answers.verbs import marketplace_events
    from hits.items.verbs import importing
    from hits.projects.verbs import projects
    from hits.publishing.verbs import publishing
    from tests.benchmarks.synthetic import examples

    owner, _ = get_user_model().objects.get_or_create(username="calls")
    name = f"Calls {secrets.token_hex(4)}"
    made = projects.create_project(name, "record", Decimal(items), "lab@example.org", owner, seed=1)
    projects.want_seconds(made, 0)
    stage = made.stages.get(position=1)
    # Workers of a new sandbox have no history; and nobody is blocked, or asked a second time, in this run.
    stage.requirements, stage.quality = [], {}
    stage.save(update_fields=["requirements", "quality"])
    made.stages.update(auto_publish=False)
    projects.want_answers(stage, ANSWERS, ANSWERS)
    content = "\n".join(examples(items)).encode()
    importing.import_upload(importing.create_upload(made, "calls.jsonl", content, "public", None).pk)
    quote = publishing.quote(stage)
    batch = publishing.publish(stage, quote.items, quote.total, f"calls:{stage.pk}", None)
    tasks.publish_batch(batch.pk)
    stage.refresh_from_db()
    for pk in marketplace_events.unsubscribed_stages():
        tasks.ensure_events(pk)
    return stage


def _work(market: Any, workers: list[str], hits: list[Any], *, checked: bool) -> None:
    """Each worker answers each HIT; a browser has the page check the answer before it posts it."""
    from hits.answers.verbs import serving

    for worker in workers:
        held = market.do("accept_many", worker_id=worker, hit_ids=[hit.hit_id for hit in hits])
        answers = {held[hit.hit_id]: _right_answer(hit) for hit in hits}
        for hit in hits if checked else ():
            visit = serving.Visit(hit, held[hit.hit_id], worker)
            serving.check(serving.page_token(visit), answers[held[hit.hit_id]])
        market.do("submit_many", worker_id=worker, answers=answers)


def _right_answer(hit: Any) -> dict[str, str]:
    reference = hit.item.data["answers"][0]
    return {"answer": f"{reference['start']}-{reference['end']}", "text": reference["text"]}


def _fetch(market: Any, hurry: bool) -> None:
    """One round of beat, of the worker, and of the marketplace's own clock."""
    from hits import tasks
    from hits.models import Hit

    market.do("deliver_events")
    tasks.receive_events()
    if hurry:
        from django.utils import timezone

        Hit.objects.exclude(due_at=None).update(due_at=timezone.now())
    tasks.harvest_all()


if __name__ == "__main__":
    sys.exit(main())
