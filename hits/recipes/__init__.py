"""Recipes are data sets as data: folders that are found, never listed.

A recipe is a folder with `stages.toml` (order, pay, redundancy, requirements, rules, options and qualification tests,
whose questions lie in files beside it) and `steps.py` (pure functions that turn one stage's results into the next
stage's items). A stage that does not state a value has that of `[defaults]`, where the file has this table. Recipes lie
in this package and in folders that the caller passes. A file `sample.*` beside them is a small one that the recipe
imports, for leads to download. `steps.py` holds

- `read_documents(stream, *, name, max_bytes, default_origin, progress, seed, options) -> list[SourceDocument]`, where
  `name` is the file's,
- `mark([(document key, origin), ...], *, seed, options) -> purpose by document key`,
- `build_release(Collected) -> ReleaseContent`,

and, where the recipe needs them, `COMPUTATIONS` (a sequence of `Computation`), `next_items(JudgedItem) -> [NextItem,
...]`, without which a kept item goes as it is to the stage that `feeds` names in the file, and `draw(stage key,
Collected, count, *, seed) -> [NextItem, ...]` for stages that take a sample (`draws` in the file): at most `count`, all
where there are fewer. `told_of_draw(stage key, Collected)` says what a lead should know before a draw,
`draws_from(stage key) -> DrawSource` what has to be there before one, and `check_option(name, value)` raises ValueError
for an option's value that does not fit. `admit(documents, Collected) -> documents` chooses among what a file brought by
what the project has already. `import_notes(documents) -> [sentence, ...]` says more about what a file brought. `TABLE`
(`hits.formats.files.mapping`) says which fields a row of its table has: `read_documents` then takes `mapping`, the
file's column by field. With `MARKS_WHOLE_PROJECT`, `mark` gets all documents of the project at each upload, `marked`,
the purpose of those that were here, and `fixed`, the keys of those whose purpose cannot change any more.
`split_preview(Collected, options)` tells what the split would be with other options: {"writers": [{"worker", "written",
"kept", "share", "best"}, ...], "counts": by split, "notes": sentences}.
"""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from hits.recipes.source import (
    ChainItem,
    Collected,
    Computation,
    Found,
    GivenLabel,
    JudgedItem,
    NewDocument,
    NextItem,
    Option,
    Progress,
    ReleaseContent,
    SourceDocument,
    SourceItem,
    ToldItem,
)
from hits.recipes.spec import OptionError, Recipe, RecipeError, Sample, TestSpec, recipe_fields
from hits.recipes.stage_settings import Requirement, StageSettings
from hits.text import plugin_modules

__all__ = [
    "ChainItem",
    "Collected",
    "Computation",
    "Found",
    "GivenLabel",
    "JudgedItem",
    "NewDocument",
    "NextItem",
    "Option",
    "OptionError",
    "Progress",
    "Recipe",
    "RecipeError",
    "ReleaseContent",
    "Requirement",
    "Sample",
    "SourceDocument",
    "SourceItem",
    "StageSettings",
    "TestSpec",
    "ToldItem",
    "available",
    "faults",
    "load",
]

HOME = Path(__file__).resolve().parent
STAGES = "stages.toml"
STEPS = "steps.py"
VERBS = ("read_documents", "mark", "build_release")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass
class _Scan:
    """What lies in the folders of recipes: those by name, and what is wrong with those that cannot be used, by name."""

    found: dict[str, Path] = field(default_factory=dict)
    faults: dict[str, list[RecipeError]] = field(default_factory=dict)
    doubled: set[str] = field(default_factory=set)

    def refuse(self, folder: Path, where: Path, why: str) -> None:
        self.faults.setdefault(folder.name, []).append(RecipeError(where, [why], folder))


def available(extra_dirs: Iterable[Path] = ()) -> list[str]:
    """The names of the recipes, sorted; whether they can be used shows `load`."""
    return sorted(_scan(extra_dirs).found)


