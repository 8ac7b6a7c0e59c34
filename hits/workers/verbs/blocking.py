"""Blocking: workers significantly below the crowd, by a granted qualification, with evidence and an undo.

Source: S. Zhang et al. (2018), ReCoRD, section 3.4. The stages of a project that have a blocking policy are its
reference stages: one tally a worker goes over all of them that have the same measure, and each can check by its own
policy. In any stage with a crowd a lead may block workers by hand, with a reason; the figures of that moment are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from hits.answers.rules import eligibility
from hits.core.action_log import record
from hits.core.jobs.leases import lease
from hits.judging.rules.counting import recount
from hits.judging.rules.summaries import refresh_summary
from hits.models import Assignment, Block, Stage, Webhook, WebhookDelivery, Worker
from hits.publishing.rules.hit_items import all_item_pks, lock_items
from hits.refusals import Refused
from hits.stats.blocking import Evidence, Policy
from hits.workers.rules import block_proposals, worker_table
from hits.workers.rules.block_losses import Loss, Return, answers_of, loss, restored
from hits.workers.rules.block_proposals import proposals, reference_stages, scored
from hits.workers.rules.grant_rows import QualificationCalls
from hits.workers.rules.project_qualifications import POOR_QUALITY

LEASE_SECONDS = 30
CALLS = QualificationCalls[Block](
    give=Block.State.INTENDED,
    given=Block.State.GRANTED,
    take=Block.State.LIFTING,
    taken=Block.State.UNDONE,
    taken_at="undone_at",
    reason="The block or pause is over.",
    key=lambda row: POOR_QUALITY,
)
LONGEST_REASON = 1000
MOST_HOURS = 24 * 30
MOST_AT_ONCE = 500
# Sentences on the stage's page; there are more only when the marketplace refuses every grant.
SHOWN = 5


@dataclass(frozen=True)
class Chosen:
    """What blocking these workers of the stage by hand leads to. Money in dollars; `left` is what the budget has left.

    `answers` are those of each worker that count now, in all stages of the project.
    """

    rows: list[worker_table.WorkerRow]
    answers: Mapping[str, int]
    loss: Loss
    left: Decimal


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
    """Raises Refused (no_policy)."""
    if not stage.quality:
        raise Refused("no_policy", f"{stage.title} has no blocking policy, so nobody can be below its floor.")


def is_due(stage: Stage) -> bool:
    """Whether another `check_every` answers were scored in the project's reference stages since the last check."""
    if not stage.quality:
        return False
    every = Policy.from_dict(stage.quality).check_every
    return scored(stage) // every > stage.quality_checked_at // every


def block_by_itself(stage: Stage, wanted: bool, user: User | None) -> None:
    """Whether the check after every so many answers blocks those whom it names, or leaves them to a lead."""
    with transaction.atomic():
        if Stage.objects.filter(pk=stage.pk, auto_block=not wanted).update(auto_block=wanted):
            record(stage.project, user, f"switched automatic blocks {'on' if wanted else 'off'}", [stage])
    stage.auto_block = wanted


def mark_checked(stage: Stage) -> None:
    """Of the reference stages that check alike: one check looks at the answers of them all."""
    alike = [one.pk for one in reference_stages(stage) if one.auto_block == stage.auto_block]
    Stage.objects.filter(pk__in=alike).update(quality_checked_at=scored(stage))


def preview(stage: Stage, worker_ids: Iterable[str] | None = None) -> Preview:
    """What blocking these of the proposed workers leads to, all of them by default; changes nothing."""
    found = proposals(stage)
    wanted = {one.worker for one in found} if worker_ids is None else set(worker_ids)
    chosen = [one.worker for one in found if one.worker in wanted]
    answers = answers_of(stage.project, [one.worker for one in found])
    return Preview(found, chosen, answers, loss(stage.project, chosen), stage.project.account.left)


