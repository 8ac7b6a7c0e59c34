"""Blocking: workers significantly below the crowd, by a granted qualification, with evidence and an undo.

Source: S. Zhang et al. (2018), ReCoRD, section 3.4. The stages of a project that have a blocking policy are its
reference stages: one tally a worker goes over all of them, and each can check by its own policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet, Sum

from hits.domain import eligibility
from hits.domain.action_log import record
from hits.domain.block_losses import Loss, Return, answers_of, loss, restored
from hits.domain.counting import recount
from hits.domain.leases import lease
from hits.domain.own_qualifications import POOR_QUALITY
from hits.domain.qualification_calls import QualificationCalls
from hits.domain.summaries import refresh_summary
from hits.models import Assignment, Block, Stage, Worker, WorkerStat
from hits.quality.blocking import Evidence, Policy, Tally, workers_to_block
from hits.refusals import Refusal

LEASE_SECONDS = 30
CALLS = QualificationCalls[Block](
    give=Block.State.INTENDED,
    given=Block.State.GRANTED,
    take=Block.State.LIFTING,
    taken=Block.State.UNDONE,
    taken_at="undone_at",
    reason="The block was undone.",
    key=lambda row: POOR_QUALITY,
)
# Sentences on the stage's page; there are more only when the marketplace refuses every grant.
SHOWN = 5


class NoPolicyError(Refusal):
    """The stage has no blocking policy."""

    error_code = "no_policy"


class NotBlockableError(Refusal):
    """A worker who is not among the stage's proposals; look at the preview again."""

    error_code = "not_blockable"


class LossGrownError(Refusal):
    """The blocks cost more than was confirmed, since more answers came. Look at the preview again."""

    error_code = "loss_grown"


@dataclass(frozen=True)
class Preview:
    """Who would be blocked, and what follows when those of `chosen` are. Money in dollars.

    `answers` are those of each worker that count now; `left` is what the budget has left.
    """

    proposals: list[Evidence]
    chosen: list[str]
    answers: Mapping[str, int]
    loss: Loss
    left: Decimal


def refuse_without_policy(stage: Stage) -> None:
    """Raises NoPolicyError."""
    if not stage.quality:
        raise NoPolicyError(f"{stage.title} has no blocking policy, so nobody can be below its floor.")


def is_due(stage: Stage) -> bool:
    """Whether another `check_every` answers were scored in the project's reference stages since the last check."""
    if not stage.quality:
        return False
    every = Policy.from_dict(stage.quality).check_every
    return _scored(stage) // every > stage.quality_checked_at // every


def block_by_itself(stage: Stage, wanted: bool, user: User | None) -> None:
    """Whether the check after every so many answers blocks those whom it names, or leaves them to a lead."""
    with transaction.atomic():
        if Stage.objects.filter(pk=stage.pk, auto_block=not wanted).update(auto_block=wanted):
            record(stage.project, user, f"switched blocks by itself {'on' if wanted else 'off'}", [stage])
    stage.auto_block = wanted


def mark_checked(stage: Stage) -> None:
    """Of the reference stages that check alike: one check looks at the answers of them all."""
    alike = _reference_stages(stage).filter(auto_block=stage.auto_block)
    alike.update(quality_checked_at=_scored(stage))


def _reference_stages(stage: Stage) -> QuerySet[Stage]:
    """The stages of the project whose answers tell how good a worker is: those that have a policy."""
    return Stage.objects.filter(project=stage.project_id).exclude(quality={})


def _stats(stage: Stage) -> QuerySet[WorkerStat]:
    return WorkerStat.objects.filter(stage__in=_reference_stages(stage), scored__gt=0)


def _scored(stage: Stage) -> int:
    """All answers ever compared with a reference: a block must not turn the clock back."""
    return _stats(stage).aggregate(sum=Sum("scored"))["sum"] or 0


def proposals(stage: Stage) -> list[Evidence]:
    """Who would be blocked now, worst first, by the answers of all reference stages of the project together.

    The average is that of all workers, those who are blocked already included.
    """
    if not stage.quality:
        return []
    standing = Block.objects.standing().filter(project=stage.project_id)
    blocked = set(standing.values_list("worker__worker_id", flat=True))
    sums = _stats(stage).values("worker__worker_id").annotate(n=Sum("scored"), right=Sum("correct")).order_by()
    tallies = [Tally(*row) for row in sums.values_list("worker__worker_id", "n", "right")]
    found = workers_to_block(tallies, Policy.from_dict(stage.quality))
    return [evidence for evidence in found if evidence.worker not in blocked]


def preview(stage: Stage, worker_ids: Iterable[str] | None = None) -> Preview:
    """What blocking these of the proposed workers leads to, all of them by default; changes nothing."""
    found = proposals(stage)
    wanted = {one.worker for one in found} if worker_ids is None else set(worker_ids)
    chosen = [one.worker for one in found if one.worker in wanted]
    answers = answers_of(stage.project, [one.worker for one in found])
    return Preview(found, chosen, answers, loss(stage.project, chosen), stage.project.account.left)


