"""Lets a live server finish what a closed page still asked of it, before the tables are emptied.

A page saves drafts by itself. One that arrives while the tables are emptied is refused by the database, which logs an
error that no test caused.
"""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.signals import request_finished, request_started

_LONGEST = 60.0
# A request that the browser has sent reaches its thread within this time.
_ON_ITS_WAY = 0.02
_at_work: set[int] = set()


def _started(**kwargs: Any) -> None:
    _at_work.add(threading.get_ident())


def _finished(**kwargs: Any) -> None:
    _at_work.discard(threading.get_ident())


@pytest.fixture(autouse=True)
def calm(request: pytest.FixtureRequest) -> Iterator[None]:
    """Taken down after every page of the test, and before its database."""
    if "live_server" not in request.fixturenames:
        yield
        return
    request.getfixturevalue("transactional_db")
    request_started.connect(_started)
    request_finished.connect(_finished)
    yield
    patience = time.monotonic() + _LONGEST
    time.sleep(_ON_ITS_WAY)
    while _at_work - {threading.get_ident()} and time.monotonic() < patience:
        time.sleep(_ON_ITS_WAY)
    request_started.disconnect(_started)
    request_finished.disconnect(_finished)
    _at_work.clear()
