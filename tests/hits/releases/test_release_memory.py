"""A release reads its items in parts: neither memory nor the number of queries grows with the collection."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from hits.core.models import blobs
from hits.judging.rules import recipe_rows
from hits.models import Project
from hits.recipes.cosmos import releasing as cosmos_files
from hits.recipes.record import releasing as record_files
from hits.releases.verbs import releasing
from hits.text.filtering import artefacts
from tests.benchmarks.cosmos_fill import fill
from tests.hits import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.long]
TEXT = {"entities": make.MENTIONS, "source": "Our own sample", "key_field": "id"}


def peak(do: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        do()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def queries(project: Project) -> int:
    """All but those that write which items were released: SQLite takes 199 such rows at once."""
    with CaptureQueriesContext(connection) as captured:
        releasing.release(project, None)
    return sum('INSERT INTO "hits_releaseditem"' not in query["sql"] for query in captured)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smaller collection, too, is read in more than one part."""
    monkeypatch.setattr(recipe_rows, "CHUNK", 100)
    monkeypatch.setattr(blobs, "CHUNK_BYTES", 1 << 13)
    for name in ("write_all", "write_csv"):
        monkeypatch.setattr(cosmos_files, name, partial(getattr(cosmos_files, name), row_group=100))


def test_five_times_as_many_sets_take_hardly_more_memory(small_parts: None) -> None:
    few, many = fill(200, answers=False), fill(1000, answers=False)
    releasing.release(fill(2, answers=False), None)
    small, large = (peak(lambda of=of: releasing.release(of, None)) for of in (few, many))
    assert large < 1.5 * small


def queries_of_record(items: int) -> Project:
    """Ten to a text, all validated; each text and each query is another one."""
    project = make.project()
    stage = make.stage(project, key="validate", summary={"kept": items})
    for number in range(items // 10):
        words = f"{make.PASSAGE} on page {number}. " + 600 * "Nobody had asked for more than one boat. "
        text = make.document(project, key=f"doc-{number:05}", data={**TEXT, "text": words})
        make.items(stage, 10, document=text, state="kept")
    return project


def test_five_times_as_many_queries_of_record_take_hardly_more_memory(
    small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recipe_rows, "CHUNK", 25)
    monkeypatch.setattr(record_files, "write_parquet", partial(record_files.write_parquet, row_group=25))
    monkeypatch.setattr(artefacts, "MOST", 25)
    few, many = queries_of_record(100), queries_of_record(500)
    releasing.release(queries_of_record(10), None)
    small, large = (peak(lambda of=of: releasing.release(of, None)) for of in (few, many))
    assert large < 1.15 * small


def test_ten_times_as_many_sets_in_as_many_parts_take_as_many_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    for sets in (50, 500):
        monkeypatch.setattr(recipe_rows, "CHUNK", sets // 5)
        counts.append(queries(fill(sets, answers=False)))
    assert counts[0] == counts[1]
