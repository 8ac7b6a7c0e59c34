"""A recipe in a folder of its own that computes, tells its split, and draws from `judge` into `sample`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hits.judging.rules.summaries import refresh_summary
from hits.models import Item, Project, Stage
from tests.hits import factories

STEPS = """
import random
import json
from hits.formats.files.faults import Fault, FormatErrors
from hits.recipes.source import Computation, Found, NextItem, Option, Outside, Progress, ReleaseContent

def read_documents(stream, *, name, max_bytes, default_origin, progress=None, seed=0, options=None):
    return []

def mark(documents, *, seed, options):
    return {key: "train" for key, _ in documents}

def next_items(item):
    return []

def build_release(collected):
    return ReleaseContent({}, {})

def count_words(collected, params, seed, checkpoint):
    items = list(collected.judged("judge"))
    for number in range(checkpoint["step"] if checkpoint else 0, len(items)):
        if params["crash_at"] == number and not checkpoint:
            raise SystemExit
        if params["fail_at"] == number:
            raise ValueError("the second text is empty")
        if params["stop_at"] == number:
            from hits.models import ComputationRun
            ComputationRun.objects.filter(state="running").update(state="stopped")
        entry = {"read": number + 1, "loss": 1 / (number + 1), "said": items[number].key}
        item = items[number]
        yield Found(item.key, {"words": len(item.data["query"].split()) * params["times"]})
        yield Found(item.key, {"by": {params["model"]: number}})
        yield Progress(number + 1, len(items), entry=entry, checkpoint={"step": number + 1})

def asked(collected, params, seed):
    for number, item in enumerate(collected.judged("judge")):
        yield f"{number}.json", (json.dumps(part).encode() for part in (item.data["query"], params["times"]))

def told(collected, params, seed, stream):
    given = json.load(stream)
    there = [item.key for item in collected.judged("judge")]
    yield Progress(0, len(there))
    yield from (Found(key, {"words": given[key]}) for key in there if key in given)
    faults = [Fault(None, key, "has no answer") for key in there if key not in given]
    faults += [Fault(None, key, "is no item here") for key in given if key not in there]
    if faults:
        raise FormatErrors(faults)

PARAMS = {"times": 1, "crash_at": -1, "fail_at": -1, "stop_at": -1, "model": "plain"}
OPTIONS = {
    "times": Option("Count each word", "times", "How often each word counts.", "1", least=1, most=9),
    "model": Option("Model", choices={"plain": "plain words", "stems": "words without endings"}),
    "crash_at": Option(least=-1), "fail_at": Option(least=-1), "stop_at": Option(least=-1),
}
OUTSIDE = Outside("model", "A file for each item.", "A number for each item, by its key.", asked, told)
IN_WORDS = {"loss": "Share of words that were wrong."}

def in_rows(item, found):
    return [{"Query": item["query"], "Words": [str(found["words"]), f"{found['words']} as text"]}]

SAID = "Counts the words of each query."
COMPUTATIONS = (
    Computation("words", "Words", SAID, "judge", PARAMS, count_words, IN_WORDS, in_rows, OPTIONS, outside=OUTSIDE),
)

def draw(stage_key, collected, count, *, seed):
    kept = [item for item in collected.judged("judge") if item.outcome == "kept"]
    chosen = random.Random(seed).sample(kept, min(count, len(kept)))
    return [NextItem(stage_key, item.key, item.data, ("judge", item.key)) for item in chosen]

def split_preview(collected, options):
    items = list(collected.judged("judge"))
    kept = sum(item.outcome == "kept" for item in items)
    share = kept / len(items)
    best = len(items) >= options["best_written"] and share >= options["best_kept_share"]
    writer = {"worker": "AWRITER000001", "written": len(items), "kept": kept, "share": share, "best": best}
    notes = [] if best else ["Nobody is among the best writers: lower the thresholds."]
    return {"writers": [writer], "counts": {"train": 0 if best else kept, "test": kept if best else 0}, "notes": notes}
"""

_STAGE = """
[[stages]]
key = "{key}"
title = "{title}"
protocol = "clickable_entity"
reward = "0.02"
answers = 3
assignment_seconds = 300
lifetime_seconds = 3600
auto_approval_seconds = 0
approval = "automatic"
hit_title = "Click the entity that fits"
hit_description = "Read a short text and click the name that fills the blank."
keywords = "reading"
draws = {draws}
rule = {{ name = "matches_reference", version = 1, need = 2 }}
"""
STAGES = (
    """
title = "Small"
version = "1"
description = "Two stages, one of which draws."

[options.best_written]
value = 3
label = "Least written"
unit = "sentences"
help = "Who wrote so many sentences or more is among the best."
paper = "20 (section 2)"

[options]
best_kept_share = 0.5
"""
    + _STAGE.format(key="judge", title="Judge", draws=0)
    + _STAGE.format(key="sample", title="Sample", draws=2)
)


@pytest.fixture
def small_recipe(tmp_path: Path, settings: Any) -> str:
    """The recipe's name, found as one outside the package is."""
    folder = tmp_path / "recipes" / "small"
    folder.mkdir(parents=True)
    (folder / "steps.py").write_text(STEPS)
    (folder / "stages.toml").write_text(STAGES)
    settings.PLUGIN_DIRS = [tmp_path]
    return folder.name


def small_project(owner: Any, **columns: Any) -> Project:
    """A project of the recipe: three items in `judge`, two of them kept, none in `sample`."""
    options = {"best_written": 3, "best_kept_share": 0.5}
    project = factories.project(owner=owner, recipe="small", slug="small", options=options, **columns)
    judge = factories.stage(project, key="judge", title="Judge", answers=3)
    factories.stage(project, key="sample", title="Sample", answers=3, draws=2)
    factories.items(judge, 2, state=Item.State.KEPT)
    factories.items(judge, 1, state=Item.State.DROPPED)
    refresh_summary(judge)
    return project


def answered(stage: Stage, *said: dict[str, Any], **columns: Any) -> Item:
    """An item with one answer a dictionary of units; `<unit>.correct` says how that unit compares. Not judged yet."""
    item = factories.item(stage, stale=True, **columns)
    hit = factories.hit(item)
    for one in said:
        given = factories.assignment(hit)
        for unit in [unit for unit in one if not unit.endswith(".correct")]:
            factories.label(given, unit=unit, value=one[unit], correct=one.get(f"{unit}.correct"))
    return item
