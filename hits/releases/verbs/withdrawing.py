"""Withdrawing a release, and what a lead states of the next ones: licence, citation and a description.

A withdrawn release is marked and its successor named; its files stay, and its splits count as released.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from rest_framework import serializers

from hits.core.action_log import record
from hits.core.roles import MANAGER
from hits.core.verbs import verb
from hits.models import Project, Release
from hits.projects.rules.archived import refuse_archived
from hits.refusals import Refused
from hits.releases.api.shapes import RELEASE, TAG, ReleaseDetailShape
from hits.releases.rules.release_cards import checked


class Withdrawal(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=2000, label="Why it should no longer be used")
    successor = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        label="Number of the release to use instead",
        help_text="Empty: there is none yet.",
    )


def _about(release: Release, _: object, values: Mapping[str, Any]) -> dict[str, Any]:
    return {"release": release.number, "reason": values["reason"], "successor": values.get("successor")}


@verb(
    "releases.withdraw", "Withdraw a release", tag=TAG, on=RELEASE, role=MANAGER, route="POST withdraw/",
    summary="Withdraw a release: it is marked, its files stay, and its splits count as released", takes=Withdrawal,
    gives=ReleaseDetailShape, activity="withdrew a release", detail=_about, refuses=("withdrawal_refused",),
    leads_to=lambda release: ("release", release.project.slug, release.number),
    done=lambda release, values: (
        f"Release {release.number} is withdrawn. Its files stay, and its splits count as released."
    ),
)  # fmt: skip
def withdraw(release: Release, user: User | None, *, reason: str, successor: int | None = None) -> Release:
    """Mark the release; of one that is withdrawn already, state another reason or successor.

    `successor` is the number of the release to use instead.
    """
    other = release.project.releases.filter(number=successor).first() if successor is not None else None
    if successor is not None and (other is None or other == release or other.withdrawn_at):
        raise Refused(
            "withdrawal_refused",
            f"Release {successor} cannot be the successor of release {release.number}: name another release of this "
            "project that is not withdrawn. Nothing was changed.",
            field="successor",
            status=400,
        )
    release.withdrawn_at = release.withdrawn_at or timezone.now()
    release.withdrawn_reason, release.successor = reason, other
    release.save(update_fields=["withdrawn_at", "withdrawn_reason", "successor"])
    return release


def change_card(project: Project, given: Mapping[str, Any], user: User | None) -> None:
    """State what is given (`hits.releases.rules.release_cards.FIELDS`); what is not given stays.

    Releases that were made stay what they are. Raises Refused (release_card_refused) and ArchivedError.
    """
    with transaction.atomic():
        locked = Project.objects.select_for_update().get(pk=project.pk)
        refuse_archived(locked)
        wanted = checked(locked.card, given)
        if wanted != locked.card:
            changed = [name for name in (*wanted, *locked.card) if wanted.get(name) != locked.card.get(name)]
            locked.card = wanted
            locked.save(update_fields=["card"])
            record(locked, user, "changed the card of releases", detail={"changed": list(dict.fromkeys(changed))})
    project.card = wanted
