"""Fields that nobody knew before an answer brought them: they become a part of the task, so every table has them."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from hits.core.action_log import record
from hits.core.models.actions import Action
from hits.projects.rules.plugins import protocol_of
from hits.protocols.optional import GrowingProtocol
from hits.stages.models import Stage

TOOK_UP = "took up fields that answers brought"


def take_up(stage: Stage, units: Iterable[str]) -> None:
    """Write the units that the task does not name yet into its settings and into the activity log.

    To be called before the labels are written: whoever sees them finds their units in the settings.
    """
    protocol = protocol_of(stage)
    if not isinstance(protocol, GrowingProtocol):
        return
    there, brought = protocol.settings(stage.settings), list(dict.fromkeys(units))
    if protocol.grown(there, brought) == there:
        return
    with transaction.atomic():
        row = Stage.objects.select_for_update(of=("self",), no_key=True).select_related("project").get(pk=stage.pk)
        there = protocol.settings(row.settings)
        row.settings = stage.settings = protocol.grown(there, brought)
        if row.settings != there:
            row.save(update_fields=["settings"])
            new = sorted(set(protocol.levels(row.settings)) - set(protocol.levels(there)))
            record(row.project, None, TOOK_UP, [row], {"changed": new})


def brought(stage: Stage) -> list[str]:
    """The units that answers brought and nobody had named, the first one first."""
    taken_up = Action.objects.filter(stage=stage, verb=TOOK_UP).order_by("pk").values_list("detail", flat=True)
    return [unit for detail in taken_up for unit in detail["changed"]]
