"""A lead writes the terms that workers agree to before their first answer, in versions, or withdraws them.

A version is never changed: who agreed to it agreed to that text. It stands until the next one is made.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from hits.core.action_log import record
from hits.models import Project, Terms
from hits.people.rules.terms import checked
from hits.projects.rules.archived import refuse_archived
from hits.refusals import Refused

MOST_VERSIONS = 500


def save(project: Project, text: str, user: User | None) -> tuple[Terms, bool]:
    """Make the next version, which stands from now on; returns it, and whether it is new.

    The text of the version that stands, once more, makes none. Raises Refused (terms_refused) and ArchivedError.
    """
    wanted = checked(text)
    with transaction.atomic():
        locked = _locked(project)
        before = locked.terms.standing().first()
        if before and before.text == wanted:
            return before, False
        last = locked.terms.aggregate(last=Max("version"))["last"] or 0
        if last >= MOST_VERSIONS:
            fault = f"A project has at most {MOST_VERSIONS:,} versions of its terms."
            raise Refused("terms_refused", fault, status=400, faults=[fault])
        now = timezone.now()
        locked.terms.standing().update(ended_at=now)
        made = Terms.objects.create(project=locked, version=last + 1, text=wanted, made_at=now, made_by=user)
        record(locked, user, "changed the terms for workers", detail={"version": made.version})
    return made, True


def withdraw(project: Project, user: User | None) -> Terms:
    """Ask nobody for an agreement any more; returns the version that stood. Who agreed stays known.

    Raises Refused (no_terms) and ArchivedError.
    """
    with transaction.atomic():
        locked = _locked(project)
        before = locked.terms.standing().first()
        if before is None:
            raise Refused("no_terms", "This project has no terms that stand. Nothing was changed.")
        before.ended_at = timezone.now()
        before.save(update_fields=["ended_at"])
        record(locked, user, "withdrew the terms for workers", detail={"version": before.version})
    return before


def _locked(project: Project) -> Project:
    locked = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    refuse_archived(locked)
    return locked
