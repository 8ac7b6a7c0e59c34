"""Stages that test workers (`Stage.screening_share`): what their HITs ask, and what is kept for practice.

The items of a test have known answers. Like check questions they are in the state "check": no verdict, no release, and
nothing is bought again. Those that are kept for practice are shown with the right answer before the test, and are in no
HIT. A HIT asks about `items_per_hit` of the others and has a place for each of `answers` workers. Each answers one HIT:
the stage requires that its own result is not there yet.
"""

from __future__ import annotations

import random

from django.db.models import Exists, OuterRef, QuerySet

from hits.items.models import Item
from hits.publishing.models import Hit, HitItem
from hits.publishing.rules import check_questions
from hits.publishing.rules.hit_items import never_shown
from hits.stages.models import Stage

# Of the items with a known answer, so many are kept for practice, unless each worker practises on more.
PRACTICE_PART = 4
_OPEN = (Hit.State.PLANNED, Hit.State.SENT, Hit.State.LIVE)


# What is asked


def usable(stage: Stage) -> QuerySet[Item]:
    """The stage's items with a known answer, practice ones among them; none that a qualification test asks."""
    return stage.items.filter(state=Item.State.CHECK, qualification_tests=None)


def practice(stage: Stage) -> list[int]:
    """The items that are kept for practice: a part drawn by the project's seed until something is published, and then
    those for good. None is a check question of another stage about the same row of the file.
    """
    if not stage.practice_items:
        return []
    if stage.hits.exists():
        return list(stage.items.filter(for_practice=True).order_by("pk").values_list("pk", flat=True))
    asked = check_questions.shown(stage.project).values("document")
    untold = never_shown(usable(stage)).exclude(document__in=asked)
    pks = list(untold.order_by("pk").values_list("pk", flat=True))
    wanted = max(stage.practice_items, len(pks) // PRACTICE_PART)
    return sorted(_draw(stage, "practice").sample(pks, min(wanted, max(0, len(pks) - stage.items_per_hit))))


def keep_practice(stage: Stage) -> None:
    """Write down which items are kept for practice. Within the transaction of the first publication."""
    if not stage.hits.exists():
        stage.items.filter(for_practice=True).update(for_practice=False)
        stage.items.filter(pk__in=practice(stage)).update(for_practice=True)


def waiting(stage: Stage, limit: int | None = None) -> list[int]:
    """Items for new HITs of the test, in groups of `items_per_hit` that differ from those before: all that are not for
    practice and that no open HIT asks about. What does not fill a HIT is left out.
    """
    free = usable(stage).exclude(pk__in=in_open_hits(usable(stage)).values("pk")).exclude(pk__in=practice(stage))
    pks = list(free.order_by("pk").values_list("pk", flat=True))
    _draw(stage, f"test:{stage.hits.count()}").shuffle(pks)
    return pks[: len(pks) - len(pks) % stage.items_per_hit][:limit]


def in_open_hits(items: QuerySet[Item]) -> QuerySet[Item]:
    """Those of the items that a HIT asks about which is at the marketplace or on its way there."""
    first = Hit.objects.filter(item=OuterRef("pk"), state__in=_OPEN)
    further = HitItem.objects.filter(item=OuterRef("pk"), hit__state__in=_OPEN)
    return items.filter(Exists(first) | Exists(further))


def _draw(stage: Stage, what: str) -> random.Random:
    return random.Random(f"{stage.project.seed}:{stage.key}:{what}")


def faults(stage: Stage, items: int) -> list[str]:
    """Why a test of so many items cannot be published, as sentences."""
    known = usable(stage).count()
    found = []
    if fault := too_few(stage, known):
        found.append(fault)
    elif items % stage.items_per_hit:
        found.append(
            f"A HIT of this test asks about {stage.items_per_hit:,} items, and {items:,} do not make whole HITs. "
            f"Publish {items - items % stage.items_per_hit:,} of them."
        )
    if stage.practice_items and stage.hits.exists() and not practice(stage):
        found.append("Nothing was kept for practice when this test was published first. Set practice_items to 0.")
    return found


def too_few(stage: Stage, known: int) -> str:
    """A sentence where so many items with a known answer do not make one HIT and its practice; empty else."""
    needed = stage.items_per_hit + stage.practice_items
    if known >= needed:
        return ""
    of_practice = f" and {stage.practice_items:,} to practise on" if stage.practice_items else ""
    return (
        f"The test needs {needed:,} items with a gold answer, {stage.items_per_hit:,} for a HIT{of_practice}; the "
        f"stage has {known:,}. Import rows with a gold answer, or ask about fewer."
    )


def tests_of(stage: Stage) -> list[Stage]:
    """The tests that the workers of the stage have to pass."""
    asked = [one["qualification"] for one in stage.requirements if one["comparator"] != "DoesNotExist"]
    if not asked:
        return []
    tests = stage.project.stages.filter(grants__in=asked, screening_share__gt=0).exclude(pk=stage.pk)
    return list(tests.order_by("position"))


def unpublished(stage: Stage) -> list[str]:
    """That nobody can pass yet what the stage asks for, as sentences."""
    return [
        f"Workers have to pass “{test.title}”, of which nothing is published yet: until then nobody new gets in."
        for test in tests_of(stage)
        if not test.hits.exists()
    ]


def drawn_for(stage: Stage, worker: str) -> list[Item]:
    """The items that this worker practises on: the same whenever the page is opened, and others for others."""
    pks = list(stage.items.filter(for_practice=True).order_by("pk").values_list("pk", flat=True))
    chosen = random.Random(f"{stage.project.seed}:{stage.key}:{worker}").sample(
        pks, min(len(pks), stage.practice_items)
    )
    rows = Item.objects.select_related("document").in_bulk(chosen)
    return [rows[pk] for pk in chosen]