def block(
    stage: Stage, worker_ids: Iterable[str], user: User | None, at_most: Decimal | None = None, *, tell: bool = False
) -> int:
    """Block these workers of the stage's proposals, and `tell` them why; returns how many blocks are new.

    Raises as `intend` does, and MarketplaceError when the grant has to wait: the intent stays and `finish` carries it
    out.
    """
    new = intend(stage, worker_ids, user, at_most, tell=tell)
    finish(stage)
    return new


def check_when_due(stage: Stage) -> int:
    """The check after every `check_every` scored answers; returns how many blocks are new. Raises MarketplaceError.

    It blocks only where a lead has allowed that it blocks by itself, and tells those whom it blocks why.
    """
    if not is_due(stage):
        return 0
    mark_checked(stage)
    found = [evidence.worker for evidence in proposals(stage)]
    return block(stage, found, None, tell=True) if found and stage.auto_block else 0


def intend(
    stage: Stage, worker_ids: Iterable[str], user: User | None, at_most: Decimal | None = None, *, tell: bool = False
) -> int:
    """Write the blocks down, which `finish` carries out; their answers stop counting now. Returns how many are new.

    `at_most` are the dollars that somebody confirmed for answers in their place. With `tell` a message to each is
    written down too, with the evidence and what happens to their answers.
    Raises Refused (not_blockable) and Refused (loss_grown); then nothing is changed.
    """
    wanted = set(worker_ids)
    evidence = {found.worker: found for found in proposals(stage)}
    standing = _standing(stage, wanted)
    unknown = wanted - set(evidence) - standing
    if unknown:
        raise Refused(
            "not_blockable",
            f"Not among those who would be blocked: {', '.join(sorted(unknown))}. Look at the preview again. "
            "Nobody was blocked.",
        )
    _refuse_beyond(stage, wanted - standing, at_most)
    new = sorted(wanted - standing)
    why = {worker_id: block_proposals.why_of(evidence[worker_id]) if tell else "" for worker_id in new}
    return sum(_intend(stage, worker_id, evidence[worker_id].to_dict(), user, why[worker_id]) for worker_id in new)


def preview_chosen(stage: Stage, worker_ids: Iterable[str]) -> Chosen:
    """What blocking these workers of the stage by hand leads to; changes nothing.

    Who is blocked already is left out. Raises Refused (not_blockable) for those who never answered in the stage.
    """
    rows = _chosen(stage, set(worker_ids))
    ids = [row.stat.worker.worker_id for row in rows]
    return Chosen(rows, answers_of(stage.project, ids), loss(stage.project, ids), stage.project.account.left)


def intend_by_hand(
    stage: Stage,
    worker_ids: Iterable[str],
    reason: str,
    user: User | None,
    at_most: Decimal | None = None,
    *,
    told: str | None = None,
) -> int:
    """Write down blocks of workers whom a lead chose, with the reason and their figures; `finish` carries them out.

    Returns how many are new. `at_most` are the dollars that somebody confirmed for answers in their place. `told` is
    the reason that the workers read, in a message that is written down too; None tells them nothing. Raises
    Refused (reason_refused, not_blockable, loss_grown); then nothing is changed.
    """
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON:
        raise Refused(
            "reason_refused",
            f"Write a reason of at most {LONGEST_REASON:,} characters: it stays with the block. Nobody was blocked.",
            status=400,
        )
    why = (told or "").strip()
    if told is not None and not 1 <= len(why) <= block_proposals.LONGEST_WHY:
        raise Refused(
            "reason_refused",
            f"Write why, of at most {block_proposals.LONGEST_WHY:,} characters, for the workers to read, or do not "
            "write to them. Nobody was blocked.",
            status=400,
        )
    rows = {row.stat.worker.worker_id: row for row in _chosen(stage, set(worker_ids))}
    _refuse_beyond(stage, set(rows), at_most)
    return sum(_intend(stage, worker_id, _by_hand(row, reason), user, why) for worker_id, row in sorted(rows.items()))


