"""Who is in a project, and with which role. What the roles may do is in `hits.core.roles`."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from hits.accounts.rules.lead_limits import refuse_former_owner, refuse_new_owner
from hits.core.action_log import record
from hits.core.roles import OWNER
from hits.models import Membership, Project
from hits.projects.rules.memberships import admit, hold
from hits.refusals import Refused


def members(project: Project) -> QuerySet[Membership]:
    """With their users, by name."""
    return project.memberships.select_related("user").order_by("user__username")


def add_member(project: Project, person: User, role: str, user: User | None) -> None:
    """Let `person` into the project; with the role that they have already, nothing changes. `user` is who says so.

    Raises Refused (is_member) for somebody who has another role, Refused (too_many_members, above_lead_limit).
    """
    with transaction.atomic():
        hold(project, user)
        admit(project, person, role, user)


def change_role(project: Project, person: User, role: str, user: User | None) -> None:
    """Give a member another role. `user` is who says so.

    Raises Refused (no_member, last_owner), Refused (above_lead_limit, limited_owner).
    """
    with transaction.atomic():
        hold(project, user)
        there = _membership(project, person)
        if there.role == role:
            return
        _refuse_last_owner(project, there)
        if role == OWNER:
            refuse_new_owner(project, person, user)
        elif there.role == OWNER:
            refuse_former_owner(project, person, user)
        before, there.role = there.role, role
        there.save(update_fields=["role"])
        _end_invitations(project, person)
        record(
            project, user, "changed a role", detail={"member": person.get_username(), "before": before, "role": role}
        )


def remove_member(project: Project, person: User, user: User | None) -> None:
    """Take a member out of the project. `user` is who says so.

    Raises Refused (no_member, last_owner, limited_owner).
    """
    with transaction.atomic():
        hold(project, user)
        there = _membership(project, person)
        _refuse_last_owner(project, there)
        if there.role == OWNER:
            refuse_former_owner(project, person, user)
        there.delete()
        _end_invitations(project, person)
        record(project, user, "removed a member", detail={"member": person.get_username(), "role": there.role})


def _membership(project: Project, person: User) -> Membership:
    found = project.memberships.filter(user=person).first()
    if found is None:
        raise Refused("no_member", f"{person} is no member of {project.name}. Nothing was changed.", status=404)
    return found


def _refuse_last_owner(project: Project, leaving: Membership) -> None:
    others = project.memberships.owning().exclude(pk=leaving.pk)
    if leaving.role == OWNER and not others.exists():
        raise Refused("last_owner", "A project needs an owner. Make somebody else an owner first.")


def _end_invitations(project: Project, former: User) -> None:
    """Links that a former owner made let nobody in any more."""
    project.invitations.living().filter(created_by=former).update(revoked_at=timezone.now())
