"""Parquet written in this process: to start one for each file takes most of the time of a release.

The process itself is tested in tests/hits/formats, and by every release of a running installation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from hits.formats.outputs import parquet_process, tables
from hits.formats.outputs.parquet import Kind


class ParquetHere:
    """As `hits.formats.outputs.parquet.ParquetFile`; rows are JSON on their way here too."""

    def __init__(self, types: Mapping[str, Kind]) -> None:
        # It takes its time to load, and most tests write no Parquet.
        import pyarrow
        from pyarrow import parquet

        self._refused = (pyarrow.ArrowException, ValueError, TypeError, OverflowError)
        self._schema = parquet_process.schema_of(json.loads(json.dumps(types)))
        self._pieces = parquet_process._Pieces()
        file = pyarrow.PythonFile(self._pieces, "w")
        self._writer = parquet.ParquetWriter(file, self._schema, version="2.6", compression="snappy")

    def write(self, batch: Sequence[Sequence[Any]]) -> bytes:
        rows = json.loads(json.dumps(batch))
        try:
            self._writer.write_table(parquet_process._table(rows, self._schema))
        except self._refused as error:
            raise ValueError(f"{error}") from error
        return self._pieces.taken()

    def end(self) -> bytes:
        self._writer.close()
        return self._pieces.taken()

    def __enter__(self) -> ParquetHere:
        return self

    def __exit__(self, *error: object) -> None:
        """There is no process to end."""


@pytest.fixture(autouse=True)
def parquet_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ParquetFile", ParquetHere)
