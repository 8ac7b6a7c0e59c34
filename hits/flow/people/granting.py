"""Granting: qualifications of the project that a lead gives to workers, or that an answer in a stage gives.

A row is written before the marketplace is asked, so that a grant or its withdrawal survives a crash and a silent
marketplace; what that one refuses stands in the row, and holds up nobody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from hits.domain import eligibility
from hits.domain.leases import lease
from hits.domain.own_qualifications import held_in, withdrawn_since
from hits.domain.qualification_calls import QualificationCalls
from hits.formats.payments import read_worker_id
from hits.models import Grant, Project, Stage, Worker
from hits.refusals import Refusal

State = Grant.State
LEASE_SECONDS = 30
MOST_WORKERS = 1000
# Faults of one list that are shown.
SHOWN = 5
CALLS = QualificationCalls[Grant](
    give=State.INTENDED,
    given=State.GRANTED,
    take=State.WITHDRAWING,
    taken=State.WITHDRAWN,
    taken_at="withdrawn_at",
    reason="The project took this qualification back.",
    key=lambda row: row.key,
    value=lambda row: row.value,
)


class UnknownKeyError(Refusal):
    """No stage of the project gives this qualification, or asks who holds it."""

    error_code = "unknown_qualification"


class WorkersRefusedError(Refusal):
    """What was written is no list of worker ids. Nothing was changed."""

    error_code = "workers_refused"
    http_status = 400


def grant(project: Project, key: str, worker_ids: Iterable[str], user: User | None) -> int:
    """Give the qualification to these workers; returns how many did not have it.

    Raises what `intend` raises, or MarketplaceError when the calls have to wait: the intent stays and `finish`
    carries it out.
    """
    new = intend(project, key, worker_ids, user)
    finish(project)
    return new


def intend(project: Project, key: str, worker_ids: Iterable[str], user: User | None) -> int:
    """Write down that these workers shall have it; returns how many did not. Who has it keeps it as it is.

    A grant that the marketplace refused is tried again. Raises UnknownKeyError, WorkersRefusedError.
    """
    refuse_unknown(project, key)
    wanted = _read(worker_ids)
    Worker.objects.bulk_create([Worker(worker_id=one) for one in wanted], ignore_conflicts=True)
    workers = list(Worker.objects.filter(worker_id__in=wanted).order_by("pk").values_list("pk", flat=True))
    with transaction.atomic():
        rows = Grant.objects.filter(project=project, key=key, worker__in=workers)
        value = _value(project, key)
        turned = rows.filter(state=State.WITHDRAWING).update(
            state=State.INTENDED, withdrawn_at=None, error="", stage=None, created_by=user, value=value
        )
        rows.filter(state=State.INTENDED).update(error="")
        standing = set(rows.exclude(state=State.WITHDRAWN).values_list("worker", flat=True))
        return turned + _write(project, key, [pk for pk in workers if pk not in standing], created_by=user, value=value)


def _value(project: Project, key: str) -> int:
    """What a lead gives: of a test, all right."""
    return 100 if project.stages.filter(grants=key, screening_share__gt=0).exists() else 1


def refuse_unknown(project: Project, key: str) -> None:
    """Raises UnknownKeyError."""
    there = [held.key for held in held_in(project)]
    if key not in there:
        known = f"There are: {', '.join(there)}." if there else "Its recipe has none."
        raise UnknownKeyError(f"No stage of this project gives or asks for a qualification “{key[:60]}”. {known}")


def _read(worker_ids: Iterable[str]) -> list[str]:
    """Each once, in their order. Raises WorkersRefusedError."""
    wanted = list(dict.fromkeys(text for one in worker_ids if (text := one.strip())))
    if not wanted:
        raise WorkersRefusedError("Write at least one worker id, one a line.")
    if len(wanted) > MOST_WORKERS:
        raise WorkersRefusedError(f"These are {len(wanted):,} workers; give at most {MOST_WORKERS:,} at once.")
    faults = [fault for one in wanted if (fault := _fault(one))]
    if faults:
        rest = f" And {len(faults) - SHOWN:,} more." if len(faults) > SHOWN else ""
        raise WorkersRefusedError(" ".join(faults[:SHOWN]) + rest)
    return wanted


def _fault(text: str) -> str:
    try:
        read_worker_id(text)
    except ValueError as error:
        return str(error)
    return ""


def _write(project: Project, key: str, workers: Sequence[int], **columns: object) -> int:
    """Another process may write the same: each worker has one standing grant of a qualification."""
    rows = [Grant(project=project, key=key, worker_id=pk, **columns) for pk in workers]
    Grant.objects.bulk_create(rows, batch_size=2000, ignore_conflicts=True)
    return len(rows)


def grant_for_answers(stage: Stage) -> int:
    """Write down that everybody who has answered in the stage shall have what it gives; returns how many had not.

    Any scored answer of an eligible worker counts, also a rejected one: what it is about, its worker has seen. From
    whom a lead took the qualification back, a later answer alone gives it again. `finish` carries it out. The result
    of a test is written by `screening.grade`.
    """
    if not stage.grants or stage.screening_share:
        return 0
    standing = Grant.objects.filter(project=stage.project_id, key=stage.grants, worker=OuterRef("worker"))
    answers = (
        stage.assignments.from_marketplace()
        .filter(eligibility.ELIGIBLE, scored=True)
        .exclude(Exists(standing.exclude(state=State.WITHDRAWN)))
    )
    answers = answers.exclude(withdrawn_since("worker__worker_id", "submitted_at"))
    workers = list(answers.order_by("worker_id").values_list("worker_id", flat=True).distinct())
    return _write(stage.project, stage.grants, workers, stage=stage)


def withdraw(row: Grant) -> None:
    """Take the qualification back. Raises MarketplaceError when the call has to wait."""
    intend_withdrawal(row)
    finish(row.project)


def intend_withdrawal(row: Grant) -> bool:
    """Write down that the worker shall not have it any more; False when that is so already."""
    standing = Grant.objects.filter(pk=row.pk, state__in=[State.INTENDED, State.GRANTED])
    return bool(standing.update(state=State.WITHDRAWING, withdrawn_at=timezone.now(), error=""))


def finish(project: Project) -> int:
    """Make the grants and withdrawals that are written down and not made; returns how many.

    Raises UnreachableError when the marketplace does not answer. Another process at it makes it return 0; what is
    written meanwhile, that process takes up.
    """
    with lease(f"grants:{project.pk}", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        return sum(CALLS.carry_out(project, Grant.objects.filter(project=project), held))


def unfinished() -> list[int]:
    """Projects with grants or withdrawals that a crash or an absent marketplace left.

    Those that the marketplace refused are tried again with the project's next one.
    """
    waiting = Grant.objects.filter(state__in=[State.INTENDED, State.WITHDRAWING], error="")
    return sorted(set(waiting.values_list("project", flat=True)))
