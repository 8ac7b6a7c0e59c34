"""What an earlier version left, loaded and brought to the newest version."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from tests.settings import use

use("tests.settings.annotate")

from tests.hits.conftest import service_description_read_once
from tests.quick_flush import quick_flush

__all__ = ["quick_flush", "service_description_read_once"]


@contextmanager
def default_database(file: Path, blocker: Any) -> Iterator[None]:
    """Within, the project's database is this file."""
    if connections["default"].vendor != "sqlite":
        pytest.skip("These are files of SQLite.")
    with blocker.unblock():
        values = connections["default"].settings_dict
        before = values["NAME"]
        connections.close_all()
        values["NAME"] = str(file)
        try:
            yield
        finally:
            connections.close_all()
            values["NAME"] = before


def load(folder: Path, name: str, target: Path) -> Path:
    """The database as if it had been left an hour ago: its HITs are still open."""
    made = datetime.fromisoformat(json.loads((folder / "made.json").read_text())["at"])
    later = datetime.now(UTC) - timedelta(hours=1) - made
    with closing(sqlite3.connect(target)) as database:
        database.executescript(gzip.decompress((folder / f"{name}.sql.gz").read_bytes()).decode())
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for _, column, kind, *_ in database.execute(f'PRAGMA table_info("{table}")').fetchall():
                if kind == "datetime":
                    moved = f"strftime('%Y-%m-%d %H:%M:%f', \"{column}\", '{later.total_seconds():+.0f} seconds')"
                    database.execute(f'UPDATE "{table}" SET "{column}" = {moved} WHERE "{column}" IS NOT NULL')
        database.commit()
    return target
