"""`make fuzz MINUTES=10`: schema-driven fuzzers over a real marketplace and over the requester's side.

`python -m tests.fuzz --minutes 10 --project both --database both --seed 1`: so many minutes for each of the two
projects, half of them on SQLite, half on PostgreSQL, or all of them on one. Ends with status 1 when an answer was a 500
or outside of the model, when a balance is wrong, when a GET wrote, or when a project was open to strangers.
"""

from __future__ import annotations

import argparse
import logging
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ops.ensure_database import drop, ensure
from ops.surroundings import ROOT

POSTGRESQL = os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/").rsplit("/", 1)[0]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--project", choices=("marketplace", "requester", "both"), default="both")
    parser.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--threads", type=int, default=4)
    given = parser.parse_args()
    projects = ("marketplace", "requester") if given.project == "both" else (given.project,)
    databases = ("sqlite", "postgresql") if given.database == "both" else (given.database,)
    if len(projects) == len(databases) == 1:
        return run(given.project, given.database, given.minutes, given.seed, given.threads)
    # Each in a process of its own: settings are read once.
    share = ["--minutes", str(given.minutes / len(databases)), "--seed", given.seed, "--threads", str(given.threads)]
    command = [sys.executable, "-m", "tests.fuzz", *share]
    found = [
        subprocess.run([*command, "--project", project, "--database", database], cwd=ROOT).returncode
        for project in projects
        for database in databases
    ]
    return max(found)


def run(project: str, database: str, minutes: float, seed: str, threads: int) -> int:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        url = f"sqlite:///{folder}/db.sqlite3"
        if database == "postgresql":
            url = f"{POSTGRESQL}/{project}_fuzz_{os.getpid()}"
            ensure(url)
        try:
            if project == "requester":
                return _requester(database, url, Path(folder), minutes, seed)
            return _marketplace(database, url, Path(folder) / "log", minutes, seed, threads)
        finally:
            if database == "postgresql":
                drop(url)


def _requester(database: str, url: str, folder: Path, minutes: float, seed: str) -> int:
    os.environ |= {"DJANGO_SETTINGS_MODULE": "tests.settings.annotate", "DATABASE_URL": url, "DATA_DIR": str(folder)}
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test.utils import setup_test_environment

    from tests.fuzz.leads import fuzz
    from tests.hits.market import Marketplace

    setup_test_environment()
    logging.disable(logging.CRITICAL)
    call_command("migrate", verbosity=0)
    market = Marketplace(folder)
    market.start()
    try:
        settings.MTURK_ENDPOINT_URL, settings.MTURK_SUBMIT_ORIGINS = market.url, [market.url]
        end = time.monotonic() + minutes * 60
        report = fuzz(seed, lambda _: time.monotonic() > end)
    finally:
        market.close()
    print(f"\nrequester, {database}, seed {seed}, {minutes:g} minutes")
    print("\n".join(report.lines()), flush=True)
    return 1 if report.failures else 0


def _marketplace(database: str, url: str, log: Path, minutes: float, seed: str, threads: int) -> int:
    os.environ |= {"DJANGO_SETTINGS_MODULE": "tests.settings.marketplace", "MARKETPLACE_DATABASE_URL": url}
    import django

    django.setup()
    from django.core.management import call_command

    from tests.fuzz.run import fuzz
    from tests.marketplace.process import serve

    call_command("migrate", verbosity=0)
    end = time.monotonic() + minutes * 60
    with serve(url, log_file=log) as address:
        report = fuzz(address, seed, lambda _: time.monotonic() > end, threads)
    print(f"\nmarketplace, {database}, seed {seed}, {minutes:g} minutes")
    print("\n".join(report.lines()), flush=True)
    trouble = [line for line in log.read_text(errors="replace").splitlines() if "[CRITICAL]" in line]
    print("\n".join(trouble[:10]))
    if report.failures:
        print("\n".join(_tracebacks(log.read_text(errors="replace"))))
    return 1 if report.failures else 0


def _tracebacks(text: str, most: int = 10) -> list[str]:
    """The last lines of each different crash in the server's log."""
    found: dict[str, str] = {}
    for part in text.split("Traceback (most recent call last):")[1:]:
        lines = [line for line in part.splitlines() if line.strip()]
        ends = next((n for n, line in enumerate(lines) if not line.startswith(" ")), len(lines) - 1)
        found.setdefault(lines[ends][:200], "\n".join(lines[max(0, ends - 8) : ends + 1]))
    return list(found.values())[:most]


if __name__ == "__main__":
    sys.exit(main())
