"""What is shown once, such as a new secret: a form makes it, and the page that the form leads to shows it.

So reloading that page makes nothing, and its address can be opened again.

Security behavior: until then it stands in the session of whoever made it, for MINUTES at most; the first showing takes
it out. The address that shows it holds a random name of it, and no part of it.
"""

from __future__ import annotations

import secrets
import time
from typing import Any

from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest, HttpResponseRedirect

MINUTES = 10
# In the address, and in the session.
NAME = "once"
# Of the newest: nobody has more forms sent and not looked at.
MOST_KEPT = 5


def leading_to(request: HttpRequest, page: str, **shown: object) -> HttpResponseRedirect:
    """To the page with this address, which shows it by `taken`. `shown` is what JSON can hold."""
    name = secrets.token_urlsafe(12)
    entries = {**_living(request.session), name: {"page": page, "until": time.time() + 60 * MINUTES, "shown": shown}}
    request.session[NAME] = dict(list(entries.items())[-MOST_KEPT:])
    return HttpResponseRedirect(f"{page}?{NAME}={name}")


def taken(request: HttpRequest) -> dict[str, Any]:
    """What this page is to show, which no other call gets; `{"shown_before": True}` where it was, or is too old.

    Empty where the address names nothing.
    """
    name = request.GET.get(NAME)
    # Of HEAD nobody sees the answer.
    if not name or request.method != "GET":
        return {}
    entries = _living(request.session)
    if entries.get(name, {}).get("page") != request.path:
        return {"shown_before": True}
    shown: dict[str, Any] = entries.pop(name)["shown"]
    request.session[NAME] = entries
    return shown


def _living(session: SessionBase) -> dict[str, Any]:
    now = time.time()
    return {name: entry for name, entry in session.get(NAME, {}).items() if entry["until"] > now}
