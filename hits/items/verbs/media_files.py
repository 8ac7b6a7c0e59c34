"""Deleting uploaded media that no published item shows."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction

from hits.core.action_log import record
from hits.items.rules import media
from hits.models import Project, Stage
from hits.projects.rules.archived import refuse_archived
from hits.refusals import Refusal

NAMED = 3
LOGGED = 100


class MediaInUseError(Refusal):
    """Published items show these files. Nothing was deleted."""

    error_code = "media_in_use"

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        told = ", ".join(self.names[:NAMED]) + more
        super().__init__(f"Published items show {told}. What workers see or have seen is kept. Nothing was deleted.")

    def details(self) -> dict[str, list[str]]:
        return {"names": self.names}


class NoSuchMediaError(Refusal):
    """The project has no files of these names. Nothing was deleted."""

    error_code = "no_such_media"
    http_status = 404

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"There is no file {', '.join(names[:NAMED])} in this project. Nothing was deleted.")


def delete_media(project: Project, names: Sequence[str], user: User | None) -> list[str]:
    """Delete the files of these names, all or none; returns them. Their bytes go with the last project that has them.

    Raises NoSuchMediaError, MediaInUseError and ArchivedError.
    """
    with transaction.atomic():
        # As a publication does: what it is about to publish is in use. `media.copy` holds the project.
        list(Stage.objects.select_for_update(no_key=True).filter(project=project).order_by("pk").values_list("pk"))
        refuse_archived(Project.objects.select_for_update().get(pk=project.pk))
        files = project.media.ready().filter(name__in=names)
        there = dict(files.values_list("name", "pk"))
        if missing := [name for name in names if name not in there]:
            raise NoSuchMediaError(missing)
        in_use = media.used(project)
        if kept := [name for name in names if there[name] in in_use]:
            raise MediaInUseError(kept)
        deleted = media.delete(files)
        record(project, user, "deleted media", detail={"names": deleted[:LOGGED], "files": len(deleted)})
    return deleted
