"""Sessions in the database, whose saving says why it failed."""

from __future__ import annotations

from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import UpdateError
from django.db import InterfaceError, OperationalError


class SessionStore(db.SessionStore):
    """SESSION_ENGINE."""

    def save(self, must_create: bool = False) -> None:
        """Django takes each error of the database for a session that somebody else deleted, and answers with 400."""
        try:
            super().save(must_create)
        except UpdateError as error:
            if isinstance(error.__context__, OperationalError | InterfaceError):
                raise error.__context__ from error.__context__.__cause__
            raise
