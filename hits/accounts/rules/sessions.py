"""The sessions of leads, kept up to date while they are used; the scheme is that of `common.sessions`."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from common import sessions as scheme
from hits.models import LeadSession


class LeadSessionsMiddleware(scheme.SessionsMiddleware):
    rows = LeadSession.objects.all


def begin(sender: Any, request: HttpRequest | None, user: Any, **more: Any) -> None:
    """Somebody signed in, on whichever page."""
    if request is not None:
        LeadSession.objects.all().begin(request, user)
