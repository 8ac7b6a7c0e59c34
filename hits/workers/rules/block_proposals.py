"""Who would be blocked now by the policies of a project's stages, and the sentence that says so of a worker.

The stages of a project that have a blocking policy are its reference stages: one tally a worker goes over all of them
that have the same measure, and each can check by its own policy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import ExpressionWrapper, F, FloatField, QuerySet, Sum, Value

from hits.judging.rules import stage_statistics
from hits.people.models import LONGEST_SUBJECT, LONGEST_WRITTEN, OF_BLOCKS, WorkerMessage
from hits.stages.models import Stage
from hits.stats.blocking import (
    AGREEMENT,
    COMPETENCE,
    KNOWN_ANSWERS,
    REPEATS,
    SPEED,
    Evidence,
    Policy,
    Tally,
    workers_to_block,
)
from hits.workers.models import Block, WorkerStat

# Of a worker's figures by measure: scored answers, good ones of them, and how many chance would make good.
_SCORES: Mapping[str, tuple[Any, Any, Any]] = {
    KNOWN_ANSWERS: (F("scored"), F("correct"), F("right_by_chance")),
    AGREEMENT: (F("compared"), F("agreed"), F("agreed_by_chance")),
    COMPETENCE: (
        F("compared"),
        ExpressionWrapper(F("competence") * F("compared"), FloatField()),
        F("agreed_by_chance"),
    ),
    SPEED: (F("timed"), F("timed") - F("hurried"), Value(0.0)),
    REPEATS: (F("followed"), F("followed") - F("repeats"), Value(0.0)),
}
# Leaves room for the sentences around it.
LONGEST_WHY = 1000


def reference_stages(stage: Stage) -> list[Stage]:
    """The stages of the project whose answers tell how good a worker is: those that have a policy of that measure."""
    measure = Policy.from_dict(stage.quality).measure
    stages = Stage.objects.filter(project=stage.project_id).exclude(quality={})
    return [one for one in stages if Policy.from_dict(one.quality).measure == measure]


def _stats(measure: str, stages: Sequence[Stage]) -> QuerySet[WorkerStat]:
    """The figures with scored answers, with `n`, `good` and `chance` as the measure has them."""
    n, good, chance = _SCORES[measure]
    rows = WorkerStat.objects.filter(worker__imported_into=None, stage__in=stages).annotate(
        n=n, good=good, chance=chance
    )
    if measure == COMPETENCE:
        rows = rows.filter(competence_run__in=stage_statistics.newest_pks(stages), competence__isnull=False)
    return rows.filter(n__gt=0)


def scored(stage: Stage) -> int:
    """All answers ever scored by the measure of the policy: a block must not turn the clock back."""
    rows = _stats(Policy.from_dict(stage.quality).measure, reference_stages(stage))
    return rows.aggregate(sum=Sum("n"))["sum"] or 0


def proposals(stage: Stage) -> list[Evidence]:
    """Who would be blocked now, worst first, by the answers of all reference stages of the project together.

    The average is that of all workers, those who are blocked already included.
    """
    if not stage.quality:
        return []
    return proposals_of([stage if one.pk == stage.pk else one for one in reference_stages(stage)])[stage.pk]


def proposals_of(stages: Iterable[Stage]) -> dict[int, list[Evidence]]:
    """`proposals` by the key of each stage with a policy, where all stages of their projects are given.

    The number of queries grows with that of the measures, not with that of the stages or projects.
    """
    with_policy = [stage for stage in stages if stage.quality]
    policies = {stage.pk: Policy.from_dict(stage.quality) for stage in with_policy}
    blocked = _blocked(with_policy)
    found: dict[int, list[Evidence]] = {}
    for measure in dict.fromkeys(policy.measure for policy in policies.values()):
        alike = [stage for stage in with_policy if policies[stage.pk].measure == measure]
        tallies = _tallies(measure, alike)
        for stage in alike:
            poor = workers_to_block(tallies[stage.project_id], policies[stage.pk])
            found[stage.pk] = [evidence for evidence in poor if evidence.worker not in blocked[stage.project_id]]
    return found


def _blocked(stages: Sequence[Stage]) -> defaultdict[int, set[str]]:
    """Ids of the blocked workers by project."""
    found: defaultdict[int, set[str]] = defaultdict(set)
    projects = {stage.project_id for stage in stages}
    standing = Block.objects.standing().blocks().filter(project__in=projects)
    for project, worker in standing.values_list("project_id", "worker__worker_id"):
        found[project].add(worker)
    return found


def _tallies(measure: str, stages: Sequence[Stage]) -> defaultdict[int, list[Tally]]:
    """Of each worker by project, over those of the project's stages that are given."""
    found: defaultdict[int, list[Tally]] = defaultdict(list)
    sums = _stats(measure, stages).values("stage__project_id", "worker__worker_id").order_by()
    sums = sums.annotate(all=Sum("n"), all_good=Sum("good"), all_by_chance=Sum("chance"))
    columns = ("stage__project_id", "worker__worker_id", "all", "all_good", "all_by_chance")
    for project, worker, n, good, chance in sums.values_list(*columns):
        # Sums of shares: without what rounding adds.
        found[project].append(Tally(worker, n, min(n, good), chance))
    return found


