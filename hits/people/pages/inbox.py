"""The inbox of a project: workers' remarks and replies, marking them as answered, answering them."""

from __future__ import annotations

import secrets

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from hits import tasks
from hits.core import keyset
from hits.core.keyset import counted
from hits.models import InboxEntry, Project
from hits.people.models import LONGEST_SUBJECT, LONGEST_WRITTEN
from hits.people.pages.messages import chosen_template
from hits.people.rules.inbox import NEWEST_FIRST, SHOWN
from hits.people.rules.message_templates import filled, of_project, values
from hits.people.verbs import inbox as flow
from hits.people.verbs import messaging
from hits.refusals import Refused
from hits.text.language.amounts import amount_is
from hits.views import jobs, paging
from hits.views.forms import MessageForm
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, for_project

TITLES = {"open": "Open", "answered": "Answered", "all": "All"}
WITH = (
    "worker", "stage", "assignment__hit__item", "message", "answered_by", "answered_with__created_by",
)  # fmt: skip


@for_project(PAGE)
def inbox(request: HttpRequest, project: Project) -> HttpResponse:
    """Newest first; open ones unless the address asks for others."""
    show = request.GET.get("show", "open")
    show = show if show in SHOWN else "open"
    rows = project.inbox.all()
    shown = rows.filter(SHOWN[show]).select_related(*WITH)
    page: keyset.Page[InboxEntry] = keyset.page(shown, NEWEST_FIRST, **paging.places(request.GET))
    context = {
        "project": project,
        "page": page,
        "show": show,
        "filters": [(name, title, counted(rows.filter(SHOWN[name]))) for name, title in TITLES.items()],
    }
    return render(request, "people/messages/inbox.html", context)


@for_project(VERB)
def answered(request: LeadRequest, project: Project) -> HttpResponse:
    return _change(request, project, opens=False)


@for_project(VERB)
def open_again(request: LeadRequest, project: Project) -> HttpResponse:
    return _change(request, project, opens=True)


def _change(request: LeadRequest, project: Project, *, opens: bool) -> HttpResponse:
    change = flow.open_again if opens else flow.mark_answered
    pks = [pk for text in request.POST.getlist("entry") if (pk := paging.id_of(text))]
    try:
        number = change(project, pks, request.user)
    except Refused as error:
        messages.error(request, str(error))
    else:
        word = "opened again" if opens else "marked as answered"
        messages.success(request, f"{amount_is(number)} {word}.")
    show = request.POST.get("show", "")
    return redirect(f"{reverse('inbox', args=[project.slug])}{f'?show={show}' if show in SHOWN else ''}")


@for_project(FORM)
def reply(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    """GET shows what the worker wrote and an empty answer; POST sends the answer, which marks the entry as answered."""
    entry = get_object_or_404(project.inbox.select_related(*WITH), pk=pk)
    entry.stage.project = project
    form = MessageForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        given = form.cleaned_data
        texts = {entry.worker.worker_id: request.POST.get("text", "")}
        try:
            messaging.write(entry.stage, given["subject"], texts, given["confirmation"], request.user, answers=entry)
        except Refused as error:
            messages.error(request, str(error))
            return _reply(request, project, entry, form)
        jobs.start(request, tasks.send_messages, project.pk, said="The answer is being sent.")
        return redirect("inbox", project.slug)
    return _reply(request, project, entry, form)


def _reply(request: HttpRequest, project: Project, entry: InboxEntry, form: MessageForm) -> HttpResponse:
    template = chosen_template(request, project)
    begun = values(entry.stage, entry.worker)
    context = {
        "project": project,
        "entry": entry,
        "form": form,
        "templates": of_project(project),
        "picked": template,
        "subject": filled(template.subject, begun) if template else subject_of(entry),
        "text": filled(template.text, begun) if template else "",
        "confirmation": secrets.token_urlsafe(16),
        "longest": LONGEST_WRITTEN,
    }
    if form.is_bound:
        context |= {name: form.data.get(name, "") for name in ("subject", "text", "confirmation")}
    return render(request, "people/messages/reply.html", context, status=400 if form.is_bound else 200)


def subject_of(entry: InboxEntry) -> str:
    """Of an answer to it, as mail programs do."""
    about = entry.message.subject if entry.message else f"Your remark about “{entry.stage.hit_title}”"
    return (about if about.startswith("Re: ") else f"Re: {about}")[:LONGEST_SUBJECT]
