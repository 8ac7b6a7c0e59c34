"""Model annotators of a project: registered with a token that is shown once, and ended."""

from __future__ import annotations

import secrets
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from hits.accounts.models import token_digest
from hits.core.action_log import record
from hits.core.models.fields import MICRO
from hits.model_assist.rules import model_leases
from hits.models import ModelAnnotator, Project
from hits.projects.rules.archived import refuse_archived
from hits.refusals import Refused
from hits.text.written import line_fault

PREFIX = "model_"
SHOWN = len(PREFIX) + 4
MOST_LIVING = 50
LONGEST_NAME, LONGEST_VERSION = 60, 40
MOST_COST = Decimal(1000)


def register(
    project: Project, name: str, version: str, cost_per_answer: Decimal | None, user: User | None
) -> tuple[ModelAnnotator, str]:
    """A new model's row, and its token, which is nowhere kept. `cost_per_answer` is in dollars, None: not known.

    Raises Refused (model_refused, model_taken), ArchivedError.
    """
    name, version = _one_line(name, "name", LONGEST_NAME), _one_line(version, "version", LONGEST_VERSION)
    if cost_per_answer is not None and not 0 <= cost_per_answer <= MOST_COST:
        raise Refused(
            "model_refused", f"The cost of an answer is $0 to ${MOST_COST:,}. Nothing was changed.", status=400
        )
    if cost_per_answer is not None and cost_per_answer != cost_per_answer.quantize(MICRO):
        raise Refused(
            "model_refused", "The cost of an answer has at most six decimals. Nothing was changed.", status=400
        )
    token = PREFIX + secrets.token_urlsafe(32)
    try:
        with transaction.atomic():
            # One at a time in a project, so that the limit holds.
            Project.objects.select_for_update(no_key=True).get(pk=project.pk)
            refuse_archived(project)
            if project.model_annotators.living().count() >= MOST_LIVING:
                raise Refused("model_taken", f"This project has {MOST_LIVING} models. End one that is not needed.")
            row = ModelAnnotator.objects.create(
                project=project,
                name=name,
                version=version,
                digest=token_digest(token),
                start=token[:SHOWN],
                cost_per_answer=cost_per_answer,
                created_by=user,
            )
            record(project, user, "registered a model", detail={"model": str(row)})
    except IntegrityError as error:
        raise Refused(
            "model_taken",
            f"{name} {version} is registered already. End it first, or choose another version. Nothing was changed.",
        ) from error
    return row, token


def _one_line(text: str, what: str, longest: int) -> str:
    text = " ".join(text.split())
    if fault := line_fault(text, longest):
        raise Refused("model_refused", f"The {what} of a model {fault}. Nothing was changed.", status=400)
    return text


def end(row: ModelAnnotator, user: User | None) -> None:
    """Its token opens nothing from now on. Its answers stay, and so does what it decided. Raises Refused."""
    with transaction.atomic():
        if not ModelAnnotator.objects.living().filter(pk=row.pk).update(ended_at=timezone.now()):
            raise Refused("model_ended", f"{row} has ended already.")
        row.leases.all().delete()
        record(row.project, user, "ended a model", detail={"model": str(row)})
    row.refresh_from_db()


def give_again(row: ModelAnnotator, user: User | None) -> int:
    """Items that it was given as often as any and has not answered are given to it as often once more; how many.

    Raises Refused (model_ended) and ArchivedError.
    """
    refuse_archived(row.project)
    with transaction.atomic():
        # As whoever takes items, so that none is given while its count is set back.
        if not ModelAnnotator.objects.living().select_for_update(no_key=True).filter(pk=row.pk):
            raise Refused("model_ended", f"{row} has ended already.")
        count = model_leases.not_given_again([row]).update(times=0)
        if count:
            record(row.project, user, "gave items again to a model", detail={"model": str(row), "items": count})
    return count
