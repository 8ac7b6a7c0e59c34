"""Deleting uploaded media that no published item shows."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction

from hits.core.action_log import record
from hits.items.rules import media
from hits.models import Project, Stage
from hits.projects.rules.archived import refuse_archived
from hits.refusals import Refused

NAMED = 3
LOGGED = 100


def delete_media(project: Project, names: Sequence[str], user: User | None) -> list[str]:
    """Delete the files of these names, all or none; returns them. Their bytes go with the last project that has them.

    Raises Refused (no_such_media, media_in_use) and ArchivedError.
    """
    with transaction.atomic():
        # As a publication does: what it is about to publish is in use. `media.copy` holds the project.
        list(Stage.objects.select_for_update(no_key=True).filter(project=project).order_by("pk").values_list("pk"))
        refuse_archived(Project.objects.select_for_update().get(pk=project.pk))
        files = project.media.ready().filter(name__in=names)
        there = dict(files.values_list("name", "pk"))
        if missing := [name for name in names if name not in there]:
            named = ", ".join(missing[:NAMED])
            message = f"There is no file {named} in this project. Nothing was deleted."
            raise Refused("no_such_media", message, status=404)
        in_use = media.used(project)
        if kept := [name for name in names if there[name] in in_use]:
            named = ", ".join(kept[:NAMED]) + (f" and {len(kept) - NAMED:,} more" if len(kept) > NAMED else "")
            message = f"Published items show {named}. What workers see or have seen is kept. Nothing was deleted."
            raise Refused("media_in_use", message, names=kept)
        deleted = media.delete(files)
        record(project, user, "deleted media", detail={"names": deleted[:LOGGED], "files": len(deleted)})
    return deleted
