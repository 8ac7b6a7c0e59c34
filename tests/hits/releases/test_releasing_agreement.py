"""A release's manifest has the agreement of each stage, as it was computed last."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hits.judging.rules.summaries import refresh_summary
from hits.models import Item
from hits.releases.verbs import releasing
from tests.hits import factories as make
from tests.hits.said import computed, say

pytestmark = pytest.mark.django_db


def manifest(project: Any) -> dict[str, Any]:
    made, _ = releasing.release(project, None)
    file = made.files.get(name=releasing.MANIFEST)
    content: dict[str, Any] = json.loads(b"".join(file.blob.read_chunks()))
    return content


def test_figures_stand_in_the_manifest_without_names_and_stay_the_same() -> None:
    project = make.project(recipe="choice")
    stage = make.stage(project, key="choose", title="Choose", protocol="multiple_choice")
    say(stage, [{"ann": "yes", "ben": "yes", "cleo": "no"}, {"ann": "no", "ben": "no"}])
    stage.items.update(state=Item.State.KEPT)
    for item in stage.items.all():
        make.verdict(item)
    refresh_summary(stage)
    assert "agreement" not in manifest(project)
    computed(stage)
    found = manifest(project)["agreement"]["choose"]
    assert [unit["unit"] for unit in found] == ["choice"]
    assert found[0]["figures"]["alpha"]["value"] == pytest.approx(1 / 3)
    assert "ACLEO" not in json.dumps(found)
    assert releasing.preview(project)["agreement"]["choose"] == found
    assert releasing.release(project, None)[1] is False
