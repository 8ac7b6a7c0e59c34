"""What verbs and lists are about: a project, or rows that belong to one and stand in an address by their key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Generic, TypeVar

from django.db.models import Model, QuerySet
from django.shortcuts import get_object_or_404

from hits.models import Project, Stage

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Target(Generic[Row]):
    """A kind of row.

    `name` is how sentences of the activity log call it, in braces. `path` is the part of an address that names one row,
    behind the project's, in Django's notation; each parameter of it is a column, or stands for the one that `columns`
    has under its name. `rows` gives those of a project. `owner` names the project of a row, by attributes with dots
    between them; empty: the row is the project.

    `project_first`: its project is locked before it, for rows that others change while they hold the project.

    A row of another project that `rows` gives too is changed and read as one of the project through which it was found.
    """

    name: str
    model: type[Row]
    path: str
    rows: Callable[[Project], QuerySet[Row]]
    owner: str = "project"
    columns: Mapping[str, str] = field(default_factory=dict)
    project_first: bool = False

    def find(self, project: Project, **parts: Any) -> Row:
        """The row that these parts of an address name. Raises Http404."""
        if not self.owner:
            return project  # type: ignore[return-value]
        row = get_object_or_404(self.rows(project), **{self.columns.get(name, name): parts[name] for name in parts})
        # With the role that the project was asked for with.
        if self.project_of(row) != project:
            row.found_through = project  # type: ignore[attr-defined]
        elif self.owner == "project":
            row.project = project  # type: ignore[attr-defined]
        return row

    def project_of(self, row: Row) -> Project:
        found = getattr(row, "found_through", None) or (_read(row, self.owner, ".") if self.owner else row)
        assert isinstance(found, Project)
        return found

    def locked(self, row: Row) -> Row:
        """The row as it is now, locked until the transaction ends. Raises Http404 where it was deleted meanwhile."""
        if self.project_first:
            PROJECT.locked(self.project_of(row))
        rows = self.model._default_manager.select_for_update(of=("self",), no_key=True)
        if self.owner:
            rows = rows.select_related(self.owner.replace(".", "__"))
        found = get_object_or_404(rows, pk=row.pk)
        if through := getattr(row, "found_through", None):
            found.found_through = Project.objects.get(pk=through.pk)  # type: ignore[attr-defined]
        return found

    def arguments(self, row: Row) -> list[Any]:
        """The parts of an address that name the row, the project's slug first."""
        names = [part.partition(":")[2].rstrip(">") for part in self.path.split("/") if part.startswith("<")]
        return [self.project_of(row).slug, *(_read(row, self.columns.get(name, name), "__") for name in names)]


def _read(row: Any, names: str, between: str) -> Any:
    return reduce(getattr, names.split(between), row)


PROJECT = Target("project", Project, "", lambda project: Project.objects.filter(pk=project.pk), owner="")
STAGE = Target("stage", Stage, "stages/<slug:key>/", lambda project: project.stages.select_related("summary"))
