"""Settings of both projects under test, and the choice between them: plain `pytest tests/hits/quality` works."""

from __future__ import annotations

import os

import django
import pytest

_VARIABLE = "DJANGO_SETTINGS_MODULE"


def use(module: str) -> None:
    """Start Django with these settings. Raises pytest.UsageError where the other project's are in use already."""
    if os.environ.setdefault(_VARIABLE, module) != module:
        raise pytest.UsageError(
            f"These tests need {module}, and this process uses {os.environ[_VARIABLE]}. The requester's side and the "
            "marketplace are two projects: run the tests of one at a time, or both by `make test`."
        )
    django.setup()
