"""The members of a project and their roles."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.urls import reverse
from rest_framework import exceptions, status
from rest_framework.request import Request
from rest_framework.response import Response

from hits.api.base import LeadView, ProjectView, operation
from hits.models import Invitation
from hits.projects.api import shapes
from hits.projects.verbs import invitations
from hits.projects.verbs import members as flow

TAG = "Members"


class Members(ProjectView):
    pays = frozenset({"POST"})

    @operation(
        "members_list", "Who is in the project, with the roles", tag=TAG, answer=shapes.MemberShape(many=True),
        refuses=[404],
    )  # fmt: skip
    def get(self, request: Request, **address: str) -> Response:
        return self._members()

    @operation(
        "members_add",
        "Let somebody who has an account here into the project",
        tag=TAG,
        takes=shapes.NewMember,
        answer=shapes.MemberShape(many=True),
        refuses=[403, 404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        wanted = self.body(shapes.NewMember)
        flow.add_member(self.project, _user(wanted["username"]), wanted["role"], self.user)
        return self._members()

    def _members(self) -> Response:
        return Response(shapes.MemberShape(flow.members(self.project), many=True).data)


class Member(ProjectView):
    pays = frozenset({"PATCH", "DELETE"})

    @operation(
        "members_change_role",
        "Give a member another role; the last owner stays one",
        tag=TAG,
        takes=shapes.ChangedRole,
        answer=shapes.MemberShape,
        refuses=[403, 404, 409],
    )
    def patch(self, request: Request, username: str, **address: str) -> Response:
        given = self.body(shapes.ChangedRole)
        flow.change_role(self.project, self._member(username), given["role"], self.user)
        return Response(shapes.MemberShape(flow.members(self.project).get(user__username=username)).data)

    @operation(
        "members_remove",
        "Take a member out of the project; the last owner stays",
        tag=TAG,
        code=204,
        refuses=[403, 404, 409],
    )
    def delete(self, request: Request, username: str, **address: str) -> Response:
        flow.remove_member(self.project, self._member(username), self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _member(self, username: str) -> User:
        found = flow.members(self.project).filter(user__username=username).first()
        if found is None:
            raise exceptions.NotFound("This person is no member of the project.")
        return found.user


class Invitations(ProjectView):
    pays = frozenset({"POST"})
    heavy = frozenset({"POST"})

    @operation(
        "invitations_list",
        "Invitations that wait to be accepted",
        tag=TAG,
        answer=shapes.InvitationShape(many=True),
        refuses=[403, 404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return Response(shapes.InvitationShape(self.project.invitations.living().order_by("id"), many=True).data)

    @operation(
        "invitations_create",
        "Make a link that lets one person into the project, who may have no account yet",
        tag=TAG,
        takes=shapes.NewInvitation,
        answer=shapes.MadeInvitation,
        code=201,
        refuses=[403, 404],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = self.body(shapes.NewInvitation)
        return _with_link(*invitations.invite(self.project, user=self.user, **given))


def _with_link(row: Invitation, token: str) -> Response:
    link = settings.PUBLIC_URL + reverse("invitation", args=[token])
    made = shapes.InvitationShape(row).data
    return Response({**made, "link": link, "sent": invitations.send(row, link)}, status=status.HTTP_201_CREATED)


class ResendInvitation(ProjectView):
    pays = frozenset({"POST"})
    heavy = frozenset({"POST"})

    @operation(
        "invitations_resend",
        "Make another link in the place of one that waits, and send it where the first was sent",
        tag=TAG,
        answer=shapes.MadeInvitation,
        code=201,
        refuses=[403, 404],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        return _with_link(*invitations.renew(self.project, pk, self.user))


class RevokeInvitation(ProjectView):
    pays = frozenset({"POST"})

    @operation(
        "invitations_revoke", "End an invitation before somebody accepts it", tag=TAG, code=204, refuses=[403, 404]
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        if not invitations.revoke(self.project, pk, self.user):
            raise exceptions.NotFound("No such invitation waits. It was used, has expired or was revoked.")
        return Response(status=status.HTTP_204_NO_CONTENT)


class AcceptInvitation(LeadView):
    pays = frozenset({"POST"})
    heavy = frozenset({"POST"})

    @operation(
        "invitations_accept",
        "Become a member of the project that an invitation is for",
        tag=TAG,
        takes=shapes.InvitationToken,
        answer=shapes.Accepted,
        refuses=[404, 409],
    )
    def post(self, request: Request) -> Response:
        given = self.body(shapes.InvitationToken)
        return Response({"project": invitations.accept(given["token"], self.user).slug})


def _user(username: str) -> Any:
    found: User | None = get_user_model().objects.filter(username=username, is_active=True).first()
    if found is None:
        raise exceptions.ValidationError({"username": ["Nobody here has this user name. Ask for the exact spelling."]})
    return found
