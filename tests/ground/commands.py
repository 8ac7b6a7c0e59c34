"""Starts Python programs of the project in an environment that a test states in full."""

from __future__ import annotations

import os
import subprocess
import sys

from ops.surroundings import ROOT

GOOD = {
    "SECRET_KEY": "a-key-for-tests-only-0123456789abcdefgh",
    "AWS_ACCESS_KEY_ID": "TESTKEY",
    "AWS_SECRET_ACCESS_KEY": "test-secret",
    "MARKETPLACE_SECRET_KEY": "another-key-for-tests-only-0123456789ab",
}


def python(*arguments: str, data_dir: object, **changes: str | None) -> subprocess.CompletedProcess[str]:
    """Run with settings that are good but for `changes`; None takes a variable away."""
    settings = GOOD | {"DATA_DIR": str(data_dir), "MARKETPLACE_DATA_DIR": str(data_dir)} | changes
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment |= {name: value for name, value in settings.items() if value is not None}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60
    )
