"""The action log: `record` writes who did what in a project, when and from where, `record_account` to an account."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.contrib.auth.models import User
from django.db import models

from hits.answers.models import Assignment, Label
from hits.core.models.actions import LONGEST_NAME, AccountAction, Action
from hits.projects.models import Project
from hits.stages.models import Stage
from hits.workers.models import Block

LONGEST_ABOUT = 100
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


def record_account(account: User, user: User | None, verb: str, about: str = "") -> None:
    """Write who did `verb` to this account; `user` is the person at the page or program, if any.

    To be called in the transaction that makes the change.
    """
    origin = origin_now()
    name = _name(None if origin == Action.Origin.COMMAND else user, origin)[:LONGEST_NAME]
    AccountAction.objects.create(account=account, name=name, origin=origin, verb=verb, about=about[:LONGEST_ABOUT])


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
