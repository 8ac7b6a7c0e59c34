"""The members of a project: who they are, and with which role; and the invitations that wait."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from common import shown_once
from hits.core.roles import IN_SHORT, READER, Role, gained
from hits.models import Project
from hits.projects.verbs.invitations import USUAL_DAYS
from hits.views.guard import PAGE, for_project


@for_project(PAGE)
def members(request: HttpRequest, project: Project) -> HttpResponse:
    rows = list(project.memberships.with_users())
    context = {
        "project": project,
        "members": rows,
        "owners": sum(row.role == row.Role.OWNER for row in rows),
        "new_member": {"role": READER},
        "new_invitation": {"role": READER, "days": USUAL_DAYS},
        "invitations": list(project.invitations.living().select_related("created_by").order_by("id")),
        "mail": settings.MAIL,
        "gained": [(role, IN_SHORT[Role(role)], verbs) for role, verbs in gained()],
        "new": shown_once.taken(request),
    }
    return render(request, "projects/members.html", context)
