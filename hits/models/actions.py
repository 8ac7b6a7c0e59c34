"""The action log: who did what, when and from where. `record` is its one writer."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models

from hits.models.answers import Assignment, Label
from hits.models.projects import Project, Stage
from hits.models.workers import Block

LONGEST_NAME = 150


class Action(models.Model):
    """Something that a lead, a program or the installation itself changed. Rows are written once and stay."""

    class Origin(models.TextChoices):
        PAGE = "page", "a page"
        API = "api", "the API"
        COMMAND = "command", "the command line"
        ITSELF = "itself", "by itself"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="actions")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", help_text="Null: no lead."
    )
    name = models.CharField(
        max_length=LONGEST_NAME,
        blank=True,
        help_text="The lead's name then, or of a command the account of the machine; empty: by itself.",
    )
    origin = models.CharField(max_length=7, choices=Origin.choices)
    verb = models.CharField(max_length=60, help_text="What was done, as pages show it: “approved”.")
    at = models.DateTimeField(auto_now_add=True)
    detail = models.JSONField(default=dict, help_text="Such as an amount before and after.")
    # What it was done to; all empty where it was the project.
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, null=True, related_name="actions")
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, null=True, related_name="actions")
    label = models.ForeignKey(Label, on_delete=models.CASCADE, null=True, related_name="actions")
    block = models.ForeignKey(Block, on_delete=models.CASCADE, null=True, related_name="actions")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.verb} {self.by}"

    @property
    def by(self) -> str:
        """Such as "by anna", "by anna through the API", "on the command line by root", "by itself"."""
        if self.origin == self.Origin.COMMAND:
            return f"on the command line by {self.name}"
        if not self.name:
            return "by itself"
        return f"by {self.name} through the API" if self.origin == self.Origin.API else f"by {self.name}"


_origin: ContextVar[str] = ContextVar("origin", default=Action.Origin.ITSELF)
_COLUMNS: dict[type[models.Model], str] = {Assignment: "assignment", Label: "label", Block: "block", Stage: "stage"}


@contextmanager
def acting_from(origin: str) -> Iterator[None]:
    """Within, `record` notes this origin. Set by what leads call: pages, the API, commands."""
    token = _origin.set(origin)
    try:
        yield
    finally:
        _origin.reset(token)


def origin_now() -> str:
    """For a job that is queued here and goes on elsewhere: hand it over and act from it there."""
    return _origin.get()


def record(
    project: Project,
    user: User | None,
    verb: str,
    rows: Iterable[models.Model] | None = None,
    detail: dict[str, Any] | None = None,
) -> None:
    """Write who did `verb` to each of these rows (assignments, labels, blocks or stages); None: to the project.

    To be called in the transaction that makes the change. `detail` has values that JSON holds.
    """
    origin = origin_now()
    common: dict[str, Any] = {
        "project": project,
        "user": user,
        "name": _name(user, origin)[:LONGEST_NAME],
        "origin": origin,
        "verb": verb,
        "detail": detail or {},
    }
    targets: list[dict[str, Any]] = [{}] if rows is None else [{_COLUMNS[type(row)]: row} for row in rows]
    Action.objects.bulk_create((Action(**common, **target) for target in targets), batch_size=500)


def _name(user: User | None, origin: str) -> str:
    if user is not None:
        return user.get_username()
    return _account_of_the_machine() if origin == Action.Origin.COMMAND else ""


def _account_of_the_machine() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run under a number that has no name.
        return f"user {os.getuid()}"
