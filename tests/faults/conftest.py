"""A small installation for tests, on SQLite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.installation import Installation


@pytest.fixture(scope="package")
def it(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Running, with a crowd to be started; one for all tests of this folder."""
    with Installation(tmp_path_factory.mktemp("faults")) as running:
        yield running
