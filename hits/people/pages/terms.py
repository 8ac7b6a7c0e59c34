"""Terms that workers agree to: the version that stands, earlier ones, writing a new one, withdrawing them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits.models import Project
from hits.people.pages import forms
from hits.people.rules.terms import answers_by_version, checked, not_asked_in, standing
from hits.people.verbs import terms as flow
from hits.refusals import Refused
from hits.text.markdown import rendered
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, for_project


@for_project(FORM)
def terms(request: LeadRequest, project: Project) -> HttpResponse:
    """GET shows what stands and every version; POST shows what was written as workers will read it, and its button
    `publish` makes a new version of it.
    """
    if request.method != "POST":
        found = standing(project.pk)
        return _page(request, project, forms.TermsForm(initial={"text": found.text if found else ""}))
    form = forms.TermsForm(request.POST)
    form.full_clean()
    text = form.cleaned_data.get("text", "")
    try:
        if "publish" not in request.POST:
            return _page(request, project, form, preview=checked(text))
        made, is_new = flow.save(project, text, request.user)
    except Refused as refusal:
        for fault in refusal.details()["faults"]:
            form.add_error("text", fault)
        return _page(request, project, form, 400)
    if is_new:
        messages.success(request, f"Version {made.version} stands. Workers agree to it before their next answer.")
    else:
        messages.info(request, f"This is the text of version {made.version}, which stands already.")
    return redirect("terms", project.slug)


def _page(
    request: HttpRequest, project: Project, form: forms.TermsForm, status: int = 200, preview: str = ""
) -> HttpResponse:
    found = standing(project.pk)
    context = {
        "project": project,
        "standing": found,
        "html": rendered(found.text) if found else "",
        "versions": answers_by_version(project),
        "not_asked_in": not_asked_in(project),
        "form": form,
        "preview": preview,
        "preview_html": rendered(preview),
    }
    return render(request, "people/terms/index.html", context, status=status)


@for_project(PAGE)
def version(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    row = get_object_or_404(project.terms.select_related("made_by"), version=number)
    return render(request, "people/terms/version.html", {"project": project, "row": row, "html": rendered(row.text)})


@for_project(VERB)
def withdraw(request: LeadRequest, project: Project) -> HttpResponse:
    try:
        ended = flow.withdraw(project, request.user)
    except Refused as refusal:
        messages.info(request, str(refusal))
    else:
        said = f"Version {ended.version} is withdrawn: no worker is asked to agree any more. Who agreed stays known."
        messages.success(request, said)
    return redirect("terms", project.slug)
