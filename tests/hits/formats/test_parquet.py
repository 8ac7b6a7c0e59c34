"""Parquet by a process of its own: what of it stays when something ends in the middle, and what is said of it."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from pyarrow import parquet

from hits.formats.outputs import parquet as ours
from hits.formats.outputs.parquet import ParquetFile
from hits.formats.outputs.tables import pieces_of, write_parquet
from tests.hits.doing import refused

TYPES = {"text": "string", "number": "int64"}
BATCH = [["a", "\u05e9"], [1, None]]


def children() -> set[int]:
    """The processes that this one started and that have not ended."""
    return {child.pid for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE}


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    before = children(), descriptors()
    yield
    assert (children(), descriptors()) == before


def test_what_is_read_back_is_what_was_written() -> None:
    with ParquetFile(TYPES) as file:
        content = file.write(BATCH) + file.write([["b"], [-(2**63)]]) + file.end()
    rows = [{"text": "a", "number": 1}, {"text": "\u05e9", "number": None}, {"text": "b", "number": -(2**63)}]
    table = parquet.read_table(io.BytesIO(content))
    assert table.to_pylist() == rows and [str(one) for one in table.schema.types] == ["string", "int64"]


@pytest.mark.parametrize("value", ["one", 2**70, [1]])
def test_a_value_of_another_type_is_refused_by_name(value: Any) -> None:
    with pytest.raises(ValueError, match=r"\S"), ParquetFile(TYPES) as file:
        file.write(BATCH)
        file.write([["a"], [value]])


def test_half_of_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        write_parquet([{"text": "\ud83d", "number": 1}], TYPES, io.BytesIO())


def test_a_download_that_nobody_reads_to_its_end_leaves_no_process() -> None:
    pieces = pieces_of(iter(lambda: BATCH, None), list(TYPES), TYPES, "parquet")
    assert next(pieces).startswith(b"PAR1") and children()
    pieces.close()  # type: ignore[attr-defined]


def test_an_error_while_rows_are_read_leaves_no_process() -> None:
    def rows() -> Iterator[list[list[Any]]]:
        yield BATCH
        raise LookupError

    with pytest.raises(LookupError):
        b"".join(pieces_of(rows(), list(TYPES), TYPES, "parquet"))


def test_a_process_that_is_killed_is_said_and_no_file_is_taken_for_whole() -> None:
    before = children()

    def rows() -> Iterator[list[list[Any]]]:
        yield BATCH
        (pid,) = children() - before
        os.kill(pid, signal.SIGKILL)
        yield BATCH

    with refused("parquet_not_written", match="ended by SIGKILL, so the file is not whole"):
        b"".join(pieces_of(rows(), list(TYPES), TYPES, "parquet"))


def test_a_process_that_cannot_begin_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with refused("parquet_not_written", match="ended with 1,"), ParquetFile({"a": "no type"}) as file:
        file.write([["a"]])
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with refused("parquet_not_written", match="could not be started: No such file"):
        ParquetFile(TYPES)


def test_a_process_that_works_too_long_on_some_rows_ends() -> None:
    command = [sys.executable, "-P", "-c", _SLOW, os.path.dirname(ours.__file__)]
    assert subprocess.run(command, input=b"\0" * 7 + b"\x09" + b"{}", timeout=60).returncode == -signal.SIGALRM
    waiting = subprocess.Popen(command, stdin=subprocess.PIPE)
    time.sleep(2.5)
    # Nothing was begun: how long the other process reads its rows is its own affair.
    assert waiting.poll() is None and waiting.stdin is not None
    waiting.stdin.close()
    assert waiting.wait(60) == 0


_SLOW = """
import io, sys, time
sys.path.append(sys.argv[1])
import parquet_process
parquet_process.SECONDS = 1
class Slow:
    def read(self, size):
        found = sys.stdin.buffer.read(min(size, 8))
        if size == 9:
            time.sleep(30)
        return found
parquet_process._frame(Slow())
"""


def test_the_process_ends_with_the_one_that_started_it() -> None:
    program = (
        "import os, sys, time; from hits.formats.outputs.parquet import ParquetFile;"
        "file = ParquetFile({'a': 'int64'}); file.write([[1]]); print(file._process.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        writer = psutil.Process(int(starter.stdout.readline()))
        assert writer.is_running()
        starter.kill()
    writer.wait(30)


def test_whoever_writes_a_table_never_loads_the_library() -> None:
    program = (
        "import io, sys; from hits.formats.outputs.tables import write_parquet;"
        "stream = io.BytesIO(); write_parquet([{'a': 1}], {'a': 'int64'}, stream);"
        "assert stream.getvalue().endswith(b'PAR1') and 'pyarrow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_web_server_that_has_loaded_all_its_pages_has_not_loaded_the_library() -> None:
    program = (
        "import sys, django; django.setup(); from django.urls import get_resolver;"
        "assert get_resolver().url_patterns and 'pyarrow' not in sys.modules"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings.annotate"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
