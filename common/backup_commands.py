"""The commands `backup` and `restore` of both projects, which say what is backed up."""

from __future__ import annotations

import signal
import time
from argparse import ArgumentParser
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from common.backups import Backed, BackupError, Made, Manifest, is_too_old, last_good, make, restore, verify

# After a backup that failed the next one is tried so soon, however rarely they are made.
AGAIN_SECONDS = 600


class BackupCommand(BaseCommand):
    """Subclasses say `what`."""

    help = (
        "Back the database up into one file of the folder, and try the file by restoring it beside the database and "
        "counting rows and money. Files, media and releases are in the database. The password is in no command line."
    )
    what: ClassVar[Backed]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="where backups are kept; it is made where it is missing")
        parser.add_argument("--keep", type=int, help="drop all but the last so many backups of this project")
        parser.add_argument("--every", type=float, metavar="HOURS", help="go on for ever, a backup each so many hours")
        parser.add_argument("--unverified", action="store_true", help="do not try the file by restoring it")
        parser.add_argument(
            "--older-than",
            type=float,
            metavar="HOURS",
            help="make no backup: exit code 1 where the last good one is older, or there is none",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"]
        if options["keep"] is not None and options["keep"] < 1:
            raise CommandError("--keep has to be 1 or more.")
        if options["older_than"] is not None:
            self._judge(folder, options["older_than"])
        elif options["every"] is None:
            self._back_up(folder, options)
        else:
            self._go_on(folder, options)

    def _judge(self, folder: Path, hours: float) -> None:
        last = last_good(self.what.name, folder)
        said = (
            f"The last good backup of {self.what.name} is of {last:%Y-%m-%d %H:%M} UTC." if last else "There is none."
        )
        if is_too_old(self.what.name, folder, hours):
            raise CommandError(f"{said} There should be one of the last {hours:g} hours.")
        self.stdout.write(said)

    def _back_up(self, folder: Path, options: dict[str, Any]) -> None:
        try:
            made = make(self.what, folder, keep=options["keep"], verify=not options["unverified"])
        except (BackupError, DatabaseError, OSError) as error:
            raise CommandError(f"There is no backup: {error}") from error
        self._tell(made)

    def _tell(self, made: Made) -> None:
        tried = "restored on trial and counted" if made.verified else "not tried"
        size = made.file.stat().st_size / 1_000_000
        self.stdout.write(f"{made.file}: {made.manifest.rows:,} rows, {size:,.1f} MB, {tried}.")
        if made.dropped:
            self.stdout.write(f"Dropped {len(made.dropped)} older ones.")

    def _go_on(self, folder: Path, options: dict[str, Any]) -> None:
        """A restart makes no further backup before its time."""
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        step = timedelta(hours=options["every"])
        try:
            while True:
                last = last_good(self.what.name, folder)
                due = last + step if last else datetime.now(UTC)
                if due > datetime.now(UTC):
                    time.sleep(min(60.0, (due - datetime.now(UTC)).total_seconds()))
                    continue
                try:
                    self._back_up(folder, options)
                except CommandError as error:
                    self.stderr.write(f"{error} The next try is in {AGAIN_SECONDS // 60} minutes.")
                    time.sleep(AGAIN_SECONDS)
        except KeyboardInterrupt:
            self.stdout.write("Stopped.")


class RestoreCommand(BaseCommand):
    """Subclasses say `what`, and what else follows in `after`."""

    help = (
        "Put what a backup holds in place of the database. A broken file, a backup of a newer version, a database that "
        "is not empty (without --replace) and one that other programs use are refused, and nothing is changed then."
    )
    what: ClassVar[Backed]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help="drop what is in the database now")
        parser.add_argument("--check", action="store_true", help="restore it beside the database, count, and drop that")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["check"]:
                found = verify(self.what, options["file"])
                self.stdout.write(f"The backup is whole. {_described(found)}")
                return
            found = restore(self.what, options["file"], replace=options["replace"])
        except (BackupError, DatabaseError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Restored. {_described(found)}")
        # The tables of an older version become those of this one.
        call_command("migrate", interactive=False, verbosity=0)
        self.after(found)

    def after(self, manifest: Manifest) -> None:
        """What has to be written down before any other program goes on."""


def _described(manifest: Manifest) -> str:
    return f"It is of {manifest.moment:%Y-%m-%d %H:%M:%S} UTC, version {manifest.version}, {manifest.rows:,} rows."
