"""Model annotators of a project: registered with a token that is shown once, and ended."""

from __future__ import annotations

import secrets
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables
from rest_framework import serializers

from hits.accounts.models import token_digest
from hits.core.roles import MANAGER
from hits.core.targets import PROJECT
from hits.core.verbs import Unchanged, verb
from hits.model_assist.api.registered import MODEL, TAG, CostField, ModelShape, RegisteredModel
from hits.model_assist.rules import model_leases
from hits.models import ModelAnnotator, Project
from hits.refusals import Refused
from hits.text.written import line_fault

PREFIX = "model_"
SHOWN = len(PREFIX) + 4
MOST_LIVING = 50
LONGEST_NAME, LONGEST_VERSION = 60, 40


class NewModel(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=LONGEST_NAME, label="Name", help_text="Of the model, such as “small-bert”.")
    version = serializers.CharField(
        max_length=LONGEST_VERSION,
        label="Version",
        help_text="What answers differently is another version: they are compared.",
    )
    cost_per_answer = CostField(
        default=None,
        label="Cost of an answer, $",
        help_text="Dollars, of an answer that states no cost; up to six decimals. Nothing is paid from here. "
        "Empty: not known.",
        style={"inputmode": "decimal"},
    )


@verb(
    "models.register", "Register a model that answers", tag=TAG, on=PROJECT, role=MANAGER, route="POST models/",
    summary="Register a model; its token is shown once", status=201, takes=NewModel, gives=RegisteredModel,
    shows_once=("token", "name", "version"), leads_to=lambda row: ("models", row.project.slug),
    activity="registered a model {model}", makes="model", refuses=("model_refused", "model_taken"),
)  # fmt: skip
@sensitive_variables("token")
def register(
    project: Project, user: User | None, *, name: str, version: str, cost_per_answer: Decimal | None = None
) -> ModelAnnotator:
    """A new model with its `token`, which is nowhere kept. `cost_per_answer` is in dollars, None: not known."""
    name, version = _one_line(name, "name", LONGEST_NAME), _one_line(version, "version", LONGEST_VERSION)
    living = project.model_annotators.living()
    if living.count() >= MOST_LIVING:
        raise Refused("model_taken", f"This project has {MOST_LIVING} models. End one that is not needed.")
    if living.filter(name=name, version=version).exists():
        raise Refused(
            "model_taken",
            f"{name} {version} is registered already. End it first, or choose another version. Nothing was changed.",
        )
    token = PREFIX + secrets.token_urlsafe(32)
    row = ModelAnnotator.objects.create(
        project=project,
        name=name,
        version=version,
        digest=token_digest(token),
        start=token[:SHOWN],
        cost_per_answer=cost_per_answer,
        created_by=user,
    )
    row.token = token  # type: ignore[attr-defined]
    return row


def _one_line(text: str, what: str, longest: int) -> str:
    text = " ".join(text.split())
    if fault := line_fault(text, longest):
        message = f"The {what} of a model {fault}. Nothing was changed."
        raise Refused("model_refused", message, status=400, field=what)
    return text


@verb(
    "models.end", "End a model", tag=TAG, on=MODEL, role=MANAGER, route="POST end/", gives=ModelShape,
    summary="End a model: its token opens nothing any more, and its answers stay", activity="ended a model {model}",
    done=lambda row, values: f"{row} has ended: its token opens nothing any more. Its answers stay.",
    refuses=("model_ended",),
)  # fmt: skip
def end(row: ModelAnnotator, user: User | None) -> ModelAnnotator:
    """What it decided stays, too."""
    _refuse_ended(row)
    row.ended_at = timezone.now()
    row.save(update_fields=["ended_at"])
    row.leases.all().delete()
    return row


def _refuse_ended(row: ModelAnnotator) -> None:
    if row.ended_at:
        raise Refused("model_ended", f"{row} has ended already.")


class GivenAgain(serializers.Serializer[Any]):
    items = serializers.IntegerField(help_text="That it was given too often before, and is given again now.")


@verb(
    "models.give_again", "Give a model items again", tag=TAG, on=MODEL, role=MANAGER, route="POST give-again/",
    summary="Give a model again the items that it was given too often without an answer", gives=GivenAgain,
    activity="gave items again to a model {model}", detail=lambda row, given, values: {"items": given["items"]},
    done=lambda given, values: given["said"], refuses=("model_ended",),
)  # fmt: skip
def give_again(row: ModelAnnotator, user: User | None) -> dict[str, Any] | Unchanged:
    """Items that it was given as often as any and has not answered are given to it as often once more."""
    _refuse_ended(row)
    count = model_leases.not_given_again([row]).update(times=0)
    items = "1 item is" if count == 1 else f"{count:,} items are"
    given: dict[str, Any] = {"items": count, "said": f"{items} given to {row} again."}
    return given if count else Unchanged(given, given["said"])
