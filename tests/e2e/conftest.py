"""The whole of Annotate, running, and a browser to look at it with."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from ops.chromium import whole
from ops.ensure_database import drop
from ops.stack import Stack
from ops.surroundings import second_database
from tests.browser import launch_options
from tests.migrated import bring

# Publishing takes its time on any machine, so that a page that polls sees it under way and a program can die in it.
UNHURRIED = {"MTURK_CALLS_A_SECOND": 25, "MTURK_MOST_CALLS_A_SECOND": 25}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The main job comes first on the stack that all share: its crowd would take the HITs of others.

    The sample that a crowd is left answering comes last: the crowd ends with the stack, and not beside other tests.
    """
    order = {"test_main_job.py": -1, "test_first_minutes.py": 1}
    items.sort(key=lambda item: order.get(item.path.name, 0))


@pytest.fixture(scope="session")
def servers() -> Iterator[dict[str, str]]:
    """Settings for a stack on the servers of E2E_DATABASE_URL and E2E_REDIS_URL; its databases are dropped again."""
    database, broker = os.environ.get("E2E_DATABASE_URL"), os.environ.get("E2E_REDIS_URL")
    found = {"REDIS_URL": broker} if broker else {}
    if not database:
        yield found
        return
    own = f"{database.rstrip('/')}_e2e_{os.getpid()}"
    yield found | {"DATABASE_URL": own}
    for url in (own, *second_database(own).values()):
        drop(url)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory, servers: dict[str, str]) -> Iterator[Stack]:
    """Both sites, worker, beat and broker on free ports, with empty databases and the sandbox's three workers.

    `stack.web_url` and `stack.marketplace_url` answer; `stack.manage(...)` and `stack.market(...)` run the two command
    lines; `stack.env` is the environment of the processes; `stack.kill("worker")` ends one, which is started anew.
    """
    folder = tmp_path_factory.mktemp("stack")
    if "DATABASE_URL" not in servers:
        bring(folder)
    with Stack(folder, settings={"ANNOTATE_TEST_SETTINGS": json.dumps(UNHURRIED), **servers}) as stack:
        yield stack


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    return launch_options(whole)
