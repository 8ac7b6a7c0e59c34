"""`manage.py account NAME`: what there is of a lead's account, and what only whoever runs the server may do to it."""

from __future__ import annotations

from argparse import ArgumentTypeError
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.second_factor import device_of
from hits.accounts.rules.lead_limits import room_of
from hits.accounts.verbs import passwords, second_factor, sessions
from hits.management.base import OperatorCommand, dollars, lead_named
from hits.models import AccountAction
from hits.notifications.rules import notices
from hits.notifications.verbs import notice_addresses
from hits.payments.verbs import requesting_budget

CHANGES_SHOWN = 20


def money(text: str) -> Decimal:
    """Dollars and cents; argparse shows the refusal."""
    try:
        amount = Decimal(text)
    except InvalidOperation as error:
        raise ArgumentTypeError(f"{text!r} is no amount of money") from error
    if not amount.is_finite() or not 0 <= amount < 10**10 or amount != round(amount, 2):
        raise ArgumentTypeError(f"{text!r} is not dollars and cents")
    return amount


class Command(OperatorCommand):
    help = (
        "Show a lead's account with its sessions and changes; print a link to set the password; end sessions; set "
        "where letters go; limit what the lead may budget in all."
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
        what.add_argument(
            "--notice-address", metavar="ADDRESS", help="where letters with notices go; empty: no letters"
        )

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
            requesting_budget.limit_lead(account, options["budget_limit"])
            self._say_limit(account)
        elif options["notice_address"] is not None:
            if options["notice_address"]:
                notice_addresses.set_by_administrator(account, options["notice_address"])
            else:
                notice_addresses.remove(account)
            account.refresh_from_db()
            self._say_letters(account)
        else:
            self._show(account)

    def _show(self, account: Any) -> None:
        left = second_factor.codes_left(account)
        factor = f"on, {left} recovery codes left" if device_of(account) else "off"
        self.say(f"{account}, {account.email or 'no e-mail address'}, second factor {factor}")
        self._say_letters(account)
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

    def _say_letters(self, account: Any) -> None:
        self.say(notices.why_no_email(account) or f"Letters go to {account.email}.")

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
