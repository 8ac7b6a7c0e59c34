"""Parquet, written by a process of its own (`hits.formats.outputs.parquet_process`), row group by row group.

The library takes 60 MB of memory that a process which has loaded it never gives back, and every process of a web server
or of a queue of jobs would load it in time. So the rows go to a process that ends with the file, or with this one.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypeAlias

from hits.formats.outputs import parquet_process
from hits.formats.outputs.parquet_process import ANSWER, LENGTH, REFUSED
from hits.refusals import Refused

# The name of an Arrow type, [type] for a list of it, {name: type} for an object.
Kind: TypeAlias = Any


class ParquetFile:
    """A file that is being written: `write` and `end` give its bytes, piece by piece. To be used with `with`."""

    def __init__(self, types: Mapping[str, Kind]) -> None:
        """The process is loading its library when this returns. Raises Refused."""
        # -P: beside the file lie modules whose names other libraries may ask for.
        command = [sys.executable, "-P", str(Path(parquet_process.__file__))]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            why = f"The process that writes Parquet could not be started: {error.strerror}."
            raise Refused("parquet_not_written", f"{why} Try again, or take another format.", status=503) from error
        self._send(json.dumps(types).encode())

    def write(self, batch: Sequence[Sequence[Any]]) -> bytes:
        """Some rows, as the values of each column, become a row group.

        Raises ValueError and Refused.
        """
        # Halves of surrogate pairs have to get as far as the refusal, so all is ASCII.
        self._send(json.dumps(batch).encode())
        return self._answer()

    def end(self) -> bytes:
        """The rest of the file, which tells where its rows are. Raises Refused."""
        self._send(b"")
        return self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Whoever wanted the file may be gone: the process is not waited for, it is ended."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._given, self._taken):
            # There may be rows that it did not read any more.
            with suppress(BrokenPipeError):
                pipe.close()

    @property
    def _given(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _taken(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    def _send(self, content: bytes) -> None:
        # Where it reads no more, its last answer says why, or there is none.
        with suppress(BrokenPipeError):
            self._given.write(LENGTH.pack(len(content)) + content)
            self._given.flush()

    def _answer(self) -> bytes:
        head = self._taken.read(ANSWER.size)
        kind, length = ANSWER.unpack(head) if len(head) == ANSWER.size else (b"", 0)
        content = self._taken.read(length)
        if not kind or len(content) < length:
            code = self._process.wait()
            how = f"by {signal.Signals(-code).name}" if code < 0 else f"with {code}"
            raise Refused(
                "parquet_not_written",
                f"The process that writes Parquet ended {how}, so the file is not whole. "
                "Make it again; where that happens each time, take another format.",
                status=503,
            )
        if kind == REFUSED:
            raise ValueError(content.decode(errors="replace"))
        return content
