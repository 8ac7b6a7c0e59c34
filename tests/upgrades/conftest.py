"""A database that an earlier version left, as the one of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from tests.settings import use

use("tests.settings.annotate")

from tests.hits.conftest import service_description_read_once
from tests.quick_flush import quick_flush

__all__ = ["quick_flush", "service_description_read_once"]


@pytest.fixture(scope="session")
def django_db_setup() -> None:
    """Each test here brings a database of its own."""


@contextmanager
def default_database(file: Path, blocker: Any) -> Iterator[None]:
    """Within, the project's database is this file."""
    if connections["default"].vendor != "sqlite":
        pytest.skip("These are files of SQLite.")
    with blocker.unblock():
        values = connections["default"].settings_dict
        before = values["NAME"]
        connections.close_all()
        values["NAME"] = str(file)
        try:
            yield
        finally:
            connections.close_all()
            values["NAME"] = before
