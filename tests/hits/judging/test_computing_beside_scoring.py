"""A computation that ends while answers are scored: both lock items and the figures of workers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from django.db import connection

from hits import protocols
from hits.judging.rules import stage_statistics
from hits.judging.rules.summaries import refresh_worker_stats
from hits.judging.verbs import computing, scoring
from hits.models import Assignment, ComputationRun, Stage
from hits.workers.rules import competences
from tests.hits import factories as make
from tests.hits.said import say

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]
# Longer than PostgreSQL waits before it looks for a deadlock.
SECONDS = 2


def then_waits(work: Callable[..., Any], done: Event, other: Event, *, before: bool) -> Callable[..., Any]:
    """The work, with a wait for the other process before or after it; that one may stand at a lock."""

    def go(*given: Any) -> None:
        if not before:
            work(*given)
        done.set()
        other.wait(SECONDS)
        if before:
            work(*given)

    return go


@pytest.mark.skipif(connection.vendor != "postgresql", reason="On SQLite writers stand in one queue.")
def test_neither_waits_for_the_other_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    options = protocols.get("multiple_choice").settings({"question": "Wet?", "choices": ["Yes", "No"]})
    stage = make.stage(key="judge", protocol="multiple_choice", settings=options)
    say(stage, [{"ann": "yes", "ben": "yes"}, {"ann": "no", "ben": "no"}])
    refresh_worker_stats(stage, stage.assignments.values_list("worker", flat=True))
    stage.items.update(waits_for_values=True)
    again = stage.assignments.order_by("pk").first()
    assert again
    again.labels.all().delete()
    Assignment.objects.filter(pk=again.pk).update(scored=False, answer={"choice": "yes"})
    run = computing.start(stage.project, stage_statistics.key_of(stage), {}, None)
    estimated, marked = Event(), Event()
    monkeypatch.setattr(competences, "write", then_waits(competences.write, estimated, marked, before=False))
    monkeypatch.setattr(
        scoring, "refresh_worker_stats", then_waits(refresh_worker_stats, marked, estimated, before=True)
    )
    works = [lambda: computing.run(run.pk), lambda: scoring.score(Stage.objects.get(pk=stage.pk))]

    def alone(work: Callable[[], object]) -> object:
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert [future.result(60) for future in [pool.submit(alone, work) for work in works]] == [2, 1]
    run.refresh_from_db()
    assert run.state == ComputationRun.State.DONE
    assert stage.items.filter(stale=True).count() == 2
