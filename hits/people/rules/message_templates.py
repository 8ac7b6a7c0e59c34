"""What messages to workers begin with: texts of a project with placeholders, and what stands in their place.

A placeholder is a known name in braces, such as {stage}. Other braces stand for themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hits.models import MessageTemplate, Project, Stage, Worker
from hits.people.models import LONGEST_NAME, LONGEST_SUBJECT, LONGEST_WRITTEN
from hits.refusals import Refused
from hits.text.written import kept, kept_lines

# What each stands for, in words for leads.
PLACEHOLDERS = {
    "project": "the project's name",
    "stage": "the title that workers see of the stage's HITs",
    "worker": "the worker's id",
    "email": "the project's address for questions",
}
_NAMED = re.compile(r"\{([^{}\s]{1,40})\}")


def unknown(*texts: str) -> list[str]:
    """The names in braces that are no placeholders, each once, in the order of the texts."""
    names = dict.fromkeys(name for text in texts for name in _NAMED.findall(text))
    return [name for name in names if name not in PLACEHOLDERS]


def unknown_fault(*texts: str) -> str:
    """As a sentence; empty where every name is known."""
    found = unknown(*texts)
    if not found:
        return ""
    there = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
    return f"There is no placeholder {', '.join(f'{{{name}}}' for name in found[:5])}. There are {there}."


def values(stage: Stage, worker: Worker) -> dict[str, str]:
    project = stage.project
    return {
        "project": project.name,
        "stage": stage.hit_title,
        "worker": worker.worker_id,
        "email": project.contact_email,
    }


def filled(text: str, found: Mapping[str, str]) -> str:
    """The text with these values; what stands in a value is no placeholder."""
    return _NAMED.sub(lambda part: found.get(part[1], part[0]), text)


def checked(given: Mapping[str, Any]) -> dict[str, str]:
    """`name`, `subject` and `text` as they are kept. Raises Refused (template_refused) with every fault."""
    name, subject = kept(str(given.get("name", ""))), kept(str(given.get("subject", "")))
    text = kept_lines(str(given.get("text", "")))
    faults = {}
    if not 1 <= len(name) <= LONGEST_NAME:
        faults["name"] = f"Give it a name of at most {LONGEST_NAME} characters."
    if not 1 <= len(subject) <= LONGEST_SUBJECT:
        faults["subject"] = f"Write a subject of at most {LONGEST_SUBJECT:,} characters."
    elif fault := unknown_fault(subject):
        faults["subject"] = fault
    if not 1 <= len(text) <= LONGEST_WRITTEN:
        faults["text"] = f"Write a text of at most {LONGEST_WRITTEN:,} characters."
    elif fault := unknown_fault(text):
        faults["text"] = fault
    if faults:
        raise Refused("template_refused", " ".join(faults.values()), status=400, faults=faults)
    return {"name": name, "subject": subject, "text": text}


def of_project(project: Project) -> list[MessageTemplate]:
    """By name."""
    return list(project.message_templates.select_related("changed_by").order_by("name"))
