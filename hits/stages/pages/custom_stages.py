"""Adding a stage to a project, and removing one that was never published."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from hits import tasks
from hits.models import Project, Stage
from hits.protocols.base import SettingsRefusedError
from hits.protocols.optional import Card
from hits.stages.pages.forms import NewStageForm
from hits.stages.verbs import custom_stages
from hits.views import jobs
from hits.views.guard import FORM, VERB, LeadRequest, for_project, for_stage


@dataclass(frozen=True)
class GalleryCard:
    """A card as the page shows it; pictures are names of static files."""

    protocol: str
    card: Card

    @property
    def value(self) -> str:
        return f"{self.protocol}/{self.card.name}".rstrip("/")

    @property
    def picture(self) -> str:
        return self._file(self.card.picture)

    @property
    def dark(self) -> str:
        return self._file(self.card.dark)

    def _file(self, name: str) -> str:
        return f"{self.protocol}/{name}" if name else ""


@for_project(FORM)
def add(request: LeadRequest, project: Project) -> HttpResponse:
    """What is asked there is written next, on the page of its task."""
    cards = [GalleryCard(protocol, card) for protocol, card in custom_stages.cards()]
    choices = [(one.value, one.card.title) for one in cards]
    sources = [
        (stage.key, f"what “{stage.title}” keeps") for stage in project.stages.filter(crowd=True).order_by("position")
    ]
    form = NewStageForm(request.POST if request.method == "POST" else None, protocols=choices, sources=sources)
    if form.is_valid():
        try:
            stage = custom_stages.add_stage(project, form.table, request.user)
        except SettingsRefusedError as refusal:
            for reason in refusal.reasons:
                name, _, rest = reason.partition(" ")
                form.add_error(name if name in form.fields else None, rest if name in form.fields else reason)
        else:
            said = f"“{stage.title}” is there. Write what workers see, then publish."
            if stage.input["stage"] and not stage.draws:
                jobs.start(request, tasks.conclude_project, project.pk, said=said)
            else:
                messages.success(request, said)
            return redirect("task-settings", project.slug, stage.key)
    context = {"project": project, "form": form, "cards": cards, "chosen": form["protocol"].value()}
    return render(request, "projects/new_stage.html", context, status=400 if form.is_bound else 200)


@for_stage(VERB, back="stage-settings")
def remove(request: LeadRequest, stage: Stage) -> HttpResponse:
    custom_stages.remove_stage(stage, request.user)
    messages.success(request, f"“{stage.title}” is removed, and its items with it. What was imported is still there.")
    return redirect("project", stage.project.slug)
