"""What webhooks are told: `announce` writes it down, in the transaction of what it tells, for each that listens.

Nothing that comes of a webhook is an event, so no circle of webhooks grows.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from hits.models import Project, Webhook, WebhookDelivery

# Of the body; it grows when a field goes or means another thing, not when one is added.
VERSION = 1
TEST = "test"
Facts = Mapping[str, Any]
# The facts by which people tell one message from another of the same event, and how these are called.
_ABOUT = (
    ("item", "item"), ("worker", "worker"), ("number", "release"), ("stage", "stage"), ("outcome", "outcome"),
    ("left", "left"),
)  # fmt: skip


def announce(project_pk: int, event: str, facts: Callable[[], Iterable[Facts]]) -> int:
    """Write down one event of the project for each of the `facts`; how many messages that makes.

    To be called in the transaction that makes them true. Where nothing listens, `facts` is not asked, and it costs one
    query; else two more, however many there are.
    """
    hooks = Webhook.objects.listening(project_pk).select_related("project").order_by("pk")
    found = [hook for hook in hooks if event in hook.events]
    return _write(found, event, facts()) if found else 0


def announce_test(hook: Webhook) -> None:
    """Write down an event that says nothing, for this webhook alone."""
    _write([hook], TEST, [{"message": "Nothing happened: somebody tries this webhook."}])


def about(body: str) -> str:
    """What a message is about, in a few words: “item otters-3, stage validate, outcome kept”. Empty for a test."""
    facts = json.loads(body).get("data", {})
    return ", ".join(f"{word} {facts[name]}" for name, word in _ABOUT if facts.get(name) is not None)


def drop(rows: QuerySet[WebhookDelivery]) -> int:
    """Give up those of these messages that still wait, for their webhook was ended."""
    state = WebhookDelivery.State
    error = "The webhook was ended."
    return rows.filter(state=state.WAITING).update(state=state.GIVEN_UP, error=error, done_at=timezone.now())


def _write(hooks: Sequence[Webhook], event: str, facts: Iterable[Facts]) -> int:
    now = timezone.now()
    rows = []
    for one in facts:
        event_id = f"evt_{secrets.token_hex(12)}"
        body = _body(hooks[0].project, event, event_id, now, one)
        rows += [_delivery(hook, event, event_id, body, now) for hook in hooks]
    WebhookDelivery.objects.bulk_create(rows)
    return len(rows)


def _delivery(hook: Webhook, event: str, event_id: str, body: str, now: datetime) -> WebhookDelivery:
    message_id = f"msg_{secrets.token_hex(12)}"
    return WebhookDelivery(
        webhook=hook, message_id=message_id, event_id=event_id, event=event, body=body, created_at=now, since=now
    )


def _body(project: Project, event: str, event_id: str, now: datetime, facts: Facts) -> str:
    content = {
        "type": event,
        "timestamp": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "version": VERSION,
        "event": event_id,
        "project": project.slug,
        "data": facts,
    }
    return json.dumps(content, separators=(",", ":"))


def route(name: str, *arguments: object) -> str:
    """The address of a route of the API, where a receiver with a token reads more."""
    return f"{settings.PUBLIC_URL}{reverse(f'api:{name}', args=arguments)}"
