"""The real data files beside the repository, which tests may read and the project never copies."""

import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data"


def shared_file(name):
    """The path of a shared file; says so when it is not here, and fails where nothing may be left out (CI=true)."""
    path = FOLDER / name
    if path.exists():
        return path
    message = f"the shared data folder is not beside the repository: {name} cannot be read"
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(message)
    pytest.skip(message)
