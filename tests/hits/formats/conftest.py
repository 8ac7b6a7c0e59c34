"""Tests of what writes files take the very process that writes Parquet."""

import pytest


@pytest.fixture
def parquet_here() -> None:
    """As in a running installation."""
