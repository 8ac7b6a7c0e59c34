"""Stories and articles to collect questions on. The name of the file says which of three layouts it has:

`.jsonl`  one object a line: `{"id", "text"}`, and `"title"` if you like.
`.txt`    plain text. Where a blank line stands between two texts, blank lines part the stories, which may then go
          over several lines; in a file without such a line each line is a story. A story's key is the file's name
          and the story's number.
`.story`  one article, as the CNN/Daily Mail corpus has it: the body, up to the first `@highlight`. The bullets are
          left out: they sum up what the questions are to be about. The key is the file's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from hits.formats.bulk import without_cycle_collection
from hits.formats.faults import Fault, Faults, FormatErrors
from hits.formats.reading import LONGEST_KEY, MAX_BYTES, Keys, Progress, Row, json_lines, limited_text, quoted, told

__all__ = ["Fault", "FormatErrors", "Story", "read"]

LONGEST_STORY = 200_000
LONGEST_TITLE = 1000
_LETTER = re.compile(r"[^\W\d_]")
_HIGHLIGHT = re.compile(r"^[^\S\n]*@highlight\b", re.MULTILINE)

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
    records = _layout(path)(limited_text(stream, max_bytes, faults), path.stem, faults)
    keys = Keys()
    with without_cycle_collection():
        stories = [_story(Row(faults, line), fields, keys) for line, fields in told(records, progress)]
    if not stories and not faults.count:
        faults.add(None, "", "the file holds no story")
    faults.refuse()
    return stories


def _layout(path: PurePosixPath) -> Callable[[str, str, Faults], Iterator[Record]]:
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


def _json_stories(text: str, stem: str, faults: Faults) -> Iterator[Record]:
    return json_lines(text, faults)


def _plain_stories(text: str, stem: str, faults: Faults) -> Iterator[Record]:
    lines = enumerate(text.replace("\r\n", "\n").split("\n"), 1)
    blocks = [list(block) for is_text, block in groupby(lines, lambda line: bool(line[1].strip())) if is_text]
    if len(blocks) == 1:
        blocks = [[line] for line in blocks[0]]
    for number, block in enumerate(blocks, 1):
        yield block[0][0], {"id": f"{stem}-{number}", "text": "\n".join(line for _, line in block).strip()}


def _article(text: str, stem: str, faults: Faults) -> Iterator[Record]:
    text = text.replace("\r\n", "\n")
    bullets = _HIGHLIGHT.search(text)
    body = text[: bullets.start()] if bullets else text
    if body.strip():
        yield 1, {"id": stem, "text": body.strip()}
    elif bullets:
        faults.add(1, "", "there is no text before the first @highlight: the body of the article is missing")


_LAYOUTS = {".jsonl": _json_stories, ".txt": _plain_stories, ".story": _article}
