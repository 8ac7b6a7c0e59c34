"""Where a lead is in a project: the menu of its pages, and its stages as a pipeline of single ones and groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from hits.formats.pool_keys import PREFIX
from hits.judging.verbs import computing
from hits.models import Project, Stage
from hits.projects.rules.plugins import usable_protocol, usable_recipe
from hits.projects.verbs import projects as flow
from hits.protocols.optional import MediaProtocol
from hits.workers.rules.project_qualifications import presence, titles_of

# So many entries fit in one row; beyond them, finished stages are folded.
UNFOLDED = 4


@dataclass(frozen=True)
class Place:
    """An entry of a project's menu: it leads to the first of `pages`, the names of the pages that belong to it."""

    title: str
    pages: tuple[str, ...]

    @property
    def page(self) -> str:
        return self.pages[0]


RESULTS = Place("Results", ("project-results",))
BEFORE = (
    Place(
        "Project",
        (
            "project",
            "project-done",
            "upload",
            "upload-columns",
            "add-stage",
            "clone-project",
            "change-budget",
            "import",
        ),
    ),
    RESULTS,
    Place("Releases", ("releases", "release", "release-preview", "make-release", "change-release-card")),
    Place(
        "Bonuses",
        (
            *("payments", "pay-bonus", "bonus-file", "kept-bonus-file", "bonuses", "bonus_files"),
            *("compensations", "compensation", "new-compensation"),
        ),
    ),
    Place("Ledger", ("ledger", "ledger-checks", "ledger-check", "budget-requests", "decline-request")),
)
MEMBERS = Place("Members", ("members",))
MODELS = Place("Models", ("models",))
TESTS = Place(
    "Qualification tests",
    (
        *("qualification-tests", "qualification-test", "new-qualification-test", "preview-qualification-test"),
        *("offer-qualification-test", "qualification-test-results"),
    ),
)
MESSAGES = Place(
    "Messages",
    (
        *("inbox", "messages", "message-templates", "message-template"),
        *("mark-answered", "open-again", "reply-to-worker"),
    ),
)
TERMS = Place("Terms", ("terms", "terms-version", "withdraw-terms"))
GRANTS = Place("Qualifications held", ("grants", "grants-of"))
POOLS = Place("Pools", ("pools", "pool", "best-for-pool"))
COMPUTATIONS = Place(
    "Computations", ("computations", "computation", "computation-results", "computation-outside", "start-computation")
)
OPTIONS = Place("Options", ("options",))
MEDIA = Place("Media", ("media", "add-media"))
WEBHOOKS = Place("Webhooks", ("webhooks", "webhook"))


def place_of(page: str, places: Sequence[Place]) -> Place:
    """The entry that the page belongs to; pages of stages, items and workers belong to the first one, the project.

    The page of a declared verb, such as `webhooks.add`, belongs to the entry of its first word.
    """
    known = {page, page.partition(".")[0]}
    return next((place for place in places if known & set(place.pages)), places[0])


def stages_of(project: Project) -> list[Stage]:
    """In their order, with their summaries; read once of each project that is in memory."""
    if not hasattr(project, "stages_shown"):
        found = list(project.stages.select_related("summary").order_by("position"))
        for stage in found:
            stage.project = project
        project.stages_shown = found  # type: ignore[attr-defined]
    return project.stages_shown  # type: ignore[attr-defined, no-any-return]


def qualification_titles(project: Project) -> dict[str, str]:
    """As `titles_of`; read once of each project that is in memory."""
    if not hasattr(project, "qualifications_shown"):
        project.qualifications_shown = titles_of(project, stages_of(project))  # type: ignore[attr-defined]
    return project.qualifications_shown  # type: ignore[attr-defined, no-any-return]


def menu(project: Project) -> list[Place]:
    """What a project has beside its pipeline, the same on each of its pages."""
    stages = stages_of(project)
    grants = any(
        stage.grants or any(not key.startswith(PREFIX) for key in presence(stage.requirements)) for stage in stages
    )
    shows_media = any(isinstance(usable_protocol(stage), MediaProtocol) for stage in stages)
    return [
        *BEFORE,
        TESTS,
        *([GRANTS] if grants else []),
        POOLS,
        MESSAGES,
        TERMS,
        *([COMPUTATIONS] if computing.of_recipe(project) else []),
        *([OPTIONS] if flow.options_of(project) else []),
        *([MEDIA] if shows_media else []),
        MODELS,
        WEBHOOKS,
        MEMBERS,
    ]


@dataclass(frozen=True)
class Entry:
    """A stage, or several under one name: a group of the recipe, or with `folded` finished stages."""

    title: str
    stages: tuple[Stage, ...]
    folded: bool = False

    @property
    def finished(self) -> int:
        return sum(stage.summary.is_finished for stage in self.stages)

    @property
    def is_finished(self) -> bool:
        return self.finished == len(self.stages)

    @property
    def is_under_way(self) -> bool:
        """Whether there is something in it, and not all of it is finished."""
        return not self.is_finished and any(stage.summary.items for stage in self.stages)

    def holds(self, current: Stage | None) -> bool:
        return current is not None and any(stage.pk == current.pk for stage in self.stages)


def entries(project: Project) -> list[Entry]:
    """The stages in their order; those that follow one another in one group of the recipe are one entry."""
    stages = stages_of(project)
    recipe = usable_recipe(project)
    groups = {stage.pk: recipe.group_of(stage.key) if recipe else "" for stage in stages}
    found: list[Entry] = []
    for title, members in groupby(stages, key=lambda stage: groups[stage.pk]):
        together = tuple(members)
        if title and len(together) > 1:
            found.append(Entry(title, together))
        else:
            found += [Entry("", (stage,)) for stage in together]
    return found


def shown(project: Project) -> list[Entry]:
    """The entries that the row of stages has: a project with one stage has no such row."""
    found = entries(project)
    return found if sum(len(entry.stages) for entry in found) > 1 else []


def folded(found: Sequence[Entry], current: Stage | None) -> list[Entry]:
    """Finished entries that follow one another as one, where there are many; the current one stays by itself."""
    if len(found) <= UNFOLDED:
        return list(found)
    return list(_folded(found, current))


def _folded(found: Sequence[Entry], current: Stage | None) -> Iterator[Entry]:
    for hidden, run in groupby(found, key=lambda entry: entry.is_finished and not entry.holds(current)):
        together = tuple(run)
        stages = tuple(stage for entry in together for stage in entry.stages)
        if hidden and len(together) > 1:
            yield Entry(f"{len(stages)} finished", stages, folded=True)
        else:
            yield from together
