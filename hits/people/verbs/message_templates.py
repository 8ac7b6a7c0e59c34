"""Texts that messages to workers begin with are kept, changed and removed."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.utils import timezone

from hits.core.roles import MANAGER
from hits.core.targets import PROJECT
from hits.core.verbs import Unchanged, verb
from hits.models import MessageTemplate, Project
from hits.people.api.message_templates import TAG, TEMPLATE, TemplateShape
from hits.people.rules.message_templates import checked
from hits.refusals import Refused

MOST_TEMPLATES = 100
SAVED = "saved a message template {template}"


def _page(row: MessageTemplate) -> tuple[str, str]:
    return "message-templates", row.project.slug


@verb(
    "message_templates.make", "Keep a message template", tag=TAG, on=PROJECT, role=MANAGER,
    route="POST message-templates/", summary="Keep a text that messages to workers begin with", status=201,
    takes=TemplateShape, gives=TemplateShape, activity=SAVED, makes="template",
    detail=lambda project, row, values: {"template": row.name}, done=lambda row, values: f"“{row.name}” is kept.",
    leads_to=_page, refuses=("template_refused",),
)  # fmt: skip
def make(project: Project, user: User | None, **texts: str) -> MessageTemplate:
    values = checked(texts)
    _refuse_taken(project, values["name"])
    if project.message_templates.count() >= MOST_TEMPLATES:
        raise _refused(f"A project has at most {MOST_TEMPLATES} templates: remove one first.")
    return MessageTemplate.objects.create(project=project, changed_by=user, changed_at=timezone.now(), **values)


@verb(
    "message_templates.change", "Change a message template", tag=TAG, on=TEMPLATE, role=MANAGER, route="PUT ",
    summary="Give a message template other words", takes=TemplateShape, gives=TemplateShape, activity=SAVED,
    detail=lambda row, *_: {"template": row.name}, done=lambda row, values: f"“{row.name}” is kept.", leads_to=_page,
    refuses=("template_refused",),
)  # fmt: skip
def change(row: MessageTemplate, user: User | None, **texts: str) -> MessageTemplate | Unchanged:
    values = checked(texts)
    _refuse_taken(row.project, values["name"], row.pk)
    if all(getattr(row, name) == text for name, text in values.items()):
        return Unchanged(row, f"“{row.name}” is kept.")
    for name, text in values.items():
        setattr(row, name, text)
    row.changed_by, row.changed_at = user, timezone.now()
    row.save()
    return row


@verb(
    "message_templates.remove", "Remove a message template", tag=TAG, on=TEMPLATE, role=MANAGER, route="DELETE ",
    summary="Remove a message template", status=204, activity="removed a message template {template}",
    detail=lambda row, *_: {"template": row.name}, leads_to=_page,
    done=lambda row, values: f"“{row.name}” is removed. Messages that began with it stay as they are.",
)  # fmt: skip
def remove(row: MessageTemplate, user: User | None) -> MessageTemplate:
    row.delete()
    return row


def _refuse_taken(project: Project, name: str, pk: int = 0) -> None:
    if project.message_templates.filter(name=name).exclude(pk=pk).exists():
        raise _refused("Another template of the project has this name.")


def _refused(fault: str) -> Refused:
    return Refused("template_refused", fault, status=400, faults={"name": fault})
