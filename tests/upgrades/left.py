"""What an earlier version left: its two databases, as `tests.upgrades.make` wrote them."""

from __future__ import annotations

import json
import lzma
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

FROM_0_3 = Path(__file__).parent / "from_0_3"


def as_left(folder: Path, name: str, target: Path, address: str = "") -> Path:
    """The database row by row. The pages of its HITs are at `address`, or where they were."""
    its_address = json.loads((folder / "made.json").read_text())["address"]
    text = lzma.decompress((folder / f"{name}.sql.xz").read_bytes()).decode()
    with closing(sqlite3.connect(target)) as database:
        database.executescript(text.replace(its_address, address or its_address))
    return target


def load(folder: Path, name: str, target: Path, address: str = "") -> Path:
    """The same as if it had been left an hour ago: its HITs are still open."""
    made = datetime.fromisoformat(json.loads((folder / "made.json").read_text())["at"])
    later = datetime.now(UTC) - timedelta(hours=1) - made
    with closing(sqlite3.connect(as_left(folder, name, target, address))) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for _, column, kind, *_ in database.execute(f'PRAGMA table_info("{table}")').fetchall():
                if kind == "datetime":
                    moved = f"strftime('%Y-%m-%d %H:%M:%f', \"{column}\", '{later.total_seconds():+.0f} seconds')"
                    database.execute(f'UPDATE "{table}" SET "{column}" = {moved} WHERE "{column}" IS NOT NULL')
        database.commit()
    return target
