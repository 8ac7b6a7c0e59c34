"""Letting people into a project by a link, also people who have no account here.

Security behavior: a link is 256 random bits, of which the digest alone is kept, and is good for one person, until it
expires or is revoked. It is shown once to the owner who made it, and sent where an address was given. Accounts that are
made through one start no projects of their own (`hits.projects.rules.memberships`).
"""

from __future__ import annotations

import logging
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.db import transaction
from django.utils import timezone

from common.sign_in import new_account
from hits.accounts.models import token_digest
from hits.core.action_log import record
from hits.core.roles import named
from hits.models import Guest, Invitation, Project
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


def invite(
    project: Project, role: str, user: User | None, email: str = "", days: int | None = None
) -> tuple[Invitation, str]:
    """A new invitation's row, and its token, which is nowhere kept. `days` is at most MOST_DAYS; None: the usual ones.

    Raises RoleRefusedError unless `user` is an owner, and Refused (too_many_invitations).
    """
    now = timezone.now()
    with transaction.atomic():
        hold(project, user)
        project.invitations.ended().filter(created_at__lt=now - KEPT).delete()
        if project.invitations.living().count() >= MOST_OPEN:
            raise Refused(
                "too_many_invitations", f"{MOST_OPEN} invitations wait to be accepted. Revoke one first.", status=429
            )
        if email:
            _refuse_many_letters(project, now)
        token = secrets.token_urlsafe(32)
        row = Invitation.objects.create(
            project=project, role=role, email=email, digest=token_digest(token), created_by=user,
            expires_at=now + timedelta(days=min(days or USUAL_DAYS, MOST_DAYS)),
        )  # fmt: skip
        record(project, user, "invited somebody", detail={"member": email or "by a link", "role": role})
    return row, token


def renew(project: Project, pk: int, user: User | None) -> tuple[Invitation, str]:
    """Another invitation in the place of one that waits: the same person and role, for as many days from now on.

    Raises RoleRefusedError, Refused (no_invitation, too_many_invitations).
    """
    now = timezone.now()
    with transaction.atomic():
        hold(project, user)
        row = project.invitations.living().filter(pk=pk).first()
        if row is None:
            raise _no_invitation()
        if row.email:
            _refuse_many_letters(project, now)
        days = row.expires_at - row.created_at
        row.revoked_at = now
        row.save(update_fields=["revoked_at"])
        token = secrets.token_urlsafe(32)
        made = Invitation.objects.create(
            project=project, role=row.role, email=row.email, digest=token_digest(token), created_by=user,
            created_at=now, expires_at=now + days,
        )  # fmt: skip
        about = {"member": row.email or "by a link", "role": row.role}
        record(project, user, "sent an invitation again", detail=about)
    return made, token


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


def revoke(project: Project, pk: int, user: User | None) -> bool:
    """Whether it was there to be revoked."""
    with transaction.atomic():
        hold(project, user)
        row = project.invitations.living().filter(pk=pk).first()
        if row is None:
            return False
        row.revoked_at = timezone.now()
        row.save(update_fields=["revoked_at"])
        record(project, user, "revoked an invitation", detail={"member": row.email or "by a link", "role": row.role})
    return True


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
        admit(project, person, row.role, person)
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
