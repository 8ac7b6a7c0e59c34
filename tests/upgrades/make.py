"""`python -m tests.upgrades.make COMMIT FOLDER`: both databases of an earlier version, half-way through its sample.

The code of the commit is laid out in a temporary folder and started as `make run` started it then, on SQLite. Its own
simulated crowd answers some of its own sample. Both databases are written as SQL, compressed, without sessions, and
`made.json` says when. from_0_1 was made of the commit that added “[0.1.0] - 2026-11-21” to CHANGELOG.md.
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from ops.surroundings import ROOT

# Those of tests: addresses of task pages are signed with it.
SECRET_KEY = "a-key-for-tests-only-0123456789abcdef"
ANSWERS = 12
# Runs in the earlier version's folder, with its own modules.
RUN = """
import sys
from pathlib import Path
from ops.stack import Stack
folder, secret, answers = sys.argv[1:]
settings = {"SECRET_KEY": secret, "HARVEST_SECONDS": "2"}
with Stack(Path(folder), settings=settings) as stack:
    stack.manage("load_sample")
    stack.manage("crowd", "--key", "samples/record.jsonl", "--workers", "8", "--spammers", "1",
                 "--max-answers", answers, "--time-scale", "0.005", "--until-idle", "20", "--threads", "1")
    for stage in ("validate", "revalidate"):
        stack.manage("harvest", "sample-harbour-news", stage)
"""


def main(commit: str, target: Path) -> None:
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        code, data = Path(folder) / "code", Path(folder) / "data"
        with tarfile.open(fileobj=BytesIO(archive)) as packed:
            packed.extractall(code, filter="data")
        plain = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
        subprocess.run(
            [sys.executable, "-c", RUN, str(data), SECRET_KEY, str(ANSWERS)], cwd=code, env=plain, check=True
        )
        target.mkdir(parents=True, exist_ok=True)
        for name in ("annotate", "marketplace"):
            _dump(data / f"{name}.sqlite3", target / f"{name}.sql.gz")
    (target / "made.json").write_text(json.dumps({"at": datetime.now(UTC).isoformat(timespec="seconds")}) + "\n")


def _dump(file: Path, target: Path) -> None:
    with closing(sqlite3.connect(file)) as database:
        database.execute("DELETE FROM django_session")
        database.commit()
        text = "\n".join(database.iterdump())
    target.write_bytes(gzip.compress(f"{text}\n".encode(), 9, mtime=0))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
