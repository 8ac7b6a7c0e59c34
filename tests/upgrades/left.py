"""What an earlier version left: its two databases, as `tests.upgrades.make` wrote them."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

FROM_0_1 = Path(__file__).parent / "from_0_1"
# Where 0.1 served the pages of its tasks when it was left.
OF_0_1 = "http://localhost:46573"


def load(folder: Path, name: str, target: Path, address: str = OF_0_1) -> Path:
    """The database as if it had been left an hour ago: its HITs are still open, and their pages are at `address`."""
    made = datetime.fromisoformat(json.loads((folder / "made.json").read_text())["at"])
    later = datetime.now(UTC) - timedelta(hours=1) - made
    text = gzip.decompress((folder / f"{name}.sql.gz").read_bytes()).decode()
    with closing(sqlite3.connect(target)) as database:
        database.executescript(text.replace(OF_0_1, address))
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for _, column, kind, *_ in database.execute(f'PRAGMA table_info("{table}")').fetchall():
                if kind == "datetime":
                    moved = f"strftime('%Y-%m-%d %H:%M:%f', \"{column}\", '{later.total_seconds():+.0f} seconds')"
                    database.execute(f'UPDATE "{table}" SET "{column}" = {moved} WHERE "{column}" IS NOT NULL')
        database.commit()
    return target
