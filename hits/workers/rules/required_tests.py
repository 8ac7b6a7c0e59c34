"""What a stage still lacks of the qualification tests that it requires."""

from __future__ import annotations

from dataclasses import dataclass

from hits.pools import rules as pools
from hits.refusals import Refused
from hits.stages.models import Stage
from hits.workers.models import Qualification, QualificationTest
from hits.workers.rules.project_qualifications import title_of, titles_of


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
