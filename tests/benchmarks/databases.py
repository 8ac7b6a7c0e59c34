"""An empty database for the time of a measurement, on the PostgreSQL server that TEST_DATABASE_URL names."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from ops.ensure_database import drop, ensure

SERVER = os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/").rsplit("/", 1)[0]


@contextmanager
def own_database(name: str, *, marketplace: bool = False, embedded: bool = False) -> Iterator[str]:
    """Its address. Django is set up with it, as the requester or the marketplace, and the tables are made.

    An `embedded` one is a file of SQLite, as under `make run`.
    """
    if embedded:
        with tempfile.TemporaryDirectory() as folder:
            yield from _set_up(f"sqlite:///{folder}/{name}.sqlite3", marketplace)
        return
    url = f"{SERVER}/annotate_{name}_{os.getpid()}"
    drop(url)
    ensure(url)
    try:
        yield from _set_up(url, marketplace)
    finally:
        drop(url)


def _set_up(url: str, marketplace: bool) -> Iterator[str]:
    variable = "MARKETPLACE_DATABASE_URL" if marketplace else "DATABASE_URL"
    settings = f"tests.settings.{'marketplace' if marketplace else 'annotate'}"
    os.environ |= {"DJANGO_SETTINGS_MODULE": settings, variable: url}
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connections

    call_command("migrate", verbosity=0)
    try:
        yield url
    finally:
        connections.close_all()
