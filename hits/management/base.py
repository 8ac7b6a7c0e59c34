"""What the commands share: typed errors, tables, and finding an account."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from hits.core.action_log import acting_from
from hits.models import Action
from hits.projects.rules.plugins import in_full
from hits.refusals import Refusal


class OperatorCommand(BaseCommand, ABC):
    """Subclasses write `run`; what a verb refuses becomes one line on stderr and exit code 1."""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with acting_from(Action.Origin.COMMAND):
                self.run(options)
        except Refusal as error:
            raise CommandError(in_full(error)) from error

    @abstractmethod
    def run(self, options: dict[str, Any]) -> None:
        """The command's work, with the parsed arguments."""

    def say(self, text: str = "") -> None:
        self.stdout.write(text)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Columns as wide as their widest cell; numbers stand to the right."""
        cells = [[str(cell) for cell in row] for row in [head, *rows]]
        widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
        right = [bool(rows)] * len(head)
        for row in cells[1:]:
            for i, text in enumerate(row):
                digits = text.strip("$%-+").replace(",", "").replace(".", "", 1)
                right[i] &= digits.isdigit() or text == "–"
        for row in cells:
            columns = zip(row, widths, right, strict=True)
            line = "  ".join(f"{cell:>{width}}" if end else f"{cell:<{width}}" for cell, width, end in columns)
            self.say(line.rstrip())


def lead_named(name: str) -> User:
    """Raises CommandError."""
    found: User | None = get_user_model().objects.filter(username=name, is_active=True).first()
    if found is None:
        raise CommandError(f"There is no user {name!r}. Create one: manage.py create_lead NAME")
    return found


def dollars(amount: object) -> str:
    return "–" if amount is None else f"${amount:,.2f}"
