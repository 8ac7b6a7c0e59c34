import os
import secrets
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace.verbs import accounts

_FROM_ENVIRONMENT = "MARKETPLACE_OPERATOR_PASSWORD"


class Command(BaseCommand):
    help = f"Create an operator's log-in. Its password is {_FROM_ENVIRONMENT}, or drawn at random and printed, once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        username, given = options["username"], os.environ.get(_FROM_ENVIRONMENT, "")
        users = get_user_model()
        if users.objects.filter(username__iexact=username).exists():
            raise CommandError(f"There is a user {username} already; choose another name.")
        if given:
            try:
                validate_password(given, users(username=username))
            except ValidationError as error:
                raise CommandError(f"{_FROM_ENVIRONMENT}: {' '.join(error.messages)}") from error
        password = given or secrets.token_urlsafe(12)
        accounts.create_operator(username, password)
        # A password that came in stays out of the terminal.
        self.stdout.write(username if given else f"{username} {password}")
