"""The models of a project that answer beside its people."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from common import shown_once
from hits.model_assist.rules.model_leases import MOST_TIMES, counts_of_not_given_again
from hits.models import Project
from hits.views import navigation, paging
from hits.views.guard import PAGE, for_project


@for_project(PAGE)
def index(request: HttpRequest, project: Project) -> HttpResponse:
    rows = project.model_annotators.select_related("created_by")
    page = paging.by_id(rows, request.GET, newest_first=True)
    too_often = counts_of_not_given_again(page.rows)
    context = {
        "project": project,
        "page": page,
        "rows": [(row, too_often.get(row.pk, 0)) for row in page.rows],
        "most_times": MOST_TIMES,
        "new": shown_once.taken(request),
        "asking": [stage for stage in navigation.stages_of(project) if stage.crowd],
    }
    return render(request, "model_assist/index.html", context)
