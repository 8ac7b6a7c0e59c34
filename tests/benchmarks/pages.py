"""Times pages of one side in its own process: `python -m tests.benchmarks.pages requester|marketplace ARGUMENT ...`.

Prints one JSON object: page name to [queries, median milliseconds].
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from statistics import median

ROUNDS = 25


def measure(get: Callable[[], object]) -> list[float]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    get()
    with CaptureQueriesContext(connection) as queries:
        get()
    count = len(queries)
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        get()
        times.append((time.perf_counter() - start) * 1000)
    return [count, round(median(times), 2)]


def requester(slug: str) -> dict[str, list[float]]:
    """Every page of a project for its owner, and the worker's task page of its newest open HIT."""
    from django.conf import settings
    from django.test import Client
    from django.urls import reverse

    from hits.answers.rules.task_links import task_url
    from hits.models import Hit, Project

    project = Project.objects.get(slug=slug)
    stage = project.stages.get(position=1)
    client = Client(headers={"host": settings.ALLOWED_HOSTS[0]})
    client.force_login(project.owners.get())
    here = {"slug": slug, "key": stage.key}
    hit = Hit.objects.filter(stage=stage).order_by("-id").first()
    worker = stage.worker_stats.order_by("-answers").first().worker
    frame = {"assignmentId": "3BENCH", "hitId": hit.hit_id, "workerId": "ABENCH",
             "turkSubmitTo": settings.MTURK_SUBMIT_ORIGINS[0]}  # fmt: skip
    task = task_url(hit.pk).removeprefix(settings.PUBLIC_URL)
    pages: dict[str, Callable[[], object]] = {
        "projects": lambda: client.get(reverse("projects")),
        "project": lambda: client.get(reverse("project", args=[slug])),
        "stage": lambda: client.get(reverse("stage", kwargs=here)),
        "stage progress": lambda: client.get(reverse("stage-progress", kwargs=here)),
        "items": lambda: client.get(reverse("items", kwargs=here)),
        "item": lambda: client.get(reverse("item", kwargs={**here, "pk": hit.item_id})),
        "hits": lambda: client.get(reverse("hits", kwargs=here)),
        "answers": lambda: client.get(reverse("answers", kwargs=here)),
        "worker": lambda: client.get(reverse("worker", args=[slug, worker.worker_id])),
        "blocks": lambda: client.get(reverse("block", kwargs=here)),
        "ledger": lambda: client.get(reverse("ledger", args=[slug])),
        "releases": lambda: client.get(reverse("releases", args=[slug])),
        "task preview": lambda: client.get(task),
        "task": lambda: client.get(task, frame),
    }
    return {name: _checked(name, get) for name, get in pages.items()}


def marketplace(hit_type_id: str) -> dict[str, list[float]]:
    """Every page of a worker who answers in this group; one HIT is accepted and given back."""
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client
    from django.urls import reverse

    client = Client(headers={"host": settings.ALLOWED_HOSTS[0]})
    client.force_login(get_user_model().objects.get(username="worker1"))
    accepted = client.post(reverse("site:accept"), {"groupId": hit_type_id})
    work = accepted.headers["Location"]
    pages: dict[str, Callable[[], object]] = {
        "home": lambda: client.get(reverse("site:home")),
        "preview": lambda: client.get(reverse("site:preview"), {"groupId": hit_type_id}),
        "work": lambda: client.get(work),
        "my work": lambda: client.get(reverse("site:my_work")),
        "earnings": lambda: client.get(reverse("site:earnings")),
        "qualifications": lambda: client.get(reverse("site:qualifications")),
    }
    found = {name: _checked(name, get) for name, get in pages.items()}
    client.post(f"{work}return/")
    return found


def _checked(name: str, get: Callable[[], object]) -> list[float]:
    status = getattr(get(), "status_code", 0)
    if status != 200:
        raise SystemExit(f"{name} answered {status}")
    return measure(get)


if __name__ == "__main__":
    side, argument = sys.argv[1:]
    module = {"requester": "annotate.settings", "marketplace": "marketplace.settings"}[side]
    os.environ["DJANGO_SETTINGS_MODULE"] = module
    import django

    django.setup()
    print(json.dumps({"requester": requester, "marketplace": marketplace}[side](argument)))
