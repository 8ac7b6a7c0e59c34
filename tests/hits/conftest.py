"""Fixtures for all tests of the requester's side."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

import botocore.session
import pytest
from botocore.loaders import JSONFileLoader
from django.core.cache import cache

from tests.settings import use

use("tests.settings.annotate")

from hits.core.jobs import queue
from tests.calm import calm
from tests.hits.api_calls import api, river, river_stage
from tests.hits.broker import broker, own_broker
from tests.hits.jobs import jobs_run_here
from tests.hits.lead_pages import browser, opened
from tests.hits.market import market, marketplace
from tests.hits.parquet_here import parquet_here
from tests.hits.record_project import answer, bring, lead, project, publish, stage, stand_in
from tests.hits.strangers import stranger_refused
from tests.hits.task_page import hit, new_page, open_task, recording_marketplace, task_address
from tests.hits.world import alice, bob, charlie, lead_client, world
from tests.quick_flush import quick_flush

# Where browser tests run or are left out, Playwright's event loop stays in this thread until the end, and Django would
# take every query for one made inside it.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

__all__ = [
    "alice",
    "answer",
    "api",
    "bob",
    "bring",
    "broker",
    "browser",
    "calm",
    "charlie",
    "hit",
    "lead",
    "lead_client",
    "market",
    "marketplace",
    "new_page",
    "open_task",
    "opened",
    "own_broker",
    "parquet_here",
    "project",
    "publish",
    "quick_flush",
    "recording_marketplace",
    "river",
    "river_stage",
    "stage",
    "stand_in",
    "stranger_refused",
    "task_address",
    "world",
]


@pytest.fixture(scope="session")
def django_db_use_migrations() -> bool:
    """Tables are made from the models at once; that the migrations lead to the same ones is a check of its own."""
    return False


@pytest.fixture(scope="session", autouse=True)
def service_description_read_once() -> Iterator[None]:
    """Each test has gateways of its own, and each would spend a tenth of a second on botocore's large files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JSONFileLoader, "load_file", staticmethod(functools.cache(JSONFileLoader().load_file)))
        # Which services there are is looked for in hundreds of folders, and remembered by the one that looked.
        patch.setattr(botocore.session, "create_loader", functools.cache(botocore.session.create_loader))
        yield


@pytest.fixture
def eager() -> Iterator[None]:
    """`task.delay` runs the task at once, in this process, and lets its errors out."""
    with jobs_run_here():
        yield


@pytest.fixture(autouse=True)
def no_brakes_from_before() -> Iterator[None]:
    """Counters of attempts live in the cache, which outlives a test, as does the absence of a queue."""
    yield
    cache.clear()
    queue.absence.until = 0.0
