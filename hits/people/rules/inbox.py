"""The inbox of a project: workers' remarks and replies, each open or answered, and the signed link of a reply.

A remark enters it when its answer is scored, a reply when it is sent. Marking one is written here alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.db.models import Count, Q
from django.utils import timezone

from hits.answers.rules import task_words
from hits.core import keyset
from hits.core.action_log import record
from hits.models import Assignment, InboxEntry, Project, WorkerMessage
from hits.people.models import LONGEST_TEXT
from hits.text.wording import _

# By when it was written: answers are scored, and so their remarks entered, in any order.
NEWEST_FIRST = keyset.Order(field="at", falling=True, read=keyset.moment)
SHOWN = {"open": Q(answered_at=None), "answered": Q(answered_at__isnull=False), "all": Q()}
_SALT = "hits.reply"
# From when the message was written.
OPEN_FOR = timedelta(days=90)


def enter(rows: Iterable[Assignment]) -> None:
    """Put the remarks of these answers, with their stages, into the inbox, each once; in the transaction that writes
    the remarks.
    """
    InboxEntry.objects.bulk_create(
        (
            InboxEntry(
                project_id=row.stage.project_id,
                stage_id=row.stage_id,
                worker_id=row.worker_id,
                assignment=row,
                at=row.submitted_at,
            )
            for row in rows
            if row.remark and row.imported_from_id is None
        ),
        ignore_conflicts=True,
        batch_size=500,
    )


def open_counts(projects: Sequence[Project]) -> dict[int, tuple[int, int]]:
    """By the project's key: (open ones, replies among them); projects without any are left out. One query."""
    rows = InboxEntry.objects.open().filter(project__in=projects).order_by().values_list("project")
    counted = rows.annotate(n=Count("pk"), replies=Count("message"))
    return {project: (number, replies) for project, number, replies in counted}


def mark_answered(entry: InboxEntry, user: User | None, message: WorkerMessage | None = None) -> bool:
    """Within a transaction; whether it was open. One that is answered already stays as it is."""
    done = InboxEntry.objects.open().filter(pk=entry.pk)
    changed = done.update(answered_at=timezone.now(), answered_by=user, answered_with=message)
    if changed:
        detail = {"worker": entry.worker.worker_id}
        record(entry.project, user, "answered a worker" if message else "marked as answered", detail=detail)
    return bool(changed)


# The link of a reply


def reply_path(message_pk: int) -> str:
    return f"/task/reply/{signing.Signer(salt=_SALT).sign(str(message_pk))}/"


def message_pk(token: str) -> int:
    """The message that an address names. Raises django.core.signing.BadSignature."""
    return int(signing.Signer(salt=_SALT).unsign(token))


def with_link(message: WorkerMessage) -> str:
    """The text as it is sent: with the link at its end, in the language of the stage's pages.

    A text that is too long for both goes without the link.
    """
    with task_words.spoken(message.stage.page_language or task_words.ENGLISH):
        words = _("To answer this message, open:")
    text = f"{message.text}\n\n{words}\n{settings.PUBLIC_URL}{reply_path(message.pk)}"
    return text if len(text) <= LONGEST_TEXT else message.text
