"""The members of a project: who they are, and with which role."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from common import shown_once
from hits.core.roles import IN_SHORT, Role, gained
from hits.models import Project
from hits.projects.pages import forms
from hits.projects.verbs import members as flow
from hits.projects.verbs.invitations import USUAL_DAYS
from hits.refusals import Refusal, Refused
from hits.views.forms import MemberOfForm
from hits.views.guard import PAGE, VERB, LeadRequest, for_project


@for_project(PAGE)
def members(request: HttpRequest, project: Project) -> HttpResponse:
    return page(request, project, new=shown_once.taken(request))


def page(request: HttpRequest, project: Project, status: int = 200, **bound: object) -> HttpResponse:
    """`bound` puts a refused form in the place of the empty one."""
    rows = list(flow.members(project))
    context = {
        "project": project,
        "members": rows,
        "owners": sum(row.role == row.Role.OWNER for row in rows),
        "form": forms.MemberForm(),
        "invitation_form": forms.InvitationForm(initial={"days": USUAL_DAYS}),
        "invitations": list(project.invitations.living().select_related("created_by").order_by("id")),
        "mail": settings.MAIL,
        "roles": forms.Role.choices,
        "gained": [(role, IN_SHORT[Role(role)], verbs) for role, verbs in gained()],
        **bound,
    }
    return render(request, "projects/members.html", context, status=status)


@for_project(VERB)
def add(request: LeadRequest, project: Project) -> HttpResponse:
    form = forms.MemberForm(request.POST)
    if form.is_valid():
        person, role = form.cleaned_data["username"], form.cleaned_data["role"]
        try:
            flow.add_member(project, person, role, request.user)
        except Refused as refusal:
            form.add_error("username", str(refusal))
    if not form.is_valid():
        return page(request, project, 400, form=form)
    messages.success(request, f"{person} is in the project with the role {role}.")
    return redirect("members", project.slug)


@for_project(VERB)
def change_role(request: LeadRequest, project: Project) -> HttpResponse:
    form = forms.ChangedRoleForm(project, request.POST)
    if not form.is_valid():
        return _stale(request, project)
    person, role = form.cleaned_data["member"], form.cleaned_data["role"]
    try:
        flow.change_role(project, person, role, request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, f"{person} now has the role {role}.")
    return redirect("members", project.slug)


@for_project(VERB)
def remove(request: LeadRequest, project: Project) -> HttpResponse:
    form = MemberOfForm(project, request.POST)
    if not form.is_valid():
        return _stale(request, project)
    person = form.cleaned_data["member"]
    try:
        flow.remove_member(project, person, request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return redirect("members", project.slug)
    messages.success(request, f"{person} is no longer in {project.name}.")
    return redirect("projects") if person == request.user else redirect("members", project.slug)


def _stale(request: HttpRequest, project: Project) -> HttpResponse:
    messages.info(request, "This person is not in the project any more, or there is no such role. Nothing was changed.")
    return redirect("members", project.slug)
