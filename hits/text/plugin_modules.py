"""Python modules of folders of plug-ins: each folder is a package of its own.

So equal names in two folders stay apart, and the modules of one folder import one another relatively:
`protocols/spot_error/protocol.py` finds `from .marking import ...` beside it, and `recipes/errors/steps.py` finds
`from ...protocols.spot_error.marking import ...`.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from pathlib import Path
from types import ModuleType


def load(root: Path, name: str) -> ModuleType:
    """The module of that dotted name in the folder `root`, such as `protocols.spot_error.protocol`.

    Raises ImportError; a file that was corrected is read anew the next time.
    """
    package = _package(root.resolve())
    before = set(sys.modules)
    if f"{package}.{name}" not in before:
        # What was last read of a folder may be older than the file.
        importlib.invalidate_caches()
    try:
        return importlib.import_module(f"{package}.{name}")
    except (Exception, SystemExit) as error:
        for new in [one for one in set(sys.modules) - before if one.startswith(f"{package}.")]:
            del sys.modules[new]
        raise ImportError(f"{type(error).__name__}: {error}") from error


def _package(root: Path) -> str:
    name = f"hits_plugins_{hashlib.sha256(str(root).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        module = ModuleType(name, f"The plug-ins in {root}.")
        module.__path__ = [str(root)]
        sys.modules[name] = module
    return name
