"""`manage.py account NAME`: what there is of a lead's account, and what only whoever runs the server may do to it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.second_factor import device_of
from hits.domain.lead_limits import room_of
from hits.flow.payments import asking
from hits.flow.setup import passwords, second_factor, sessions
from hits.management.commands._base import FlowCommand, dollars
from hits.management.commands.create_project import lead_named, money
from hits.models import AccountAction

CHANGES_SHOWN = 20


class Command(FlowCommand):
    help = (
        "Show a lead's account with its sessions and changes; print a link to set the password; end sessions; limit "
        "what the lead may budget in all."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--password-link", action="store_true", help="print a link that sets the password, once")
        what.add_argument("--reset-second-factor", action="store_true", help="of somebody who lost app and codes")
        what.add_argument("--end-session", type=int, metavar="ID", help="sign one browser of this list out")
        what.add_argument("--end-sessions", action="store_true", help="sign all browsers out")
        what.add_argument(
            "--budget-limit",
            type=money,
            metavar="AMOUNT",
            help="the most that the budgets of all projects that the lead owns may come to, in dollars",
        )
        what.add_argument("--no-budget-limit", action="store_true", help="let them come to any sum")

    def run(self, options: dict[str, Any]) -> None:
        account = lead_named(options["username"])
        if options["password_link"]:
            self.say(passwords.link(account))
        elif options["reset_second_factor"]:
            second_factor.reset(account)
            self.say("The second factor is taken away, and all sessions are ended. The password alone signs in now.")
        elif options["end_session"] is not None:
            if not sessions.end_session(account, options["end_session"], None):
                raise CommandError(f"{account} has no session {options['end_session']}. Nothing was changed.")
            self.say("Ended.")
        elif options["end_sessions"]:
            self.say(f"{sessions.end_others(account, None, None)} ended.")
        elif options["budget_limit"] is not None or options["no_budget_limit"]:
            asking.limit_lead(account, options["budget_limit"])
            self._say_limit(account)
        else:
            self._show(account)

    def _show(self, account: Any) -> None:
        left = second_factor.codes_left(account)
        factor = f"on, {left} recovery codes left" if device_of(account) else "off"
        self.say(f"{account}, {account.email or 'no e-mail address'}, second factor {factor}")
        self._say_limit(account)
        rows = [
            [row.pk, row.device, f"{row.first_seen_at:%Y-%m-%d %H:%M}", f"{row.last_seen_at:%Y-%m-%d %H:%M}"]
            for row in sessions.open_sessions(account)
        ]
        if rows:
            self.say()
            self.table(["session", "device", "since (UTC)", "last seen (UTC)"], rows)
        if changes := AccountAction.objects.filter(account=account)[:CHANGES_SHOWN]:
            self.say()
            told = [[f"{one.at:%Y-%m-%d %H:%M}", one.verb, one.about, one.by] for one in changes]
            self.table(["changed (UTC)", "what", "", "by"], told)

    def _say_limit(self, account: Any) -> None:
        room = room_of(account)
        if room is None:
            self.say("Budgets in all: no limit")
            return
        self.say(
            f"Budgets in all: {dollars(room.budgeted)} of at most {dollars(room.limit)}, {dollars(room.left)} left"
        )
        if room.budgeted > room.limit:
            self.say("They stay as they are; none of them can be raised until others are lowered.")