def _chosen(stage: Stage, wanted: set[str]) -> list[worker_table.WorkerRow]:
    stats = stage.worker_stats.select_related("worker").filter(worker__worker_id__in=wanted)
    rows = worker_table.rows_of(stage, stats.order_by("worker__worker_id"))
    if unknown := wanted - {row.stat.worker.worker_id for row in rows}:
        raise Refused(
            "not_blockable", f"Nobody of this stage: {', '.join(sorted(unknown)[:SHOWN])}. Nobody was blocked."
        )
    return [row for row in rows if row.block is None or row.block.until]


def unguarded(stage: Stage) -> list[str]:
    """Titles of the project's stages whose HITs do not ask at the marketplace who is blocked."""
    stages = stage.project.stages.filter(crowd=True).order_by("position")
    asked = {one.pk for one in stages if any(own["qualification"] == POOR_QUALITY for own in one.requirements)}
    return [one.title for one in stages if one.pk not in asked]


def _by_hand(row: worker_table.WorkerRow, reason: str) -> dict[str, Any]:
    """Evidence of a block by hand: its keys are `by_hand`, `worker`, `reason` and `figures`, as the table has them."""
    cells = zip(worker_table.COLUMNS, row.cells(), strict=True)
    figures = {name: str(cell) if isinstance(cell, Decimal) else cell for name, cell in cells}
    del figures["worker_id"], figures["state"]
    figures["why"] = row.stands_out
    return {"by_hand": True, "worker": row.stat.worker.worker_id, "reason": reason, "figures": figures}


def _standing(stage: Stage, worker_ids: Iterable[str]) -> set[str]:
    rows = Block.objects.standing().blocks().filter(project=stage.project_id, worker__worker_id__in=worker_ids)
    return set(rows.values_list("worker__worker_id", flat=True))


def _refuse_beyond(stage: Stage, worker_ids: Iterable[str], at_most: Decimal | None) -> None:
    """Raises Refused (loss_grown)."""
    cost = loss(stage.project, worker_ids).cost
    if at_most is not None and cost > at_most:
        raise Refused(
            "loss_grown",
            f"More answers came meanwhile: buying them again costs up to ${cost:,.2f} now, not ${at_most:,.2f}. "
            "Look at the preview again. Nobody was blocked.",
        )


def _intend(stage: Stage, worker_id: str, evidence: Mapping[str, Any], user: User | None, why: str) -> bool:
    """The intent row and the void labels together: from here on the worker's labels do not count. With `why` the
    message to the worker as well.
    """
    worker = Worker.objects.get(worker_id=worker_id)
    try:
        with transaction.atomic():
            row = _from_pause(stage, worker, evidence, user) or Block.objects.create(
                project=stage.project,
                stage=stage,
                worker=worker,
                # Of a worker of a file of results no marketplace is told.
                state=Block.State.GRANTED if worker.imported_into_id else Block.State.INTENDED,
                evidence=evidence,
                created_by=user,
            )
            recount(_answers(stage, worker))
            if why:
                block_proposals.write(row, why, user)
            record(stage.project, user, "blocked", [row])
            facts = {"worker": worker_id, "stage": stage.key, "block": row.pk, "by_hand": "by_hand" in evidence}
            WebhookDelivery.objects.announce(stage.project_id, Webhook.Event.WORKER_BLOCKED, lambda: [facts])
    except IntegrityError:
        return False
    return True


def _from_pause(stage: Stage, worker: Worker, evidence: Mapping[str, Any], user: User | None) -> Block | None:
    """The pause of the worker as a block from now on; None without one. What it grants, it grants again."""
    pauses = Block.objects.standing().select_for_update(of=("self",))
    row = pauses.filter(project=stage.project_id, worker=worker, until__isnull=False).first()
    if row:
        row.stage, row.evidence, row.created_by = stage, dict(evidence), user
        row.state, row.created_at, row.until, row.error = Block.State.INTENDED, timezone.now(), None, ""
        row.save(update_fields=["stage", "evidence", "created_by", "state", "created_at", "until", "error"])
    return row


