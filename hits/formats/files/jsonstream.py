"""JSON that comes in pieces: one value of a large file is in memory at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from hits.formats.files.reading import LONGEST_LINE, not_readable

_SPACE = re.compile("[ \t\n\r]*")


class UnreadableJsonError(Exception):
    """The text stops being JSON at `line`, which counts from 1; nothing after it can be read."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


class JsonStream:
    """Reads a value, or the members of an object and the elements of a list one by one.

    Every method raises UnreadableJsonError. A value has at most `LONGEST_LINE` characters.
    """

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces
        self._decoder = json.JSONDecoder()
        self._text, self._at = "", 0
        # Lines before the text that is held, and characters of its first line that are not held any more.
        self._lines, self._column = 0, 0

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            assert found
            self._at = found.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def value(self) -> Any:
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if len(self._text) - self._at > LONGEST_LINE:
                    message = f"is not JSON that can be read: a value has more than {LONGEST_LINE:,} characters"
                    raise UnreadableJsonError(message, self._line(self._at)) from error
                if not self._more():
                    raise self._broken(error.msg, error.pos) from error
            except (ValueError, RecursionError) as error:
                raise UnreadableJsonError(not_readable(), self._line(self._at)) from error
            else:
                # A number may go on in the next piece.
                if end < len(self._text) or not self._more():
                    self._at = end
                    return value

    def members(self) -> Iterator[str]:
        """The name of each member of an object; whoever takes a name takes its value before the next one."""
        self._take("{")
        while self.peek() != "}":
            name = self.value()
            if not isinstance(name, str):
                raise self._broken("Expecting property name enclosed in double quotes", self._at)
            self._take(":")
            yield name
            if not self._goes_on("}"):
                break
        self._take("}")

    def elements(self) -> Iterator[Any]:
        """The elements of a list."""
        self._take("[")
        while self.peek() != "]":
            yield self.value()
            if not self._goes_on("]"):
                break
        self._take("]")

    def end(self) -> None:
        """There is nothing left but space."""
        if self.peek():
            raise self._broken("Extra data", self._at)

    def _goes_on(self, closing: str) -> bool:
        if self.peek() == closing:
            return False
        self._take(",")
        if self.peek() == closing:
            raise self._broken("Expecting value", self._at)
        return True

    def _take(self, wanted: str) -> None:
        if self.peek() != wanted:
            raise self._broken(f"Expecting {wanted!r}", self._at)
        self._at += 1

    def _more(self) -> bool:
        """Hold the next piece too, and let go what was read; False at the end."""
        piece = next(self._pieces, None)
        if piece is None:
            return False
        gone = self._text[: self._at]
        last = gone.rfind("\n")
        self._column = self._column + len(gone) if last < 0 else len(gone) - last - 1
        self._lines += gone.count("\n")
        self._text, self._at = self._text[self._at :] + piece, 0
        return True

    def _line(self, at: int) -> int:
        return self._lines + self._text.count("\n", 0, at) + 1

    def _broken(self, message: str, at: int) -> UnreadableJsonError:
        last = self._text.rfind("\n", 0, at)
        column = at - last if last >= 0 else self._column + at + 1
        return UnreadableJsonError(f"is not JSON: {message}, at column {column}", self._line(at))
