"""Labels that workers gave, and the statistics of a stage that are computed from them."""

from __future__ import annotations

from typing import Any

from hits.judging.rules import stage_statistics
from hits.judging.verbs import computing
from hits.models import ComputationRun, Stage, Worker
from tests.hits import factories as make


def say(stage: Stage, said: list[dict[str, Any]], *, workers: list[str] | None = None, **columns: Any) -> None:
    """An item a row of {worker: value} or {worker: {unit: value}}; a value alone is of the unit `choice`."""
    known = {row.worker_id[1:].lower(): row for row in Worker.objects.all()}
    for row in said:
        item = make.item(stage, key=f"item-{stage.items.count() + 1}", data={})
        hit = make.hit(item)
        for worker, value in row.items():
            known[worker] = known.get(worker) or make.worker(f"A{worker.upper()}")
            answer = make.assignment(hit, known[worker])
            for unit, one in (value if isinstance(value, dict) else {"choice": value}).items():
                make.label(answer, item=item, unit=unit, value=one, **{"correct": None, **columns})


def computed(stage: Stage, **params: Any) -> dict[str, Any]:
    run = computing.start(stage.project, stage_statistics.key_of(stage), params, None)
    computing.run(run.pk)
    run.refresh_from_db()
    assert run.state == ComputationRun.State.DONE, run.error
    return stage_statistics.report_of(run)