# A pause


def pause(stage: Stage, worker_ids: Iterable[str], hours: int, reason: str, user: User | None) -> int:
    """Write down that these workers of the stage get no more HITs of the project for so many hours; `finish` carries
    it out. Returns how many pauses are new or end later. Who is blocked stays it.

    Nothing that was submitted stops counting, and who has begun an assignment finishes it. Raises Refused
    (reason_refused), for hours as well, and (not_blockable); then nothing is changed.
    """
    reason = reason.strip()
    if not 1 <= hours <= MOST_HOURS or len(reason) > LONGEST_REASON:
        raise Refused(
            "reason_refused",
            f"A pause lasts 1 to {MOST_HOURS} hours, and its reason has at most {LONGEST_REASON:,} characters. Nobody "
            "was paused.",
            status=400,
        )
    rows = _chosen(stage, set(worker_ids))
    if imported := [row.stat.worker.worker_id for row in rows if row.stat.worker.imported_into_id]:
        raise Refused(
            "not_blockable",
            f"From a file of results, and at no marketplace: {', '.join(imported[:SHOWN])}. A pause would keep them "
            "from nothing. Nobody was paused.",
        )
    until = timezone.now() + timedelta(hours=hours)
    return sum(_pause(stage, row, until, reason, user) for row in rows)


def _pause(stage: Stage, chosen: worker_table.WorkerRow, until: datetime, reason: str, user: User | None) -> bool:
    worker = chosen.stat.worker
    try:
        with transaction.atomic():
            standing = Block.objects.standing().select_for_update(of=("self",))
            row = standing.filter(project=stage.project_id, worker=worker).first()
            row = row or Block(project=stage.project, worker=worker)
            if row.pk and (row.until is None or row.until >= until):
                return False
            row.stage, row.created_by, row.evidence = stage, user, _by_hand(chosen, reason)
            row.until, row.state, row.error = until, Block.State.INTENDED, ""
            row.save()
            record(stage.project, user, "paused", [row])
    except IntegrityError:
        return False
    return True


def end_pauses() -> int:
    """Pauses whose time is over end; `finish` tells the marketplace. Returns how many."""
    over = Block.objects.keeping_out().filter(until__lte=timezone.now())
    return over.update(state=Block.State.LIFTING, error="")


def _answers(stage: Stage, worker: Worker) -> QuerySet[Assignment]:
    """In the whole project."""
    return Assignment.objects.filter(stage__project=stage.project_id, worker=worker)


def _lock(answers: QuerySet[Assignment]) -> None:
    """These answers of one worker, the worker, and what the answers are about."""
    rows = list(answers.select_related("hit").defer("answer"))
    eligibility.lock([row.pk for row in rows])
    list(Worker.objects.select_for_update(no_key=True).filter(pk__in=answers.values("worker")).values_list("pk"))
    lock_items({*all_item_pks(row.hit for row in rows if row.hit_id), *(row.item_id for row in rows if row.item_id)})


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
    """Revoke the qualification and let the worker's labels count again; a pause ends.

    Answers bought meanwhile stay paid; HITs whose answers are no longer wanted are marked by `deciding` and closed by
    `closing`.
    """
    with transaction.atomic():
        keeping_out = Block.objects.keeping_out().filter(pk=row.pk)
        told = row.worker.imported_into_id is None
        ended = {"state": Block.State.LIFTING} if told else {"state": Block.State.UNDONE, "undone_at": timezone.now()}
        if not keeping_out.update(**ended, error=""):
            return
        block_proposals.withdraw(row)
        answers = _answers(row.stage, row.worker)
        _lock(answers)
        # Those that were submitted during the block are held for it.
        eligibility.recheck(list(answers.exclude(held="").order_by("pk").values_list("pk", flat=True)))
        recount(answers)
        record(row.project, user, "block undone" if row.until is None else "pause ended", [row])
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
