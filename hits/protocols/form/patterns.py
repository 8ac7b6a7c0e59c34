"""Regular expressions that leads write, and that are run on whatever workers send.

They are run by RE2, whose time grows with the text alone, whatever the expression: it has no back-references and no
looking ahead or behind. An engine with a limit of time was the other choice; it could take an answer in one check and
refuse it in the next, when the machine is busy.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

LONGEST = 200
_MEMORY = 1 << 20


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        why = error.args[0]
        raise ValueError(why.decode(errors="replace") if isinstance(why, bytes) else str(why)) from error


def check(pattern: str) -> None:
    """Raises ValueError."""
    _compiled(pattern)


def fits(pattern: str, text: str) -> bool:
    """Whether the whole text fits."""
    return _compiled(pattern).fullmatch(text) is not None
