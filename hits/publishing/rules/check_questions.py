"""Check questions: items with a known answer that are mixed into a stage's HITs, so that it shows how good workers are.

Where a stage has a share of them (`Stage.gold_share`), its imported items with a known answer are check questions and
no data. They look like any other item: the same HIT type, page and number of items a HIT. A worker meets each of them
once at most, since one HIT alone asks about it, of which the marketplace gives a worker one assignment; so a HIT has
nine assignments at most, beyond which its fee would double.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from django.db.models import QuerySet

from hits.items.models import Item
from hits.items.rules import unsuitable_items
from hits.judging.rules.required_answers import chunks
from hits.mturk.fees import MANY_ASSIGNMENTS
from hits.projects.models import Project
from hits.projects.rules.plugins import settings_of, usable_protocol
from hits.protocols.base import Json
from hits.protocols.optional import GoldProtocol, KnownAnswersProtocol
from hits.publishing.rules.hit_items import never_shown, with_hit, without_hit
from hits.refusals import Refused
from hits.stages.models import Stage

Kind = Callable[[Json, Json], str]
MOST_ANSWERS = MANY_ASSIGNMENTS - 1
SHOWN = 5


@dataclass(frozen=True)
class Plan:
    """Check questions of a batch with the answers to each; `wanted` is what the share asks for in all."""

    needs: Mapping[int, int] = field(default_factory=dict)
    wanted: int = 0

    @property
    def answers(self) -> int:
        return sum(self.needs.values())

    @property
    def too_few(self) -> str:
        """A sentence where there are too few for the share; empty else."""
        lacking = self.wanted - self.answers
        if lacking <= 0:
            return ""
        return (
            f"There are too few check questions: {self.wanted:,} answers to them are wanted, and those that no HIT or "
            f"qualification test has asked yet take {self.answers:,}. Import more rows with a gold answer, or publish "
            "fewer items."
        )


def kind_of(stage: Stage) -> Kind:
    """(document, item) to the state in which an imported item of the stage begins."""
    protocol = usable_protocol(stage)
    if not (stage.gold_share or stage.screening_share) or not isinstance(protocol, GoldProtocol):
        return lambda document, item: Item.State.NEW
    settings = settings_of(stage)
    known = protocol.has_known_answer
    return lambda document, item: Item.State.CHECK if known(document, item, settings) else Item.State.NEW


def is_for_added(state: str, own: str) -> bool:
    """Whether a row of the file is for a stage that a lead added too. `state` is that of its item of the first stage,
    whose check questions are no data there either; `own` the one that it would begin in.
    """
    return own == Item.State.CHECK or state != Item.State.CHECK


def untold(project: Project) -> tuple[frozenset[str], frozenset[str]]:
    """Keys of the items whose known answer judges workers, and of the documents that have no other item of the file."""
    checks = Item.objects.filter(stage__project=project, state=Item.State.CHECK)
    first = project.stages.filter(crowd=True).order_by("position")[:1]
    data = Item.objects.filter(stage__in=first, parent=None).exclude(state=Item.State.CHECK)
    alone = checks.exclude(document__in=data.values("document"))
    return frozenset(checks.values_list("key", flat=True)), frozenset(alone.values_list("document__key", flat=True))


def mark(stage: Stage) -> None:
    """Make check questions, or data, of the imported items that no HIT has asked about, as share and task are now.

    To be called after either has changed, within the same transaction.
    """
    kind = kind_of(stage)
    items = without_hit(stage.items.filter(parent=None, state__in=[Item.State.NEW, Item.State.CHECK]))
    moved: dict[str, list[int]] = {Item.State.NEW: [], Item.State.CHECK: []}
    rows = items.order_by("pk").values_list("pk", "state", "document__data", "data")
    for pk, state, document, data in rows.iterator(chunk_size=500):
        if (now := kind(document, data)) != state:
            moved[now].append(pk)
    for state, pks in moved.items():
        for some in chunks(pks):
            Item.objects.filter(pk__in=some).update(state=state)


def unused(items: QuerySet[Item]) -> QuerySet[Item]:
    """Those that can still become a check question of a batch: no worker can have seen them, no qualification test asks
    them, and no stage tells the right answer for practice. One whose HIT the marketplace refused is among them.
    """
    told = Item.objects.filter(for_practice=True).values("document")
    return never_shown(items.filter(qualification_tests=None).exclude(document__in=told))


def shown(project: Project) -> QuerySet[Item]:
    """Those that workers can have seen."""
    return with_hit(Item.objects.filter(stage__project=project, state=Item.State.CHECK))


def plan(stage: Stage, needs: Mapping[int, int]) -> Plan:
    """Which check questions go out with items that want so many answers.

    Each gets as many answers as most of the items do, and more, up to nine, where there are few of them. Where a HIT
    asks about several items, its check question gets as many as the others.
    """
    if not stage.gold_share or not needs:
        return Plan()
    wanted = max(1, round(sum(needs.values()) * stage.gold_share / (1 - stage.gold_share)))
    free = list(unused(stage.items.filter(state=Item.State.CHECK)).order_by("pk").values_list("pk", flat=True))
    if not free:
        return Plan(wanted=wanted)
    (usual, _) = Counter(needs.values()).most_common(1)[0]
    answers = usual if stage.items_per_hit > 1 else min(MOST_ANSWERS, max(usual, ceil(wanted / len(free))))
    chosen = _draw(stage, free).sample(free, min(len(free), ceil(wanted / answers)))
    return Plan(dict.fromkeys(chosen, answers), wanted)


def mixed(stage: Stage, needs: Mapping[int, int], found: Plan) -> dict[int, int]:
    """Items and check questions with the answers to each: the items in their order, the others at places drawn by the
    project's seed.
    """
    if not found.needs:
        return dict(needs)
    total = len(needs) + len(found.needs)
    places = set(_draw(stage, list(found.needs)).sample(range(total), len(found.needs)))
    checks, others = iter(found.needs.items()), iter(needs.items())
    return dict(next(checks) if place in places else next(others) for place in range(total))


def _draw(stage: Stage, pks: Sequence[int]) -> random.Random:
    return random.Random(f"{stage.project.seed}:{stage.key}:check:{min(pks)}:{len(pks)}")


def faults(stage: Stage, found: Plan) -> list[str]:
    """What of these check questions nobody can answer rightly, or be shown, as sentences; each once."""
    protocol = usable_protocol(stage)
    pks = list(found.needs)
    if not pks or protocol is None:
        return []
    told = unsuitable_items.sentences(unsuitable_items.of_items(stage, stage.items.filter(pk__in=pks), len(pks)))
    if isinstance(protocol, KnownAnswersProtocol):
        options = settings_of(stage)
        rows = stage.items.filter(pk__in=pks).order_by("pk").values_list("key", "data")
        unknown = [(key, protocol.known_answer_faults(data, options)) for key, data in rows]
        told += [
            f"Nobody can give the gold answer of {one.count:,} check question{'s' if one.count > 1 else ''}, such as "
            f"{one.first}: {one.message}"
            for one in unsuitable_items.grouped(unknown)[:SHOWN]
        ]
    return told


def refuse(stage: Stage, found: Plan) -> None:
    """Raises Refused (check_questions_refused)."""
    if told := faults(stage, found):
        raise Refused("check_questions_refused", " ".join(told), faults=told)
