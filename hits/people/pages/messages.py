"""Messages to workers: what was sent, the texts that they begin with, and one text to everybody of a stage."""

from __future__ import annotations

import secrets
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits import tasks
from hits.core.keyset import counted
from hits.models import MessageTemplate, Project, Stage, WorkerMessage
from hits.people.models import LONGEST_WRITTEN
from hits.people.pages import forms
from hits.people.rules import recipients
from hits.people.rules.message_templates import PLACEHOLDERS, filled, of_project, values
from hits.people.verbs import messaging
from hits.refusals import Refused
from hits.stages.pages.stages import frame
from hits.text.language.amounts import amount_is
from hits.views import jobs, paging
from hits.views.guard import FORM, PAGE, LeadRequest, for_project, for_stage

State = WorkerMessage.State


@for_project(PAGE)
def log(request: HttpRequest, project: Project) -> HttpResponse:
    """What was written to workers, newest first."""
    show = request.GET.get("show", "")
    show = show if show in State.values else ""
    rows = project.worker_messages.all()
    filters = [("", "All", counted(rows))]
    filters += [(state.value, state.label, counted(rows.filter(state=state))) for state in State]
    chosen = rows.filter(state=show) if show else rows
    shown = chosen.select_related("worker", "stage", "created_by").annotate(reply_count=Count("replies"))
    context = {
        "project": project,
        "page": paging.by_id(shown, request.GET, newest_first=True),
        "show": show,
        "filters": filters,
        "stages": list(project.stages.filter(crowd=True, worker_stats__isnull=False).distinct().order_by("position")),
    }
    return render(request, "people/messages/log.html", context)


# Templates


@for_project(PAGE)
def templates(request: HttpRequest, project: Project, pk: int | None = None) -> HttpResponse:
    """All of them, or one to be changed."""
    row = get_object_or_404(project.message_templates, pk=pk) if pk else None
    context = {"project": project, "templates": of_project(project), "row": row}
    return render(request, "people/messages/templates.html", context)


# To everybody of a stage


@for_stage(FORM)
def write_all(request: LeadRequest, stage: Stage) -> HttpResponse:
    """GET shows the text for one of the recipients; POST writes to all of them."""
    if request.method != "POST":
        return _write_all(request, stage, forms.MessageAllForm(initial=_begun(request, stage)))
    form = forms.MessageAllForm(request.POST)
    if not form.is_valid():
        return _write_all(request, stage, form, 400)
    given = form.cleaned_data
    try:
        new = messaging.write_to(
            stage, given["recipients"], given["subject"], given["text"], given["confirmation"], request.user
        )
    except Refused as error:
        said = str(error)
        if error.error_code == "confirmation_used":
            said = "This page has sent another text already. Press the button again to send this one too."
            form = forms.MessageAllForm({**request.POST.dict(), "confirmation": secrets.token_urlsafe(16)})
        messages.error(request, said)
        return _write_all(request, stage, form, error.http_status)
    said = f"{amount_is(new, 'message')} being sent."
    jobs.start(request, tasks.send_messages, stage.project_id, said=said)
    return redirect("messages", stage.project.slug)


def _begun(request: HttpRequest, stage: Stage) -> dict[str, Any]:
    begun: dict[str, Any] = {
        "recipients": next(iter(recipients.WAYS)),
        "confirmation": secrets.token_urlsafe(16),
    }
    if row := chosen_template(request, stage.project):
        begun |= {"subject": row.subject, "text": row.text}
    return begun


def chosen_template(request: HttpRequest, project: Project) -> MessageTemplate | None:
    """The one that the address names."""
    pk = paging.id_of(request.GET.get("template"))
    return project.message_templates.filter(pk=pk).first() if pk else None


def _write_all(request: HttpRequest, stage: Stage, form: forms.MessageAllForm, status: int = 200) -> HttpResponse:
    ways = [(name, way.title, recipients.found(stage, name).count()) for name, way in recipients.WAYS.items()]
    first = recipients.found(stage, next(iter(recipients.WAYS))).first()
    said = {name: str(form[name].value() or "") for name in ("subject", "text")}
    context = {
        **frame(stage),
        "form": form,
        "ways": ways,
        "chosen": form["recipients"].value(),
        "first": first,
        "example": {name: filled(text, values(stage, first)) for name, text in said.items()} if first else {},
        "templates": of_project(stage.project),
        "picked": chosen_template(request, stage.project),
        "placeholders": PLACEHOLDERS.items(),
        "most": messaging.MOST_OF_STAGE,
        "longest": LONGEST_WRITTEN,
    }
    return render(request, "people/messages/write_all.html", context, status=status)
