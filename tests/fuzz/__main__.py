"""`make fuzz MINUTES=10`: a schema-driven fuzzer over the API and the site of a real marketplace.

`python -m tests.fuzz --minutes 10 --database both --seed 1`: half of the time on SQLite, half on PostgreSQL, or all
of it on one. Ends with status 1 when an answer was a 500 or outside of the model, or when a balance is wrong.
"""

from __future__ import annotations

import argparse
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
    parser.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--threads", type=int, default=4)
    given = parser.parse_args()
    if given.database != "both":
        return run(given.database, given.minutes, given.seed, given.threads)
    half = ["--minutes", str(given.minutes / 2), "--seed", given.seed, "--threads", str(given.threads)]
    command = [sys.executable, "-m", "tests.fuzz", *half, "--database"]
    return max(subprocess.run([*command, each], cwd=ROOT).returncode for each in ("sqlite", "postgresql"))


def run(database: str, minutes: float, seed: str, threads: int) -> int:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        url = f"sqlite:///{folder}/db.sqlite3"
        if database == "postgresql":
            url = f"{POSTGRESQL}/marketplace_fuzz_{os.getpid()}"
            ensure(url)
        try:
            return _run(database, url, Path(folder) / "log", minutes, seed, threads)
        finally:
            if database == "postgresql":
                drop(url)


def _run(database: str, url: str, log: Path, minutes: float, seed: str, threads: int) -> int:
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
    print(f"\n{database}, seed {seed}, {minutes:g} minutes")
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
