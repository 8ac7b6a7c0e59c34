from __future__ import annotations

import io
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits import tasks
from hits.domain import results_forms
from hits.domain.imported_results import ShownResults, shown
from hits.flow.data import removing
from hits.flow.pipeline import importing
from hits.formats.encodings import bytes_in_utf8
from hits.formats.faults import Fault, FormatErrors, counted, grouped
from hits.management.commands._base import StageCommand, agreed, jobs_run_here
from hits.management.commands.import_file import add_encoding
from hits.models import Stage, Upload


class Command(StageCommand):
    help = "Take answers that were given elsewhere from a file of results, or remove those of one file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "file", nargs="?", type=Path, help="CSV of Mechanical Turk, Turkle, Figure Eight; long table"
        )
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="FIELD=COLUMN",
            help="read this column as that field, Answer.mood=feeling; after a second = a value: Input.known==Glad",
        )
        add_encoding(parser)
        parser.add_argument("--columns", action="store_true", help="show which column is what, and import nothing")
        parser.add_argument(
            "--make-form",
            action="store_true",
            help="make the questionnaire from the file's columns and import into it; with --columns only show it",
        )
        parser.add_argument(
            "--kind",
            action="append",
            default=[],
            metavar="COLUMN=KIND",
            help=f"with --make-form: {', '.join(filter(None, results_forms.KINDS))}, or nothing to leave it out",
        )
        parser.add_argument(
            "--hide", action="append", default=None, metavar="COLUMN", help="with --make-form: an Input.* not shown"
        )
        parser.add_argument("--title", default="", help="with --make-form: of a new stage, where one is added")
        parser.add_argument("--remove", type=int, metavar="NUMBER", help="remove all answers of that import")
        parser.add_argument("--yes", action="store_true", help="do not ask before removing")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        if options["remove"] is not None:
            return self._remove(stage, options["remove"], options["yes"])
        if not options["file"]:
            raise CommandError("Name a file of results, or --remove NUMBER.")
        path: Path = options["file"]
        pairs = [_pair(one) for one in options["map"]]
        try:
            importing.check_size(path.stat().st_size)
            content = bytes_in_utf8(path.read_bytes(), options["encoding"])
            if options["make_form"]:
                return self._make_form(stage, path.name, content, options)
            if options["columns"]:
                return self._show(shown(stage, io.BytesIO(content), path.name, pairs))
            upload = importing.create_results_upload(stage, path.name, content, None, pairs)
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        except FormatErrors as error:
            self._refuse(path.name, list(error.errors), error.count)
        self._import(upload)

    def _make_form(self, stage: Stage, name: str, content: bytes, options: dict[str, Any]) -> None:
        kinds = dict(_pair(one) for one in options["kind"])
        proposal = results_forms.with_kinds(content, name, kinds, options["hide"])
        self.table(
            ["column", "field", "kind", "values"],
            [[one.column, one.key, one.kind or "–", _values(one)] for one in proposal.fields],
        )
        self.say(f"Shown: {', '.join(column for column, is_shown in proposal.shown if is_shown) or 'nothing'}.")
        if options["columns"]:
            for fault in proposal.faults:
                self.say(fault)
            return
        upload = tasks.send_in_with_form(stage, name, content, proposal, options["title"], None)
        self._import(upload)

    def _import(self, upload: Upload) -> None:
        with jobs_run_here():
            tasks.import_upload(upload.pk)
        upload.refresh_from_db()
        if upload.state == Upload.State.REFUSED:
            self._refuse(upload.name, [Fault(**fault) for fault in upload.faults], upload.fault_count)
        if upload.state != Upload.State.DONE:
            raise CommandError(f"{upload.get_state_display()}. {upload.error}".strip())
        assert upload.stage is not None
        self.say(
            f"Import {upload.pk}: {counted(upload.items, 'answer')} came into {upload.stage.key}, unpaid and marked."
        )
        for note in upload.notes:
            self.say(note)

    def _show(self, table: ShownResults) -> None:
        self.table(["field", "read from"], [[one.name, one.source or "–"] for one in table.fields])
        if table.unused:
            self.say(f"Not asked by the task: {', '.join(table.unused)}.")

    def _remove(self, stage: Stage, number: int, yes: bool) -> None:
        row = stage.result_files.select_related("blob").filter(pk=number).first()
        if row is None:
            raise CommandError(f"{stage.key} has no import {number}.")
        found = removing.preview(row)
        self.say(
            f"{counted(found.answers, 'answer')} of {row.name} will be deleted; "
            f"{counted(found.judged, 'item')} will be judged again, and "
            f"{found.items + found.made:,} go too. Only importing the file again brings them back."
        )
        if not yes and not agreed("Remove them? [y/N] "):
            raise CommandError("Nothing was removed.")
        count = removing.remove(row, None)
        with jobs_run_here():
            tasks.conclude_stage(stage.pk)
        self.say(f"{counted(count, 'answer')} removed.")

    def _refuse(self, name: str, faults: list[Fault], count: int) -> None:
        for group in grouped(faults):
            self.stderr.write(str(group))
        raise CommandError(f"{counted(count, 'fault')} in {name}. Nothing was imported.")


def _values(field: results_forms.ProposedField) -> str:
    told = ", ".join(f"{value[:20]} ({times})" for value, times in field.values[:5])
    return f"{told} …" if field.more or field.different > 5 else told


def _pair(given: str) -> tuple[str, str]:
    field, equals, column = given.partition("=")
    if not equals:
        raise CommandError(f"{given} says no column: write --map FIELD=COLUMN, such as --map Answer.mood=feeling.")
    return field.strip(), column.strip()
