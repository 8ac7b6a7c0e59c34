"""Cosmos QA's main job with a simulated crowd: stories, written questions, validation, release, human score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ops.stack import Stack
from ops.surroundings import ROOT, StackError
from tests.demo.checks import Demonstration, balance
from tests.demo.checks_cosmos import run as checks
from tests.demo.crowd import Crowd, people, release, step

__all__ = ["SAMPLE", "checks", "demonstrate"]

SAMPLE = ROOT / "samples" / "cosmos-stories.txt"
# The test that workers have to pass, whose answers the crowd is told.
TEST = ROOT / "hits" / "recipes" / "cosmos" / "qualification.json"
# No spammer: nobody is blocked in this collection, and who is so fast would have every set.
CROWD = {"workers": 14, "spammers": 0, "careless": 2, "blind": 1, "accuracy": 0.93, "time-scale": 0.02}
# Two dozen stories have no writer with twenty sets, and no seven thousand for the test.
OPTIONS = {"best_written": 3, "best_kept_share": 0.6, "test_sets": 16, "dev_sets": 8, "held_out_share": 0.6}


def demonstrate(stack: Stack, file: Path, seed: int, seconds: float = 600) -> Demonstration:
    """Run the main job on a stack that is up, and say what goes on. Raises StackError."""
    key = key_of(file)
    before, _ = balance(stack.settings)
    print(f"Importing {file.name} and publishing its paragraphs (seed {seed}) ...", flush=True)
    crowd = Crowd.start(stack, key, {"seed": seed, "tests": TEST, **CROWD})
    try:
        started = _start(stack, file, seed)
        project = str(started["project"])
        crowd.work(started["project"], seconds)
        found = step(stack, "compute", project, "least-challenging")
        print(f'"None of the above" for a wrong answer of {found["items"]} valid sets.', flush=True)
        releases = [release(stack, started["project"], "release-1")]
        drawn = step(stack, "draw", project, "human")
        print(f"Human score: {drawn['items']} sets of the test split drawn.", flush=True)
        crowd.work(started["project"], seconds)
    finally:
        table = crowd.stop()
    releases += [release(stack, started["project"], name) for name in ("release-2", "release-3")]
    print(f"\n{table}\n")
    return Demonstration(stack.settings, file, started, people(table), before, releases)


def key_of(stories: Path) -> Path:
    """What the crowd knows about `a-stories.txt` stands beside it in `a-key.jsonl`. Raises StackError."""
    key = stories.with_name(f"{stories.stem.removesuffix('-stories')}-key.jsonl")
    if not key.is_file():
        raise StackError(
            f"There is no {key}, so the crowd would not know what to write about {stories.name}. "
            "samples/cosmos.txt shows how such a key is written, samples/build_cosmos.py makes it."
        )
    return key


def _start(stack: Stack, file: Path, seed: int) -> dict[str, Any]:
    options = ["--recipe", "cosmos", "--seed", str(seed), "--options", json.dumps(OPTIONS)]
    started = step(stack, "start", file, *options)
    print(f"{started['items']} paragraphs published for ${started['price']}.")
    print(f"Few stories, so other numbers than the recipe's: {', '.join(f'{k} {v}' for k, v in OPTIONS.items())}.")
    kinds = f"{CROWD['careless']} write rubbish, {CROWD['blind']} chooses at random"
    print(f"The crowd: {CROWD['workers']} workers, {kinds}; the others {CROWD['accuracy']:.0%} right.", flush=True)
    return started
