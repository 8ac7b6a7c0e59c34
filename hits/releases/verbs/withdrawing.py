"""Withdrawing a release: it is marked and its successor named; its files stay, and its splits count as released."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from hits.core.action_log import record
from hits.models import Project, Release
from hits.refusals import Refused


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
