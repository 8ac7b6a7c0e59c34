"""An empty database on the PostgreSQL server, for the time of a measurement. TEST_DATABASE_URL names the server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ops.ensure_database import drop, ensure

SERVER = os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/").rsplit("/", 1)[0]


@contextmanager
def own_database(name: str, *, marketplace: bool = False) -> Iterator[str]:
    """Its address. Django is set up with it, as the requester or the marketplace, and the tables are made."""
    url = f"{SERVER}/annotate_{name}_{os.getpid()}"
    variable = "MARKETPLACE_DATABASE_URL" if marketplace else "DATABASE_URL"
    settings = f"tests.settings.{'marketplace' if marketplace else 'annotate'}"
    drop(url)
    ensure(url)
    os.environ |= {"DJANGO_SETTINGS_MODULE": settings, variable: url}
    try:
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connections

        call_command("migrate", verbosity=0)
        try:
            yield url
        finally:
            connections.close_all()
    finally:
        drop(url)
