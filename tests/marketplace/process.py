"""A marketplace in processes of its own, as on a server: gunicorn, signatures checked, any database."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import requests
from django.conf import settings
from django.test import Client

from marketplace.models import Worker
from ops.healthy import answers
from ops.programs import GUNICORN
from ops.surroundings import ROOT, free_port
from ops.waiting import wait_started

# Any 32 letters are a valid secret when the cookie and the form agree on them.
CSRF_SECRET = "a" * 32


@contextmanager
def serve(
    database_url: str, log_file: Path | None = None, options: Sequence[str] = (), **environment: str
) -> Iterator[str]:
    """The address of a running marketplace; it has two processes of four threads and ends with the block.

    `options` are gunicorn's and win over those of ops/gunicorn.py.
    """
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "gunicorn", "marketplace.wsgi", "--config", str(GUNICORN)]
    command += ["--bind", f"127.0.0.1:{port}", "--workers", "2", *options]
    with (
        tempfile.TemporaryDirectory(prefix="marketplace-") as folder,
        (log_file or Path(folder) / "log").open("w+") as log,
    ):
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "ops" / "tied.py"), str(Path(folder) / "pid"), *command],
            env=_environment(database_url, url, folder) | environment,
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_started("The marketplace", lambda: answers(port), process, lambda: _last(log))
            yield url
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _environment(database_url: str, url: str, folder: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MARKETPLACE_", "AWS_"))}
    return inherited | {
        "DJANGO_SETTINGS_MODULE": "marketplace.settings",
        "MARKETPLACE_SECRET_KEY": settings.SECRET_KEY,
        "MARKETPLACE_DATABASE_URL": database_url,
        "DATA_DIR": folder,
        "MARKETPLACE_PUBLIC_URL": url,
        "MARKETPLACE_SANDBOX": "True",
        # Nobody's proxy is asked for loopback addresses.
        "NO_PROXY": "*",
    }


def _last(log: IO[str]) -> str:
    log.seek(0)
    return log.read()[-5000:]


def database_url(connection: Any) -> str:
    """The URL of the database that a Django connection uses."""
    values = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{values['NAME']}"
    address = f"{values['HOST'] or '127.0.0.1'}:{values['PORT'] or 5432}"
    password = f":{values['PASSWORD']}" if values["PASSWORD"] else ""
    return f"postgres://{values['USER']}{password}@{address}/{values['NAME']}"


def signed_in(url: str, user: Any) -> requests.Session:
    """A browser without a screen in which this user is signed in; it sends a CSRF token with every form."""
    django_client = Client()
    django_client.force_login(user.user if isinstance(user, Worker) else user)
    session = stranger(url)
    name = settings.SESSION_COOKIE_NAME
    session.cookies.set(name, django_client.cookies[name].value, domain=urlsplit(url).hostname)
    return session


def stranger(url: str) -> requests.Session:
    """A browser in which nobody is signed in."""
    session = requests.Session()
    session.trust_env = False
    session.cookies.set(settings.CSRF_COOKIE_NAME, CSRF_SECRET, domain=urlsplit(url).hostname)
    session.headers["X-CSRFToken"] = CSRF_SECRET
    return session