@dataclass(frozen=True)
class Named:
    """A worker whom the policy of a stage names now, with the evidence."""

    stage: Stage
    evidence: Evidence

    @property
    def sentence(self) -> str:
        """What pages, files and the API say of it, among what stands out of the worker."""
        return f"Would be blocked by the policy of {self.stage.title}: {_in_words(self.evidence)}"


def _in_words(found: Evidence) -> str:
    return f"{found.counted}, {found.accuracy:.1%}; the crowd {found.average:.1%}, the floor {found.floor:.1%}."


def why_blocked(block: Block) -> str:
    """Why a worker is blocked or paused, as a sentence: the figures of a policy, or the reason that a lead wrote."""
    done, evidence = "Blocked" if block.until is None else "Paused", block.evidence
    if not evidence.get("by_hand"):
        return f"{done}: {_in_words(Evidence.from_dict(evidence))}"
    reason = f": “{evidence['reason']}”" if evidence.get("reason") else "."
    return " ".join(filter(None, (f"{done} by hand{reason}", (evidence.get("figures") or {}).get("why"))))


def named_in(stages: Sequence[Stage]) -> dict[int, dict[str, Named]]:
    """By the key of each of these stages of one project, worker id to who names the worker: the policy of that stage
    or, where it does not, another one of the project. So many queries, however many stages there are.
    """
    if not stages:
        return {}
    given = {stage.pk: stage for stage in stages}
    policies = [given.get(one.pk, one) for one in stages[0].project.stages.exclude(quality={}).order_by("position")]
    found = proposals_of(policies)
    named: dict[int, dict[str, Named]] = {}
    for pk in given:
        own_first = sorted(policies, key=lambda one: one.pk != pk)
        each = [(evidence.worker, Named(one, evidence)) for one in own_first for evidence in found[one.pk]]
        # Of several that name a worker the first one stands.
        named[pk] = dict(reversed(each))
    return named


# The letter to a blocked worker


def why_of(evidence: Evidence) -> str:
    """The evidence of a policy, as its worker reads it."""
    return (
        f"Your answers were compared with what is known of them and with those of all workers: {evidence.counted} "
        f"({100 * evidence.accuracy:.1f} %); of all workers together {100 * evidence.average:.1f} %."
    )


def subject(stage: Stage) -> str:
    return f"You get no more HITs like “{stage.hit_title}”"[:LONGEST_SUBJECT]


def text(stage: Stage, why: str) -> str:
    paragraphs = [
        f"You get no more HITs like “{stage.hit_title}” from us, and none of the other HITs of the same project.",
        f"Why: {why}",
        "What was approved stays paid. Your answers that still wait for review stay submitted: each is approved and "
        "paid, or rejected with a reason that you can read, and one that nobody decides about is approved by itself "
        "when its time is over.",
        "Your account and HITs of other requesters are not affected. If you think that we are wrong, write to "
        f"{stage.project.contact_email}.",
    ]
    return "\n\n".join(paragraphs)[:LONGEST_WRITTEN]


def write(block: Block, why: str, user: User | None) -> None:
    """Write the message down, in the transaction of the block; `hits.people.verbs.messaging` sends it."""
    if block.worker.imported_into_id:
        return
    WorkerMessage.objects.get_or_create(
        worker=block.worker,
        confirmation=f"{OF_BLOCKS}{block.pk}",
        defaults={
            "project": block.project,
            "stage": block.stage,
            "subject": subject(block.stage),
            "text": text(block.stage, why),
            "created_by": user,
        },
    )


def withdraw(block: Block) -> None:
    """Send no message of this block that was not begun."""
    rows = WorkerMessage.objects.filter(worker=block.worker, confirmation=f"{OF_BLOCKS}{block.pk}")
    rows.filter(state=WorkerMessage.State.PLANNED, attempted_at=None).delete()
