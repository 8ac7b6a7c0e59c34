"""Databases that migrate has just made, without rows of anybody: made once, for migrating takes many seconds.

What migrates an empty database by itself is tested with one: `make run` on PostgreSQL in tests/ground/test_launcher.py,
`make demo` on SQLite in tests/e2e/test_demo.py.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ops.surroundings import ROOT, whole_environment

SECRET = "only-for-tests-only-for-tests-only-for-tests"
# By the name of the file in DATA_DIR: the folder of its migrations, and the command line of its side.
SIDES = {"annotate": ("hits", ("manage.py",)), "marketplace": ("marketplace", ("-m", "marketplace"))}


def migrated(name: str) -> Path:
    """The database of that side. Whoever needs it meanwhile waits for the first one that makes it."""
    app = SIDES[name][0]
    migrations = sorted((ROOT / app / "migrations").glob("*.py"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in migrations)).hexdigest()[:16]
    made = ROOT / "build" / "templates" / f"{name}-{digest}.sqlite3"
    made.parent.mkdir(parents=True, exist_ok=True)
    with (made.parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            _make(name, made)
    return made


def _make(name: str, made: Path) -> None:
    with tempfile.TemporaryDirectory(dir=made.parent) as folder:
        done = manage(name, Path(folder), "migrate", "--noinput", "--verbosity", "0")
        assert done.returncode == 0, done.stderr
        os.replace(Path(folder) / f"{name}.sqlite3", made)


def manage(name: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of that side, whose database is in the folder."""
    given = {
        "DATA_DIR": str(folder),
        "SECRET_KEY": SECRET,
        "MARKETPLACE_SECRET_KEY": SECRET,
        "MARKETPLACE_SANDBOX": "True",
    }
    environment = whole_environment(given)
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, *SIDES[name][1], *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)


def bring(folder: Path) -> Path:
    """Both databases into the folder of a stack that has not been prepared yet; returns the folder."""
    for name in SIDES:
        shutil.copy(migrated(name), folder / f"{name}.sqlite3")
    return folder
