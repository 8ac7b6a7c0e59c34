"""Paths in sentences for people who do not run the machine: they read names, not where things lie on its disk."""

from __future__ import annotations

import re
from pathlib import Path

_QUOTED = re.compile(r"""(['"])/[^'"]*?([^'"/]+)/?\1""")
_BARE = re.compile(r"""(?<![\w.:'"/])/[^\s'"()]*?([^\s'"()/]+)/?(?=[\s'"()]|$)""")


def without_folders(text: str, root: Path) -> str:
    """Paths under the folder `root` begin below it; of every other absolute path only the last name is left."""
    return _BARE.sub(r"\1", _QUOTED.sub(r"\1\2\1", text.replace(f"{root}/", "")))
