"""What workers do at the marketplace, for tests that are not about the worker's site.

Runs in a process of its own, with the marketplace's settings: tests.hits.market starts it and speaks with it,
one JSON object a line in, one a line out.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.hashers import PBKDF2PasswordHasher  # noqa: E402
from django.db import close_old_connections  # noqa: E402
from django.utils import timezone  # noqa: E402

from marketplace.models import Assignment, Hit, HitType, Requester, Worker  # noqa: E402
from marketplace.verbs import accounts, assignments, clock, deliveries, events, tokens  # noqa: E402


class QuickHasher(PBKDF2PasswordHasher):
    """A hash of the marketplace's own kind, which lets these workers in, without the time that it takes on purpose."""

    iterations = 1


settings.PASSWORD_HASHERS = [f"{__name__}.QuickHasher"]


def sign_up(username: str, attributes: Mapping[str, Any]) -> str:
    return accounts.create_worker(username, "worker", **attributes).worker_id


def accept(worker_id: str, hit_id: str | None, hit_type_id: str | None) -> dict[str, str]:
    """One HIT of the type, or that very HIT."""
    hit = Hit.objects.select_related("hit_type").get(hit_id=hit_id) if hit_id else None
    hit_type = hit.hit_type if hit else HitType.objects.get(hit_type_id=hit_type_id)
    taken = assignments.accept(hit_type, Worker.objects.get(worker_id=worker_id), timezone.now(), hit)
    return {"assignment_id": taken.assignment_id, "hit_id": taken.hit.hit_id, "question": taken.hit.question}


def give_back(worker_id: str, assignment_id: str) -> None:
    held = Assignment.objects.get(assignment_id=assignment_id, worker__worker_id=worker_id, status="Accepted")
    assignments.give_back(held, held.worker, timezone.now())


def let_time_pass(seconds: int) -> int:
    """What the clock makes due in so many seconds: time-outs, approvals by time, expiry."""
    return assignments.sweep(timezone.now() + timedelta(seconds=seconds), limit=1000)


def status(assignment_id: str, worker_id: str) -> dict[str, str]:
    row = Assignment.objects.filter(assignment_id=assignment_id, worker__worker_id=worker_id).latest("pk")
    return {"status": row.status, "feedback": row.requester_feedback}


def hit(hit_id: str) -> dict[str, Any]:
    row = Hit.objects.select_related("hit_type").get(hit_id=hit_id)
    return {
        "status": row.status(timezone.now()),
        "max_assignments": row.max_assignments,
        "annotation": row.requester_annotation,
        "expires_at": row.expires_at.isoformat(),
        "requirements": row.hit_type.requirements,
    }


def end_open_hits() -> int:
    """Those of all requesters that are still offered; how many."""
    now = timezone.now()
    return Hit.objects.assignable(now).update(expires_at=now)


def forget_tokens() -> int:
    """What the marketplace does with request tokens after 24 hours."""
    return tokens.forget(timezone.now() + timedelta(hours=25))


def accept_many(worker_id: str, hit_ids: list[str]) -> dict[str, str]:
    """HIT to the assignment that the worker then holds."""
    worker, hits = Worker.objects.get(worker_id=worker_id), Hit.objects.filter(hit_id__in=hit_ids)
    return {
        hit.hit_id: assignments.accept(hit.hit_type, worker, timezone.now(), hit).assignment_id
        for hit in hits.select_related("hit_type")
    }


def submit_many(worker_id: str, answers: Mapping[str, Mapping[str, str]]) -> int:
    """Assignment to the fields of its answer, without HTTP."""
    for assignment_id, fields in answers.items():
        given = {name: [value] for name, value in fields.items()}
        assignments.submit(assignment_id, given, timezone.now(), worker_id)
    return len(answers)


def deliver_events() -> int:
    """Send the notifications that are due, as the marketplace does every second; how many."""
    return deliveries.deliver(clock.now())


def set_webhook(key_id: str, url: str) -> str:
    """Where the requester with that key is told of all events; the secret that they are signed with."""
    requester = Requester.objects.get(access_keys__access_key_id=key_id)
    return events.set_webhook(requester, url, clock.now()).secret


VERBS: dict[str, Callable[..., Any]] = {
    verb.__name__: verb
    for verb in (
        sign_up,
        accept,
        give_back,
        let_time_pass,
        status,
        hit,
        end_open_hits,
        forget_tokens,
        deliver_events,
        set_webhook,
        accept_many,
        submit_many,
    )
}


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        close_old_connections()
        try:
            reply = {"ok": VERBS[asked["verb"]](**asked["arguments"])}
        except Exception as error:
            # Whatever it was, the test that asked has to see it.
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
