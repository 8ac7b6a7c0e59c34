"""What the commands share: finding a project and its stage, typed errors, and running jobs without a broker.

A command does its work in its own process. Flow modules that it needs one after another are chained by `hits.tasks`,
whose tasks are ordinary functions; what such a task would queue runs at once under `jobs_run_here`. So no command
needs a broker, and the same command may run beside web and worker: leases keep two from doing one job at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from celery import current_app
from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet

from hits.domain.action_log import acting_from
from hits.domain.archived import ArchivedError
from hits.domain.plugins import in_full, refuse_without_crowd
from hits.models import Action, Batch, Item, Project, Stage
from hits.refusals import Refusal

# Of a long list.
SHOWN = 50


class FlowCommand(BaseCommand, ABC):
    """Subclasses write `run`; what a flow module refuses becomes one line on stderr and exit code 1."""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with acting_from(Action.Origin.COMMAND):
                self.run(options)
        except Refusal as error:
            raise CommandError(in_full(error)) from error

    @abstractmethod
    def run(self, options: dict[str, Any]) -> None:
        """The command's work, with the parsed arguments."""

    def say(self, text: str = "") -> None:
        self.stdout.write(text)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Columns as wide as their widest cell; numbers stand to the right."""
        cells = [[str(cell) for cell in row] for row in [head, *rows]]
        widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
        right = [bool(rows) and all(_is_number(row[i]) for row in cells[1:]) for i in range(len(head))]
        for row in cells:
            columns = zip(row, widths, right, strict=True)
            line = "  ".join(f"{cell:>{width}}" if end else f"{cell:<{width}}" for cell, width, end in columns)
            self.say(line.rstrip())


def _is_number(text: str) -> bool:
    return text.strip("$%-+").replace(",", "").replace(".", "", 1).isdigit() or text == "–"


class ProjectCommand(FlowCommand):
    """`changing` are the options of which each changes the project; None: it is changed in any case, (): never.

    An archived project refuses what would change it.
    """

    changing: ClassVar[tuple[str, ...] | None] = None

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's slug, as in its address")

    def changes(self, options: dict[str, Any]) -> bool:
        """Whether the command changes the project with these options."""
        return self.changing is None or any(_is_given(options[name]) for name in self.changing)

    def project(self, options: dict[str, Any]) -> Project:
        """Raises CommandError and ArchivedError."""
        found = Project.objects.select_related("account").filter(slug=options["project"]).first()
        if found is None:
            there = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True)[:20]) or "none yet"
            raise CommandError(f"There is no project {options['project']!r}. There are: {there}.")
        if found.is_archived and self.changes(options):
            raise ArchivedError(found)
        return found

    def stages(self, options: dict[str, Any]) -> list[Stage]:
        """The stage that was named, or all of the project in their order."""
        project = self.project(options)
        stages = list(project.stages.select_related("summary").order_by("position"))
        for stage in stages:
            stage.project = project
        wanted = options.get("stage")
        if wanted is None:
            return stages
        found = [stage for stage in stages if stage.key == wanted]
        if not found:
            there = ", ".join(stage.key for stage in stages)
            raise CommandError(f"{project.slug} has no stage {wanted!r}. There are: {there}.")
        return found


def _is_given(value: object) -> bool:
    """Whether an option was given: an amount of 0 is, a switch that was left out is not."""
    return value is not None and value is not False and value != []


class StageCommand(ProjectCommand):
    """For one stage, which has to be named."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("stage", help="the stage's key, as in its address")

    crowd = True

    def stage(self, options: dict[str, Any]) -> Stage:
        """Raises NoCrowdError for a stage without a crowd, unless the command is for such ones."""
        found = self.stages(options)[0]
        if self.crowd:
            refuse_without_crowd(found)
        return found


@contextmanager
def jobs_run_here() -> Iterator[None]:
    """Within, `task.delay` runs the task at once, in this process; its errors come out of the call."""
    conf = current_app.conf
    before = conf.task_always_eager, conf.task_eager_propagates
    conf.task_always_eager, conf.task_eager_propagates = True, True
    try:
        yield
    finally:
        conf.task_always_eager, conf.task_eager_propagates = before


def describe(batch: Batch) -> str:
    """How far a batch is, as a sentence."""
    batch.refresh_from_db()
    text = f"Batch {batch.pk}: {batch.done:,} of {batch.total:,} done, {batch.refused:,} refused, {batch.state}."
    return f"{text} {batch.message}".strip()


def rows_after(stage: Stage, rows: QuerySet[Item], key: str) -> QuerySet[Item]:
    """The first of these items of the stage, or those that come after the one of this key."""
    last = stage.items.filter(key=key).first()
    ordered = rows.order_by("id")
    return (ordered.filter(id__gt=last.pk) if last else ordered)[:SHOWN]


def agreed(question: str) -> bool:
    """Ask whoever started the command; nobody there is a no."""
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        return False


def dollars(amount: object) -> str:
    return "–" if amount is None else f"${amount:,.2f}"


def share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"
