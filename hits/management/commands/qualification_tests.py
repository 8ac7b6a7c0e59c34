from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from hits.domain.plugins import refuse_without_crowd
from hits.flow.people import testing
from hits.formats.qualification_test import MOST_QUESTIONS, Details
from hits.management.commands._base import ProjectCommand, agreed
from hits.models import Project, QualificationTest, Stage

NEVER = "never"
DEFAULTS: dict[str, Any] = {"title": "", "description": "", "pass_mark": 80, "minutes": 15, "retry_days": None}
ACTIONS = ["list", "make", "edit", "delete", "offer", "withdraw", "results", "require", "free"]


def days(text: str) -> int | str:
    if text == NEVER:
        return text
    try:
        return int(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is neither a number of days nor {NEVER!r}") from error


class Command(ProjectCommand):
    help = (
        "List the qualification tests of a project; with an action: make one, edit or delete a draft, offer, withdraw, "
        "show its results, require it of a stage's workers, or free them of it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("action", nargs="?", default="list", choices=ACTIONS)
        parser.add_argument("test", nargs="?", help="the test's short name, such as reading-test")
        parser.add_argument("--stage", help="require, free: the stage's key, as in its address")
        self._add_details(parser)
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def _add_details(self, parser: ArgumentParser) -> None:
        """Of make and edit; what is not given stays as it is with edit."""
        parser.add_argument("--title", help="make, edit: workers see it")
        parser.add_argument("--description", help="make, edit: workers read it before they begin")
        parser.add_argument("--file", type=Path, help="make, edit: a JSON or CSV file of questions")
        parser.add_argument(
            "--draw", type=int, help=f"make, edit: so many questions from gold answers, 1 to {MOST_QUESTIONS}"
        )
        parser.add_argument(
            "--pass-mark", type=int, help=f"percent of right answers; {DEFAULTS['pass_mark']} with make"
        )
        parser.add_argument("--minutes", type=int, help=f"time for the test; {DEFAULTS['minutes']} with make")
        parser.add_argument(
            "--retry-days",
            type=days,
            metavar="DAYS",
            help=f"another attempt after so many days; {NEVER} allows one attempt only, and so does make without it",
        )

    def changes(self, options: dict[str, Any]) -> bool:
        return bool(options["action"] != "list")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["action"] == "list":
            testing.finish(project)
            self._list(project)
        elif not options["test"]:
            raise CommandError(f"Say which test to {options['action']}: its short name, such as reading-test.")
        elif options["action"] == "make":
            self._make(project, options)
        else:
            verbs = {
                "edit": self._edit,
                "delete": self._delete,
                "offer": self._offer,
                "withdraw": self._withdraw,
                "results": self._results,
                "require": self._require,
                "free": self._free,
            }
            verbs[options["action"]](self._found(project, options["test"]), options)

    def _found(self, project: Project, key: str) -> QualificationTest:
        row = project.qualification_tests.filter(key=key).first()
        if row is None:
            there = ", ".join(project.qualification_tests.values_list("key", flat=True)) or "none yet"
            raise CommandError(f"{project.slug} has no test {key!r}. There are: {there}.")
        row.project = project
        return row

    def _list(self, project: Project) -> None:
        rows = [
            [
                row.key,
                row.get_state_display(),
                f"{len(row.questions):,}",
                f"{row.pass_mark}%",
                _passed(row),
                _stages(row),
            ]
            for row in project.qualification_tests.all()
        ]
        self.table(["test", "state", "questions", "pass mark", "passed", "required by"], rows)

    def _make(self, project: Project, options: dict[str, Any]) -> None:
        if (options["file"] is None) == (options["draw"] is None):
            raise CommandError("Say where the questions come from: --file FILE or --draw NUMBER.")
        # All or nothing: a draft without questions was not what was asked for.
        with transaction.atomic():
            row = testing.create(project, Details(options["test"], **{**DEFAULTS, **_given(options)}), None)
            _fill(row, options)
        self._say_draft(row)

    def _edit(self, row: QualificationTest, options: dict[str, Any]) -> None:
        given = _given(options)
        if options["file"] is not None and options["draw"] is not None:
            raise CommandError("The questions come from --file or from --draw, not from both.")
        if not given and options["file"] is None and options["draw"] is None:
            raise CommandError("Say what to change, such as --pass-mark 70 or --file FILE.")
        with transaction.atomic():
            testing.change(row, Details(row.key, **{**{name: getattr(row, name) for name in DEFAULTS}, **given}), None)
            _fill(row, options)
        self._say_draft(row)

    def _say_draft(self, row: QualificationTest) -> None:
        self.say(f"{row.key}: a draft of {len(row.questions):,} questions. Offer it when you have looked at it.")

    def _delete(self, row: QualificationTest, options: dict[str, Any]) -> None:
        question = f"Delete the draft “{row.title}” with its {len(row.questions):,} questions? [y/N] "
        if not (options["yes"] or agreed(question)):
            raise CommandError("Nothing was deleted.")
        testing.remove(row, None)
        self.say(f"{row.key} is deleted.")

    def _require(self, row: QualificationTest, options: dict[str, Any]) -> None:
        stage = self._stage(options)
        testing.require(stage, row, None)
        self.say(f"Workers of {stage.key} have to pass {row.key}.")

    def _free(self, row: QualificationTest, options: dict[str, Any]) -> None:
        stage = self._stage(options)
        testing.drop_requirement(stage, row, None)
        self.say(f"Workers of {stage.key} need not pass {row.key}.")

    def _stage(self, options: dict[str, Any]) -> Stage:
        if options["stage"] is None:
            raise CommandError(f"Say which stage: qualification_tests ... {options['action']} TEST --stage STAGE")
        (stage,) = self.stages(options)
        refuse_without_crowd(stage)
        return stage

    def _offer(self, row: QualificationTest, options: dict[str, Any]) -> None:
        told = (
            f"Every worker will see “{row.title}” with its {len(row.questions):,} questions; it cannot be changed then."
        )
        self.say(told)
        if not (options["yes"] or agreed("Offer it? [y/N] ")):
            raise CommandError("Nothing was offered.")
        testing.offer(row, row.fingerprint, None)
        self._finish(row)

    def _withdraw(self, row: QualificationTest, options: dict[str, Any]) -> None:
        testing.withdraw(row, None)
        self._finish(row)

    def _finish(self, row: QualificationTest) -> None:
        testing.finish(row.project)
        row.refresh_from_db()
        self.say(f"{row.key}: {row.get_state_display()}. {row.error}".strip())

    def _results(self, row: QualificationTest, options: dict[str, Any]) -> None:
        testing.fetch_scores(row.pk)
        row.refresh_from_db()
        self.say(f"{_passed(row)} passed.")
        scores = row.scores.order_by("id").values_list("worker_id", "value")
        self.table(["worker", "right"], [[worker_id, f"{value}%"] for worker_id, value in scores.iterator()])


def _passed(row: QualificationTest) -> str:
    found = testing.results(row)
    return f"{found.passed:,} of {found.workers:,}" if found.at else "–"


def _stages(row: QualificationTest) -> str:
    return ", ".join(stage.key for stage in testing.requiring(row)) or "–"


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The details that were typed."""
    found = {name: options[name] for name in DEFAULTS if options[name] is not None}
    return {name: None if value == NEVER and name == "retry_days" else value for name, value in found.items()}


def _fill(row: QualificationTest, options: dict[str, Any]) -> None:
    """Put other questions in the place of the draft's, where it was said where they come from."""
    if options["file"] is not None:
        testing.replace_by_file(row, _content(options["file"]), None)
    elif options["draw"] is not None:
        testing.replace_by_known(row, max(1, options["draw"]), None)


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise CommandError(f"The file cannot be read: {error}.") from error
