"""Which qualifications of its own a project's stages ask for or give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef

from hits.pools import rules as pools
from hits.projects.models import Project
from hits.stages.models import Stage
from hits.workers.models import Grant

# Granted to whom the project blocks, and to nobody else.
POOR_QUALITY = "poor-quality"
# Among the requirements of every project: a lead names the workers who get it.
INVITED = "invited-workers"
_TITLES = {POOR_QUALITY: "Blocked or paused in this project"}
STANDING = (Grant.State.INTENDED, Grant.State.GRANTED)
_GRANTED_THERE = "hit__stage__grants"


def title_of(key: str, givers: Iterable[Stage] = ()) -> str:
    """What a qualification that the project gives is called on pages of leads; `givers` are the stages that give it."""
    stages = list(givers)
    named = " or ".join(f"“{stage.title}”" for stage in stages)
    if not stages:
        return _TITLES.get(key) or key.replace("-", " ").capitalize()
    return f"{'Result of' if all(stage.screening_share for stage in stages) else 'Answered'} {named}"


def titles_of(project: Project, stages: Sequence[Stage] | None = None) -> dict[str, str]:
    """Key to title, of the qualifications that the project's stages give or ask for, of its tests, and of the pools
    that it may use. `stages` are all of the project in their order, where they were read before.
    """
    stages = list(project.stages.order_by("position")) if stages is None else stages
    asked = {one["qualification"] for stage in stages for one in own(stage.requirements)}
    keys = {POOR_QUALITY, INVITED, *asked, *(stage.grants for stage in stages)} - {""}
    found = {key: title_of(key, [stage for stage in stages if stage.grants == key]) for key in keys}
    return found | pools.names(project) | dict(project.qualification_tests.values_list("key", "title"))


@dataclass
class Held:
    """One qualification that the project grants, and what it does: the stages by what they make of it."""

    key: str
    opens: list[Stage] = field(default_factory=list)
    closes: list[Stage] = field(default_factory=list)
    given_by: list[Stage] = field(default_factory=list)

    @property
    def title(self) -> str:
        return title_of(self.key, self.given_by)


def held_in(project: Project) -> list[Held]:
    """The qualifications that the project's stages give, or ask whether a worker holds, by key.

    Left out are those that workers earn by a test, those of pools and the one of blocked workers.
    """
    tests = set(project.qualification_tests.values_list("key", flat=True))
    results = set(project.stages.filter(screening_share__gt=0).values_list("grants", flat=True))
    stages = list(project.stages.order_by("position"))
    of_pools = pools.homes(project.pk, {key for stage in stages for key in pools.keys_in(stage.requirements)})
    found: dict[str, Held] = {}
    for stage in stages:
        asked = presence(stage.requirements)
        by_result = {one["qualification"] for one in own(stage.requirements)} & results
        for key in {*asked, *by_result, stage.grants} - {"", *tests, *of_pools}:
            held = found.setdefault(key, Held(key))
            if key in asked:
                (held.opens if asked[key] else held.closes).append(stage)
            elif key != stage.grants:
                held.opens.append(stage)
            if key == stage.grants:
                held.given_by.append(stage)
    return [found[key] for key in sorted(found)]


def own(requirements: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those that ask for a qualification of the project's own: a hyphen makes it one."""
    return [one for one in requirements if "-" in one["qualification"]]


def presence(requirements: Iterable[Mapping[str, Any]]) -> dict[str, bool]:
    """Own qualification to whether a worker has to hold it, or must not."""
    wanted = {"Exists": True, "DoesNotExist": False}
    return {
        one["qualification"]: wanted[one["comparator"]]
        for one in own(requirements)
        if one["comparator"] in wanted and one["qualification"] != POOR_QUALITY
    }


def withdrawn_since(worker_id: str, answered_at: str) -> Exists:
    """Whether what the stage gives was taken back from the worker after that: then the answer gives it no more.

    For answers; the columns of the worker's id at the marketplace and of the moment.
    """
    return Exists(
        Grant.objects.filter(
            project=OuterRef("hit__stage__project"),
            key=OuterRef(_GRANTED_THERE),
            worker__worker_id=OuterRef(worker_id),
            withdrawn_at__gte=OuterRef(answered_at),
        )
    )
