"""Machine filtering survives the death of its process, and its memory does not grow with the queries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from hits.judging.rules import recipe_rows
from hits.judging.verbs import computing
from hits.models import Project
from hits.text.readers import linear
from ops.surroundings import ROOT
from tests.benchmarks.machine_filtering import project_of, synthetic

PATIENCE_SECONDS = 300
PROGRAM = [sys.executable, "-m", "tests.hits.judging.killed_filtering"]


@pytest.mark.long
def test_a_run_whose_process_is_killed_in_its_third_fold_goes_on_there_with_equal_results(tmp_path: Path) -> None:
    sign = tmp_path / "third-fold"
    env = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{tmp_path / 'river.sqlite3'}",
        "DJANGO_SETTINGS_MODULE": "tests.settings.annotate",
        "KILLED_FILTERING_SIGN": str(sign),
    }
    with (tmp_path / "said").open("w+") as said:
        process = subprocess.Popen([*PROGRAM, "begin"], cwd=ROOT, env=env, stdout=said, stderr=said)
        give_up = time.monotonic() + PATIENCE_SECONDS
        while not sign.exists() and process.poll() is None and time.monotonic() < give_up:
            time.sleep(0.1)
        process.kill()
        process.wait(PATIENCE_SECONDS)
        said.seek(0)
        assert sign.exists(), said.read()
    done = subprocess.run(
        [*PROGRAM, "resume"], cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert done.returncode == 0, done.stderr
    whole, killed = json.loads(done.stdout.splitlines()[-1]).values()
    assert whole[:2] == killed[:2] == ["done", [0, 1, 2, 3, 4]]
    assert len(whole[2]) == 15 and killed[2] == whole[2]


@pytest.mark.django_db
@pytest.mark.long
def test_five_times_as_many_queries_take_hardly_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    # The weights have one size, which would hide what grows.
    monkeypatch.setattr(linear, "HASHED", 2**10)
    monkeypatch.setattr(linear, "WORDS_HASHED", 2**10)
    monkeypatch.setattr(linear, "BATCH", 8)
    # The smaller collection, too, is read and written in more than one part.
    monkeypatch.setattr(computing, "CHUNK", 4)
    monkeypatch.setattr(recipe_rows, "CHUNK", 4)
    few, many = (project_of(synthetic(articles), f"of-{articles}") for articles in (6, 30))

    def run(project: Project) -> None:
        assert computing.run(computing.start(project, "filter", {"folds": 2}, None).pk) > 0

    def peak(project: Project) -> int:
        tracemalloc.start()
        try:
            run(project)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    # Patterns of names are kept in a cache of one size.
    run(many)
    small, large = peak(few), peak(many)
    assert large < 1.5 * small, (small, large)
