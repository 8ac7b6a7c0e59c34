"""Qualifications held: which ones the project grants, what they do and who has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from hits.models import Grant, Project, QualificationTest, Stage, WorkerStat
from hits.pools import rules as pools
from hits.views import navigation, paging
from hits.views.guard import PAGE, for_project
from hits.workers.rules.project_qualifications import Held, held_in, presence

State = Grant.State
WAITING = Q(state__in=[State.INTENDED, State.WITHDRAWING])
SHOWN = {
    "": ("Workers", ~Q(state=State.WITHDRAWN)),
    "waiting": ("Under way", WAITING & Q(error="")),
    "refused": ("Not done", WAITING & ~Q(error="")),
    "withdrawn": ("Withdrawn", Q(state=State.WITHDRAWN)),
}


def _held(project: Project, key: str) -> Held:
    found = next((held for held in held_in(project) if held.key == key), None)
    if found is None:
        raise Http404("No stage of this project gives or asks for this qualification.")
    return found


@for_project(PAGE)
def index(request: HttpRequest, project: Project) -> HttpResponse:
    counts = project.grants.values("key").annotate(**_counts())
    by_key = {row["key"]: row for row in counts}
    listed = [(held, by_key.get(held.key)) for held in held_in(project)]
    return render(request, "workers/grants/index.html", {"project": project, "listed": listed})


def _counts() -> dict[str, Count]:
    return {name or "all": Count("id", filter=chosen) for name, (_, chosen) in SHOWN.items()}


@for_project(PAGE)
def holders(request: HttpRequest, project: Project, held: str) -> HttpResponse:
    found = _held(project, held)
    show = request.GET.get("show", "")
    show = show if show in SHOWN else ""
    counts = project.grants.filter(key=found.key).aggregate(**_counts())
    rows = _rows(project, found.key).filter(SHOWN[show][1])
    context = {
        "project": project,
        "held": found,
        "show": show,
        "filters": [(name, label, counts[name or "all"]) for name, (label, _) in SHOWN.items()],
        "waiting": counts["waiting"],
        "page": paging.by_id(rows, request.GET, newest_first=True),
    }
    return render(request, "workers/grants/holders.html", context)


def _rows(project: Project, key: str) -> QuerySet[Grant]:
    """With `answered`, whether the worker has a page here, and `has_again`, whether a withdrawn one was given anew."""
    answered = WorkerStat.objects.filter(stage__project=project, worker=OuterRef("worker"))
    again = project.grants.filter(key=key, worker=OuterRef("worker")).exclude(state=State.WITHDRAWN)
    rows = project.grants.filter(key=key).select_related("worker", "stage", "created_by")
    return rows.annotate(answered=Exists(answered), has_again=Exists(again))


@for_project(PAGE)
def progress(request: HttpRequest, project: Project, held: str) -> HttpResponse:
    found = _held(project, held)
    waiting = project.grants.filter(SHOWN["waiting"][1], key=found.key).count()
    context = {"project": project, "held": found, "waiting": waiting, "polled": True}
    return render(request, "workers/grants/_progress.html", context)


def of_stage(stage: Stage, tests: Sequence[QualificationTest]) -> dict[str, Any]:
    """For the stage's page: what it gives, and the granted qualifications that decide who may answer."""
    earned = {test.key for test in tests}
    titles = navigation.qualification_titles(stage.project)
    asked = [(key, titles[key], wanted) for key, wanted in presence(stage.requirements).items() if key not in earned]
    of_pools = pools.homes(stage.project_id, [key for key, _, _ in asked])
    return {
        "gives": stage.grants,
        "gives_title": titles.get(stage.grants),
        "asks_for": sorted(one for one in asked if one[0] not in of_pools),
        "pools": sorted(one for one in asked if one[0] in of_pools),
    }
