"""Which qualifications of its own a project's stages ask for or give, and which required tests are not on offer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef

from hits.pools import rules as pools
from hits.projects.models import Project
from hits.refusals import Refused
from hits.stages.models import Stage
from hits.workers.models import Grant, Qualification, QualificationTest

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


# Tests that a stage requires


@dataclass(frozen=True)
class Unoffered:
    """A test that a stage requires and that is not on offer; `state` is empty when the project has no such test.

    `title` is what leads read of it.

    `can_be_given` says that it need not be a test: whoever is given it passes.
    """

    key: str
    state: str
    can_be_given: bool = False
    title: str = ""
    is_pool: bool = False

    @property
    def sentence(self) -> str:
        if self.is_pool:
            return (
                f"Only workers in “{self.title or self.key}” can answer in this stage, and nobody is in it: add "
                "workers, or make an invitation link, under “Pools” first."
            )
        if self.can_be_given and not self.state:
            return (
                f"Only workers who have “{self.title or self.key}” can answer in this stage, and nobody has it: give "
                "it to workers under “Qualifications held” first."
            )
        begin = f"This stage requires the qualification test “{self.title or self.key}”, which"
        state = QualificationTest.State
        if self.state == state.DRAFT:
            return f"{begin} is still a draft: offer it to workers first."
        if self.state == state.OFFERING:
            return f"{begin} is just being offered: wait until the marketplace has it."
        if self.state in (state.WITHDRAWING, state.WITHDRAWN):
            return f"{begin} is withdrawn: offer it again."
        return f"{begin} this project does not have: build it and offer it to workers first."


def unoffered(stage: Stage) -> list[Unoffered]:
    """The tests that would keep every worker out of the stage.

    A hyphen makes a qualification the project's own. Whoever holds none of it passes with DoesNotExist alone.
    """
    wanted = {one["qualification"]: one["comparator"] for one in stage.requirements if "-" in one["qualification"]}
    if not wanted:
        return []
    tests = QualificationTest.objects.filter(project=stage.project_id, key__in=wanted)
    states = dict(tests.values_list("key", "state"))
    needed = [key for key, comparator in wanted.items() if key in states or comparator != "DoesNotExist"]
    lacking = [key for key in needed if states.get(key) != QualificationTest.State.OFFERED]
    if not lacking:
        return []
    # Who is tested in a stage gets its result there: the marketplace makes the qualification when it is asked for.
    others = stage.project.stages.filter(screening_share__gt=0, grants__in=lacking).exclude(pk=stage.pk)
    homes = pools.homes(stage.project_id, lacking)
    of_pools = Qualification.objects.filter(project__in=homes.values(), key__in=homes)
    granted = {
        *stage.project.qualifications.filter(key__in=lacking).values_list("key", flat=True),
        *of_pools.values_list("key", flat=True),
        *others.values_list("grants", flat=True),
    }
    missing = [key for key in lacking if key in states or key not in granted]
    titles = titles_of(stage.project) if missing else {}
    return [
        Unoffered(key, states.get(key, ""), wanted[key] == "Exists", titles.get(key) or title_of(key), key in homes)
        for key in missing
    ]


def refuse_unoffered(stage: Stage) -> None:
    """Raises Refused (test_not_offered) when the stage requires a test that is not on offer."""
    if missing := unoffered(stage):
        keys = [one.key for one in missing]
        raise Refused("test_not_offered", " ".join(one.sentence for one in missing), qualification_tests=keys)


def requiring(row: QualificationTest) -> list[Stage]:
    """The project's stages that require the test."""
    stages = row.project.stages.order_by("position")
    return [stage for stage in stages if any(one["qualification"] == row.key for one in stage.requirements)]
