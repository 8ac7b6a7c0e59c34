"""Letting people into a project: under its lock, once each, and not without end."""

from __future__ import annotations

from django.contrib.auth.models import User

from hits.accounts.rules.lead_limits import refuse_new_owner
from hits.core.roles import OWNER, RoleRefusedError, named
from hits.projects.models import Membership, Project
from hits.refusals import Refused

MOST_MEMBERS = 200


def hold(project: Project, user: User | None) -> None:
    """Hold the project, so that two owners cannot remove each other at once; `user` must be an owner at this moment.

    Without a user it is the server's administrator, on the command line. Raises RoleRefusedError.
    """
    # Without its key: rows that name the project can be saved meanwhile by whoever holds one that is waited for here.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    role = project.memberships.filter(user=user).values_list("role", flat=True).first() if user else OWNER
    if role is None:
        raise Refused("no_member", f"{user} is no member of {project.name} any more. Nothing was changed.", status=404)
    if role != OWNER:
        raise RoleRefusedError(project, role, OWNER)


def admit(project: Project, person: User, role: str, user: User | None) -> bool:
    """Make a member of `person`, who may be one with this role already: False. The caller holds the project.

    Raises Refused (is_member, too_many_members, above_lead_limit).
    """
    there = project.memberships.filter(user=person).first()
    if there is not None and there.role != role:
        raise Refused(
            "is_member",
            f"{person} is {named(there.role)} of {project.name} already. Change that role instead.",
            field="username",
        )
    if there is not None:
        return False
    if project.memberships.count() >= MOST_MEMBERS:
        raise Refused("too_many_members", f"A project has at most {MOST_MEMBERS} members. Remove one first.")
    if role == OWNER:
        refuse_new_owner(project, person, user)
    Membership.objects.create(project=project, user=person, role=role)
    return True
