"""`manage.py create_lead NAME`: an account for a project lead, and a link with which the lead sets its password."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.names import plain_name
from hits.accounts.verbs import passwords
from hits.management.base import OperatorCommand
from hits.models import Guest

FROM_ENVIRONMENT = "LEAD_PASSWORD"


class Command(OperatorCommand):
    help = (
        "Create a lead's account. A link that sets its password, once, is sent to the address where a mail server is "
        f"set, and printed otherwise. With {FROM_ENVIRONMENT} in the environment, that is the password."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--email", default="", help="the lead's address: for links to set a password, and notices")
        parser.add_argument(
            "--allow", action="store_true", help="let an account that an invitation made start projects of its own"
        )

    def run(self, options: dict[str, Any]) -> None:
        if options["allow"]:
            username = plain_name(options["username"])
            if not Guest.objects.filter(user__username=username).delete()[0]:
                raise CommandError(f"{username} is no account that an invitation made. Nothing was changed.")
            self.say(f"{username} may start projects.")
            return
        given = os.environ.get(FROM_ENVIRONMENT, "")
        account = passwords.create_account(options["username"], options["email"], given)
        if given:
            # A password that came in stays out of the terminal.
            self.say(account.username)
        elif passwords.send(account):
            self.say(f"{account.username}: a link to set the password was sent to {account.email}.")
        else:
            self.say(passwords.link(account))
