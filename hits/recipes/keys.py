"""Reading the file that predictions are compared with: what is wrong with it is not the predictions' fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hits.formats.files.faults import FormatErrors


class KeyRefusedError(ValueError):
    """A file that predictions cannot be compared with; the message says why."""


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Raises KeyRefusedError for what is wrong with the file of that name."""
    try:
        yield
    except FormatErrors as error:
        raise KeyRefusedError(f"Nothing can be compared with {name}: {error}") from error
