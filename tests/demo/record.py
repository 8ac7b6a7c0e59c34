"""ReCoRD's main job with a simulated crowd: publish, score, block, ask again, release.

INPUT is a file in ReCoRD's layout, or articles: a folder of `.story` files, a zip of such, JSON Lines, or plain text
with one article a line. Of articles queries are made first, and those that a reader answers are left out.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from hits.recipes.record.articles import are_articles
from ops.stack import Stack
from ops.surroundings import ROOT
from tests.demo.checks import Demonstration, balance
from tests.demo.checks_record import examples_of, files_of
from tests.demo.checks_record import run as checks
from tests.demo.crowd import Crowd, people, release, step

__all__ = ["SAMPLE", "TAKES_FOLDERS", "checks", "demonstrate"]

SAMPLE = ROOT / "samples" / "record.jsonl"
TAKES_FOLDERS = True
WORKERS, SPAMMERS = 12, 2
# Above the crowd's default: with a few dozen answers a worker, chance must not make an honest one look like a spammer.
ACCURACY = 0.9
# A dozen articles have no 18 % that are more than one for dev and one for test.
OPTIONS = {"eval_share": 0.5}
READER = "linear"


def demonstrate(stack: Stack, file: Path, seed: int, seconds: float = 600) -> Demonstration:
    """Run the main job on a stack that is up, and say what goes on. Raises StackError."""
    if file.is_dir() or _holds_articles(file):
        return _from_articles(stack, file, seed, seconds)
    before, _ = balance(stack.settings)
    print(f"Importing and publishing {file.name} (seed {seed}) ...", flush=True)
    crowd = Crowd.start(stack, file, _numbers(seed))
    try:
        started = step(stack, "start", file, "--seed", seed)
        _tell_numbers(started)
        crowd.work(started["project"], seconds)
    finally:
        table = crowd.stop()
    return _demonstration(stack, file, started, table, before)


def _numbers(seed: int) -> dict[str, object]:
    return {"seed": seed, "workers": WORKERS, "spammers": SPAMMERS, "accuracy": ACCURACY}


def _holds_articles(file: Path) -> bool:
    with file.open("rb") as stream:
        return are_articles(stream, file.name)


def _demonstration(stack: Stack, file: Path, started: dict[str, Any], table: str, before: Any) -> Demonstration:
    print(f"\n{table}\n")
    return Demonstration(
        settings=stack.settings,
        input=file,
        started=started,
        people=people(table),
        before=before,
        releases=[release(stack, started["project"], name) for name in ("release-1", "release-2")],
    )


def _from_articles(stack: Stack, given: Path, seed: int, seconds: float) -> Demonstration:
    """Articles, queries, what a reader leaves of them, then as with a file of queries.

    The crowd's key is read from the rows that were sent: nobody knows the queries before.
    """
    before, _ = balance(stack.settings)
    file = _zipped(given, stack.data_dir / f"{given.name}.zip") if given.is_dir() else given
    print(f"Making queries of the articles of {given.name} (seed {seed}) ...", flush=True)
    options = json.dumps(OPTIONS)
    started = step(stack, "start", file, "--seed", seed, "--only-import", "--options", options)
    print(f"{started['items']} articles have a passage.", flush=True)
    for note in started["notes"]:
        print(f"  {note}", flush=True)
    project = started["project"]
    found = step(stack, "compute", project, "filter", "--params", json.dumps({"reader": READER}))
    print(f"The reader “{READER}” was asked about the queries of {found['items']} articles.", flush=True)
    started |= step(stack, "send", project)
    started["articles"] = str(given)
    _tell_numbers(started)
    key = stack.data_dir / "queries.jsonl"
    key.write_text("".join(json.dumps(one) + "\n" for one in examples_of(stack.settings, project)))
    crowd = Crowd.start(stack, key, _numbers(seed))
    try:
        crowd.work(project, seconds)
    finally:
        table = crowd.stop()
    return _demonstration(stack, key, started, table, before)


def _zipped(folder: Path, file: Path) -> Path:
    """The articles of a folder as one file; what else lies there is left alone."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for found in files_of(folder):
            archive.write(found, found.name)
    return file


def _tell_numbers(started: dict[str, Any]) -> None:
    print(f"{started['items']} items published for ${started['price']}.")
    if started["numbers"]:
        print(f"Small input, so other numbers than the recipe's: {started['numbers']}.")
    print(f"The crowd: {WORKERS} workers, {SPAMMERS} of them spammers; the others {ACCURACY:.0%} right.", flush=True)
