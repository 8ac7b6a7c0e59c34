from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.db import transaction
from django.urls import reverse

from hits.flow.payments import asking
from hits.flow.setup import invitations, members
from hits.management.commands._base import ProjectCommand, agreed, dollars
from hits.management.commands.create_project import check_email, lead_named, money
from hits.models import Invitation, Membership, Project


class Command(ProjectCommand):
    changing = ("add", "change", "remove", "invite", "resend", "revoke", "may_budget")
    help = "List who is in a project, with the roles; add, change and remove members. All is done or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        shape: dict[str, Any] = {"action": "append", "default": [], "type": _with_role, "metavar": "NAME=ROLE"}
        roles = ", ".join(Membership.Role.values)
        parser.add_argument("--add", **shape, help=f"a lead's user name; roles: {roles}")
        parser.add_argument("--change", **shape, help="another role for a member")
        parser.add_argument("--remove", action="append", default=[], metavar="NAME", help="the last owner stays")
        parser.add_argument(
            "--may-budget",
            action="append",
            default=[],
            type=_with_amount,
            metavar="NAME=AMOUNT",
            help="how high somebody who is no owner may set the budget, in dollars; 0: not at all",
        )
        parser.add_argument("--invite", choices=Membership.Role.values, help="print a link that lets one person in")
        parser.add_argument("--email", default="", help="where the link of --invite is sent, too")
        parser.add_argument(
            "--days", type=int, default=invitations.usual_days(), help="until the link expires (%(default)s)"
        )
        parser.add_argument("--resend", type=int, metavar="ID", help="another link in the place of this invitation's")
        parser.add_argument("--revoke", type=int, metavar="ID", help="end an invitation of this list")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        coming = [(lead_named(name), role) for name, role in options["add"]]
        changing = [(_member(project, name), role) for name, role in options["change"]]
        allowed = [(_member(project, name), amount) for name, amount in options["may_budget"]]
        leaving = [_member(project, name) for name in options["remove"]]
        question = f"Remove {', '.join(options['remove'])} from {project.slug}? [y/N] "
        if leaving and not options["yes"] and not agreed(question):
            raise CommandError("Nothing was changed.")
        email = self._email(options)
        with transaction.atomic():
            if options["revoke"] is not None and not invitations.revoke(project, options["revoke"], None):
                raise CommandError(f"No invitation {options['revoke']} waits. Nothing was changed.")
            for person, role in coming:
                members.add_member(project, person, role, None)
            for person, role in changing:
                members.change_role(project, person, role, None)
            for person, amount in allowed:
                asking.allow(project, person, amount, None)
            for person in leaving:
                members.remove_member(project, person, None)
        people = [[row.user.username, row.role, _amount(row)] for row in members.members(project)]
        self.table(["user name", "role", "may budget"], people)
        if options["invite"]:
            self._invite(project, options["invite"], email, options["days"])
        if options["resend"] is not None:
            self._hand_over(*invitations.renew(project, options["resend"], None))
        if waiting := list(project.invitations.living().order_by("id")):
            self.say()
            rows = [[row.pk, row.role, row.email or "–", f"{row.expires_at:%Y-%m-%d %H:%M}"] for row in waiting]
            self.table(["invitation", "role", "e-mail", "expires (UTC)"], rows)

    def _email(self, options: dict[str, Any]) -> str:
        if not 1 <= options["days"] <= invitations.MOST_DAYS:
            raise CommandError(f"--days must be from 1 to {invitations.MOST_DAYS}.")
        email: str = options["email"]
        if email:
            check_email(email)
        return email

    def _invite(self, project: Project, role: str, email: str, days: int) -> None:
        self._hand_over(*invitations.invite(project, role, None, email, days))

    def _hand_over(self, row: Invitation, token: str) -> None:
        link = settings.PUBLIC_URL + reverse("invitation", args=[token])
        self.say(f"\n{link}")
        if row.email:
            sent = invitations.send(row, link)
            self.say(f"Sent to {row.email}." if sent else "No e-mail was sent: hand the link over.")


def _with_role(text: str) -> tuple[str, str]:
    name, _, role = text.rpartition("=")
    if not name or role not in Membership.Role.values:
        raise ArgumentTypeError(f"{text!r} is no NAME=ROLE. Roles: {', '.join(Membership.Role.values)}.")
    return name, role


def _with_amount(text: str) -> tuple[str, Decimal]:
    name, _, amount = text.rpartition("=")
    if not name:
        raise ArgumentTypeError(f"{text!r} is no NAME=AMOUNT, such as lena=500.")
    return name, money(amount)


def _amount(row: Membership) -> str:
    if row.role == Membership.Role.OWNER:
        return "any"
    return dollars(row.may_budget)


def _member(project: Project, name: str) -> User:
    found = project.memberships.select_related("user").filter(user__username=name).first()
    if found is None:
        there = ", ".join(row.user.username for row in members.members(project))
        raise CommandError(f"{name} is no member of {project.slug}. Its members: {there}. Nothing was changed.")
    return found.user
