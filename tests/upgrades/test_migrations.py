"""A program starts only with tables that it can run on; a migration that was released stays as it is."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from django.db.migrations.recorder import MigrationRecorder

from common import backups, migrations
from hits.management.backed import REQUESTER
from ops.surroundings import ROOT
from tests.migrated import SIDES, manage
from tests.upgrades import released
from tests.upgrades.conftest import default_database
from tests.upgrades.left import FROM_0_3, as_left

pytestmark = pytest.mark.long

SQUASHED = ("hits", "0001_squashed_0073_evaluated_systems")


def test_released_migrations_are_never_changed() -> None:
    """Databases out there have run them; what changes afterwards is a further migration."""
    now = released.migrations()
    assert released.released() == {path: now.get(path) for path in released.released()}


@pytest.fixture
def recorder(tmp_path: Path, django_db_blocker: Any) -> Iterator[MigrationRecorder]:
    """A database in which every migration of this code is written down, as `migrate` does it."""
    with default_database(tmp_path / "db.sqlite3", django_db_blocker):
        made = MigrationRecorder(connection)
        made.ensure_schema()
        for app, name in migrations.known_migrations():
            made.record_applied(app, name)
        yield made


def test_a_database_that_fits_is_no_fault(recorder: MigrationRecorder) -> None:
    assert migrations.fault() == ""


def test_a_database_that_is_behind_is_named(recorder: MigrationRecorder) -> None:
    recorder.record_unapplied("sessions", "0001_initial")
    assert "a migration is missing, such as sessions.0001_initial. Run migrate" in migrations.fault()


def test_a_database_of_0_3_lacks_nothing(recorder: MigrationRecorder) -> None:
    recorder.record_unapplied(*SQUASHED)
    assert migrations.fault() == ""


def test_a_database_from_before_0_3_is_named(recorder: MigrationRecorder) -> None:
    recorder.record_unapplied(*SQUASHED)
    recorder.record_unapplied("hits", "0073_evaluated_systems")
    assert migrations.fault() == migrations.TOO_OLD


@pytest.mark.parametrize("name", SIDES)
def test_migrate_says_what_to_do_with_a_database_from_before_0_3(name: str, tmp_path: Path) -> None:
    file = as_left(FROM_0_3, name, tmp_path / f"{name}.sqlite3")
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("DELETE FROM django_migrations WHERE app = ? AND name > '0005'", [SIDES[name][0]])
        before = list(database.iterdump())
    done = manage(name, tmp_path, "migrate", "--noinput")
    assert done.returncode == 1
    assert migrations.TOO_OLD in done.stderr and "Traceback" not in done.stderr
    with closing(sqlite3.connect(file)) as database:
        assert list(database.iterdump()) == before


def test_what_only_adds_keeps_nobody_from_running_and_what_takes_away_does(recorder: MigrationRecorder) -> None:
    """While programs are exchanged one after the other, the old ones run on."""
    recorder.record_applied("hits", "9001_more_columns")
    recorder.record_applied("another_app", "9002_contract_of_a_stranger")
    assert migrations.fault() == ""
    recorder.record_applied("hits", "9002_contract_old_columns")
    assert "ahead of this code, which needs what hits.9002_contract_old_columns took away" in migrations.fault()


def test_a_backup_of_0_3_is_restored_and_one_from_before_is_refused(tmp_path: Path, django_db_blocker: Any) -> None:
    with default_database(as_left(FROM_0_3, "annotate", tmp_path / "db.sqlite3"), django_db_blocker):
        made = backups.make(REQUESTER, tmp_path, verify=False)
        connections.close_all()
        assert backups.restore(REQUESTER, made.file, replace=True).rows > 1000

        MigrationRecorder(connection).record_unapplied("hits", "0073_evaluated_systems")
        made = backups.make(REQUESTER, tmp_path, verify=False)
        connections.close_all()
        with pytest.raises(backups.BackupError, match="made by a version before 0.3.0, .*Nothing was changed"):
            backups.restore(REQUESTER, made.file, replace=True)


@pytest.mark.parametrize(
    "command",
    [
        ["gunicorn", "annotate.wsgi", "--config", "ops/gunicorn.py", "--bind", "127.0.0.1:0", "--workers", "1"],
        ["celery", "-A", "annotate", "beat", "--pidfile", "", "--schedule", "schedule"],
        ["marketplace", "tick", "--once"],
    ],
    ids=["web", "beat", "tick"],
)
def test_nothing_starts_with_a_database_that_was_never_migrated(command: list[str], tmp_path: Path) -> None:
    given = {
        "SECRET_KEY": "a-key-for-tests-only-0123456789abcdef",
        "DATA_DIR": str(tmp_path),
        "MARKETPLACE_SECRET_KEY": "only-for-tests-only-for-tests-only-for-tests",
        "PYTHONPATH": str(ROOT),
    }
    ours = ("DJANGO_SETTINGS_MODULE", "DATABASE_URL")
    plain = {name: value for name, value in os.environ.items() if name not in ours}
    config = [str(ROOT / part) if part.startswith("ops/") else part for part in command]
    done = subprocess.run(
        [sys.executable, "-m", *config], cwd=tmp_path, env=plain | given, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 3
    assert "The database is behind this code" in done.stderr


def test_the_marketplaces_migrations_can_be_taken_back_and_applied_again(tmp_path: Path) -> None:
    settings = {
        "DATA_DIR": str(tmp_path),
        "MARKETPLACE_SECRET_KEY": "only-for-tests-only-for-tests-only-for-tests",
    }
    plain = {name: value for name, value in os.environ.items() if not name.endswith("DATABASE_URL")}
    plain.pop("DJANGO_SETTINGS_MODULE", None)
    for target in ([], ["marketplace", "zero"], []):
        command = [sys.executable, "-m", "marketplace", "migrate", *target, "--noinput", "--verbosity", "0"]
        done = subprocess.run(command, cwd=ROOT, env=plain | settings, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
