"""The process that writes Parquet for another one: that one never loads the library, and all of its memory ends here.

It is run as a file by `hits.formats.outputs.parquet` and imports nothing of the project. What it reads and writes are
frames: a length in eight bytes, then so many bytes. The first one is {column: type} as JSON, each further one some
rows, as a list with the values of each column, an empty one the end. To each but the first it answers with a frame that
has its kind in front: a piece of the file, which may be empty, or what is wrong with a value. It ends with the other
process, which closes its input, and by itself when a frame takes longer than `SECONDS`.
"""

from __future__ import annotations

import json
import signal
import struct
import sys
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

SECONDS = 120
LENGTH, ANSWER = struct.Struct(">Q"), struct.Struct(">cQ")
PIECE, REFUSED = b"P", b"R"


def main(given: IO[bytes], taken: IO[bytes]) -> None:
    # The other process decides what a key on a terminal means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.alarm(SECONDS)
    # The library goes without it where it is not installed, and then loads in a third of the time.
    sys.modules["numpy"] = None  # type: ignore[assignment]
    import pyarrow
    from pyarrow import parquet

    schema = schema_of(json.loads(_frame(given)))
    pieces = _Pieces()
    # Named, so that another version of the library with other defaults writes the same kind of file.
    writer = parquet.ParquetWriter(pyarrow.PythonFile(pieces, "w"), schema, version="2.6", compression="snappy")
    try:
        while content := _frame(given):
            writer.write_table(_table(json.loads(content), schema))
            _answer(taken, PIECE, pieces.taken())
        writer.close()
        _answer(taken, PIECE, pieces.taken())
    except (pyarrow.ArrowException, ValueError, TypeError, OverflowError) as error:
        _answer(taken, REFUSED, f"{error}".encode(errors="replace"))


def schema_of(types: dict[str, Any]) -> pyarrow.Schema:
    """The Arrow schema of {column: type}: the name of a type, [type] for a list of it, {name: type} for an object."""
    import pyarrow

    return pyarrow.schema([(name, _type(kind)) for name, kind in types.items()])


def _type(kind: Any) -> pyarrow.DataType:
    import pyarrow

    if isinstance(kind, list):
        return pyarrow.list_(_type(kind[0]))
    if isinstance(kind, dict):
        return pyarrow.struct([(name, _type(one)) for name, one in kind.items()])
    return pyarrow.type_for_alias(kind)


def _table(batch: list[list[Any]], schema: pyarrow.Schema) -> pyarrow.Table:
    import pyarrow

    arrays = [pyarrow.array(values, field.type) for values, field in zip(batch, schema, strict=True)]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


class _Pieces:
    """A file that is handed on piece by piece."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        self._size += len(data)
        return len(data)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        """Nothing waits here."""

    def close(self) -> None:
        """There is nothing to close."""

    def taken(self) -> bytes:
        found = b"".join(self._pieces)
        self._pieces.clear()
        return found


def _frame(given: IO[bytes]) -> bytes:
    # How long the other process takes for its next rows is its own affair.
    signal.alarm(0)
    head = given.read(LENGTH.size)
    signal.alarm(SECONDS)
    content = given.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
    if len(head) < LENGTH.size or len(content) < LENGTH.unpack(head)[0]:
        # It ended without saying so, and nobody wants the rest.
        raise SystemExit
    return content


def _answer(taken: IO[bytes], kind: bytes, content: bytes) -> None:
    taken.write(ANSWER.pack(kind, len(content)) + content)
    taken.flush()


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
