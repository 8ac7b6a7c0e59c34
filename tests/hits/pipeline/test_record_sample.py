"""ReCoRD's stage of labels: drawn from dev, published by a lead alone, measured, and of no weight in a release."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.items.verbs import sampling
from hits.judging.rules.recipe_rows import Rows
from hits.judging.rules.summaries import refresh_summary
from hits.judging.verbs import deciding, scoring
from hits.models import Item, Project, Stage
from hits.publishing.verbs import publishing
from hits.recipes.record.steps import build_release
from hits.releases.verbs import releasing
from tests.hits import factories as make

pytestmark = pytest.mark.django_db
KINDS = {"label": "commonsense-reasoning", "has-causal-reasoning": "yes", "has-naive-psychology": "yes"}


@pytest.fixture
def confirmed(project: Project, bring: Callable[..., Any]) -> Project:
    """Twelve crawled queries, all kept twice; every second one is measured, too."""
    bring(12, origin="crawled")
    stages = list(project.stages.filter(crowd=True).order_by("position")[:3])
    items = list(stages[0].items.order_by("id"))
    for stage, kept in zip(stages[1:], [items, items[::2]], strict=True):
        for item in kept:
            make.item(stage, document=item.document, key=item.key, data=item.data, parent=item)
    Item.objects.update(state=Item.State.KEPT)
    for stage in stages:
        refresh_summary(stage)
    return project


@pytest.fixture
def stage(confirmed: Project) -> Stage:
    """The stage with its sample."""
    found = confirmed.stages.get(key="reasoning")
    sampling.draw(found, found.draws)
    return found


def label(stage: Stage, *answers: dict[str, str]) -> None:
    for item, answer in zip(stage.items.order_by("id"), answers, strict=False):
        make.assignment(make.hit(item), answer=answer, scored=False)
    scoring.score(stage)
    deciding.decide(stage)


def test_the_sample_is_dev_about_its_passages_and_from_the_last_stage_that_kept_it(stage: Stage) -> None:
    assert stage.items.count() == 6
    for item in stage.items.select_related("parent__stage", "document"):
        measured = stage.project.stages.get(key="human").items.filter(key=item.key).exists()
        assert item.parent.stage.key == ("human" if measured else "revalidate")
        assert (item.parent.key, item.parent.document, item.parent.data) == (item.key, item.document, item.data)
        assert item.data["query"] and item.data["answers"] and item.document.data["text"]


def test_a_sample_waits_for_a_lead_to_publish_it(stage: Stage) -> None:
    assert not stage.auto_publish
    assert publishing.unpublished() == [] and publishing.held_up(stage) == []
    assert publishing.quote(stage).items == 6
    others = stage.project.stages.filter(draws=0, crowd=True)
    assert set(others.values_list("auto_publish", flat=True)) == {True}


def test_labels_are_measured_and_the_page_has_a_table_for_each_list_with_its_own_denominator(
    stage: Stage, lead: Any, client: Client
) -> None:
    label(stage, KINDS, KINDS, {"label": "ambiguous"}, {"label": "paraphrasing"})
    scores = Stage.objects.get(pk=stage.pk).summary.scores
    assert scores["n"] == 4
    assert {row["label"]: row["share"] for row in scores["labels"]} == {
        "commonsense-reasoning": 0.5, "ambiguous": 0.25, "paraphrasing": 0.25,
    }  # fmt: skip
    shares = {row["label"]: (row["share"], row["share_of_all"]) for row in scores["dependent"]["labels"]}
    assert shares == {"causal-reasoning": (1.0, 0.5), "naive-psychology": (1.0, 0.5)}
    client.force_login(lead)
    page = client.get(reverse("stage", args=[stage.project.slug, stage.key])).content.decode()
    assert "Labels, of 4 items" in page and "Labels of the second list, of 2 items that call for it" in page
    assert "causal-reasoning" in page and "add up to 200.0 %, more than 100 %" in page


def test_neither_a_sample_nor_its_labels_change_what_is_released(confirmed: Project) -> None:
    def released() -> Any:
        content = releasing.preview(confirmed)
        return {name: content[name] for name in ("counts", "left_out", "statistics", "notes")}

    before, files = released(), _files(confirmed)
    stage = confirmed.stages.get(key="reasoning")
    sampling.draw(stage, stage.draws)
    label(stage, KINDS, KINDS)
    assert (released(), _files(confirmed)) == (before, files)
    assert before["counts"] == {"train": 0, "dev": 6, "test": 6}
    assert sampling.draw(stage, stage.draws) == 0


def _files(project: Project) -> dict[str, bytes]:
    files = build_release(Rows(project)).files
    return {name: (file.seek(0), file.read())[1] for name, file in files.items()}
