"""The browsers of this machine. CHROMIUM names another one, for everything."""

from __future__ import annotations

import os
import shutil

from ops.surroundings import StackError

#: As root, without a screen, and without a word to anybody outside.
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]


def whole() -> str:
    """The browser that people have, with its profile and its cookie settings. Raises StackError."""
    return _first("chromium")


def quick() -> str:
    """The same engine without the windows around it, if it is installed: a third less work. Raises StackError."""
    return _first("chromium-headless-shell", "chromium")


def _first(*names: str) -> str:
    for found in (os.environ.get("CHROMIUM"), *(shutil.which(name) for name in names)):
        if found:
            return found
    raise StackError("No Chromium: install the package chromium, or say where it is in CHROMIUM.")
