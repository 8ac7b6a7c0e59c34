"""ReCoRD from articles to a release: queries, a filter, two validations, the human score, each counted anew."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from hits.answers.verbs import harvesting
from hits.items.verbs import sampling
from hits.judging.verbs import advancing, computing, deciding, scoring
from hits.models import ComputationRun, Item, Stage
from hits.releases.verbs import releasing
from tests.hits.items.record_articles import archive, generate
from tests.hits.items.record_articles import bring as bring_articles

pytestmark = pytest.mark.django_db


def conclude(stage: Stage) -> None:
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)
    advancing.advance(stage)


def normal(text: str) -> str:
    """As SQuAD's script compares: lower case, without punctuation and articles."""
    words = "".join(one for one in text.lower() if one.isalnum() or one.isspace()).split()
    return " ".join(word for word in words if word not in ("a", "an", "the"))


def test_articles_become_queries_that_are_filtered_validated_twice_measured_and_released(
    project: Any, market: Any, publish: Callable[..., Any], answer: Callable[..., None]
) -> None:
    project.options = {**project.options, "eval_share": 0.6}
    project.save()
    assert bring_articles(project, archive()).items == 5
    made = generate(project)
    run = computing.start(project, "filter", {"reader": "most_frequent", "folds": 2}, None)
    computing.run(run.pk)
    run.refresh_from_db()
    assert run.state == ComputationRun.State.DONE, run.error

    # The queries that the reader left, counted from the rows of both sides.
    left = set()
    for item in made.items.all():
        text, told = item.data["text"], run.results.get(item=item).data["queries"]
        for query, said in told.items():
            entity = int(query.split("-e")[1])
            names = {normal(text[o["start"] : o["end"]]) for o in item.data["mentions"] if o["entity"] == entity}
            assert said["correct"] == (normal(said["prediction"]) in names)
            left |= set() if said["correct"] else {f"{item.key}/{query}"}
    validate, revalidate, human = (project.stages.get(key=key) for key in ("validate", "revalidate", "human"))
    assert 0 < sampling.draw(validate, 1000) == len(left) < made.summary.made["queries"]
    assert set(validate.items.values_list("key", flat=True)) == left

    # Everybody is right, but for the first query, which is dropped.
    workers = [market.sign_up_worker() for _ in range(3)]
    wrong = validate.items.order_by("id").first()
    for number, stage in enumerate((validate, revalidate, human)):
        publish(stage, f"page-{number}")
        for hit in stage.hits.select_related("item__document"):
            right = {one["text"] for one in hit.item.data["answers"]}
            text = hit.item.document.data["text"]
            others = (text[start : end + 1] for start, end in hit.item.document.data["entities"])
            name = next(one for one in others if one not in right) if hit.item == wrong else min(right)
            answer(workers[number], hit, name)
        conclude(stage)
    purposes = dict(validate.items.values_list("key", "document__purpose"))
    asked_again = {key for key in left - {wrong.key} if purposes[key] == "eval"}
    assert Counter(validate.items.values_list("state", flat=True)) == {Item.State.KEPT: len(left) - 1, "dropped": 1}
    assert set(revalidate.items.values_list("key", flat=True)) == asked_again
    assert set(human.items.values_list("key", flat=True)) == asked_again
    human.summary.refresh_from_db()
    assert (human.summary.scores["em"], human.summary.scores["n"]) == (100.0, len(asked_again))

    # The release holds each kept query once, with references that stand in its passage.
    found, _ = releasing.release(project, None)
    seen: list[str] = []
    for name in ("train", "dev", "test"):
        data = json.loads(next(file.blob.read() for file in found.files.all() if file.name.startswith(f"{name}.json")))
        seen += [query["query"] for example in data["data"] for query in example["qas"]]
    kept = validate.items.filter(state=Item.State.KEPT)
    assert sorted(seen) == sorted(item.data["query"] for item in kept)
    assert sum(found.manifest["counts"].values()) == len(left) - 1
