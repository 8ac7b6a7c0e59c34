"""`python -m tests.upgrades.released`: write down the migrations that are released, which never change from then on."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ops.surroundings import ROOT

FILE = Path(__file__).parent / "released.txt"


def migrations() -> dict[str, str]:
    """Path to checksum of every migration of both projects."""
    found = [file for app in ("hits", "marketplace") for file in sorted((ROOT / app / "migrations").glob("0*.py"))]
    return {str(file.relative_to(ROOT)): hashlib.sha256(file.read_bytes()).hexdigest() for file in found}


def released() -> dict[str, str]:
    return {path: digest for digest, path in (line.split() for line in FILE.read_text().splitlines())}


if __name__ == "__main__":
    FILE.write_text("".join(f"{digest} {path}\n" for path, digest in migrations().items()))
