"""What a model elsewhere answered, by the id of what it was asked: one JSON object, or JSON Lines.

The values wait in a table on the disk, so a file of any size that is taken needs little memory.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from hits.formats.files.faults import Faults
from hits.formats.files.jsonstream import JsonStream, UnreadableJsonError
from hits.formats.files.reading import (
    MAX_BYTES,
    json_lines,
    kind,
    not_readable,
    quoted,
    text_lines,
    text_pieces,
    unwanted,
)

MISSING = object()
LINES_AT_ONCE = 200


class ById:
    """Values by id, each of which is taken once. `faults` collects what is wrong, to be refused at the end."""

    def __init__(self) -> None:
        self.faults = Faults()
        # No name: SQLite puts it into a file that goes with the connection.
        self._table = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._table.execute("CREATE TABLE answers (id TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
        self._table.execute("BEGIN")

    def add(self, id: str, value: object, line: int | None = None) -> None:
        """An id that came before is a fault."""
        if message := unwanted(id):
            return self.faults.add(line, quoted(id), f"the id {message}")
        try:
            written = json.dumps(value)
        except RecursionError:
            return self.faults.add(line, quoted(id), not_readable())
        done = self._table.execute("INSERT OR IGNORE INTO answers VALUES (?, ?)", (id, written))
        if not done.rowcount:
            self.faults.add(line, quoted(id), "is there more than once")
        return None

    def take(self, id: str, what: str) -> Any:
        """The value, which is gone then. MISSING where there is none, which is a fault: `what` is not there."""
        row = self._table.execute("DELETE FROM answers WHERE id = ? RETURNING value", (id,)).fetchone()
        if row is None:
            self.faults.add(None, quoted(id), f"has no {what}")
            return MISSING
        try:
            return json.loads(row[0])
        except RecursionError:
            self.faults.add(None, quoted(id), not_readable())
            return MISSING

    def leave_out(self, id: str) -> None:
        """Nothing is said of this one, whether it is there or not."""
        self._table.execute("DELETE FROM answers WHERE id = ?", (id,))

    def score(self, id: str) -> float:
        """The number, or 0 where there is none, which is a fault."""
        value = self.take(id, "score")
        return 0.0 if value is MISSING else float(value)

    def refuse(self, unknown: str) -> None:
        """Raises FormatErrors if anything was wrong, or an id was not taken, for which `unknown` is the reason."""
        for (id,) in self._table.execute("SELECT id FROM answers ORDER BY id"):
            self.faults.add(None, quoted(id), unknown)
        self.faults.refuse()


def read_object(stream: BinaryIO, *, max_bytes: int = MAX_BYTES) -> ById:
    """`{id: value, ...}`. Raises FormatErrors where nothing more can be read."""
    found = ById()
    pieces = JsonStream(_pieces(stream, max_bytes, found.faults))
    try:
        for id in pieces.members():
            found.add(id, pieces.value())
        pieces.end()
    except UnreadableJsonError as error:
        found.faults.add(error.line, "", f"{error}: the file must be one object, an answer by each id")
        found.faults.refuse()
    return found


def _pieces(stream: BinaryIO, max_bytes: int, faults: Faults) -> Iterator[str]:
    """Nothing can be parsed after bytes that are no characters."""
    for piece in text_pieces(stream, max_bytes, faults):
        faults.refuse()
        yield piece


def read_lines(
    stream: BinaryIO, value: str, check: Callable[[object], str | None], *, max_bytes: int = MAX_BYTES
) -> ById:
    """`{"id": text, value: ...}` a line; other fields are left aside. `check` says what is wrong with a value.

    Raises FormatErrors for a file that is too large.
    """
    found = ById()
    for line, row in json_lines(text_lines(stream, max_bytes, found.faults, wrong_are_blank=True), found.faults):
        if type(row.get("id")) is not str:
            found.faults.add(line, "id", f"must be a text, not {kind(row.get('id'))}")
        elif value not in row:
            found.faults.add(line, quoted(row["id"]), f"has no {value}")
        elif message := check(row[value]):
            found.faults.add(line, quoted(row["id"]), message)
        else:
            found.add(row["id"], row[value], line)
    return found


def lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """JSON Lines in UTF-8, some rows at a time."""
    waiting: list[str] = []
    for row in rows:
        waiting.append(json.dumps(row, ensure_ascii=False))
        if len(waiting) == LINES_AT_ONCE:
            yield ("\n".join(waiting) + "\n").encode()
            waiting.clear()
    if waiting:
        yield ("\n".join(waiting) + "\n").encode()


def check_number(value: object) -> str | None:
    """What is wrong with a score."""
    if type(value) not in (int, float):
        return f"its score must be a number, not {kind(value)}"
    # Compared as it is: a whole number may be too large for a float.
    return None if -1e300 <= value <= 1e300 else "its score must be a finite number"  # type: ignore[operator]
