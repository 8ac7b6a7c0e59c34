from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from common.html_correcting import Report, look_at
from marketplace.rules import limits

# Nothing larger is a page; it is not read into the memory.
_MOST_BYTES = 20_000_000


class Command(BaseCommand):
    help = (
        "List all that keeps a page from being a layout or an HTMLQuestion, with lines and columns, and write a "
        "corrected copy beside it. Exit status 1 when there is anything."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the HTML, in UTF-8")
        parser.add_argument("--raw", action="store_true", help="check it as a layout that takes its values as they are")
        parser.add_argument(
            "--corrected",
            type=Path,
            metavar="FILE",
            help="where the corrected copy goes; NAME.corrected.html beside the page",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        try:
            if file.stat().st_size > _MOST_BYTES:
                raise CommandError(f"{file} has more than {_MOST_BYTES:,} bytes: that is no page.")
            report = look_at(file.read_text(encoding="utf-8"), options["raw"])
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{file} cannot be read. {error}") from error
        for line in _lines(file, report):
            self.stdout.write(line)
        if report.passes:
            return
        if not report.corrected:
            raise CommandError("\n".join(["No corrected copy can be offered. It would still have this:", *report.left]))
        copy = options["corrected"] or file.with_name(f"{file.stem}.corrected.html")
        try:
            with copy.open("x", encoding="utf-8", newline="") as out:
                out.write(report.corrected)
        except OSError as error:
            raise CommandError(
                f"The corrected copy was not written; name another file with --corrected. {error}"
            ) from error
        raise CommandError(
            f"The page cannot be used as it is. A corrected copy is in {copy}: look it over, then use it."
        )


def _lines(file: Path, report: Report) -> Iterator[str]:
    for fault in report.faults:
        yield f"{file}:{fault.line}:{fault.column}: {fault.text}"
    yield f"{report.size:,} bytes of {limits.QUESTION_BYTES:,} that are allowed."
    for share in report.shares:
        yield f"{share.size:>12,} {share.what}" + (f", in {share.places:,} places" if share.places > 1 else "")
    if report.squeezed:
        yield "The corrected copy leaves out comments and spare white space."
    if report.passes:
        yield "The page can be used."
