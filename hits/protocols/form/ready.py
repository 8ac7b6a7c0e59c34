"""Ready-made forms to start from: the files of `examples/`.

A file holds {"title", "about": a sentence, "columns": an example of an item, "form"}.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hits.protocols.base import Json

FOLDER = Path(__file__).resolve().parent / "examples"


@dataclass(frozen=True)
class ReadyForm:
    name: str
    title: str
    about: str
    columns: Json
    form: Json


@cache
def ready_forms() -> tuple[ReadyForm, ...]:
    """In the order of their titles."""
    found = [_read(file) for file in FOLDER.glob("*.json")]
    return tuple(sorted(found, key=lambda one: one.title))


def _read(file: Path) -> ReadyForm:
    held = json.loads(file.read_text(encoding="utf-8"))
    return ReadyForm(file.stem, held["title"], held["about"], held["columns"], held["form"])
