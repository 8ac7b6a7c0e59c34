"""Programs die while work is under way; it goes on by itself, once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import pytest

from ops.stack import Stack
from tests.benchmarks.synthetic import examples

ITEMS = 600
BEGIN = """
from decimal import Decimal
from django.contrib.auth import get_user_model
from hits import tasks
from hits.flow import importing, projects, publishing
lead, _ = get_user_model().objects.get_or_create(username="grace")
project = projects.create_project("Interrupted", "record", Decimal("100"), "lab@example.org", lead, seed=1)
upload = importing.create_upload(project, "f.jsonl", open({file!r}, "rb").read(), "public", lead)
importing.import_upload(upload.pk)
stage = project.stages.get(position=1)
quote = publishing.quote(stage)
batch = publishing.publish(stage, quote.items, quote.total, {name!r}, lead)
tasks.publish_batch.delay(batch.pk)
print(batch.pk)
"""
LOOK = """
import json
from hits.models import Batch
batch = Batch.objects.get(pk={pk})
tokens = list(batch.hits.values_list("token", flat=True))
print(json.dumps({{"state": batch.state, "done": batch.done, "refused": batch.refused, "tokens": tokens}}))
"""


@pytest.fixture
def begin(stack: Stack, tmp_path: Path) -> Callable[[str], int]:
    """Start publishing so many items that it takes seconds in the worker; returns the batch."""

    def go(name: str) -> int:
        file = tmp_path / "f.jsonl"
        file.write_text("\n".join(examples(ITEMS)))
        return int(stack.manage("shell", "-v", "0", "-c", BEGIN.format(file=str(file), name=name)).split()[-1])

    return go


def _look(stack: Stack, pk: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(stack.manage("shell", "-v", "0", "-c", LOOK.format(pk=pk)).splitlines()[-1])
    return found


def _until_published(stack: Stack, pk: int, seconds: int = 120) -> dict[str, Any]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = _look(stack, pk)
        if found["state"] == "published":
            return found
        time.sleep(1)
    raise AssertionError(f"not published after {seconds} s: {found['state']}, {found['done']} done")


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


@pytest.mark.parametrize("program", ["marketplace", "worker", "broker"])
def test_a_program_that_is_killed_while_publishing_costs_no_item_and_doubles_none(
    stack: Stack, begin: Callable[[str], int], program: str
) -> None:
    batch = begin(f"killed {program}")
    # A broker that serves others too is not ours to kill.
    stack.kill("beat" if program == "broker" and not stack.own_broker else program)
    assert _look(stack, batch)["done"] < ITEMS, "killed too late: nothing was under way"
    found = _until_published(stack, batch)
    stack.wait_ready()
    assert (found["done"], found["refused"]) == (ITEMS, 0)
    ours = [token for token in _annotations(stack) if token in set(found["tokens"])]
    assert sorted(ours) == sorted(found["tokens"])
