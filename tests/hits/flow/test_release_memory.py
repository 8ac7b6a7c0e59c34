"""A release reads its items in parts: neither memory nor the number of queries grows with the collection."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from hits.domain import recipe_rows
from hits.flow.data import releasing
from hits.models import Project, files
from hits.recipes.cosmos import releasing as cosmos_files
from tests.benchmarks.cosmos_fill import fill

pytestmark = pytest.mark.django_db


def peak(do: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        do()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def queries(project: Project) -> int:
    with CaptureQueriesContext(connection) as captured:
        releasing.release(project, None)
    return len(captured)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smaller collection, too, is read in more than one part."""
    monkeypatch.setattr(recipe_rows, "CHUNK", 200)
    monkeypatch.setattr(files, "CHUNK_BYTES", 1 << 14)
    for name in ("write_all", "write_csv"):
        monkeypatch.setattr(cosmos_files, name, partial(getattr(cosmos_files, name), row_group=200))


def test_five_times_as_many_sets_take_hardly_more_memory(small_parts: None) -> None:
    few, many = fill(400, answers=False), fill(2000, answers=False)
    releasing.release(fill(2, answers=False), None)
    small, large = (peak(lambda of=of: releasing.release(of, None)) for of in (few, many))
    assert large < 1.5 * small


def test_ten_times_as_many_sets_in_as_many_parts_take_as_many_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    for sets in (50, 500):
        monkeypatch.setattr(recipe_rows, "CHUNK", sets // 5)
        counts.append(queries(fill(sets, answers=False)))
    assert counts[0] == counts[1]
