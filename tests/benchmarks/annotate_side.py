"""Fills a running stack for `tests.benchmarks.turkle`: `lead`, `tasks NUMBER`, `results ROWS`. Prints JSON."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

VERB = sys.argv[1] if len(sys.argv) > 1 else ""
os.environ["DJANGO_SETTINGS_MODULE"] = f"{'marketplace' if VERB == 'tasks' else 'annotate'}.settings"
import django  # noqa: E402

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402


def lead() -> dict[str, Any]:
    from hits.accounts.verbs.api_tokens import make_token

    user, _ = get_user_model().objects.get_or_create(username="lead")
    return {"token": make_token(user, "bench", "pay")[1]}


def tasks(number: int) -> dict[str, Any]:
    """One group with so many HITs that nobody has taken, and a worker who is signed in."""
    from django.test import Client

    from marketplace.models import HitType, Worker
    from tests.benchmarks.market_fill import fill

    fill(open_hits=number, groups=1, workers=2, answers=0)
    client = Client()
    client.force_login(Worker.objects.latest("pk").user)
    name = settings.SESSION_COOKIE_NAME
    return {
        "group": HitType.objects.get().hit_group_id,
        "session": [name, client.cookies[name].value],
        "csrf": settings.CSRF_COOKIE_NAME,
    }


def results(rows: int) -> dict[str, Any]:
    from tests.benchmarks.results import fill
    from tests.benchmarks.rows import vacuumed
    from tests.benchmarks.served_results import _signed_in

    slug = fill("results", rows)
    vacuumed()
    return {"slug": slug, "session": _signed_in(slug)}


if __name__ == "__main__":
    found = lead() if VERB == "lead" else {"tasks": tasks, "results": results}[VERB](int(sys.argv[2]))
    print(json.dumps(found))
