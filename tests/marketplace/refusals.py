"""How a test says that the marketplace refuses something."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from marketplace.rules.errors import MarketplaceError


@contextmanager
def refused(turk_code: str, match: str | None = None) -> Iterator[pytest.ExceptionInfo[MarketplaceError]]:
    """What is done inside is refused with this code, by a sentence in which `match` is found."""
    with pytest.raises(MarketplaceError, match=match) as caught:
        yield caught
    assert caught.value.turk_code == turk_code
