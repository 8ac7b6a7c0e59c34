"""Granting: qualifications of the project that a lead gives to workers, or that an answer in a stage gives.

A row is written before the marketplace is asked, so that a grant or its withdrawal survives a crash and a silent
marketplace; what that one refuses stands in the row, and holds up nobody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef
from rest_framework import serializers

from hits.answers.rules import eligibility
from hits.core.jobs import queue
from hits.core.jobs.leases import lease
from hits.core.roles import MANAGER
from hits.core.targets import PROJECT
from hits.core.verbs import Unchanged, verb
from hits.formats.inputs.worker_lists import MOST_BYTES, read_worker_list
from hits.models import Grant, Project, Stage
from hits.refusals import Refused
from hits.text.language.amounts import amount_is
from hits.workers.api.grants import GRANT, TAG, GrantShape
from hits.workers.rules import grant_rows
from hits.workers.rules.grant_rows import QualificationCalls, intend_withdrawal
from hits.workers.rules.project_qualifications import held_in, withdrawn_since

State = Grant.State
LEASE_SECONDS = 30
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


ALL_HAVE_IT = "Everybody on this list has it already."


class NewGrants(serializers.Serializer[Any]):
    key = serializers.SlugField(label="Qualification", help_text="Its key.")
    worker_ids = serializers.ListField(
        child=serializers.CharField(max_length=64),
        max_length=grant_rows.MOST_WORKERS,
        label="Workers",
        help_text="Their ids at the marketplace, one a line. Who has the qualification already keeps it.",
        style={
            "kind": "text area",
            "file": lambda file: read_worker_list(file.read(MOST_BYTES + 1)),
            "file_help": "One id a line, or a table (CSV) with a column worker_id. "
            f"At most {grant_rows.MOST_WORKERS:,} workers.",
        },
    )


def _given(new: int, values: Mapping[str, Any]) -> str:
    return f"{amount_is(new, 'worker')} being given the qualification." if new else ALL_HAVE_IT


@verb(
    "grants.give", "Give a qualification", tag=TAG, on=PROJECT, role=MANAGER, route="POST grants/",
    summary="Give a qualification to workers; who has it keeps it", takes=NewGrants, see="grants.list",
    activity="gave a qualification {key}", detail=lambda project, new, values: {"workers": new}, done=_given,
    refuses=("unknown_qualification",), after=lambda project, _: queue.start_named("finish_grants", project.pk),
)  # fmt: skip
def give(project: Project, user: User | None, *, key: str, worker_ids: Iterable[str]) -> int | Unchanged:
    """How many did not have it. Raises Refused (unknown_qualification, workers_refused)."""
    return intend(project, key, worker_ids, user) or Unchanged(0, ALL_HAVE_IT)


@verb(
    "grants.withdraw", "Withdraw a qualification", tag=TAG, on=GRANT, role=MANAGER, route="POST withdraw/", status=202,
    summary="Take a qualification back from a worker; giving it again undoes that", gives=GrantShape,
    activity="withdrew a qualification {key}", detail=lambda row, _, values: {"worker": row.worker.worker_id},
    done=lambda row, values: (
        f"The qualification is being taken back from {row.worker.worker_id}. You can give it again at any time."
    ),
    after=lambda row, _: queue.start_named("finish_grants", row.project_id),
)  # fmt: skip
def take_back(row: Grant, user: User | None) -> Grant | Unchanged:
    if not intend_withdrawal(row):
        return Unchanged(row, f"{row.worker.worker_id} does not have it any more.")
    row.refresh_from_db(fields=["state", "withdrawn_at", "error"])
    return row


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

    A grant that the marketplace refused is tried again. Raises Refused (unknown_qualification, workers_refused).
    """
    refuse_unknown(project, key)
    return grant_rows.intend(project, key, grant_rows.read_workers(worker_ids), user, _value(project, key))


def _value(project: Project, key: str) -> int:
    """What a lead gives: of a test, all right."""
    return 100 if project.stages.filter(grants=key, screening_share__gt=0).exists() else 1


def refuse_unknown(project: Project, key: str) -> None:
    """Raises Refused (unknown_qualification)."""
    there = [held.key for held in held_in(project)]
    if key not in there:
        known = f"There are: {', '.join(there)}." if there else "Its recipe has none."
        raise Refused(
            "unknown_qualification", f"No stage of this project gives or asks for a qualification “{key[:60]}”. {known}"
        )


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
    return grant_rows.write(stage.project, stage.grants, workers, stage=stage)


def withdraw(row: Grant) -> None:
    """Take the qualification back. Raises MarketplaceError when the call has to wait."""
    intend_withdrawal(row)
    finish(row.project)


def finish(project: Project) -> int:
    """Make the grants and withdrawals that are written down and not made; returns how many.

    Raises UnreachableError when the marketplace does not answer. Another process at it makes it return 0; what is
    written meanwhile, that process takes up, or `resume_all` does.
    """
    with lease(grant_rows.lease_name(project.pk), seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        return sum(CALLS.carry_out(project, Grant.objects.filter(project=project), held))


def unfinished() -> list[int]:
    """Projects with grants or withdrawals that a crash or an absent marketplace left.

    Those that the marketplace refused are tried again with the project's next one.
    """
    waiting = Grant.objects.filter(state__in=[State.INTENDED, State.WITHDRAWING], error="")
    return sorted(set(waiting.values_list("project", flat=True)))
