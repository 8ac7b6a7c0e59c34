"""The icon of both sites, which browsers ask for at /favicon.ico whatever a page says."""

from __future__ import annotations

from pathlib import Path
from wsgiref.headers import Headers

#: The files that stand at the top of a site's addresses.
ROOT_FILES = Path(__file__).parent / "root"
_DAY = 24 * 3600


def keep_for_a_day(headers: Headers, path: str, url: str) -> None:
    """Has browsers keep those files for a day; for WhiteNoise, which calls it for each of its files."""
    if Path(path).parent == ROOT_FILES:
        headers["Cache-Control"] = f"max-age={_DAY}, public"
