"""A recipe in a folder of its own whose first stage has no crowd: a program counts the words of each text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

STEPS = """
from hits.recipes.source import ReleaseContent, SourceDocument, SourceItem

def read_documents(stream, *, name, max_bytes, default_origin, progress=None, seed=0, options=None):
    lines = stream.read().decode().splitlines()
    items = [SourceItem(f"t{i}", {"words": line.split()}, "prepare") for i, line in enumerate(lines)]
    return [SourceDocument(item.key, default_origin, {"text": ""}, (item,)) for item in items]

def mark(documents, *, seed, options):
    return {key: "train" for key, _ in documents}

def next_items(item):
    return []

def build_release(collected):
    return ReleaseContent({}, {"all": len(list(collected.chain()))})
"""
PROTOCOL = """
class Counting:
    name = "counting"
    title = "Counting"

    def settings(self, given):
        return dict(given)

    def figures(self, item):
        return {"words": len(item["words"])}

    def word(self, item):
        return "" if item["words"] else "empty"

protocol = Counting()
"""
STAGES = """
title = "Prepared"
version = "1"
description = "A stage without a crowd, and one with."

[[stages]]
key = "prepare"
title = "Prepared texts"
crowd = false
protocol = "counting"

[[stages]]
key = "judge"
title = "Judge"
protocol = "clickable_entity"
reward = "0.02"
answers = 1
assignment_seconds = 300
lifetime_seconds = 3600
auto_approval_seconds = 0
approval = "automatic"
hit_title = "Click the entity that fits"
hit_description = "Read a short text and click the name that fits the blank."
rule = { name = "matches_reference", version = 1, need = 1 }
"""


@pytest.fixture
def prepared_recipe(tmp_path: Path, settings: Any) -> str:
    """The recipe's name, found as one outside the package is, and its protocol too."""
    for folder, files in (
        ("recipes/prepared", {"steps.py": STEPS, "stages.toml": STAGES}),
        ("protocols/counting", {"protocol.py": PROTOCOL}),
    ):
        (tmp_path / folder).mkdir(parents=True)
        for name, text in files.items():
            (tmp_path / folder / name).write_text(text)
    settings.PLUGIN_DIRS = [tmp_path]
    settings.PLUGIN_ROOTS = [*settings.PLUGIN_ROOTS, tmp_path]
    return "prepared"
