"""Figures of a large stage are counted now and then, and at the latest some time after the last answer."""

from __future__ import annotations

import tracemalloc
from datetime import timedelta

import pytest
from django.db.models import F

from hits import tasks
from hits.judging.rules import summaries
from hits.judging.verbs import deciding
from hits.models import Stage, StageSummary
from tests.hits import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    """One that counts as large, with an answer; its figures, counted a moment ago, took six seconds."""
    monkeypatch.setattr(summaries, "MANY", 0)
    found = make.stage()
    _answered(found)
    summaries.refresh_summary(found)
    StageSummary.objects.filter(stage=found).update(count_seconds=6)
    return found


def _answered(stage: Stage) -> None:
    make.label(make.assignment(make.hit(make.item(stage, state="open", stale=True), state="closed")))


def _figures(stage: Stage) -> tuple[int, int, bool]:
    summary = StageSummary.objects.get(stage=stage)
    return summary.answers, summary.kept, summary.is_old


def _wait(seconds: int) -> None:
    StageSummary.objects.update(updated_at=F("updated_at") - timedelta(seconds=seconds))


def test_an_answer_is_decided_at_once_and_counted_when_the_figures_have_rested(stage: Stage, eager: None) -> None:
    _answered(stage)
    tasks.conclude_stage(stage.pk)
    assert stage.items.filter(state="kept").count() == 2
    assert _figures(stage) == (1, 0, True)
    _wait(30)
    tasks.resume_all()
    assert summaries.due() == [] and _figures(stage) == (1, 0, True)
    _wait(40)
    assert summaries.due() == [stage.pk]
    tasks.resume_all()
    assert _figures(stage) == (2, 2, False) and summaries.due() == []


def test_the_figures_of_a_small_stage_never_rest(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "MANY", 50_000)
    _answered(stage)
    deciding.decide(stage)
    assert _figures(stage) == (2, 2, False)


def test_the_measures_of_a_task_hold_only_a_part_of_the_items_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deciding, "CHUNK", 10)
    small, large = _with_gold(40), _with_gold(160)
    _held(small)
    assert _held(large) < 1.2 * _held(small)
    measured = deciding._measured(large)
    assert measured == {"accuracy": 75.0, "majority": 75.0, "ties": 0, "answers": 160, "n": 160}


def _with_gold(items: int) -> Stage:
    """A stage of so many items about long texts, each with one answer; three of four are right."""
    stage = make.stage(protocol="multiple_choice", settings={"question": "Which one?", "choices": ["One", "Two"]})
    for number in range(items):
        document = make.document(stage.project, data={"text": f"{number:04} " * 20_000})
        answer = make.assignment(make.hit(make.item(stage, state="kept", document=document)))
        make.label(answer, unit="choice", value="c0", correct=number % 4 > 0)
    return stage


def _held(stage: Stage) -> int:
    """Bytes that the measures of a stage hold at their most."""
    tracemalloc.start()
    try:
        deciding._measured(stage)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
