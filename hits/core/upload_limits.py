"""How much people may send at once, by what they are here: one table, asked before a request is read."""

from __future__ import annotations

from typing import NoReturn

from django.conf import settings

from hits.core.roles import MANAGER, OWNER, READER, REVIEWER, named
from hits.projects.models import Project
from hits.refusals import Refused

MB = 1024 * 1024
# What a form adds around its files: boundaries, headers and the other fields.
FORM_BYTES = 64 * 1024


def _refuse(size: int, most: int, who: str) -> NoReturn:
    raise Refused(
        "upload_too_large",
        f"This has {size / MB:,.1f} MB; {who} may send {most / MB:,.1f} MB at once. Nothing was read or changed. "
        "Send it in parts, or ask somebody who may send more.",
        status=413,
        megabytes=round(size / MB, 1),
        most_megabytes=round(most / MB, 1),
    )


def most_bytes(role: str, *, with_media: bool = False) -> int:
    """Of the files in one request. `with_media`: pictures, sounds and videos may be among them."""
    by_role: dict[str, int] = {
        OWNER: settings.MAX_IMPORT_BYTES,
        MANAGER: settings.MAX_IMPORT_BYTES,
        REVIEWER: settings.MAX_REVIEWER_UPLOAD_BYTES,
        READER: settings.MAX_READER_UPLOAD_BYTES,
    }
    return by_role[READER if role not in by_role else role] + (settings.MAX_MEDIA_BYTES if with_media else 0)


def refuse_of_role(project: Project, size: int, *, with_media: bool = False) -> None:
    """`project` was asked for with the person's role. Raises Refused."""
    most = most_bytes(project.role, with_media=with_media)
    if size > most + FORM_BYTES:
        _refuse(size, most, f"{named(project.role)} of {project.name}")


def refuse_of_form(size: int) -> None:
    """Of visitors and workers, who send no files, and of forms that take none. Raises Refused."""
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if size > most:
        _refuse(size, most, "a visitor or a worker")


def refuse_outside_projects(size: int) -> None:
    """Of somebody who is signed in, on a page of no project. Raises Refused."""
    most = settings.MAX_READER_UPLOAD_BYTES
    if size > most + FORM_BYTES:
        _refuse(size, most, "somebody outside of a project")
