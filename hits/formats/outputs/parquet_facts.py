"""Rows and columns of Parquet files, read by a process of its own: see `hits.formats.outputs.parquet`.

The library is shown the ends of the files alone, where the format keeps what it says of a file.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from io import SEEK_END
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

SECONDS = 120
_MARK = b"PAR1"
_HUB_NAMES = {"double": "float64", "float": "float32"}


@dataclass(frozen=True)
class TableFacts:
    """`columns` as {name: type}: the name of a type, [type] for a list of it, {name: type} for an object.

    `bytes` are those of the values before they are compressed.
    """

    rows: int
    bytes: int
    columns: Mapping[str, Any]


def read(files: Mapping[str, IO[bytes]]) -> dict[str, TableFacts]:
    """The facts of each file, by its name. Raises ValueError where one is no Parquet file."""
    if not files:
        return {}
    ends = json.dumps([base64.b64encode(_end(file)).decode() for file in files.values()])
    # -P: beside the file lie modules whose names other libraries may ask for.
    done = subprocess.run([sys.executable, "-P", __file__], input=ends.encode(), capture_output=True, timeout=SECONDS)
    if done.returncode:
        raise ValueError(done.stderr.decode(errors="replace").strip().rpartition("\n")[2])
    return {name: TableFacts(**facts) for name, facts in zip(files, json.loads(done.stdout), strict=True)}


def _end(file: IO[bytes]) -> bytes:
    size = file.seek(0, SEEK_END)
    file.seek(max(0, size - 8))
    length = int.from_bytes(file.read(4), "little")
    file.seek(max(0, size - 8 - length))
    found = file.read()
    file.seek(0)
    return found


def main() -> None:
    # The library loads in a third of the time without it.
    sys.modules["numpy"] = None  # type: ignore[assignment]
    import pyarrow
    from pyarrow import parquet

    found = []
    for end in json.load(sys.stdin):
        file = parquet.ParquetFile(pyarrow.BufferReader(_MARK + base64.b64decode(end)))
        columns = {field.name: _kind(field.type) for field in file.schema_arrow}
        about = file.metadata
        size = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
        found.append({"rows": about.num_rows, "bytes": size, "columns": columns})
    json.dump(found, sys.stdout)


def _kind(kind: pyarrow.DataType) -> Any:
    from pyarrow import types

    if types.is_list(kind):
        return [_kind(kind.value_type)]
    if types.is_struct(kind):
        return {field.name: _kind(field.type) for field in kind}
    return _HUB_NAMES.get(str(kind), str(kind))


if __name__ == "__main__":
    main()
