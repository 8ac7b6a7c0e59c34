"""`manage.py api_tokens NAME`: a lead's API tokens, listed, made and revoked."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser

from hits.accounts.verbs import api_tokens
from hits.management.base import OperatorCommand
from hits.models import ApiToken
from hits.refusals import Refused


class Command(OperatorCommand):
    help = "List a lead's API tokens, make one (printed once), or revoke one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--make", metavar="NAME", help="make a token with this name")
        parser.add_argument("--scope", choices=ApiToken.Scope.values, default=ApiToken.Scope.READ.value)
        parser.add_argument("--days", type=int, default=api_tokens.USUAL_DAYS, help="until it expires (%(default)s)")
        parser.add_argument("--revoke", type=int, metavar="ID", help="revoke the token with this number")

    def run(self, options: dict[str, Any]) -> None:
        user = get_user_model().objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['username']!r}. Create one: manage.py create_lead NAME")
        if options["revoke"] is not None:
            if not api_tokens.revoke_token(user, options["revoke"]):
                raise CommandError(f"{user.get_username()} has no token {options['revoke']}.")
            self.stdout.write("Revoked.")
        elif options["make"]:
            self._make(user, options)
        else:
            for row in ApiToken.objects.living().filter(user=user).order_by("-id"):
                used = f"{row.last_used_at:%Y-%m-%d %H:%M} UTC" if row.last_used_at else "never"
                self.stdout.write(
                    f"{row.pk}  {row.name}  {row.start}…  {row.scope}  used {used}  until {row.expires_at:%Y-%m-%d}"
                )

    def _make(self, user: Any, options: dict[str, Any]) -> None:
        if not 1 <= options["days"] <= api_tokens.MOST_DAYS:
            raise CommandError(f"--days goes from 1 to {api_tokens.MOST_DAYS}.")
        if len(options["make"]) > 60:
            raise CommandError("The name has at most 60 characters.")
        try:
            _, token = api_tokens.make_token(user, options["make"], options["scope"], options["days"])
        except Refused as error:
            raise CommandError(str(error)) from error
        self.stdout.write(token)
