"""Commands whose output is cut off, as by `head`, end without a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ops.surroundings import ROOT
from tests.ground.commands import GOOD


def test_whoever_reads_no_further_gets_no_traceback(tmp_path: Path) -> None:
    env = {**os.environ, **GOOD, "DATA_DIR": str(tmp_path)}
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        found = subprocess.run(
            [sys.executable, "manage.py", "help"], cwd=ROOT, env=env, stdout=closed, stderr=subprocess.PIPE, text=True
        )
    assert (found.returncode, found.stderr) == (1, "")
