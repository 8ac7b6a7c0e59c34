"""The registry of task protocols: folders that are found, never listed.

A root is a folder that holds `protocols/<name>/protocol.py`, as this package's parent does. This module knows
no Django: the caller passes the roots of the installation (`settings.PLUGIN_ROOTS`). A folder that cannot be used
harms no other: `faults` names it, and whoever asks for its protocol is told.

Beside `protocol.py` lie `templates/<name>/task.html`, the page for workers, and `sample.json`, on which the tests of
all protocols are run: {"document", "item", "other_references": the item with other answers, "fields": a good answer}.
`simulated.py` says how simulated people answer; without it they leave such tasks. `pages.py` declares pages of the
dashboard; see `hits.protocols.pages`.
A protocol without a crowd has no page, and its sample is {"item", "other": an item of another kind}.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from hits.protocols.base import TaskProtocol
from hits.protocols.optional import CorrectableProtocol
from hits.protocols.pages import Page, declared_faults
from hits.refusals import Refusal
from hits.text import plugin_modules
from hits.text.paths import without_folders

HOME = Path(__file__).resolve().parent.parent
PROTOCOL, SIMULATED, PAGES = "protocol.py", "simulated.py", "pages.py"
NAME = re.compile(r"[a-z][a-z0-9_]*")


class UnknownProtocolError(Refusal, LookupError):
    """No root holds this protocol. The message lists what is there."""

    error_code = "unknown_protocol"
    http_status = 400


class BrokenProtocolError(Refusal):
    """The folder is there and cannot be used: it lacks its `protocol`, fails at its import, or shares its name.

    Its text, for leads, names files from the plug-in directory on. `in_full` has their whole paths, for the log and
    the command line.
    """

    error_code = "broken_protocol"

    def __init__(self, folder: Path, in_full: str) -> None:
        self.in_full = in_full
        super().__init__(without_folders(in_full, folder.parent.parent))


@dataclass
class _Scan:
    """What lies under the roots: the folders by name, and what is wrong with folders that cannot be used, by name."""

    found: dict[str, Path] = field(default_factory=dict)
    faults: dict[str, list[BrokenProtocolError]] = field(default_factory=dict)
    doubled: set[str] = field(default_factory=set)

    def refuse(self, folder: Path, why: str) -> None:
        self.faults.setdefault(folder.name, []).append(BrokenProtocolError(folder, f"{folder}: {why}"))


def available(roots: Sequence[Path] = (HOME,)) -> list[str]:
    """The names of the protocols under the roots, in alphabetical order; whether they can be imported shows `get`."""
    return sorted(_scan(roots).found)


def get(name: str, roots: Sequence[Path] = (HOME,)) -> TaskProtocol:
    """The protocol of that name. Raises UnknownProtocolError, BrokenProtocolError."""
    return _load(name, _folder(name, tuple(roots)))


def pages(name: str, roots: Sequence[Path] = (HOME,)) -> tuple[Page, ...]:
    """The pages of the dashboard that the protocol brings. Raises UnknownProtocolError, BrokenProtocolError."""
    return _pages(name, _folder(name, tuple(roots)))


def faults(roots: Sequence[Path] = (HOME,)) -> list[BrokenProtocolError]:
    """An error for each folder that cannot be used, which it names. Imports every protocol."""
    scan = _scan(roots)
    errors = [error for name in sorted(scan.faults) for error in scan.faults[name]]
    for name in sorted(scan.found):
        try:
            _load(name, scan.found[name])
        except BrokenProtocolError as error:
            errors.append(error)
    return errors


def simulated(roots: Sequence[Path] = (HOME,)) -> dict[str, Callable[..., Any]]:
    """By the name of the protocol: `answer` of each folder's `simulated.py`; see `hits.crowd.answering`.

    Raises BrokenProtocolError for a file that cannot be imported or has none.
    """
    found = {}
    for name, folder in sorted(_scan(roots).found.items()):
        if (folder / SIMULATED).is_file():
            answer = getattr(_module(name, folder, SIMULATED), "answer", None)
            if answer is None:
                raise BrokenProtocolError(folder, f"{folder / SIMULATED} must hold `answer`.")
            found[name] = answer
    return found


@cache
def _folder(name: str, roots: tuple[Path, ...]) -> Path:
    """As its modules, a folder that was found stays the protocol's while this process runs."""
    scan = _scan(roots)
    if name in scan.found:
        return scan.found[name]
    if name in scan.faults:
        raise scan.faults[name][0]
    raise UnknownProtocolError(f"There is no protocol {name!r}. Available: {', '.join(sorted(scan.found)) or 'none'}.")


def _scan(roots: Sequence[Path]) -> _Scan:
    scan = _Scan()
    for root in roots:
        home = Path(root).resolve() / "protocols"
        for folder in sorted(found for found in home.glob("*") if found.is_dir() and found.name[0] not in "._"):
            _judge(scan, folder)
    return scan


def _judge(scan: _Scan, folder: Path) -> None:
    name = folder.name
    first = scan.found.get(name)
    if not (folder / PROTOCOL).is_file():
        scan.refuse(folder, f"{PROTOCOL} is missing.")
    elif not NAME.fullmatch(name):
        scan.refuse(folder, f"name the folder in lower case, as {NAME.pattern}.")
    elif first is None and name not in scan.doubled:
        scan.found[name] = folder
    elif first != folder:
        scan.refuse(folder, f"another folder has the same name{f' ({first})' if first else ''}. Rename one of them.")
        # Nobody can say which of two plug-ins is meant; what comes with the package stays what it is.
        if first and first.parent.parent != HOME:
            del scan.found[name]
            scan.doubled.add(name)


@cache
def _load(name: str, folder: Path) -> TaskProtocol:
    protocol = getattr(_module(name, folder), "protocol", None)
    if protocol is None or getattr(protocol, "name", None) != name:
        raise BrokenProtocolError(folder, f"{folder / 'protocol.py'} must hold `protocol` with the name {name!r}.")
    if any(page.corrects for page in _pages(name, folder)) and not isinstance(protocol, CorrectableProtocol):
        raise BrokenProtocolError(
            folder, f"{folder / PAGES} has a form, so `protocol` must have `correct`, `follow` and `correction_note`."
        )
    return protocol


@cache
def _pages(name: str, folder: Path) -> tuple[Page, ...]:
    if not (folder / PAGES).is_file():
        return ()
    file = folder / PAGES
    declared = getattr(_module(name, folder, PAGES), "PAGES", None)
    if not isinstance(declared, list | tuple) or not all(isinstance(page, Page) for page in declared):
        raise BrokenProtocolError(folder, f"{file} must hold `PAGES`, a list of `Page`.")
    if faults := declared_faults(declared, folder):
        raise BrokenProtocolError(folder, f"{file} {' It '.join(faults)}")
    return tuple(declared)


def _module(name: str, folder: Path, file_name: str = PROTOCOL) -> ModuleType:
    file = folder / file_name
    if folder.parent.parent == HOME:
        return importlib.import_module(f"hits.protocols.{name}.{file.stem}")
    try:
        return plugin_modules.load(folder.parent.parent, f"protocols.{name}.{file.stem}")
    except ImportError as error:
        raise BrokenProtocolError(folder, f"{file} cannot be imported: {error}") from error
