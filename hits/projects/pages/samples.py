"""Sample projects: a simulated crowd is asked to answer, and pages show how far it is."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from hits import tasks
from hits.models import Project
from hits.projects.jobs import sample_crowd
from hits.projects.pages import projects
from hits.refusals import Refused
from hits.views import jobs
from hits.views.guard import PAGE, VERB, LeadRequest, for_project


@for_project(VERB)
def let_answer(request: LeadRequest, project: Project) -> HttpResponse:
    try:
        if sample_crowd.ask(project, request.user):
            jobs.start(request, tasks.let_crowd_answer, project.pk, said="A simulated crowd is on its way.")
    except Refused as refusal:
        if refusal.error_code == "no_sample":
            raise
        messages.warning(request, str(refusal))
    return redirect("project", project.slug)


@for_project(PAGE)
def progress(request: HttpRequest, project: Project) -> HttpResponse:
    """What moves on the project's page while the crowd works."""
    return render(request, "projects/_moving.html", {**projects.moving(project), "polled": True})
