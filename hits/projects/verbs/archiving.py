"""Archiving a project and restoring it, and the tags that it is found by."""

from __future__ import annotations

import re

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from common.names import hidden_sign
from hits.core.action_log import record
from hits.models import Project, Stage
from hits.projects.models import LONGEST_TAG, MOST_TAGS
from hits.projects.rules.archived import refuse_archived, unfinished
from hits.refusals import Refused


def archive(project: Project, user: User | None) -> None:
    """Have nothing in the project change any more; archiving it again changes nothing.

    Raises Refused (unfinished) with everything that still goes on.
    """
    with transaction.atomic():
        locked = _locked(project)
        if reasons := unfinished(locked):
            said = f"{locked.name} is not finished, so it cannot be archived. {' '.join(reasons)}"
            raise Refused("unfinished", said, reasons=reasons)
        if not locked.is_archived:
            locked.archived_at = timezone.now()
            locked.save(update_fields=["archived_at"])
            record(locked, user, "archived the project")
    project.archived_at = locked.archived_at


def restore(project: Project, user: User | None) -> None:
    """Take an archived project into use again; what is in use stays as it is."""
    with transaction.atomic():
        locked = _locked(project)
        if locked.is_archived:
            locked.archived_at = None
            locked.save(update_fields=["archived_at"])
            record(locked, user, "restored the project")
    project.archived_at = None


def _locked(project: Project) -> Project:
    # A publication holds its stage and then looks whether the project is archived
    # (`hits.publishing.rules.hit_plans.locked`).
    stages = Stage.objects.select_for_update(no_key=True).filter(project=project).order_by("pk")
    list(stages.values_list("pk"))
    return Project.objects.select_for_update().get(pk=project.pk)


def change_tags(project: Project, given: str, user: User | None) -> None:
    """Replace the tags: words, told apart by spaces or commas. Raises Refused (tags) and ArchivedError."""
    wanted = tags_of(given)
    with transaction.atomic():
        locked = Project.objects.select_for_update().get(pk=project.pk)
        refuse_archived(locked)
        if locked.tags != wanted:
            locked.tags = wanted
            locked.save(update_fields=["tags"])
            record(locked, user, "changed the tags", detail={"settings": wanted or "none"})
    project.tags = wanted


def tags_of(given: str) -> str:
    """Each word once, in small letters and in the alphabet's order, with spaces between. Raises Refused (tags)."""
    words = sorted({word.lower() for word in re.split(r"[\s,]+", given) if word})
    faults = [
        f"“{word[:LONGEST_TAG]}…” is longer than {LONGEST_TAG} letters." for word in words if len(word) > LONGEST_TAG
    ]
    if len(words) > MOST_TAGS:
        faults.append(f"A project has at most {MOST_TAGS} tags; these are {len(words):,}.")
    codes = filter(None, map(hidden_sign, words))
    faults += [f"A tag holds a character that cannot be seen ({code}). Leave it out." for code in codes]
    if faults:
        raise Refused("tags", " ".join(faults[:MOST_TAGS]), status=400)
    return " ".join(words)
