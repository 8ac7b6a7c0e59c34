"""Whoever sees that something is done finds the figures of it: at every commit, what is settled is counted.

A program that waits for a state and then reads a stage's figures must not read those from before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
from django.db import connection
from django.db.transaction import Atomic

from hits.answers.verbs import harvesting, reviewing
from hits.items.verbs import importing, sampling
from hits.judging.rules import summaries
from hits.judging.rules.summaries import _answer_figures, _item_figures, _refresh_some, refresh_summary
from hits.judging.verbs import advancing, deciding, scoring
from hits.models import Account, Assignment, Batch, Item, Stage, StageSummary, Upload, Verdict, WorkerStat
from hits.projects.rules.plugins import recipe_of
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing, sending, topping_up
from hits.recipes import NextItem
from hits.workers.verbs import blocking
from tests.hits import factories as make
from tests.hits.doing import may_refuse

pytestmark = pytest.mark.django_db(transaction=True)
READS = ("SELECT", "EXPLAIN", "PRAGMA", "SAVEPOINT", "RELEASE", "ROLLBACK", "BEGIN")


def under_way(stage: Stage) -> bool:
    """Something is visible of which everybody can see that it is not concluded yet."""
    return (
        stage.items.filter(stale=True).exists()
        or stage.assignments.filter(scored=False).exists()
        or stage.assignments.exclude(decision="").exists()
        or stage.batches.exclude(state=Batch.State.PUBLISHED).exists()
        or Upload.objects.filter(project=stage.project_id, state__in=Upload.RUNNING).exists()
        or Verdict.objects.filter(advanced=False, superseded_at=None, item__stage__project=stage.project_id).exists()
    )


def behind(stage: Stage) -> list[str]:
    """Figures of the stage that are not what its rows say."""
    summary = StageSummary.objects.get(stage=stage)
    true = {**_item_figures(stage), **_answer_figures(stage)}
    false = [name for name, value in true.items() if getattr(summary, name) != value]
    columns = ("worker", "answers", "scored", "correct", "earned")
    stats = list(WorkerStat.objects.filter(stage=stage).order_by("worker").values_list(*columns))
    _refresh_some(stage, list(stage.assignments.values_list("worker", flat=True).distinct()))
    again = list(WorkerStat.objects.filter(stage=stage).order_by("worker").values_list(*columns))
    return false + (["worker_stats"] if stats != again else [])


class Watch:
    """Looks at the database after every commit, as another process would."""

    def __init__(self) -> None:
        self.looks = 0
        self.faults: list[str] = []
        self.looking = False

    def look(self) -> None:
        if self.looking or connection.in_atomic_block:
            return
        self.looking = True
        try:
            for stage in Stage.objects.select_related("project"):
                if not under_way(stage):
                    self.looks += 1
                    self.faults += [f"{stage.key}: {name}" for name in behind(stage)]
        finally:
            self.looking = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        leave = Atomic.__exit__

        def left(atomic: Atomic, *given: Any) -> None:
            leave(atomic, *given)
            self.look()

        def executed(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            result = execute(sql, params, many, context)
            if not sql.lstrip("( ").upper().startswith(READS):
                self.look()
            return result

        with pytest.MonkeyPatch.context() as patch, connection.execute_wrapper(executed):
            patch.setattr(Atomic, "__exit__", left)
            yield


@pytest.fixture
def watch() -> Iterator[Watch]:
    made = Watch()
    yield made
    assert made.faults == []
    assert made.looks


def test_figures_are_there_with_the_end_of_an_import(bring: Callable[..., Any], stage: Stage, watch: Watch) -> None:
    with watch.watching():
        bring(3)
    assert StageSummary.objects.get(stage=stage).items == 3


def test_figures_are_there_with_what_was_published(bring, stage, publish, market, watch) -> None:
    bring(2)
    with watch.watching():
        publish(stage)
    summary = StageSummary.objects.get(stage=stage)
    assert (summary.open, summary.waiting) == (2, 0)


def test_the_figures_follow_a_batch_before_its_calls_are_made(bring, stage, market) -> None:
    """A lead who published sees at once that nothing waits any more."""
    bring(2)
    quote = publishing.quote(stage)
    publishing.publish(stage, quote.items, quote.total, "page-1", None)
    summary = StageSummary.objects.get(stage=stage)
    assert (summary.open, summary.waiting) == (2, 0)


def test_figures_are_there_with_the_last_answer_verdict_and_decision(
    bring, stage, publish, market, answer, watch, monkeypatch
) -> None:
    """Two answers an item; one is rejected and asked again, its rejection is taken back, its worker is blocked."""
    projects.want_answers(stage, 2, 1)
    Stage.objects.filter(pk=stage.pk).update(
        approval=Stage.Approval.REVIEW,
        auto_approval_seconds=86_400,
        quality={"check_every": 1, "min_answers": 1, "floor": 0.99, "alpha": 0.9},
    )
    stage.refresh_from_db()
    Account.objects.update(budget=20)
    # More chunks than one: in between items are under way, and at the end they are not.
    monkeypatch.setattr(deciding, "CHUNK", 2)
    monkeypatch.setattr(scoring, "CHUNK", 2)
    monkeypatch.setattr(reviewing, "CHUNK", 2)
    monkeypatch.setattr(advancing, "CHUNK", 2)
    careful, careless = market.sign_up_worker(), market.sign_up_worker()

    def conclude() -> None:
        harvesting.harvest(stage)
        scoring.score(stage)
        deciding.decide(stage)
        advancing.advance(stage)

    with watch.watching():
        bring(3)
        publish(stage)
        for hit in stage.hits.all():
            answer(careful, hit)
            answer(careless, hit, "Tomas Reyes")
        conclude()
        wrong = stage.assignments.filter(worker__worker_id=careless).order_by("pk")
        reviewing.approve(stage, list(stage.assignments.exclude(pk__in=wrong).values_list("pk", flat=True)), None)
        reviewing.reject(stage, [wrong[0].pk, wrong[1].pk], "Too hasty.", None)
        reviewing.finish(stage)
        conclude()
        if batch := topping_up.top_up(stage):
            sending.send(batch.pk)
        reviewing.take_back(stage, [wrong[0].pk], None)
        reviewing.finish(stage)
        conclude()
        [evidence] = [found for found in blocking.proposals(stage) if found.worker == careless]
        blocking.block(stage, [evidence.worker], None)
        for other in stage.project.stages.all():
            deciding.decide(other)
        blocking.undo(stage.project.blocks.get(), None)
        conclude()
        # Where the last answer has closed the last HIT, there is nothing left to close.
        with may_refuse("no_effect"):
            sending.send(publishing.expire(stage, None).pk)
        conclude()
    assert watch.looks > 20
    assert Assignment.objects.filter(state="Rejected").count() == 1


def test_figures_are_there_with_what_verdicts_led_to_and_what_was_drawn(monkeypatch, lead, watch) -> None:
    project = projects.create_project("River", "record", 20, "lab@example.org", lead, seed=3)
    first, second = project.stages.filter(crowd=True).order_by("position")[:2]
    for hit in make.hits(make.items(first, 5, state=Item.State.KEPT)):
        make.verdict(hit.item)
    for stage in (first, second):
        refresh_summary(stage)
    monkeypatch.setattr(advancing, "CHUNK", 2)
    steps = recipe_of(project).steps
    monkeypatch.setattr(steps, "next_items", lambda found: [NextItem(second.key, found.key, {})])
    with watch.watching():
        assert advancing.advance(first) == 5
    drawn = [NextItem(second.key, f"drawn-{n}", {}, parent=(first.key, first.items.first().key)) for n in range(3)]
    monkeypatch.setattr(sampling, "_drawn", lambda stage, count: drawn)
    with watch.watching():
        assert sampling.draw(second, 3) == 3


def test_scores_are_there_with_the_last_verdict(monkeypatch, watch) -> None:
    """A release names them."""
    rule = {"name": "measured", "version": 1, "params": {"answers": 1}}
    stage = make.stage(rule=rule)
    for hit in make.hits(make.items(stage, 3), harvested=1, state="closed"):
        make.label(make.assignment(hit))
    Item.objects.update(stale=True)
    seen: list[tuple[bool, dict[str, Any]]] = []

    def look() -> None:
        if not connection.in_atomic_block:
            left = stage.items.filter(stale=True).exists()
            seen.append((left, StageSummary.objects.get(stage=stage).scores))

    monkeypatch.setattr(watch, "look", look)
    watch.looks = 1
    with watch.watching():
        deciding.decide(stage)
    assert seen and all(left or scores["n"] == 3 for left, scores in seen)


@pytest.fixture
def lead() -> Any:
    return make.user("anna")


def test_an_import_that_fails_leaves_neither_items_nor_figures(bring, stage, monkeypatch) -> None:
    monkeypatch.setattr(importing, "refresh_summary", lambda stage: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        bring(2)
    assert (Item.objects.count(), Upload.objects.get().state) == (0, Upload.State.STORING)


def test_figures_counted_before_a_change_are_not_written_over_those_counted_after_it(monkeypatch):
    stage = make.stage()
    make.item(stage)
    count_last = summaries._timeline

    def change_and_count() -> None:
        stage.items.update(state=Item.State.KEPT)
        refresh_summary(stage)
        connection.close()

    other = Thread(target=change_and_count)

    def meanwhile(stage: Stage) -> dict:
        monkeypatch.setattr(summaries, "_timeline", count_last)
        if not connection.in_atomic_block:
            # Nothing keeps the other process from it.
            other.start()
            other.join()
        return count_last(stage)

    monkeypatch.setattr(summaries, "_timeline", meanwhile)
    refresh_summary(stage)
    if not other.ident:
        other.start()
        other.join()
    assert StageSummary.objects.get(stage=stage).kept == 1
