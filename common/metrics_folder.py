"""The folder in which the processes of one web server count: see `common.metrics`.

The server makes it before its processes begin, and must not load the library of the counts, which looks for the folder
when it is loaded.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_held: list[IO[str]] = []


def make_folder() -> Path:
    """An empty folder for the counts of the processes of one server; folders of servers that are gone are removed."""
    place = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path(tempfile.gettempdir())
    for old in place.glob(f"annotate-metrics-{os.getuid()}-*"):
        if _is_abandoned(old):
            shutil.rmtree(old, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix=f"annotate-metrics-{os.getuid()}-", dir=place))
    # Held as long as this process lives: by it the folder is known to be in use.
    held = (made / "held").open("w")
    fcntl.flock(held, fcntl.LOCK_EX)
    _held.append(held)
    return made


def _is_abandoned(folder: Path) -> bool:
    try:
        with (folder / "held").open("r") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except OSError:
        # In use, of somebody else, or just being made.
        return False


def clean(folder: Path) -> None:
    """Begin from nothing in a folder that the operator named."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file in folder.glob("*.db"):
        file.unlink(missing_ok=True)
