"""New folders of protocols and recipes, made from `hits/scaffold/`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.core.management.templates import TemplateCommand

HITS = Path(__file__).resolve().parents[1]
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def create(kind: str, name: str, parent: Path, taken: list[str], **values: Any) -> Path:
    """A folder `name` in `parent` from the templates of `kind`. Raises CommandError, and then leaves no folder.

    `taken` are the names that are there already; `values` are for the templates.
    """
    if not _NAME.fullmatch(name):
        raise CommandError(f"Name it by lower-case words joined by underscores, such as spot_the_error, not {name!r}.")
    if name in taken:
        raise CommandError(f"There is a {kind} {name} already. Choose another name.")
    folder = parent / name
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise CommandError(f"{folder} cannot be made: {error.strerror}.") from error
    options = {"template": str(HITS / "scaffold" / kind), "extensions": ["py", "toml"], "files": [], "verbosity": 0}
    try:
        TemplateCommand().handle("app", name, str(folder), **options, **values)
    except CommandError:
        folder.rmdir()
        raise
    return folder
