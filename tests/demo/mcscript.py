"""MCScript2.0's main job with a simulated crowd: told stories, questions, answers, review, release, human upper bound.

INPUT may be a list of scenarios, with a key of stories beside it, or an MCScript file, of which the first TEXTS texts
(8 by default) are asked about.
"""

from __future__ import annotations

import json
import os
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

from hits.crowd.people import gather
from ops.stack import Stack
from ops.surroundings import ROOT, StackError
from tests.demo.checks import Demonstration, balance, select
from tests.demo.checks_mcscript import run as checks
from tests.demo.crowd import Crowd, people, release, step

__all__ = ["SAMPLE", "checks", "demonstrate"]

SAMPLE = ROOT / "samples" / "mcscript-scenarios.txt"
CROWD = {"workers": 20, "spammers": 0, "careless": 2, "blind": 1, "accuracy": 0.93, "time-scale": 0.02}
# Two dozen texts have no five scenarios for test, and twenty storytellers would tell the same stories.
OPTIONS = {"test_scenarios": 1, "test_share": 0.25, "dev_share": 0.15, "common_texts": 3}
STORIES = 3
TEXTS = 8
# People take the newest tasks first, and who has done one part is out of the other; so some are kept for each.
FOR_ONE_PART, EXPERTS, ANNOTATORS = 5, 2, 5
# Given up is only when nobody has come for so long.
SIGN_UP_SECONDS = 600
_WORKERS = """
    SELECT u.username AS name, w.worker_id AS worker FROM marketplace_worker w JOIN auth_user u ON u.id = w.user_id"""


def demonstrate(stack: Stack, file: Path, seed: int, seconds: float = 600) -> Demonstration:
    """Run the main job on a stack that is up, and say what goes on. Raises StackError."""
    is_file_of_texts = file.suffix == ".xml"
    key = _no_key(stack) if is_file_of_texts else key_of(file)
    file = _first_texts(stack, file) if is_file_of_texts else file
    before, _ = balance(stack.settings)
    print(f"Importing and publishing {file.name} (seed {seed}) ...", flush=True)
    crowd = Crowd.start(stack, key, {"seed": seed, **CROWD})
    try:
        started = _start(stack, file, seed)
        project = started["project"]
        crowd.work(project, seconds)
        _draw(stack, crowd, project, seconds, "answers")
        found = step(stack, "compute", project, "select")
        print(f"Answers selected for {found['items']} texts.", flush=True)
        _draw(stack, crowd, project, seconds, "review")
        releases = [release(stack, project, "release-1")]
        _draw(stack, crowd, project, seconds, *(f"human-{number}" for number in range(1, ANNOTATORS + 1)))
    finally:
        table = crowd.stop()
    releases += [release(stack, project, name) for name in ("release-2", "release-3")]
    print(f"\n{table}\n")
    return Demonstration(stack.settings, file, started, people(table), before, releases)


def key_of(scenarios: Path) -> Path:
    """The stories about `a-scenarios.txt` stand beside it in `a-key.jsonl`. Raises StackError."""
    key = scenarios.with_name(f"{scenarios.stem.removesuffix('-scenarios')}-key.jsonl")
    if not key.is_file():
        raise StackError(
            f"There is no {key}, so the crowd would not know what to tell about {scenarios.name}. "
            "samples/mcscript.txt shows how stories are written, samples/build_mcscript.py makes the key."
        )
    return key


def _no_key(stack: Stack) -> Path:
    """What people say about texts of a file, they make up."""
    file = stack.data_dir / "no-key.jsonl"
    file.write_text(json.dumps({"scenario": "", "stories": []}) + "\n", encoding="utf-8")
    return file


def _first_texts(stack: Stack, file: Path) -> Path:
    """A file of so many texts as TEXTS says. Raises StackError."""
    wanted = os.environ.get("TEXTS") or str(TEXTS)
    if not wanted.isdigit() or not int(wanted):
        raise StackError(f"TEXTS must be a number of texts, not {wanted!r}.")
    tree = ET.parse(file)
    root = tree.getroot()
    for instance in list(root)[int(wanted) :]:
        root.remove(instance)
    fewer = stack.data_dir / f"first-{file.name}"
    tree.write(fewer, encoding="utf-8", xml_declaration=True)
    return fewer


def _start(stack: Stack, file: Path, seed: int) -> dict[str, Any]:
    grants = _grants(stack, seed)
    given = {"recipe": "mcscript", "seed": seed, "options": json.dumps(OPTIONS), "grants": json.dumps(grants)}
    options = [part for name, value in given.items() for part in (f"--{name}", str(value))]
    started = step(stack, "start", file, *options, "--answers", STORIES)
    print(f"{started['items']} items published for ${started['price']}.")
    numbers = ", ".join(f"{name} {value}" for name, value in {"stories a scenario": STORIES, **OPTIONS}.items())
    print(f"A small collection, so other numbers than the recipe's: {numbers}.")
    print(f"The crowd: {CROWD['workers']} workers, {CROWD['careless']} write rubbish, {CROWD['blind']} labels blindly.")
    print(f"{EXPERTS} of the careful ones are experts, {ANNOTATORS} read for the human upper bound.", flush=True)
    return started


def _grants(stack: Stack, seed: int) -> dict[str, list[str]]:
    """Careful people by the qualification that the lead gives them beforehand."""
    numbers = {name: CROWD[name] for name in ("workers", "spammers", "careless", "blind", "accuracy")}
    crowd = gather(seed=seed, returns=0.0, **numbers)  # type: ignore[arg-type]
    there = _signed_up(stack, {person.name for person in crowd})
    careful = [there[person.name] for person in crowd if person.kind == "careful"]
    grants = {"part-np": careful[:FOR_ONE_PART], "part-vp": careful[FOR_ONE_PART : 2 * FOR_ONE_PART]}
    others = careful[2 * FOR_ONE_PART :]
    grants["expert-reviewer"] = others[:EXPERTS]
    annotators = others[EXPERTS : EXPERTS + ANNOTATORS]
    return grants | {f"annotator-{number}": [worker] for number, worker in enumerate(annotators, 1)}


def _signed_up(stack: Stack, names: set[str]) -> dict[str, str]:
    """Name to worker id, when all have arrived at the marketplace. Raises StackError."""
    settings = stack.settings
    file = Path(settings["DATA_DIR"]) / "marketplace.sqlite3"
    came, end = 0, time.monotonic() + SIGN_UP_SECONDS
    while time.monotonic() < end:
        rows = select(settings.get("MARKETPLACE_DATABASE_URL", ""), file, _WORKERS)
        there = {row["name"]: row["worker"] for row in rows if row["name"] in names}
        if set(there) == names:
            return there
        if len(there) > came:
            came, end = len(there), time.monotonic() + SIGN_UP_SECONDS
        time.sleep(0.5)
    raise StackError(f"{came} of {len(names)} simulated workers signed up, and nobody for {SIGN_UP_SECONDS} seconds.")


def _draw(stack: Stack, crowd: Crowd, project: int, seconds: float, *stages: str) -> None:
    for stage in stages:
        drawn = step(stack, "draw", project, stage)
        print(f"Drawn for {stage}: {drawn['items']} texts.", flush=True)
    crowd.work(project, seconds)
