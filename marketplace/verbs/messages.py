"""The worker's inbox, and its copies by e-mail."""

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef

from marketplace.models import Assignment, Letter, Message, Requester, Worker
from marketplace.rules import limits
from marketplace.rules.errors import ParameterValidationError

MOST_AT_ONCE = 100
SUBJECT = 200
TEXT = 4096


def send(worker: Worker, *, sender: Requester | None, subject: str, text: str, now: datetime) -> Message | None:
    """Put a message into one inbox; without a sender the marketplace itself speaks. None when the account is deleted.

    Part of the caller's transaction where there is one. A copy by e-mail is left to be sent by the clock.
    """
    return next(iter(send_to_all([worker], sender=sender, subject=subject, text=text, now=now)), None)


def send_to_all(
    workers: Sequence[Worker], *, sender: Requester | None, subject: str, text: str, now: datetime
) -> list[Message]:
    """The same message into several inboxes; the number of queries does not depend on how many."""
    asked = Worker.objects.filter(pk__in=[worker.pk for worker in workers], erased_at=None)
    with transaction.atomic():
        # In one order, so that two senders to the same people cannot wait for each other.
        keys = set(asked.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
        made = Message.objects.bulk_create(
            [
                Message(worker=worker, sender=sender, subject=subject[:SUBJECT], text=text, created_at=now)
                for worker in workers
                if worker.pk in keys
            ]
        )
        _leave_copies([row for row in made if row.worker.wants_email and row.worker.email_confirmed_at], now)
        Worker.objects.filter(pk__in=keys).update(unread_messages=F("unread_messages") + 1)
    return made


def _leave_copies(made: Sequence[Message], now: datetime) -> None:
    if not made:
        return
    keys = [row.worker_id for row in made]
    addresses = dict(Worker.objects.filter(pk__in=keys).values_list("pk", "user__email"))
    Letter.objects.bulk_create(
        [
            Letter(
                worker_id=row.worker_id,
                address=addresses[row.worker_id],
                # A line feed in a subject would start another header.
                subject=" ".join(row.subject.split()),
                text=_copy(row),
                due_at=now,
            )
            for row in made
        ]
    )


def _copy(message: Message) -> str:
    sender = message.sender.name if message.sender else "Commons"
    inbox = f"{settings.MARKETPLACE_PUBLIC_URL}/worker/messages/"
    return (
        f"{message.text}\n\n-- \nFrom {sender}, through Commons. All messages: {inbox}\n"
        "You can switch these e-mails off there.\n"
    )


def notify(
    requester: Requester, worker_ids: Sequence[str], subject: str, text: str, now: datetime
) -> list[tuple[str, str]]:
    """Write to workers whose answers this requester has judged.

    Returns, for everybody else, the id and the reason why nothing was sent.
    """
    asked = list(dict.fromkeys(worker_ids))
    if not 1 <= len(worker_ids) <= MOST_AT_ONCE:
        raise ParameterValidationError(
            f"WorkerIds holds {len(worker_ids)} ids; 1 to {MOST_AT_ONCE} are allowed in one call."
        )
    limits.check_length("Subject", subject, SUBJECT, blank=False)
    limits.check_length("MessageText", text, TEXT, blank=False)
    judged = Assignment.objects.filter(
        worker=OuterRef("pk"), hit__requester=requester, status__in=("Approved", "Rejected")
    )
    reached = list(Worker.objects.filter(Exists(judged), worker_id__in=asked, erased_at=None))
    if reached:
        send_to_all(reached, sender=requester, subject=subject, text=text, now=now)
    # In the same words where there is no such worker: a requester learns of its own workers alone.
    strangers = [name for name in asked if name not in {worker.worker_id for worker in reached}]
    return [(name, f"Worker {name} has no work that you have approved or rejected.") for name in strangers]


def _lock_inbox(worker: Worker) -> None:
    """The worker before the messages, as whoever writes or deletes them does."""
    list(Worker.objects.select_for_update(no_key=True).filter(pk=worker.pk).values_list("pk"))


def mark_read(worker: Worker, pk: int, now: datetime) -> bool:
    """Whether the message was unread until now."""
    with transaction.atomic():
        _lock_inbox(worker)
        unread = Message.objects.filter(pk=pk, worker=worker, read_at=None)
        if unread.update(read_at=now) != 1:
            return False
        Worker.objects.filter(pk=worker.pk).update(unread_messages=F("unread_messages") - 1)
    return True


def mark_all_read(worker: Worker, now: datetime) -> int:
    with transaction.atomic():
        _lock_inbox(worker)
        count = Message.objects.filter(worker=worker, read_at=None).update(read_at=now)
        Worker.objects.filter(pk=worker.pk).update(unread_messages=F("unread_messages") - count)
    return count


def choose_mail(worker: Worker, wanted: bool) -> None:
    """Whether copies of messages go out by e-mail."""
    Worker.objects.filter(pk=worker.pk).update(wants_email=wanted)
