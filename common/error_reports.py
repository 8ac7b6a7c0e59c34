"""Reports of exceptions to a Sentry server, where its address is set: what failed and where, and nothing of people."""

from __future__ import annotations

from typing import Any

import sentry_sdk
from sentry_sdk.types import Event, Hint

from common import request_id

# Of a request, what says nothing of who asked and what was sent.
_KEPT = ("method",)


def begin(dsn: str, release: str) -> None:
    """Report what nobody caught, from here on. Without an address nothing is set up and nothing is sent."""
    if not dsn:
        return
    sentry_sdk.init(
        dsn=dsn,
        release=release,
        send_default_pii=False,
        max_request_body_size="never",
        # Variables hold answers and names; the lines before a failure hold what was asked of the database.
        include_local_variables=False,
        max_breadcrumbs=0,
        before_send=_without_people,
        auto_session_tracking=False,
        server_name="",
    )


def _without_people(event: Event, hint: Hint) -> Event:
    request: dict[str, Any] = dict(event.get("request") or {})
    event["request"] = {name: request[name] for name in _KEPT if name in request}
    for name in ("user", "breadcrumbs", "extra", "modules", "server_name"):
        event.pop(name, None)  # type: ignore[misc]
    contexts = dict(event.get("contexts") or {})
    # Of a job: its arguments.
    event["contexts"] = {name: each for name, each in contexts.items() if name in ("trace", "runtime")}
    for failed in (event.get("exception") or {}).get("values", []):
        # What follows the first line of a database's refusal are the values of the row.
        failed["value"] = str(failed.get("value") or "").partition("\n")[0]
    if known := request_id.current():
        event.setdefault("tags", {})["request_id"] = known
    return event
