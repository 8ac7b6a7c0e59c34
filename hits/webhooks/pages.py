"""The webhooks of a project, and for each what was and is to be sent to it.

Security behavior: who may not change a webhook sees its host alone, for a path may hold a secret of the receiver. The
secret that signs is shown once (`common.shown_once`), to whoever made it.
"""

from __future__ import annotations

import json

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from common import shown_once
from hits.models import Project
from hits.views import paging
from hits.views.guard import PAGE, for_project
from hits.webhooks import jobs
from hits.webhooks.api import DELIVERIES, WEBHOOK
from hits.webhooks.models import WebhookDelivery


@for_project(PAGE)
def index(request: HttpRequest, project: Project) -> HttpResponse:
    waiting = Count("deliveries", filter=Q(deliveries__state=WebhookDelivery.State.WAITING))
    hooks = project.webhooks.not_ended().annotate(waiting=waiting).order_by("pk")
    return render(request, "webhooks/index.html", {"project": project, "hooks": list(hooks)})


@for_project(PAGE)
def webhook(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    hook = WEBHOOK.find(project, pk=pk)
    show = request.GET.get("state", "")
    page = paging.by_id(DELIVERIES.filtered(hook, {"state": show}), request.GET, newest_first=True)
    context = {
        "project": project,
        "hook": hook,
        "page": page,
        "shown": [
            (row, row.about, json.dumps(json.loads(row.body), indent=2, ensure_ascii=False)) for row in page.rows
        ],
        "state": show,
        "hours": int(jobs.LIFE.total_seconds()) // 3600,
        "filters": DELIVERIES.choices(hook, "state"),
        "new": shown_once.taken(request),
    }
    return render(request, "webhooks/webhook.html", context)


urls = [path("webhooks/", index, name="webhooks"), path("webhooks/<int:pk>/", webhook, name="webhook")]