def faults(extra_dirs: Iterable[Path] = ()) -> list[RecipeError]:
    """An error for each folder that cannot be used, which it names. Loads every recipe.

    A folder that cannot be used harms no other.
    """
    extra_dirs = list(extra_dirs)
    scan = _scan(extra_dirs)
    errors = [error for name in sorted(scan.faults) for error in scan.faults[name]]
    for name in sorted(scan.found):
        try:
            load(name, extra_dirs)
        except RecipeError as error:
            errors.append(error)
    return errors


def load(name: str, extra_dirs: Iterable[Path] = ()) -> Recipe:
    """The recipe of that name. Raises RecipeError with every fault of its file."""
    scan = _scan(extra_dirs)
    if name not in scan.found and name in scan.faults:
        raise scan.faults[name][0]
    if name not in scan.found:
        there = ", ".join(sorted(scan.found)) or "none"
        raise RecipeError(name, [f"there is no recipe of this name; there are: {there}"])
    folder = scan.found[name]
    faults: list[str] = []
    fields = recipe_fields(_parsed(folder / STAGES), faults, lambda beside: (folder / beside).read_bytes())
    if faults:
        raise RecipeError(folder / STAGES, faults, folder)
    return Recipe(name=name, steps=_steps(name, folder), sample=_sample(name, folder), **fields)


def _sample(name: str, folder: Path) -> Sample | None:
    """Under the recipe's name: that of its file would say nothing where it is downloaded to."""
    file = next(iter(sorted(folder.glob("sample.*"))), None)
    return Sample(f"{name}-{file.name}", file) if file else None


def _scan(extra_dirs: Iterable[Path]) -> _Scan:
    scan = _Scan()
    for root in (HOME, *extra_dirs):
        home = Path(root).resolve()
        for folder in sorted(found for found in home.glob("*") if found.is_dir() and found.name[0] not in "._"):
            _judge(scan, folder)
    return scan


def _judge(scan: _Scan, folder: Path) -> None:
    name = folder.name
    first = scan.found.get(name)
    if not (folder / STAGES).is_file():
        scan.refuse(folder, folder / STAGES, "the file is missing: it describes the stages")
    elif not _NAME.fullmatch(name):
        scan.refuse(folder, folder, f"name the folder in lower case, as {_NAME.pattern}")
    elif first is None and name not in scan.doubled:
        scan.found[name] = folder
    elif first != folder:
        scan.refuse(
            folder, folder, f"another folder has the same name{f' ({first})' if first else ''}: rename one of them"
        )
        # Nobody can say which of two plug-ins is meant; what comes with the package stays what it is.
        if first and first.parent != HOME:
            del scan.found[name]
            scan.doubled.add(name)


def _parsed(file: Path) -> dict[str, Any]:
    try:
        return deepcopy(_toml(file.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError(file, [f"is not TOML: {error}"], file.parent) from error
    except OSError as error:
        raise RecipeError(file, [f"cannot be read: {error}"], file.parent) from error


@lru_cache(64)
def _toml(text: str) -> dict[str, Any]:
    """A stage asks for its recipe many times while a page is made; to read the same text anew takes milliseconds."""
    return tomllib.loads(text)


def _steps(name: str, folder: Path) -> ModuleType:
    file = folder / STEPS
    if not file.is_file():
        raise RecipeError(
            file, ["the file is missing: it turns one stage's results into the next one's items"], file.parent
        )
    steps = importlib.import_module(f"hits.recipes.{name}.steps") if folder.parent == HOME else _outside(name, file)
    if missing := [verb for verb in VERBS if not callable(getattr(steps, verb, None))]:
        raise RecipeError(file, [f"the function {verb} is missing" for verb in missing], folder)
    return steps


def _outside(name: str, file: Path) -> ModuleType:
    home = file.parent.parent
    try:
        return plugin_modules.load(home.parent, f"{home.name}.{name}.{file.stem}")
    except ImportError as error:
        raise RecipeError(file, [f"cannot be imported: {error}"], file.parent) from error
