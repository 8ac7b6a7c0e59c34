"""One worker's personal data: all of it to take along, and its end.

Answers, labels, judgements and money stay under the worker id, which tells nobody who the person was.
"""

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Replace

from marketplace.models import (
    Assignment,
    BonusPayment,
    Concern,
    Invitation,
    Letter,
    Message,
    OperatorAction,
    PanelEntry,
    PayoutLine,
    PoolJoin,
    Qualification,
    QualificationRequest,
    Worker,
)
from marketplace.models.assignments import REWARD
from marketplace.rules.addresses import email_key
from marketplace.rules.errors import AlreadyDone
from marketplace.verbs import access, assignments
from marketplace.verbs.operators import act

ERASED = "(deleted)"
# A shorter name would be cut out of the middle of other words.
_SHORTEST_REPLACED = 3


def export(worker: Worker) -> dict[str, Any]:
    """Everything that is kept about a worker, ready for JSON; times are UTC, money is text in dollars."""
    return {
        "account": _account(worker),
        "panel": _panel(worker),
        "assignments": _rows(Assignment.objects.filter(worker=worker).annotate(promised=REWARD), _ASSIGNMENT),
        "bonuses": _rows(BonusPayment.objects.filter(worker=worker), _BONUS),
        "payouts": _rows(PayoutLine.objects.filter(worker=worker, payout__state="paid"), _PAYOUT),
        "qualifications": _rows(Qualification.objects.filter(worker=worker), _QUALIFICATION),
        "joined_by_link": _rows(PoolJoin.objects.filter(worker=worker), _JOINED),
        "qualification_requests": _rows(QualificationRequest.objects.filter(worker=worker), _REQUEST),
        "messages": _rows(Message.objects.filter(worker=worker), _MESSAGE),
        "reports_and_disputes": _rows(Concern.objects.filter(worker=worker), _CONCERN),
        "what_operators_did": _rows(OperatorAction.objects.filter(worker=worker), _ACTION),
    }


# Names in the export, and the columns that they come from.
_ASSIGNMENT = {
    "hit": "hit__hit_id",
    "title": "hit__hit_type__title",
    "requester": "hit__requester__name",
    "reward": "promised",
    "assignment_id": "assignment_id",
    "status": "status",
    "accepted_at": "accepted_at",
    "submitted_at": "submitted_at",
    "ended_at": "ended_at",
    "approved_at": "approved_at",
    "rejected_at": "rejected_at",
    "answer": "answer",
    "feedback": "requester_feedback",
}
_BONUS = {"requester": "requester__name", "amount": "amount", "reason": "reason", "paid_at": "created_at"}
_PAYOUT = {"amount": "amount", "paid_at": "payout__paid_at"}
_QUALIFICATION = {
    "name": "type__name",
    "value": "integer_value",
    "status": "status",
    "granted_at": "granted_at",
    "reason": "reason",
}
_JOINED = {"requester": "link__requester__name", "name": "link__type__name", "joined_at": "joined_at"}
_REQUEST = {"name": "type__name", "status": "status", "asked_at": "asked_at", "answer": "answer", "reason": "reason"}
_MESSAGE = {
    "sender": "sender__name",
    "subject": "subject",
    "text": "text",
    "sent_at": "created_at",
    "read_at": "read_at",
}
_CONCERN = {
    "kind": "kind",
    "reason": "reason",
    "hit": "hit__hit_id",
    "text": "text",
    "sent_at": "created_at",
    "resolution": "resolution",
}
_ACTION = {"action": "about", "done_at": "created_at"}


def _account(worker: Worker) -> dict[str, Any]:
    user = worker.user
    return {
        "username": user.get_username(),
        "email": user.email,
        "email_confirmed_at": _plain(worker.email_confirmed_at),
        "wants_email": worker.wants_email,
        "last_sign_in": _plain(user.last_login),
        "worker_id": worker.worker_id,
        "country": worker.country,
        "subdivision": worker.subdivision,
        "adult_content": worker.adult,
        "masters": worker.masters,
        "member_since": _plain(worker.created_at),
        "suspended_at": _plain(worker.suspended_at),
        "submitted": worker.submitted_count,
        "approved": worker.approved_count,
        "rejected": worker.rejected_count,
        "earned": _plain(worker.earned),
        "paid": _plain(worker.paid),
        "owed": _plain(worker.owed),
    }