def block(stage: Stage, worker_ids: Iterable[str], user: User | None, at_most: Decimal | None = None) -> int:
    """Block these workers of the stage's proposals; returns how many blocks are new.

    Raises as `intend` does, and MarketplaceError when the grant has to wait: the intent stays and `finish` carries it
    out.
    """
    new = intend(stage, worker_ids, user, at_most)
    finish(stage)
    return new


def check_when_due(stage: Stage) -> int:
    """The check after every `check_every` scored answers; returns how many blocks are new. Raises MarketplaceError.

    It blocks only where a lead has allowed that it blocks by itself.
    """
    if not is_due(stage):
        return 0
    mark_checked(stage)
    found = [evidence.worker for evidence in proposals(stage)]
    return block(stage, found, None) if found and stage.auto_block else 0


def intend(stage: Stage, worker_ids: Iterable[str], user: User | None, at_most: Decimal | None = None) -> int:
    """Write the blocks down, which `finish` carries out; their answers stop counting now. Returns how many are new.

    `at_most` are the dollars that somebody confirmed for answers in their place.
    Raises NotBlockableError and LossGrownError; then nothing is changed.
    """
    wanted = set(worker_ids)
    evidence = {found.worker: found for found in proposals(stage)}
    standing = set(
        Block.objects.standing()
        .filter(project=stage.project_id, worker__worker_id__in=wanted)
        .values_list("worker__worker_id", flat=True)
    )
    unknown = wanted - set(evidence) - standing
    if unknown:
        raise NotBlockableError(
            f"Not among those who would be blocked: {', '.join(sorted(unknown))}. Look at the preview again. "
            "Nobody was blocked."
        )
    cost = loss(stage.project, wanted - standing).cost
    if at_most is not None and cost > at_most:
        raise LossGrownError(
            f"More answers came meanwhile: buying them again costs up to ${cost:,.2f} now, not ${at_most:,.2f}. "
            "Look at the preview again. Nobody was blocked."
        )
    return sum(_intend(stage, evidence[worker_id], user) for worker_id in sorted(wanted - standing))


def _intend(stage: Stage, evidence: Evidence, user: User | None) -> bool:
    """The intent row and the void labels together: from here on the worker's labels do not count."""
    worker = Worker.objects.get(worker_id=evidence.worker)
    try:
        with transaction.atomic():
            row = Block.objects.create(
                project=stage.project, stage=stage, worker=worker, evidence=evidence.to_dict(), created_by=user
            )
            recount(_answers(stage, worker))
            record(stage.project, user, "blocked", [row])
    except IntegrityError:
        return False
    return True


def _answers(stage: Stage, worker: Worker) -> QuerySet[Assignment]:
    """In the whole project."""
    return Assignment.objects.filter(stage__project=stage.project_id, worker=worker)


def finish(stage: Stage) -> int:
    """Make the grants and revocations of the stage's project that are intended and not made; returns how many.

    Raises UnreachableError when the marketplace does not answer. Another process at it makes it return 0; what is
    intended meanwhile, that process takes up.
    """
    with lease(f"blocks:{stage.project_id}", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        done, rows = 0, Block.objects.filter(project=stage.project_id)
        try:
            for made in CALLS.carry_out(stage.project, rows, held):
                done += made
        finally:
            if done:
                refresh_summary(stage)
        return done


def undo_preview(row: Block) -> Return:
    """What undoing the block leads to; changes nothing."""
    return restored(row.project, row.worker)


def undo(row: Block, user: User | None) -> None:
    """Revoke the qualification and let the worker's labels count again.

    Answers bought meanwhile stay paid; HITs whose answers are no longer wanted are marked by `deciding` and closed by
    `closing`.
    """
    with transaction.atomic():
        in_force = Block.objects.in_force().filter(pk=row.pk)
        if not in_force.update(state=Block.State.LIFTING, error=""):
            return
        answers = _answers(row.stage, row.worker)
        # Those that were submitted during the block are held for it.
        eligibility.recheck(list(answers.exclude(held="").order_by("pk").values_list("pk", flat=True)))
        recount(answers)
        record(row.project, user, "block undone", [row])
    finish(row.stage)


def unfinished() -> Sequence[int]:
    """Stages with grants or revocations that a crash or an absent marketplace left.

    Those that the marketplace refused are tried again with the project's next block or undo.
    """
    states = [Block.State.INTENDED, Block.State.LIFTING]
    return sorted(set(Block.objects.filter(state__in=states, error="").values_list("stage", flat=True)))


def held_up(stage: Stage) -> list[str]:
    """Blocks of this stage that the marketplace did not grant or revoke, as sentences. Its cost is bounded."""
    rows = Block.objects.filter(stage=stage, state__in=[Block.State.INTENDED, Block.State.LIFTING]).exclude(error="")
    verbs = {Block.State.INTENDED: "blocking", Block.State.LIFTING: "unblocking"}
    return [
        f"The {verbs[Block.State(row.state)]} of {row.worker.worker_id} did not reach the marketplace. {row.error}"
        for row in rows.select_related("worker").order_by("id")[:SHOWN]
    ]
