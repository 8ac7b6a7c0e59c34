"""`make check`: lint, formatting, templates and migrations, and types.

Types are strict where the code is pure or speaks the wire, ordinary elsewhere.
"""

from __future__ import annotations

import subprocess
import sys

from ops.surroundings import ROOT

MARKETPLACE = ("--config-file", "ops/mypy-marketplace.ini")
CLIENT = ("--config-file", "client/pyproject.toml")
MYPY = ("mypy", "--cache-dir")
MIGRATIONS = ("django", "makemigrations", "--check", "--dry-run", "--settings")
CHECKS: dict[str, tuple[str, ...]] = {
    "lint": ("ruff", "check", "."),
    "formatting": ("ruff", "format", "--check", "."),
    "templates": ("djlint", "--lint", "--quiet", "templates", "hits"),
    "imports": ("pytest", "-q", "-p", "no:django", "tests/common/test_structure.py"),
    # One run a side: the Django plugin knows one settings module. Which packages are strict, the settings of mypy say.
    "types of the requester side": (*MYPY, ".mypy_cache/requester", "annotate", "common", "hits", "ops", "tests/demo"),
    # It has settings of its own: all of it is strict, and it runs on older versions of Python.
    "types of the client": (*MYPY, ".mypy_cache/client", *CLIENT, "client/annotate_client"),
    # Tests make their tables from the models.
    "migrations of the requester side": (*MIGRATIONS, "tests.settings.annotate"),
    "migrations of the marketplace": (*MIGRATIONS, "tests.settings.marketplace"),
    "types of the marketplace": (*MYPY, ".mypy_cache/marketplace", *MARKETPLACE, "marketplace"),
}


def main() -> int:
    failed = 0
    for title, command in CHECKS.items():
        done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
        print(f"{'fine' if done.returncode == 0 else 'FAILED'}: {title}", flush=True)
        if done.returncode:
            failed += 1
            print(done.stdout + done.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
