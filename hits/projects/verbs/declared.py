"""Changes of a project as a whole."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from rest_framework import serializers

from hits.core.roles import MANAGER
from hits.core.targets import PROJECT
from hits.core.verbs import Unchanged, verb
from hits.models import Project
from hits.projects.rules.project_rows import check_visible


class ProjectName(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120, label="Name", validators=[check_visible])


@verb(
    "projects.rename", "Rename a project", tag="Projects", on=PROJECT, role=MANAGER, route="PUT name/",
    summary="Give the project another name; its address stays", takes=ProjectName, gives=ProjectName,
    activity="renamed the project {project}", done=lambda project, values: f"It is called {project.name} now.",
)  # fmt: skip
def rename(project: Project, user: User | None, *, name: str) -> Project | Unchanged:
    if project.name == name:
        return Unchanged(project, "It has this name already.")
    project.name = name
    project.save(update_fields=["name"])
    return project
