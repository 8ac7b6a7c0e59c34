"""Who is in a project, and with which role. What the roles may do is in `hits.domain.roles`."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from hits.domain.action_log import record
from hits.domain.roles import OWNER, RoleRefusedError, named
from hits.models import Membership, Project
from hits.refusals import Refusal

MOST_MEMBERS = 200


class LastOwnerError(Refusal):
    """A project keeps at least one owner."""

    error_code = "last_owner"


class NoMemberError(Refusal):
    """The person is not, or no longer, in the project."""

    error_code = "no_member"
    http_status = 404


class IsMemberError(Refusal):
    """The person is in the project already, with another role."""

    error_code = "is_member"


class TooManyMembersError(Refusal):
    """The project has as many members as it may have."""

    error_code = "too_many_members"


def members(project: Project) -> QuerySet[Membership]:
    """With their users, by name."""
    return project.memberships.select_related("user").order_by("user__username")


def add_member(project: Project, person: User, role: str, user: User | None) -> None:
    """Let `person` into the project; with the role that they have already, nothing changes. `user` is who says so.

    Raises IsMemberError for somebody who has another role, and TooManyMembersError.
    """
    with transaction.atomic():
        _locked(project, user)
        admit(project, person, role, user)


def admit(project: Project, person: User, role: str, user: User | None) -> None:
    """As `add_member`, for a caller who holds the project's lock and has made sure of the right."""
    there = project.memberships.filter(user=person).first()
    if there is not None and there.role != role:
        raise IsMemberError(f"{person} is {named(there.role)} of {project.name} already. Change that role instead.")
    if there is None:
        if project.memberships.count() >= MOST_MEMBERS:
            raise TooManyMembersError(f"A project has at most {MOST_MEMBERS} members. Remove one first.")
        Membership.objects.create(project=project, user=person, role=role)
        record(project, user, "added a member", detail={"member": person.get_username(), "role": role})


def change_role(project: Project, person: User, role: str, user: User | None) -> None:
    """Give a member another role. `user` is who says so. Raises NoMemberError and LastOwnerError."""
    with transaction.atomic():
        _locked(project, user)
        there = _membership(project, person)
        if there.role == role:
            return
        _refuse_last_owner(project, there)
        before, there.role = there.role, role
        there.save(update_fields=["role"])
        record(
            project, user, "changed a role", detail={"member": person.get_username(), "before": before, "role": role}
        )


def remove_member(project: Project, person: User, user: User | None) -> None:
    """Take a member out of the project. `user` is who says so. Raises NoMemberError and LastOwnerError."""
    with transaction.atomic():
        _locked(project, user)
        there = _membership(project, person)
        _refuse_last_owner(project, there)
        there.delete()
        record(project, user, "removed a member", detail={"member": person.get_username(), "role": there.role})


def _locked(project: Project, user: User | None) -> None:
    """Hold the project, so that two owners cannot remove each other at once; `user` must be an owner at this moment.

    Without a user it is the server's administrator, on the command line. Raises RoleRefusedError.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    role = project.memberships.filter(user=user).values_list("role", flat=True).first() if user else OWNER
    if role is None:
        raise NoMemberError(f"{user} is no member of {project.name} any more. Nothing was changed.")
    if role != OWNER:
        raise RoleRefusedError(project, role, OWNER)


def _membership(project: Project, person: User) -> Membership:
    found = project.memberships.filter(user=person).first()
    if found is None:
        raise NoMemberError(f"{person} is no member of {project.name}. Nothing was changed.")
    return found


def _refuse_last_owner(project: Project, leaving: Membership) -> None:
    others = project.memberships.owning().exclude(pk=leaving.pk)
    if leaving.role == OWNER and not others.exists():
        raise LastOwnerError("A project needs an owner. Make somebody else an owner first.")
