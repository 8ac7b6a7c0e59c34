"""The inbox: workers answer a message by its link; leads mark what is answered, and open it again.

Security: the link is a signature of one message's number, and whoever has it may write a few short replies to that
message and read nothing but its subject. A reply is bounded in size, in number for its message, and in a minute by the
network address that it comes from.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.core import signing
from django.db import transaction
from django.utils import timezone

from hits.answers.rules import task_words
from hits.core.action_log import record
from hits.core.rate_limits import allow
from hits.models import InboxEntry, Project, WorkerMessage
from hits.people.models import LONGEST_REPLY
from hits.people.rules import inbox
from hits.people.rules.inbox import OPEN_FOR, message_pk
from hits.projects.rules.archived import refuse_archived
from hits.refusals import Refused
from hits.text.wording import _
from hits.text.written import kept_lines

MOST_REPLIES = 10
REPLIES_A_MINUTE_FROM_AN_ADDRESS = 20
MOST_AT_ONCE = 500


# Workers


def resolve(token: str) -> WorkerMessage:
    """The message that the address names, with stage and project. Raises Refused (reply_link)."""
    try:
        pk = message_pk(token)
    except (signing.BadSignature, ValueError) as error:
        raise Refused(
            "reply_link", _("This address is incomplete or was changed, so it belongs to no message."), status=404
        ) from error
    message = WorkerMessage.objects.select_related("stage__project", "worker").filter(pk=pk).first()
    if message is None:
        raise Refused("reply_link", _("This message does not exist any more."), status=404)
    task_words.prefer(message.stage.page_language)
    if message.created_at < timezone.now() - OPEN_FOR or message.stage.project.is_archived:
        raise Refused(
            "reply_link",
            _(
                "This message takes no reply any more. Write to %(email)s instead.",
                email=message.stage.project.contact_email,
            ),
            status=404,
        )
    return message


def take_reply(token: str, text: str, address: str = "") -> InboxEntry:
    """Keep a worker's reply; the same one sent twice is kept once. `address` is the network address it comes from.

    Raises Refused (reply_link, too_many_replies), and Refused (reply_refused) for a text that is empty or too long.
    """
    message = resolve(token)
    if not allow(f"replies-from:{address}", REPLIES_A_MINUTE_FROM_AN_ADDRESS):
        raise Refused(
            "too_many_replies", _("Too many replies came at once. Wait a minute and send it again."), status=429
        )
    said = _checked(text)
    with transaction.atomic():
        # Under the message's lock: of two at once the second sees the first.
        WorkerMessage.objects.select_for_update(no_key=True).get(pk=message.pk)
        earlier = list(message.replies.order_by("pk"))
        if earlier and earlier[-1].text == said:
            return earlier[-1]
        if len(earlier) >= MOST_REPLIES:
            raise Refused(
                "too_many_replies",
                _(
                    "There are %(number)s replies to this message, and no more are taken. Write to %(email)s instead.",
                    number=MOST_REPLIES,
                    email=message.stage.project.contact_email,
                ),
                status=429,
            )
        return InboxEntry.objects.create(
            project=message.project, stage=message.stage, worker=message.worker, message=message, text=said
        )


def _checked(text: str) -> str:
    """Raises Refused (reply_refused)."""
    if len(text) > 2 * LONGEST_REPLY:
        raise Refused("reply_refused", _too_long(), status=400)
    said = kept_lines(text)
    if not said:
        raise Refused("reply_refused", _("Write something before you send it."), status=400)
    if len(said) > LONGEST_REPLY:
        raise Refused("reply_refused", _too_long(), status=400)
    return said


def _too_long() -> str:
    return _("A reply has at most %(number)s characters. Shorten it.", number=LONGEST_REPLY)


# Leads


def mark_answered(project: Project, pks: Sequence[int], user: User | None) -> int:
    """Returns how many of these entries were open. Raises Refused (no_entry) and ArchivedError."""
    with transaction.atomic():
        rows = _locked(project, pks)
        return sum(inbox.mark_answered(row, user) for row in rows)


def open_again(project: Project, pks: Sequence[int], user: User | None) -> int:
    """Returns how many of these entries were answered. Raises Refused (no_entry) and ArchivedError."""
    with transaction.atomic():
        rows = [row for row in _locked(project, pks) if row.answered_at]
        opened = InboxEntry.objects.filter(pk__in=[row.pk for row in rows])
        opened.update(answered_at=None, answered_by=None, answered_with=None)
        for row in rows:
            record(project, user, "opened again", detail={"worker": row.worker.worker_id})
        return len(rows)


def _locked(project: Project, pks: Sequence[int]) -> list[InboxEntry]:
    refuse_archived(project)
    wanted = set(pks)
    if not 1 <= len(wanted) <= MOST_AT_ONCE:
        raise Refused("no_entry", f"Choose 1 to {MOST_AT_ONCE} entries of the inbox. Nothing was changed.", status=404)
    rows = project.inbox.select_for_update(of=("self",)).filter(pk__in=wanted).select_related("worker", "project")
    found = list(rows.order_by("pk"))
    if missing := sorted(wanted - {row.pk for row in found}):
        said = ", ".join(map(str, missing[:5]))
        raise Refused("no_entry", f"The inbox of this project has no entry {said}. Nothing was changed.", status=404)
    return found
