"""Stories and articles to collect questions on. The name of the file says which of three layouts it has:

`.jsonl`  one object a line: `{"id", "text"}`, and `"title"` if you like.
`.txt`    plain text. Where a blank line stands between two texts, blank lines part the stories, which may then go
          over several lines; in a file without such a line each line is a story. A story's key is the file's name
          and the story's number.
`.story`  one article, as the CNN/Daily Mail corpus has it: the body, up to the first `@highlight`. The bullets are
          left out: they sum up what the questions are to be about. The key is the file's name.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from hits.formats.files.bulk import without_cycle_collection
from hits.formats.files.faults import Fault, Faults, FormatErrors
from hits.formats.files.reading import (
    LONGEST_KEY,
    MAX_BYTES,
    MOST_ROWS,
    Keys,
    Progress,
    Row,
    json_lines,
    quoted,
    text_lines,
    told,
)

__all__ = ["Fault", "FormatErrors", "Story", "read"]

LONGEST_STORY = 200_000
LONGEST_TITLE = 1000
_LETTER = re.compile(r"[^\W\d_]")
_HIGHLIGHT = re.compile(r"[^\S\n]*@highlight\b")

Record = tuple[int, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Story:
    """A text of at least one sentence. `line` is where it begins in its file.

    `line` and `place`, which is always empty, take no part in comparison.
    """

    key: str
    title: str
    text: str
    line: int | None = field(default=None, compare=False)
    place: str = field(default="", compare=False)


def read(stream: BinaryIO, name: str, *, max_bytes: int = MAX_BYTES, progress: Progress | None = None) -> list[Story]:
    """Every story of the file in UTF-8, or FormatErrors with every fault and no story.

    `name` is the file's name, with or without folders. `progress` is called with the number of stories checked so
    far, every 1,000 and at the end.
    """
    path = PurePosixPath(name.replace("\\", "/"))
    faults = Faults()
    records = _layout(path)(text_lines(stream, max_bytes, faults), path.stem, faults)
    keys = Keys()
    with without_cycle_collection():
        stories = [_story(Row(faults, line), fields, keys) for line, fields in told(records, progress)]
    if not stories and not faults.count:
        faults.add(None, "", "the file holds no story")
    faults.refuse()
    return stories


def _layout(path: PurePosixPath) -> Callable[[Iterator[str], str, Faults], Iterator[Record]]:
    try:
        return _LAYOUTS[path.suffix.lower()]
    except KeyError:
        message = f"the name {quoted(path.name)} ends in none of {', '.join(_LAYOUTS)}, which say how a file is read"
        raise FormatErrors([Fault(None, "", message)]) from None


def _story(row: Row, fields: dict[str, Any], keys: Keys) -> Story:
    row.check_names(fields, ("id", "text"), ("title",))
    key = row.text(fields["id"], "id", LONGEST_KEY) if "id" in fields else ""
    keys.check(row, key)
    title = row.text(fields["title"], "title", LONGEST_TITLE) if fields.get("title", "") != "" else ""
    text = row.text(fields["text"], "text", LONGEST_STORY) if "text" in fields else ""
    if text and not _LETTER.search(text):
        row.say("text", "holds no sentence: there is no word in it")
    return Story(key, title, text, row.line)


def _json_stories(lines: Iterator[str], stem: str, faults: Faults) -> Iterator[Record]:
    return json_lines(lines, faults)


def _plain_stories(lines: Iterator[str], stem: str, faults: Faults) -> Iterator[Record]:
    blocks = (block for is_text, block in groupby(enumerate(lines, 1), lambda line: not line[1].isspace()) if is_text)
    # Of one block that is the whole file each line is a story.
    first = list(islice(next(blocks, iter(())), MOST_ROWS + 1))
    second = list(islice(next(blocks, iter(())), MOST_ROWS + 1)) if len(first) <= MOST_ROWS else []
    found = chain([first, second], blocks) if second else ([line] for line in first)
    for number, block in enumerate(found, 1):
        yield from _plain_story(block, f"{stem}-{number}", faults)


def _plain_story(block: Iterable[tuple[int, str]], key: str, faults: Faults) -> Iterator[Record]:
    begins, text = 0, _Text()
    for line, words in block:
        begins = begins or line
        text.add(words)
    if not text.fits:
        faults.add(begins, "text", text.too_long())
    else:
        yield begins, {"id": key, "text": text.joined()}


def _article(lines: Iterator[str], stem: str, faults: Faults) -> Iterator[Record]:
    text, bullets = _Text(), False
    # To the end of the file, because a line further on may not be UTF-8.
    for line in lines:
        bullets = bullets or bool(_HIGHLIGHT.match(line))
        if not bullets:
            text.add(line)
    if not text.fits:
        faults.add(1, "text", text.too_long())
    elif body := text.joined():
        yield 1, {"id": stem, "text": body}
    elif bullets:
        faults.add(1, "", "there is no text before the first @highlight: the body of the article is missing")


class _Text:
    """Lines that make one text. Of one that is far too long the rest is let go."""

    def __init__(self) -> None:
        self.text = io.StringIO(newline="")
        self.size = 0

    def add(self, line: str) -> None:
        self.size += len(line)
        if self.fits:
            self.text.write(line)

    @property
    def fits(self) -> bool:
        """Somewhat more than a story may have: what exactly it has is said of the story."""
        return self.size <= 2 * LONGEST_STORY

    def joined(self) -> str:
        return self.text.getvalue().replace("\r\n", "\n").strip()

    def too_long(self) -> str:
        return f"has more than {2 * LONGEST_STORY:,} characters, the limit is {LONGEST_STORY:,}"


_LAYOUTS = {".jsonl": _json_stories, ".txt": _plain_stories, ".story": _article}
