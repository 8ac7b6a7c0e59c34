"""A project's options: the recipe's thresholds and shares, and what the split would be with others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render

from hits.models import Project
from hits.projects.verbs import projects as flow
from hits.stats.intervals import wilson
from hits.views.forms import ValuesForm
from hits.views.guard import FORM, PAGE, for_project

WRITERS_SHOWN = 200


@for_project(FORM)
def options(request: HttpRequest, project: Project) -> HttpResponse:
    """GET shows them, with the split of what the query types; POST saves them."""
    own = flow.options_of(project)
    if request.method == "POST":
        form = _form(project, own, request.POST)
        if _fits(project, form):
            flow.change_options(project, form.cleaned_data)
            messages.success(request, f"Saved. {_next_release(project)}")
            return redirect("options", project.slug)
        return _page(request, project, form, 400)
    form = _typed(request, project, own)
    return _page(request, project, form, 400 if form.is_bound and not _fits(project, form) else 200)


def _typed(request: HttpRequest, project: Project, own: Mapping[str, Any]) -> ValuesForm:
    """What the query types, or the options as they are."""
    return _form(project, own, request.GET if request.GET.keys() & own.keys() else None)


def _form(project: Project, own: Mapping[str, Any], given: QueryDict | None) -> ValuesForm:
    return ValuesForm(own, given, described=flow.described_options(project))


def _fits(project: Project, form: ValuesForm) -> bool:
    """Also what the recipe says of its options; faults stand at their fields."""
    form.full_clean()
    for name, fault in flow.option_faults(project, form.cleaned_data).items():
        form.add_error(name, fault)
    return form.is_valid()


def _next_release(project: Project) -> str:
    last = project.releases.order_by("-number").first()
    if last is None:
        return "The first release will go by these options."
    return f"Release {last.number} stays as it is; the next one will differ from it if these options change it."


def _page(request: HttpRequest, project: Project, form: ValuesForm, status: int = 200) -> HttpResponse:
    """The split reads the whole collection: it is told here for typed options only, otherwise as a part."""
    tells = flow.tells_split(project)
    context = {
        "project": project,
        "form": form,
        "next_release": _next_release(project),
        "tells_split": tells,
        **(_split(project, form) if tells and form.is_bound and status == 200 else {}),
    }
    return render(request, "projects/options/options.html", context, status=status)


@for_project(PAGE)
def split(request: HttpRequest, project: Project) -> HttpResponse:
    """The part of the page that tells the split of the typed options; saves nothing."""
    form = _typed(request, project, flow.options_of(project))
    told = _split(project, form) if flow.tells_split(project) else {}
    return render(request, "projects/options/_split.html", {"project": project, "form": form, **told})


def _split(project: Project, form: ValuesForm) -> dict[str, Any]:
    if form.is_bound and not _fits(project, form):
        return {"split_faults": [(form[name].label, faults) for name, faults in form.errors.items()]}
    found = flow.split_preview(project, form.cleaned_data if form.is_bound else {})
    writers = sorted(found["writers"], key=lambda one: (not one.get("best"), -one["kept"], one["worker"]))
    return {
        "told": True,
        "writers": [{**one, "interval": wilson(one["kept"], one["written"])} for one in writers[:WRITERS_SHOWN]],
        "writer_count": len(writers),
        "best_count": sum(bool(one.get("best")) for one in writers),
        "counts": found["counts"].items(),
        "notes": found["notes"],
    }
