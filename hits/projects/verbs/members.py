"""Who is in a project, and with which role. What the roles may do is in `hits.core.roles`."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework import serializers

from hits.accounts.rules.lead_limits import refuse_former_owner, refuse_new_owner
from hits.core.roles import OWNER
from hits.core.targets import PROJECT
from hits.core.verbs import Unchanged, verb
from hits.models import Membership, Project
from hits.projects.api.members import MEMBER, TAG, MemberShape
from hits.projects.rules.memberships import admit, hold
from hits.refusals import Refused


class ChangedRole(serializers.Serializer[Any]):
    role = serializers.ChoiceField(Membership.Role.choices)


class NewMember(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=150, label="User name")
    role = serializers.ChoiceField(Membership.Role.choices)

    def validate_username(self, name: str) -> User:
        found: User | None = get_user_model().objects.filter(username=name, is_active=True).first()
        if found is None:
            raise serializers.ValidationError("Nobody here has this user name. Ask for the exact spelling.")
        return found


@verb(
    "members.add", "Add a member", tag=TAG, on=PROJECT, role=OWNER, route="POST members/", pays=True,
    summary="Let somebody who has an account here into the project",
    takes=NewMember, gives=MemberShape, many=True, activity="added a member {role}",
    detail=lambda project, members, values: {"member": values["username"].get_username()},
    done=lambda members, values: f"{values['username']} is in the project with the role {values['role']}.",
    refuses=("is_member", "too_many_members", "above_lead_limit"),
)  # fmt: skip
def add(project: Project, user: User | None, *, username: User, role: str) -> QuerySet[Membership] | Unchanged:
    """Gives all members. With the role that the person has already, nothing changes."""
    hold(project, user)
    made = admit(project, username, role, user)
    members = project.memberships.with_users()
    return members if made else Unchanged(members, f"{username} is in the project already.")


@verb(
    "members.change_role", "Change a member's role", tag=TAG, on=MEMBER, role=OWNER, route="PATCH ", pays=True,
    summary="Give a member another role; the last owner stays one", takes=ChangedRole, gives=MemberShape,
    activity="changed a role {role}",
    detail=lambda row, changed, values: {"member": row.user.get_username(), "before": row.role},
    done=lambda changed, values: f"{changed.user} now has the role {changed.role}.",
    refuses=("last_owner", "above_lead_limit", "limited_owner"),
)  # fmt: skip
def change_role(row: Membership, user: User | None, *, role: str) -> Membership | Unchanged:
    """Gives the changed row; `row` has the role before."""
    project, person = row.project, row.user
    hold(project, user)
    if row.role == role:
        return Unchanged(row, f"{person} has this role already.")
    _refuse_last_owner(row)
    if role == OWNER:
        refuse_new_owner(project, person, user)
    elif row.role == OWNER:
        refuse_former_owner(project, person, user)
    changed = project.memberships.with_users().get(pk=row.pk)
    changed.role = role
    changed.save(update_fields=["role"])
    _end_invitations(row)
    return changed


@verb(
    "members.remove", "Remove a member", tag=TAG, on=MEMBER, role=OWNER, route="DELETE ", status=204, pays=True,
    summary="Take a member out of the project; the last owner stays", while_archived=True,
    activity="removed a member {role}", detail=lambda row, *_: {"member": row.user.get_username()},
    done=lambda row, values: f"{row.user} is no longer in {row.project.name}." if row else "You have left the project.",
    leads_to=lambda row: ("members", row.project.slug) if row else ("projects",),
    refuses=("last_owner", "limited_owner"),
)  # fmt: skip
def remove(row: Membership, user: User | None) -> Membership | None:
    """Gives None to somebody who leaves, whom the project's pages are closed to from now on."""
    hold(row.project, user)
    _refuse_last_owner(row)
    if row.role == OWNER:
        refuse_former_owner(row.project, row.user, user)
    row.delete()
    _end_invitations(row)
    return None if row.user == user else row


def _refuse_last_owner(leaving: Membership) -> None:
    others = leaving.project.memberships.owning().exclude(pk=leaving.pk)
    if leaving.role == OWNER and not others.exists():
        raise Refused("last_owner", "A project needs an owner. Make somebody else an owner first.")


def _end_invitations(former: Membership) -> None:
    """Links that a former owner made let nobody in any more."""
    former.project.invitations.living().filter(created_by=former.user).update(revoked_at=timezone.now())
