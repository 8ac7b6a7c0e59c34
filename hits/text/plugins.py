"""Models by name: one module each in a folder of its kind, found by scanning and never listed.

A module holds LABEL (a few words for a lead), VERSION (a new one whenever results change) and `make`, which makes a
model; what it takes depends on the kind. Folders of an installation hold more of them, under the name of the kind.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from hits.text import plugin_modules
from hits.text.paths import without_folders

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_PARTS = ("LABEL", "VERSION", "make")


@dataclass(frozen=True)
class Kind:
    """`package` holds the modules that come with the product; its last part names the folder elsewhere."""

    package: str

    def labels(self, extra_dirs: Iterable[Path] = ()) -> dict[str, str]:
        """LABEL by name, those of the package first. A module that cannot be used has the reason as its label."""
        return {name: self._label(name, file) for name, file in self._files(extra_dirs).items()}

    def load(self, name: str, extra_dirs: Iterable[Path] = ()) -> Any:
        """The module of that name. Raises LookupError."""
        files = self._files(extra_dirs)
        if name not in files:
            raise LookupError(f"there is no {name!r}; there are: {', '.join(files) or 'none'}")
        return self._module(name, files[name])

    @property
    def _folder(self) -> Path:
        return Path(str(importlib.import_module(self.package).__file__)).parent

    def _files(self, extra_dirs: Iterable[Path]) -> dict[str, Path]:
        """What comes with the product keeps its name: a module elsewhere cannot take its place."""
        kind = self.package.rpartition(".")[2]
        files: dict[str, Path] = {}
        for folder in (self._folder, *(Path(root) / kind for root in extra_dirs)):
            for file in sorted(folder.glob("*.py")):
                if _NAME.fullmatch(file.stem):
                    files.setdefault(file.stem, file)
        return files

    def _label(self, name: str, file: Path) -> str:
        try:
            return str(self._module(name, file).LABEL)
        except LookupError as error:
            return f"cannot be used: {error}"

    def _module(self, name: str, file: Path) -> ModuleType:
        if file.parent == self._folder:
            return importlib.import_module(f"{self.package}.{name}")
        module = _outside(name, file)
        if missing := [part for part in _PARTS if not hasattr(module, part)]:
            raise LookupError(f"{_shown(file)} lacks {', '.join(missing)}")
        return module


def _outside(name: str, file: Path) -> ModuleType:
    kind = file.parent
    try:
        return plugin_modules.load(kind.parent, f"{kind.name}.{name}")
    except ImportError as error:
        raise LookupError(f"{_shown(file)} cannot be imported: {without_folders(str(error), kind.parent)}") from error


def _shown(file: Path) -> str:
    """From the folder of its kind on: leads read names, not where things lie on the disk."""
    return f"{file.parent.name}/{file.name}"
