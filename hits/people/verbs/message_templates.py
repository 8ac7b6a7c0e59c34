"""A lead keeps texts that messages to workers begin with: `hits.people.rules.message_templates` judges them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from hits.core.action_log import record
from hits.models import MessageTemplate, Project
from hits.people.rules.message_templates import checked
from hits.projects.rules.archived import refuse_archived
from hits.refusals import Refused

MOST_TEMPLATES = 100


def save(project: Project, given: Mapping[str, Any], user: User | None, pk: int | None = None) -> MessageTemplate:
    """A new template, or with `pk` that one of the project with other words.

    Raises Refused (template_refused), ArchivedError, and MessageTemplate.DoesNotExist.
    """
    values = checked(given)
    with transaction.atomic():
        locked = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        refuse_archived(locked)
        rows = locked.message_templates
        row = MessageTemplate(project=locked) if pk is None else rows.get(pk=pk)
        fault = ""
        if rows.filter(name=values["name"]).exclude(pk=row.pk).exists():
            fault = "Another template of the project has this name."
        elif pk is None and rows.count() >= MOST_TEMPLATES:
            fault = f"A project has at most {MOST_TEMPLATES} templates: remove one first."
        if fault:
            raise Refused("template_refused", fault, status=400, faults={"name": fault})
        before = (row.name, row.subject, row.text)
        row.name, row.subject, row.text = values["name"], values["subject"], values["text"]
        if before != (row.name, row.subject, row.text):
            row.changed_by, row.changed_at = user, timezone.now()
            row.save()
            record(locked, user, "saved a message template", detail={"template": row.name})
    return row


def remove(project: Project, pk: int, user: User | None) -> None:
    """Messages that began with it stay as they are. Raises ArchivedError and MessageTemplate.DoesNotExist."""
    with transaction.atomic():
        refuse_archived(project)
        row = project.message_templates.select_for_update().get(pk=pk)
        record(project, user, "removed a message template", detail={"template": row.name})
        row.delete()
