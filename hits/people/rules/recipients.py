"""To whom one text is sent at once: each way to choose them is an entry of WAYS, found by its name.

Pages, the API and the command ask this table alone, so that a further way needs nothing but an entry here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import QuerySet

from hits.models import Grant, Stage, Worker
from hits.pools import rules as pools
from hits.refusals import Refused


@dataclass(frozen=True)
class Way:
    """`title` says it on a page; `find` gives the workers, for a message that is about that stage."""

    title: str
    find: Callable[[Stage], QuerySet[Worker]]


def _of_stage(stage: Stage) -> QuerySet[Worker]:
    return Worker.objects.filter(stats__stage=stage)


def _unblocked(stage: Stage) -> QuerySet[Worker]:
    """Those who may still work there: an invitation to go on is nothing for whoever is kept out."""
    out = stage.project.blocks.keeping_out().values("worker")
    return _of_stage(stage).exclude(pk__in=out)


def _of_pools(stage: Stage) -> QuerySet[Worker]:
    """Those whom the marketplace does not know from an answer, it may not write to: their messages say so."""
    wanted = (one["qualification"] for one in stage.requirements if one["comparator"] == "Exists")
    there = pools.homes(stage.project_id, wanted)
    grants = Grant.objects.filter(key__in=there, project__in=there.values(), state=Grant.State.GRANTED)
    return Worker.objects.filter(pk__in=grants.values("worker"))


WAYS: dict[str, Way] = {
    "stage": Way("Everybody who answered in this stage", _of_stage),
    "pools": Way("Everybody in the pools of which the stage asks to be", _of_pools),
    "unblocked": Way("Everybody who answered in this stage and is neither blocked nor paused", _unblocked),
}


def found(stage: Stage, name: str) -> QuerySet[Worker]:
    """By their ids; without workers of files of results, who are at no marketplace that could pass anything on.

    Raises Refused (unknown_recipients).
    """
    if name not in WAYS:
        message = f"There are no recipients {name!r:.40}. There are: {', '.join(WAYS)}. Nothing was sent."
        raise Refused("unknown_recipients", message, status=400)
    return WAYS[name].find(stage).filter(imported_into=None).order_by("worker_id").distinct()
