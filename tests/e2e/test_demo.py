"""`make demo` as the README says it, on its default sample, while other work keeps every core busy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ops.surroundings import ROOT

pytestmark = pytest.mark.long

BUSY = "while True: pass"
# It has no end of its own while something moves; this one only keeps what hangs from standing for ever.
LONGEST_SECONDS = 3600


@pytest.fixture
def busy() -> Iterator[None]:
    """Processes that do nothing but take time, one a core; none where other work, such as other tests, does that."""
    cores = len(os.sched_getaffinity(0))
    idle = max(0, cores - int(os.getloadavg()[0]))
    started = [subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True) for _ in range(idle)]
    yield
    for process in started:
        process.kill()
        process.wait()


def command() -> list[str]:
    """What `make demo` runs once the requirements are installed."""
    said = subprocess.run(["make", "--dry-run", "demo"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    module = re.search(r"-m (\S+)$", said, re.MULTILINE)
    assert module is not None, said
    return [sys.executable, "-m", module[1]]


@pytest.mark.usefixtures("busy")
def test_the_readmes_own_demonstration_holds_while_every_core_is_busy(tmp_path: Path) -> None:
    assert re.search(r"^make demo\b", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    settings = {name: value for name, value in os.environ.items() if name not in ("INPUT", "SEED", "RECIPE")}
    done = subprocess.run(
        command(),
        cwd=ROOT,
        env={**settings, "DATA_DIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST_SECONDS,
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert re.search(r"^[1-9]\d* items published for \$\d", done.stdout, re.MULTILINE)
    assert "$0.00 reserved" in done.stdout
    kept = tmp_path / "demo-record"
    assert f"The release lies in {kept / 'release'}." in done.stdout
    assert (kept / "release" / "manifest.json").exists()
    assert f"DATA_DIR={kept} make run" in done.stdout
