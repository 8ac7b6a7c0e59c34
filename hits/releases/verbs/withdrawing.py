"""Withdrawing a release, and what a lead states of the next ones: licence, citation and a description.

A withdrawn release is marked and its successor named; its files stay, and its splits count as released.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from hits.core.action_log import record
from hits.models import Project, Release
from hits.projects.rules.archived import refuse_archived
from hits.refusals import Refused
from hits.releases.rules.release_cards import checked


@transaction.atomic
def withdraw(release: Release, user: User | None, *, reason: str, successor: int | None = None) -> None:
    """Mark the release; of one that is withdrawn already, state another reason or successor.

    `successor` is the number of the release to use instead. Raises Refused (withdrawal_refused).
    """
    project = Project.objects.select_for_update(no_key=True).get(pk=release.project_id)
    other = project.releases.filter(number=successor).first() if successor is not None else None
    if not reason.strip():
        raise Refused("withdrawal_refused", "State why the release is withdrawn. Nothing was changed.", status=400)
    if successor is not None and (other is None or other == release or other.withdrawn_at):
        raise Refused(
            "withdrawal_refused",
            f"Release {successor} cannot be the successor of release {release.number}: name another release of this "
            "project that is not withdrawn. Nothing was changed.",
            status=400,
        )
    release.withdrawn_at = release.withdrawn_at or timezone.now()
    release.withdrawn_reason, release.successor = reason.strip(), other
    release.save(update_fields=["withdrawn_at", "withdrawn_reason", "successor"])
    detail = {"release": release.number, "reason": release.withdrawn_reason, "successor": successor}
    record(project, user, "withdrew a release", detail=detail)


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
