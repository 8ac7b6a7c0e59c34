"""Settings of both projects under test, and the choice between them: plain `pytest tests/hits/stats` works."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import django
import pytest

_VARIABLE = "DJANGO_SETTINGS_MODULE"
_MEMORY = Path("/dev/shm")
# Several processes have a database each, some with 100,000 rows.
_ENOUGH_BYTES = 2 * 1024**3


def use(module: str) -> None:
    """Start Django with these settings. Raises pytest.UsageError where the other project's are in use already."""
    if os.environ.setdefault(_VARIABLE, module) != module:
        raise pytest.UsageError(
            f"These tests need {module}, and this process uses {os.environ[_VARIABLE]}. The requester's side and the "
            "marketplace are two projects: run the tests of one at a time, or both by `make test`."
        )
    django.setup()


def database_file(name: str) -> str:
    """Where this process keeps its SQLite database: in a file system in memory where there is one with room."""
    roomy = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ENOUGH_BYTES
    folder = _MEMORY if roomy else Path(tempfile.gettempdir())
    return str(folder / f"test-{name}-{os.getpid()}.sqlite3")
