"""A new kind of task is one new folder, a new data set is another; no file of the project changes for them."""

from decimal import Decimal
from pathlib import Path

import pytest
from django.template import engines

from hits import protocols, recipes
from hits.answers.rules.task_links import task_url
from hits.answers.verbs import harvesting
from hits.items.verbs import importing
from hits.judging.verbs import deciding, scoring
from hits.models import Item
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing, sending
from hits.releases.verbs import releasing

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]

PROTOCOL = """
from hits.protocols.base import AnswerRefusedError, CheckedAnswer, LabelValue

class YesOrNo:
    name = "yes_or_no"
    title = "Yes or no"

    def settings(self, given):
        return dict(given)

    def page(self, document, item, settings, worker=""):
        return {"claim": item["claim"]}

    def check(self, document, item, settings, fields, worker=""):
        if fields.get("choice") not in ("yes", "no"):
            raise AnswerRefusedError(["Choose yes or no."])
        return CheckedAnswer((LabelValue("choice", fields["choice"], fields["choice"] == item["truth"]),))

    def scores(self, answers):
        return {}

protocol = YesOrNo()
"""

STEPS = """
import json
from hits.recipes.source import ReleaseContent, SourceDocument, SourceItem

def read_documents(stream, *, name, max_bytes, default_origin, progress=None, seed=0, options=None):
    rows = [line.split("|") for line in stream.read(max_bytes).decode().splitlines()]
    return [
        SourceDocument(key, default_origin, {"text": claim}, (SourceItem(key, {"claim": claim, "truth": truth}),))
        for key, claim, truth in rows
    ]

def mark(documents, *, seed, options):
    return {key: "train" for key, _ in documents}

def next_items(item):
    return []

def build_release(collected):
    kept = [item.data["claim"] for item in collected.chain()]
    return ReleaseContent({"claims.json": json.dumps(kept).encode()}, {"claims": len(kept)})
"""

STAGES = """
title = "Claims"
version = "1"
description = "One yes or no for each claim."

[[stages]]
key = "judge"
title = "Judge"
protocol = "yes_or_no"
reward = "0.02"
answers = 1
assignment_seconds = 300
lifetime_seconds = 3600
auto_approval_seconds = 0
approval = "automatic"
hit_title = "Is the claim true?"
hit_description = "Read one sentence and say yes or no."
keywords = "claims"
rule = { name = "matches_reference", version = 1, need = 1 }
"""


@pytest.fixture
def outside(tmp_path: Path, settings, monkeypatch) -> Path:
    for name, text in {
        "protocols/yes_or_no/protocol.py": PROTOCOL,
        "protocols/yes_or_no/templates/yes_or_no/task.html": "<h1>{{ page.task.claim }}</h1>",
        "recipes/claims/steps.py": STEPS,
        "recipes/claims/stages.toml": STAGES,
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    settings.PLUGIN_DIRS = [tmp_path]
    settings.PLUGIN_ROOTS = [*settings.PLUGIN_ROOTS, tmp_path]
    # What a start with PLUGIN_DIRS in the environment would have found.
    folders = [*settings.TEMPLATES[0]["DIRS"], tmp_path / "protocols/yes_or_no/templates"]
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": folders}]
    monkeypatch.setattr(engines, "_templates", None)
    engines.__dict__.pop("templates", None)
    return tmp_path


def test_a_protocol_and_a_recipe_from_outside_run_the_whole_main_job(outside, market, lead, client, settings):
    assert "yes_or_no" in protocols.available([protocols.HOME, outside])
    assert "claims" in recipes.available([outside / "recipes"])
    project = projects.create_project("Claims", "claims", Decimal("1.00"), "lab@example.org", lead)
    upload = importing.create_upload(project, "c.txt", b"a|Snow is cold|yes\nb|Fire is cold|no", "public", None)
    assert importing.import_upload(upload.pk) == 2
    stage = project.stages.get()
    quote = publishing.quote(stage)
    sending.send(publishing.publish(stage, quote.items, quote.total, "page", None).pk)
    worker = market.sign_up_worker()
    for hit in stage.hits.order_by("id"):
        page = client.get(task_url(hit.pk).removeprefix(settings.PUBLIC_URL))
        assert hit.item.data["claim"] in page.content.decode()
        market.answer(worker, hit.hit_id, choice="yes")
    stage.refresh_from_db()
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)
    assert list(stage.items.order_by("id").values_list("state", flat=True)) == [Item.State.KEPT, Item.State.DROPPED]
    made, _ = releasing.release(project, lead)
    assert made.files.get(name="claims.json").blob.read() == b'["Snow is cold"]'
