"""Results from a real server: pages answer meanwhile, many clients are served, and those who hang up leave nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from ops.surroundings import ROOT
from tests.benchmarks.served_results import FORMATS, OWN_THREADS, beyond_kept


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """Of 2,500 answers, which are read in two parts; see `tests.benchmarks.served_results`."""
    command = [sys.executable, "-m", "tests.benchmarks.served_results", "2500"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=600, check=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.parametrize("name", FORMATS)
def test_a_page_answers_while_a_file_is_downloaded_again_and_again(found: dict[str, Any], name: str) -> None:
    assert found[name]["downloads"] >= 2 and found[name]["pages"] >= 1 and found[name]["failed"] == 0


def test_many_clients_at_once_get_whole_files(found: dict[str, Any]) -> None:
    assert found["at_once"]["clients"] == 8 and found["at_once"]["failed"] == 0


def test_clients_that_hang_up_leave_no_process_thread_connection_or_file(found: dict[str, Any]) -> None:
    assert found["left"] == {}


def test_a_process_keeps_one_connection_a_thread_and_one_set_of_counts() -> None:
    database = [f"/data/annotate.sqlite3{part}" for part in ("", "-wal", "-shm")] * OWN_THREADS
    folder = "/dev/shm/annotate-metrics-0-a"
    counts = [f"{folder}/counter_0.db", f"{folder}/histogram_0.db"] * 2 + [f"{folder}/held", f"{folder}/slot0.lock"]
    kept = [*database, *counts, "socket:[7]", "pipe:[8]", "pipe:[8]"]
    assert beyond_kept(kept) == []
    for more in ("/data/annotate.sqlite3", f"{folder}/counter_1.db", f"{folder}/slot1.lock", "/tmp/results.csv"):
        assert beyond_kept([*kept, more]) == [more]