def _panel(worker: Worker) -> dict[str, Any] | None:
    entry = PanelEntry.objects.select_related("panel").filter(worker=worker).first()
    if entry is None:
        return None
    return {
        "name": entry.panel.name,
        "outside_id": entry.outside_id,
        "parameters": entry.parameters,
        "visits": entry.visits,
        "agreed_to_the_terms_at": _plain(entry.consented_at),
        "last_seen_at": _plain(entry.last_seen_at),
        "finished_at": _plain(entry.finished_at),
    }


def _rows(rows: Any, columns: Mapping[str, str]) -> list[dict[str, Any]]:
    found: Iterable[tuple[Any, ...]] = rows.order_by("pk").values_list(*columns.values())
    return [{name: _plain(value) for name, value in zip(columns, row, strict=True)} for row in found]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, (str, int, bool)) else str(value)


def erase(worker: Worker, now: datetime, operator: User | None = None) -> None:
    """Delete who the worker is; nobody signs in to the account again. What is owed can be paid to nobody then.

    HITs in hand go back, each in a transaction of its own: so no caller may be in one. An operator's doing is
    written down. Raises AlreadyDone.
    """
    assignments.give_back_all(worker, now)
    with act(operator, "Deleted the personal data", now, worker=worker) if operator else transaction.atomic():
        # Who resolves a concern locks it before its worker.
        list(Concern.objects.filter(worker=worker).order_by("pk").select_for_update(no_key=True).values_list("pk"))
        locked = Worker.objects.select_for_update(no_key=True).select_related(None).get(pk=worker.pk)
        if locked.erased_at is not None:
            raise AlreadyDone("This account was deleted before.")
        user = User.objects.get(pk=locked.user_id)
        _scrub_others_words(locked, user, now)
        for rows in (Message, PanelEntry, PoolJoin, Letter):
            rows.objects.filter(worker=locked).delete()
        # That there was a report or a dispute, and what came of it, concerns requesters too.
        Concern.objects.filter(worker=locked).exclude(text="").update(text=ERASED)
        access.end_sessions(user)
        _blank(locked, user, now)
    # What another window accepted just before; from here on nothing can be.
    assignments.give_back_all(worker, now)
    worker.refresh_from_db()


def _scrub_others_words(worker: Worker, user: User, now: datetime) -> None:
    """Take the name, the address and the outside id out of what operators wrote about and to the worker."""
    outside = PanelEntry.objects.filter(worker=worker).values_list("outside_id", flat=True)
    for word in (user.email, user.username, *outside):
        if len(word) >= _SHORTEST_REPLACED:
            actions = OperatorAction.objects.filter(worker=worker, about__contains=word)
            actions.update(about=Replace("about", Value(word), Value(ERASED)))
            answers = Concern.objects.filter(worker=worker, resolution__contains=word)
            answers.update(resolution=Replace("resolution", Value(word), Value(ERASED)))
    if worker.email_key:
        named = [each.pk for each in Invitation.objects.exclude(email="") if email_key(each.email) == worker.email_key]
        invitations = Invitation.objects.filter(pk__in=named)
        # Without the address an open one would let anybody in.
        invitations.filter(revoked_at=None).update(revoked_at=now)
        invitations.update(email="", note="")


def _blank(worker: Worker, user: User, now: datetime) -> None:
    worker.country = worker.subdivision = ""
    worker.adult = worker.wants_email = False
    worker.unread_messages = 0
    worker.email_key = worker.email_confirmed_at = None
    worker.erased_at = now
    blanked = ["country", "subdivision", "adult", "wants_email", "unread_messages", "email_key", "email_confirmed_at"]
    worker.save(update_fields=[*blanked, "erased_at"])
    user.username = f"deleted-{uuid.uuid4().hex}"
    user.first_name = user.last_name = user.email = ""
    user.last_login = None
    user.is_active = user.is_staff = user.is_superuser = False
    user.set_unusable_password()
    user.save()
