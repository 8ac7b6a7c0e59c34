"""Letting people into a project by a link, also people who have no account here.

Security behavior: a link is 256 random bits, of which the digest alone is kept, and is good for one person, until it
expires or is revoked. It is shown once to the owner who made it, and sent where an address was given. Accounts that are
made through one start no projects of their own (`hits.projects.rules.memberships`).
"""

from __future__ import annotations

import logging
import secrets
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from rest_framework import serializers

from common.sign_in import new_account
from hits.accounts.models import token_digest
from hits.core.action_log import record
from hits.core.roles import OWNER, named
from hits.core.targets import PROJECT
from hits.core.verbs import verb
from hits.models import Guest, Invitation, Membership, Project
from hits.projects.api.members import INVITATION, TAG, MadeInvitation
from hits.projects.rules.memberships import admit, hold
from hits.refusals import Refused

log = logging.getLogger(__name__)

# How long a link is good, at most and where nobody says otherwise: a week has a working day for everybody.
MOST_DAYS, USUAL_DAYS = 30, 7
# Of one project: links that wait to be accepted, and letters in a day.
MOST_OPEN, MOST_LETTERS_A_DAY = 50, 50
# Rows of invitations that have ended are kept so long; the action log keeps what they led to.
KEPT = timedelta(days=30)


def _no_invitation() -> Refused:
    return Refused(
        "no_invitation",
        "This invitation cannot be used: it was used, has expired or was revoked, or its project is archived. Ask "
        "whoever sent it for another.",
        status=404,
    )


class NewInvitation(serializers.Serializer[Any]):
    role = serializers.ChoiceField(Membership.Role.choices)
    email = serializers.EmailField(
        required=False,
        default="",
        allow_blank=True,
        label="E-mail address",
        help_text="May stay empty. The link is sent there too, if this server sends e-mail.",
    )
    days = serializers.IntegerField(
        required=False,
        default=None,
        allow_null=True,
        min_value=1,
        max_value=MOST_DAYS,
        label="Days until it expires",
        help_text=f"Empty: {USUAL_DAYS} days.",
        style={"inputmode": "numeric"},
    )


def _about(row: Invitation) -> dict[str, str]:
    return {"member": row.email or "by a link", "role": row.role}


def _send(_: object, made: Invitation) -> None:
    made.sent = send(made, made.link)  # type: ignore[attr-defined]


# Of both verbs that make a link.
LINK: dict[str, Any] = {
    "tag": TAG,
    "role": OWNER,
    "status": 201,
    "pays": True,
    "heavy": True,
    "gives": MadeInvitation,
    "shows_once": ("link", "sent", "email", "role", "expires_at"),
    "leads_to": lambda made: ("members", made.project.slug),
    "detail": lambda row, made, values: _about(made),
    "after": _send,
}


@verb(
    "invitations.create", "Invite somebody", on=PROJECT, route="POST invitations/", **LINK,
    summary="Make a link that lets one person into the project, who may have no account yet",
    takes=NewInvitation, activity="invited somebody", refuses=("too_many_invitations",),
)  # fmt: skip
def invite(project: Project, user: User | None, *, role: str, email: str = "", days: int | None = None) -> Invitation:
    """A new invitation with its `link`, whose token is nowhere kept."""
    now = timezone.now()
    hold(project, user)
    project.invitations.ended().filter(created_at__lt=now - KEPT).delete()
    if project.invitations.living().count() >= MOST_OPEN:
        raise Refused(
            "too_many_invitations", f"{MOST_OPEN} invitations wait to be accepted. Revoke one first.", status=429
        )
    return _made(project, role, email, user, now, timedelta(days=days or USUAL_DAYS))


@verb(
    "invitations.resend", "Send an invitation again", on=INVITATION, route="POST resend/", **LINK,
    summary="Make another link in the place of one that waits, and send it where the first was sent",
    activity="sent an invitation again", refuses=("no_invitation", "too_many_invitations"),
)  # fmt: skip
def renew(row: Invitation, user: User | None) -> Invitation:
    """Another invitation in the place of one that waits: the same person and role, for as many days from now on."""
    hold(row.project, user)
    _end(row)
    return _made(row.project, row.role, row.email, user, timezone.now(), row.expires_at - row.created_at)


