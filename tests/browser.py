"""The browser of the tests: where there is none, a test says so and is skipped; in CI it fails."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from ops.chromium import ARGUMENTS, quick
from ops.surroundings import StackError


def launch_options(find: Callable[[], str] = quick) -> dict[str, Any]:
    """Options for Playwright's `launch`. `find` is `quick` or `whole` of `ops.chromium`."""
    try:
        return {"executable_path": find(), "args": ARGUMENTS}
    except StackError as error:
        complain = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        complain(str(error))
