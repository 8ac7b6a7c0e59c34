"""The marketplace, or everything, dies while work is under way; it goes on by itself, once."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import pytest

from ops.stack import Stack, session_members
from ops.waiting import until
from tests.benchmarks.synthetic import examples
from tests.demo.checks import Row, select
from tests.demo.crowd import Crowd
from tests.e2e.conftest import UNHURRIED
from tests.migrated import bring

pytestmark = pytest.mark.long

ITEMS = 600
# More than are recorded at a time.
ANSWERS = 250
RECOVERED_SECONDS = 15
BEGIN = """
import time
from decimal import Decimal
from django.contrib.auth import get_user_model
from hits import tasks
from hits.items.verbs import importing
from hits.publishing.verbs import publishing
from hits.projects.verbs import projects
lead, _ = get_user_model().objects.get_or_create(username="grace")
project = projects.create_project("Interrupted", "record", Decimal("100"), "lab@example.org", lead, seed=1)
upload = importing.create_upload(project, "f.jsonl", open({file!r}, "rb").read(), "public", lead)
importing.import_upload(upload.pk)
stage = project.stages.get(position=1)
quote = publishing.quote(stage)
batch = publishing.publish(stage, quote.items, quote.total, {name!r}, lead)
tasks.publish_batch.delay(batch.pk)
while not batch.done:
    time.sleep(0.02)
    batch.refresh_from_db()
print(batch.pk, batch.done)
"""


@pytest.fixture
def begin(stack: Stack, tmp_path: Path) -> Callable[[str], tuple[int, int]]:
    """Start publishing so many items that it takes seconds; returns the batch, and how many are out by now."""

    def go(name: str) -> tuple[int, int]:
        file = tmp_path / "f.jsonl"
        file.write_text("\n".join(examples(ITEMS)))
        said = stack.manage("shell", "-v", "0", "-c", BEGIN.format(file=str(file), name=name))
        batch, done = said.split()[-2:]
        return int(batch), int(done)

    return go


def _look(stack: Stack, pk: int) -> dict[str, Any]:
    """The batch: its state, done and refused, and the tokens of its HITs."""

    def rows(sql: str) -> list[Row]:
        return select(stack.settings.get("DATABASE_URL", ""), stack.data_dir / "annotate.sqlite3", sql)

    [batch] = rows(f"SELECT state, done, refused FROM hits_batch WHERE id = {pk}")
    return batch | {"tokens": [row["token"] for row in rows(f"SELECT token FROM hits_hit WHERE batch_id = {pk}")]}


def _until_published(stack: Stack, pk: int) -> dict[str, Any]:
    until(lambda: _look(stack, pk)["state"] == "published", "the batch is published", seconds=600)
    return _look(stack, pk)


def _annotations(stack: Stack) -> list[str]:
    """Of every HIT that the marketplace holds."""
    client = boto3.client(
        "mturk",
        endpoint_url=stack.marketplace_url,
        region_name="us-east-1",
        aws_access_key_id=stack.env["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=stack.env["AWS_SECRET_ACCESS_KEY"],
    )
    pages = client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 100})
    return [hit["RequesterAnnotation"] for page in pages for hit in page["HITs"]]


def test_a_marketplace_that_is_killed_while_we_publish_costs_no_item_and_doubles_none(
    stack: Stack, begin: Callable[[str], tuple[int, int]]
) -> None:
    """Our own programs and the broker are killed in the small run of `tests.faults`."""
    batch, done = begin("killed marketplace")
    stack.kill("marketplace")
    assert done < ITEMS / 2, "too fast to be killed under way: let it publish more items"
    found = _until_published(stack, batch)
    stack.wait_ready()
    assert (found["done"], found["refused"]) == (ITEMS, 0)
    ours = [token for token in _annotations(stack) if token in set(found["tokens"])]
    assert sorted(ours) == sorted(found["tokens"])


def test_answers_whose_harvest_was_killed_are_recorded_within_15_seconds_of_the_next_start(tmp_path: Path) -> None:
    """Everything is killed at once, as by a power cut, and started again at once."""
    file = tmp_path / "f.jsonl"
    file.write_text("\n".join(examples(ANSWERS)))
    killed = Stack(bring(tmp_path), settings={"ANNOTATE_TEST_SETTINGS": json.dumps(UNHURRIED)})
    with killed:
        killed.manage("shell", "-v", "0", "-c", BEGIN.format(file=str(file), name="killed harvest"))
        until(lambda: _published(killed) == ANSWERS, "all HITs are out", seconds=120)
        killed.kill("worker", signal.SIGSTOP)
        crowd = Crowd.start(killed, file, {"workers": 10, "seed": 7, "time-scale": 0})
        until(lambda: _submitted(killed) == ANSWERS, "the crowd has answered every HIT", seconds=300)
        crowd.stop()
        killed.kill("worker", signal.SIGCONT)
        until(lambda: _recorded(killed) > 0, "the harvest is under way", seconds=60)
        for pid in session_members(killed.pid("supervisord")):
            os.kill(pid, signal.SIGKILL)
    recorded = _recorded(killed)
    assert recorded < ANSWERS, "too fast to be killed under way: let more answers wait"
    began = time.monotonic()
    with Stack(killed.data_dir, killed.ports) as again:
        ready = time.monotonic()
        until(lambda: _recorded(again) == ANSWERS, "every answer is recorded", seconds=60)
        ended = time.monotonic()
    print(
        f"{recorded} recorded at the kill, all {ended - began:.1f} s after the start, which took {ready - began:.1f} s"
    )
    assert ended - ready <= RECOVERED_SECONDS


def _published(stack: Stack) -> int:
    return len(select("", stack.data_dir / "annotate.sqlite3", "SELECT id FROM hits_hit WHERE hit_id IS NOT NULL"))


def _submitted(stack: Stack) -> int:
    sql = "SELECT id FROM marketplace_assignment WHERE status IN ('Submitted', 'Approved')"
    return len(select("", stack.data_dir / "marketplace.sqlite3", sql))


def _recorded(stack: Stack) -> int:
    return len(select("", stack.data_dir / "annotate.sqlite3", "SELECT id FROM hits_assignment"))
