"""Which sessions of a person are open: in what browser, since when, and when each was last seen.

A row is made when somebody signs in, and goes with Django's row of the session. Ending a session deletes both: the
browser that has its cookie is signed out. When it was last seen is written every few minutes, not at every request.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import DatabaseError, models
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from common.devices import LONGEST, device_words

log = logging.getLogger(__name__)
NOTED_EVERY = timedelta(minutes=5)
# In the session itself: [first seen, last noted], as seconds since 1970.
SEEN = "seen"


class SessionQuerySet(models.QuerySet["SessionRow"]):
    def open_of(self, user: Any) -> SessionQuerySet:
        """Those that sign this person in, the one last seen first."""
        return self.filter(user=user, session__expire_date__gt=timezone.now()).order_by("-last_seen_at", "-pk")

    def end(self) -> int:
        """Whoever uses these sessions is signed out; how many there were."""
        keys = list(self.values_list("session_id", flat=True))
        Session.objects.filter(pk__in=keys).delete()
        return len(keys)

    def begin(self, request: HttpRequest, user: Any) -> None:
        """Write down the session of somebody who has just signed in, or whose session has got another key."""
        session = request.session
        if session.session_key is None:
            session.create()
        now = timezone.now()
        first = datetime.fromtimestamp(session[SEEN][0], UTC) if SEEN in session else now
        device = device_words(request.headers.get("User-Agent", ""))[:LONGEST]
        seen = {"user": user, "device": device, "first_seen_at": first, "last_seen_at": now}
        self.update_or_create(session_id=session.session_key, defaults=seen)
        session[SEEN] = [first.timestamp(), now.timestamp()]

    def note(self, request: HttpRequest, user: Any) -> None:
        """Write that it was seen, unless that was written a moment ago."""
        session, now = request.session, timezone.now()
        if session.session_key is None:
            return
        if SEEN not in session:
            self.begin(request, user)
        elif now.timestamp() - session[SEEN][1] > NOTED_EVERY.total_seconds():
            self.filter(session_id=session.session_key).update(last_seen_at=now)
            session[SEEN] = [session[SEEN][0], now.timestamp()]


class SessionRow(models.Model):
    """A session of somebody who signed in."""

    session = models.OneToOneField(Session, models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    device = models.CharField(max_length=LONGEST)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    objects = SessionQuerySet.as_manager()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.user_id} {self.device}"


class SessionsMiddleware:
    """Keeps the rows of sessions up to date. What no view asked who the visitor is costs nothing."""

    rows: ClassVar[Callable[[], SessionQuerySet]]

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.session.accessed and "_auth_user_id" in request.session and self.counts(request.user):
            self._note(request)
        return response

    def _note(self, request: HttpRequest) -> None:
        try:
            type(self).rows().note(request, request.user)
        except DatabaseError as error:
            # The answer is ready: a full disk must not turn it into an error.
            log.warning("When a session was last seen could not be written: %s", error)

    def counts(self, user: Any) -> bool:
        """Whether this person's sessions are listed."""
        return bool(user.is_authenticated)
