"""`manage.py create_lead NAME`: an account for a project lead. `manage.py changepassword NAME` is Django's own."""

from __future__ import annotations

import os
import secrets
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from common.names import plain_name
from hits.models import Guest

FROM_ENVIRONMENT = "LEAD_PASSWORD"


class Command(BaseCommand):
    help = f"Create a lead's account. The password is {FROM_ENVIRONMENT}, or is drawn at random and printed, once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument(
            "--allow", action="store_true", help="let an account that an invitation made start projects of its own"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        users, username = get_user_model(), plain_name(options["username"])
        if options["allow"]:
            return self._allow(username)
        if users.objects.filter(username__iexact=username).exists():
            raise CommandError(f"There is a user {username} already; choose another name.")
        given = os.environ.get(FROM_ENVIRONMENT, "")
        password = given or secrets.token_urlsafe(12)
        user = users(username=username)
        try:
            user.clean_fields(exclude=["password"])
            validate_password(password, user)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        user.set_password(password)
        user.save()
        # A password that came in stays out of the terminal.
        self.stdout.write(username if given else f"{username} {password}")
        return None

    def _allow(self, username: str) -> None:
        if not Guest.objects.filter(user__username=username).delete()[0]:
            raise CommandError(f"{username} is no account that an invitation made. Nothing was changed.")
        self.stdout.write(f"{username} may start projects.")
