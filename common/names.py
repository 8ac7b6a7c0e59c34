"""When two spellings are one user name."""

from __future__ import annotations

import unicodedata

# Django's limit of a user name. A longer text is no name, and normalising it would cost time for nothing.
LONGEST_NAME = 150


def plain_name(name: str) -> str:
    """The name in Unicode's compatibility form (NFKC), as user names are stored, without spaces around it."""
    return unicodedata.normalize("NFKC", name[:LONGEST_NAME]).strip()


def name_key(name: str) -> str:
    """Equal for all spellings of one name: full width, ligatures and capital letters make no difference."""
    return unicodedata.normalize("NFKC", plain_name(name).casefold())
