"""Verbs that change many items lock them by their numbers, however the rows lie in the table."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import Queue

import pytest
from django.db import connection, transaction

from hits.judging.rules import stage_statistics
from hits.judging.rules.summaries import refresh_worker_stats
from hits.judging.verbs import deciding
from hits.models import ComputationRun, Stage
from hits.publishing.rules.hit_items import lock_items
from hits.workers.verbs import blocking
from ops.waiting import PATIENCE_SECONDS
from tests.hits import factories as make
from tests.hits.said import say

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]
VERBS: dict[str, Callable[[Stage], object]] = {
    "decide": deciding.decide,
    "block": lambda stage: blocking.intend_by_hand(stage, ["AANN"], "Always says yes.", None),
    "compute": lambda stage: _conclude(stage),
}


def _conclude(stage: Stage) -> None:
    with transaction.atomic():
        stage_statistics.conclude(stage, ComputationRun.objects.get(), {})


def by_the_table(work: Callable[[], object], started: Queue[int]) -> object:
    """With plans that read the rows as they lie; `started` gets the connection's number."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET enable_indexscan = off; SET enable_bitmapscan = off; SELECT pg_backend_pid()")
            started.put(cursor.fetchone()[0])
        return work()
    except Exception as error:
        return error
    finally:
        connection.close()


def wait_until_locked_out(pid: int) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE pid = %s AND NOT granted", [pid])
            if cursor.fetchone()[0]:
                return
        time.sleep(0.05)
    raise AssertionError("it waits for no lock")


@pytest.mark.skipif(connection.vendor != "postgresql", reason="On SQLite writers stand in one queue.")
@pytest.mark.parametrize("verb", VERBS)
def test_who_waits_for_the_first_item_holds_no_later_one(verb: str) -> None:
    stage = make.stage(key="judge", protocol="multiple_choice")
    say(stage, [{"ann": "yes"}, {"ann": "no"}])
    refresh_worker_stats(stage, stage.assignments.values_list("worker", flat=True))
    make.computation_run(stage.project, key=stage_statistics.key_of(stage))
    stage.items.update(stale=True, waits_for_values=True)
    first, second = stage.items.order_by("pk")
    # Behind the other one in the table.
    stage.items.filter(pk=first.pk).update(conclusion="moved")
    started: Queue[int] = Queue()
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock_items([first.pk])
            done = pool.submit(by_the_table, lambda: VERBS[verb](Stage.objects.get(pk=stage.pk)), started)
            wait_until_locked_out(started.get(timeout=PATIENCE_SECONDS))
            lock_items([second.pk])
        assert not isinstance(found := done.result(PATIENCE_SECONDS), Exception), found
