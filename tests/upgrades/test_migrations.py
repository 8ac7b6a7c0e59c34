"""A program starts only with tables that it can run on; a migration that was released stays as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from common import migrations
from ops.surroundings import ROOT
from tests.upgrades import released
from tests.upgrades.conftest import default_database


def test_released_migrations_are_never_changed() -> None:
    """Databases out there have run them; what changes afterwards is a further migration."""
    now = released.migrations()
    assert released.released() == {path: now.get(path) for path in released.released()}


@pytest.fixture
def recorder(tmp_path: Path, django_db_blocker: Any) -> Iterator[MigrationRecorder]:
    """A database in which every migration of this code is written down."""
    with default_database(tmp_path / "db.sqlite3", django_db_blocker):
        made = MigrationRecorder(connection)
        made.ensure_schema()
        for app, name in MigrationLoader(None).disk_migrations or {}:
            made.record_applied(app, name)
        yield made


def test_a_database_that_fits_is_no_fault(recorder: MigrationRecorder) -> None:
    assert migrations.fault() == ""


def test_a_database_that_is_behind_is_named(recorder: MigrationRecorder) -> None:
    recorder.record_unapplied("hits", "0053_restorations")
    assert "a migration is missing, such as hits.0053_restorations. Run migrate" in migrations.fault()


def test_what_only_adds_keeps_nobody_from_running_and_what_takes_away_does(recorder: MigrationRecorder) -> None:
    """While programs are exchanged one after the other, the old ones run on."""
    recorder.record_applied("hits", "9001_more_columns")
    recorder.record_applied("another_app", "9002_contract_of_a_stranger")
    assert migrations.fault() == ""
    recorder.record_applied("hits", "9002_contract_old_columns")
    assert "ahead of this code, which needs what hits.9002_contract_old_columns took away" in migrations.fault()


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
        "MARKETPLACE_DATA_DIR": str(tmp_path),
        "MARKETPLACE_DEBUG": "True",
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
