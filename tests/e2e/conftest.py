"""The whole of Annotate, running, and a browser to look at it with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from ops.stack import Stack


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Both sites, worker, beat and broker on free ports, with empty databases and the sandbox's three workers.

    `stack.web_url` and `stack.marketplace_url` answer; `stack.manage(...)` and `stack.market(...)` run the two command
    lines; `stack.env` is the environment of the processes; `stack.kill("worker")` ends one, which is started anew.
    """
    with Stack(tmp_path_factory.mktemp("stack")) as stack:
        yield stack


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not chromium:
        complain = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        complain("No Chromium: install it, or say where it is in CHROMIUM.")
    flags = ("no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking")
    more = ("disable-component-update", "disable-sync", "disable-dev-shm-usage")
    return {"executable_path": chromium, "args": [f"--{flag}" for flag in flags + more]}
