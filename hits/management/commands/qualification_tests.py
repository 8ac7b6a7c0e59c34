from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.flow import testing
from hits.formats.faults import FormatErrors
from hits.formats.qualification_test import MOST_QUESTIONS, Details
from hits.management.commands._base import ProjectCommand, agreed
from hits.models import Project, QualificationTest


class Command(ProjectCommand):
    help = "List the qualification tests of a project; with an action: make one, offer, withdraw, or show its results."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "action", nargs="?", default="list", choices=["list", "make", "offer", "withdraw", "results"]
        )
        parser.add_argument("test", nargs="?", help="the test's short name, such as reading-test")
        parser.add_argument("--title", default="", help="make: workers see it")
        parser.add_argument("--description", default="", help="make: workers read it before they begin")
        parser.add_argument("--file", type=Path, help="make: a JSON or CSV file of questions")
        parser.add_argument(
            "--draw", type=int, help=f"make: so many questions from known answers, 1 to {MOST_QUESTIONS}"
        )
        parser.add_argument("--pass-mark", type=int, default=80, help="make: percent of right answers")
        parser.add_argument("--minutes", type=int, default=15, help="make: time for the test")
        parser.add_argument("--retry-days", type=int, help="make: another attempt after so many days; never without it")
        parser.add_argument("--yes", action="store_true", help="do not ask")

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
            row = self._found(project, options["test"])
            {"offer": self._offer, "withdraw": self._withdraw, "results": self._results}[options["action"]](
                row, options
            )

    def _found(self, project: Project, key: str) -> QualificationTest:
        row = project.qualification_tests.filter(key=key).first()
        if row is None:
            there = ", ".join(project.qualification_tests.values_list("key", flat=True)) or "none yet"
            raise CommandError(f"{project.slug} has no test {key!r}. There are: {there}.")
        row.project = project
        return row

    def _list(self, project: Project) -> None:
        rows = [
            [row.key, row.get_state_display(), f"{len(row.questions):,}", f"{row.pass_mark}%", _passed(row)]
            for row in project.qualification_tests.all()
        ]
        self.table(["test", "state", "questions", "pass mark", "passed"], rows)

    def _make(self, project: Project, options: dict[str, Any]) -> None:
        if bool(options["file"]) == bool(options["draw"]):
            raise CommandError("Say where the questions come from: --file FILE or --draw NUMBER.")
        content = _content(options["file"]) if options["file"] else b""
        names = ("title", "description", "pass_mark", "minutes", "retry_days")
        row = testing.create(project, Details(options["test"], **{name: options[name] for name in names}), None)
        try:
            if options["file"]:
                testing.replace_by_file(row, content)
            else:
                testing.replace_by_known(row, max(1, options["draw"]))
        except (FormatErrors, testing.NothingKnownError):
            # All or nothing: a draft without questions was not what was asked for.
            testing.remove(row)
            raise
        self.say(f"{row.key}: a draft of {len(row.questions):,} questions. Offer it when you have looked at it.")

    def _offer(self, row: QualificationTest, options: dict[str, Any]) -> None:
        told = (
            f"Every worker will see “{row.title}” with its {len(row.questions):,} questions; it cannot be changed then."
        )
        self.say(told)
        if not (options["yes"] or agreed("Offer it? [y/N] ")):
            raise CommandError("Nothing was offered.")
        testing.offer(row, row.fingerprint)
        self._finish(row)

    def _withdraw(self, row: QualificationTest, options: dict[str, Any]) -> None:
        testing.withdraw(row)
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


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise CommandError(f"The file cannot be read: {error}.") from error