def _made(project: Project, role: str, email: str, user: User | None, now: datetime, lasts: timedelta) -> Invitation:
    if email:
        _refuse_many_letters(project, now)
    token = secrets.token_urlsafe(32)
    made = Invitation.objects.create(
        project=project, role=role, email=email, digest=token_digest(token), created_by=user,
        created_at=now, expires_at=now + lasts,
    )  # fmt: skip
    made.link = settings.PUBLIC_URL + reverse("invitation", args=[token])  # type: ignore[attr-defined]
    return made


@verb(
    "invitations.revoke", "Revoke an invitation", tag=TAG, on=INVITATION, role=OWNER, route="POST revoke/", pays=True,
    summary="End an invitation before somebody accepts it", status=204, while_archived=True,
    activity="revoked an invitation", detail=lambda row, *_: _about(row),
    done="The invitation is revoked. Its link lets nobody in.", refuses=("no_invitation",),
)  # fmt: skip
def revoke(row: Invitation, user: User | None) -> None:
    hold(row.project, user)
    _end(row)


def _end(row: Invitation) -> None:
    """Raises Refused (no_invitation)."""
    if not row.project.invitations.living().filter(pk=row.pk).exists():
        raise Refused("no_invitation", "No such invitation waits. It was used, has expired or was revoked.", status=404)
    row.revoked_at = timezone.now()
    row.save(update_fields=["revoked_at"])


def _refuse_many_letters(project: Project, now: datetime) -> None:
    """Raises Refused (too_many_invitations)."""
    letters = project.invitations.exclude(email="").filter(created_at__gt=now - timedelta(days=1))
    if letters.count() >= MOST_LETTERS_A_DAY:
        raise Refused(
            "too_many_invitations",
            f"{MOST_LETTERS_A_DAY} invitations were sent by e-mail in the last 24 hours. Leave the address out and "
            "hand the link over yourself, or try again tomorrow.",
            status=429,
        )


def send(row: Invitation, link: str) -> bool:
    """Send the link where the invitation says; whether it was sent. Not within a transaction."""
    if not row.email or not settings.MAIL:
        return False
    text = (
        f"You are invited to the project “{row.project.name}” as {named(row.role)}.\n\n{link}\n\n"
        f"The link is good for one person, until {row.expires_at:%d %B %Y, %H:%M} UTC. Without it nothing happens."
    )
    try:
        # Django refuses a line break in a subject, for it could begin another header.
        return bool(send_mail(f"Invitation to {' '.join(row.project.name.split())}", text, None, [row.email]))
    except (OSError, ValueError):
        # ValueError: a domain that has no spelling in ASCII.
        log.exception("The invitation %s could not be sent", row.pk)
        return False


def find(token: str) -> Invitation:
    """Raises Refused (no_invitation)."""
    living = Invitation.objects.living().filter(project__archived_at=None).select_related("project")
    found = living.filter(digest=token_digest(token)).first()
    if found is None:
        raise _no_invitation()
    return found


def accept(token: str, person: User) -> Project:
    """Let `person` into the project of the link, which is used up.

    Raises Refused (no_invitation) and what `admit` raises.
    """
    with transaction.atomic():
        project = find(token).project
        hold(project, None)
        # Again under the lock: two people with one link, or an owner who revokes it meanwhile.
        row = find(token)
        if admit(project, person, row.role, person):
            record(project, person, "added a member", detail={"member": person.get_username(), "role": row.role})
        row.used_at, row.used_by = timezone.now(), person
        row.save(update_fields=["used_at", "used_by"])
    return project


def sign_up(token: str, username: str, password: str) -> User:
    """An account for whoever has the link, and a member of its project. The caller has checked name and password.

    Raises Refused (no_invitation), and IntegrityError where the name was taken at the same moment.
    """
    person = new_account(username, password)
    with transaction.atomic():
        person.save()
        Guest.objects.create(user=person)
        accept(token, person)
    return person
