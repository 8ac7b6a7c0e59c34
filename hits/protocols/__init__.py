"""The registry of task protocols: folders that are found, never listed.

A root is a folder that holds `protocols/<name>/protocol.py`, as this package's parent does. This module knows
no Django: the caller passes the roots of the installation (`settings.PLUGIN_ROOTS`).
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

from hits.protocols.base import TaskProtocol

HOME = Path(__file__).resolve().parent.parent
NAME = re.compile(r"[a-z][a-z0-9_]*")


class UnknownProtocolError(LookupError):
    """No root holds this protocol. The message lists what is there."""


class BrokenProtocolError(Exception):
    """The folder is there and is no protocol: two roots claim one name, or `protocol.py` lacks its `protocol`."""


def available(roots: Sequence[Path] = (HOME,)) -> list[str]:
    """The names of all protocols under the roots, in alphabetical order. Raises BrokenProtocolError."""
    return sorted(_found(roots))


def get(name: str, roots: Sequence[Path] = (HOME,)) -> TaskProtocol:
    """The protocol of that name. Raises UnknownProtocolError, BrokenProtocolError."""
    found = _found(roots)
    if name not in found:
        there = ", ".join(sorted(found)) or "none"
        raise UnknownProtocolError(f"There is no protocol {name!r}. Available: {there}.")
    return _load(name, found[name])


def _found(roots: Sequence[Path]) -> dict[str, Path]:
    folders: dict[str, Path] = {}
    for root in roots:
        for file in sorted(Path(root).resolve().glob("protocols/*/protocol.py")):
            name = file.parent.name
            if not NAME.fullmatch(name):
                raise BrokenProtocolError(f"{file.parent}: name the folder in lower case, as {NAME.pattern}.")
            if folders.setdefault(name, file.parent) != file.parent:
                raise BrokenProtocolError(f"{folders[name]} and {file.parent} claim one name. Rename one of them.")
    return folders


@cache
def _load(name: str, folder: Path) -> TaskProtocol:
    protocol = getattr(_module(name, folder), "protocol", None)
    if protocol is None or getattr(protocol, "name", None) != name:
        raise BrokenProtocolError(f"{folder / 'protocol.py'} must hold `protocol` with the name {name!r}.")
    return protocol


def _module(name: str, folder: Path) -> ModuleType:
    if folder.parent.parent == HOME:
        return importlib.import_module(f"hits.protocols.{name}.protocol")
    # A folder outside the package gets a module name of its own, so that equal names in two places stay apart.
    unique = f"hits_plugin_{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}_{name}"
    spec = importlib.util.spec_from_file_location(unique, folder / "protocol.py")
    if spec is None or spec.loader is None:
        raise BrokenProtocolError(f"{folder / 'protocol.py'} cannot be read.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module
    spec.loader.exec_module(module)
    return module
