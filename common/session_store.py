"""Sessions in the database: read by a prepared query, and whose saving says why it failed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.models import Session
from django.db import InterfaceError, OperationalError
from django.db.models import QuerySet
from django.utils import timezone

from common.prepared import Prepared


class SessionStore(db.SessionStore):
    """SESSION_ENGINE."""

    def load(self) -> dict[str, Any]:
        """As Django does it, by a query that every request needs and that is written once."""
        found = _data(key=self.session_key, now=timezone.now())
        if not found:
            self._session_key = None
            return {}
        return self.decode(found[0])

    def save(self, must_create: bool = False) -> None:
        """Django takes each error of the database for a session that somebody else deleted, and answers with 400."""
        try:
            super().save(must_create)
        except UpdateError as error:
            if isinstance(error.__context__, OperationalError | InterfaceError):
                raise error.__context__ from error.__context__.__cause__
            raise


@Prepared
def _data(key: str, now: datetime) -> QuerySet[Session, str]:
    return Session.objects.filter(session_key=key, expire_date__gt=now).values_list("session_data", flat=True)
