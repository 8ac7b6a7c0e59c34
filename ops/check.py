"""`make check`: lint, formatting, and types: strict where the code is pure or speaks the wire, ordinary elsewhere."""

from __future__ import annotations

import subprocess
import sys

from ops.surroundings import ROOT

STRICT = ("--strict", "--follow-imports", "silent")
MARKETPLACE = ("--config-file", "ops/mypy-marketplace.ini")


def _mypy(cache: str, *arguments: str) -> tuple[str, ...]:
    """A cache for each set of options: mypy throws away a cache that was made with others."""
    return ("mypy", "--cache-dir", f".mypy_cache/{cache}", *arguments)


CHECKS: dict[str, tuple[str, ...]] = {
    "lint": ("ruff", "check", "."),
    "formatting": ("ruff", "format", "--check", "."),
    "strict types of the requester side": _mypy(
        "strict", *STRICT, "hits/quality", "hits/text", "hits/formats", "hits/mturk", "ops"
    ),
    "types of the requester side": _mypy("requester", "annotate", "hits"),
    "strict types of the marketplace": _mypy(
        "strict-marketplace", *MARKETPLACE, *STRICT, "marketplace/wire", "marketplace/rules"
    ),
    "types of the marketplace": _mypy("marketplace", *MARKETPLACE, "marketplace"),
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
