"""News articles to make cloze queries of. The name of a file says which of four layouts it has:

`.story`  one article, as the CNN/Daily Mail corpus has it: paragraphs parted by blank lines, then its bullets, each
          announced by a line `@highlight`. The key is the file's name.
`.jsonl`  one object a line: `{"id", "paragraphs": [text]}`, and if you like `"title"`, `"highlights": [text]`,
          `"origin"` ("public" or "crawled") and `"source"` (who published it).
`.txt`    plain text, one article of one paragraph a line; blank lines mean nothing. A key is the file's name and the
          line's number.
`.zip`    an archive of such files, in folders or not. It may hold as much, unpacked, as a file that is not packed.

Within a paragraph, a title and a bullet each run of spaces that holds a line end becomes one space: in a ReCoRD passage
a line is a paragraph or a bullet. Nothing else is changed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

from hits.formats.files import archives
from hits.formats.files.archives import size_of
from hits.formats.files.bulk import without_cycle_collection
from hits.formats.files.faults import Fault, Faults, FormatErrors
from hits.formats.files.reading import (
    LONGEST_KEY,
    LONGEST_LINE,
    MAX_BYTES,
    Progress,
    Row,
    json_lines,
    kind,
    quoted,
    text_lines,
    told,
)
from hits.formats.inputs.record import ORIGINS, PLACEHOLDER, Origin
from hits.text.language.passages import MARKER

__all__ = ["Article", "Fault", "FormatErrors", "read", "read_all"]

LONGEST_ARTICLE = 200_000
LONGEST_TITLE = 1000
LONGEST_SOURCE = 200
# Paragraphs of an article, or bullets.
MOST_TEXTS = 2000
MOST_FILES = 50_000
_LETTER = re.compile(r"[^\W\d_]")
_MARKER = re.compile(rf"[^\S\n]*{MARKER}\b")
_SPACES = re.compile(r"\s+")

Record = tuple[int, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Article:
    """At least one paragraph; bullets and title may be absent. None of these texts holds a line end.

    `line` is where it begins in its file, and `place` names the file within an archive. They take no part in
    comparison.
    """

    key: str
    title: str
    paragraphs: tuple[str, ...]
    highlights: tuple[str, ...]
    origin: Origin
    source: str = ""
    line: int | None = field(default=None, compare=False)
    place: str = field(default="", compare=False)


def read(
    stream: BinaryIO,
    name: str,
    *,
    max_bytes: int = MAX_BYTES,
    default_origin: Origin = "public",
    progress: Progress | None = None,
) -> list[Article]:
    """Every article of the file in UTF-8, or FormatErrors with every fault and no article.

    `name` is the file's name, with or without folders. `default_origin` is the origin of articles that state none.
    `progress` is called with the number of articles checked so far, every 1,000 and at the end.
    """
    faults = Faults()
    return _read(
        _expanded([(name, stream)], max_bytes, faults, named=False), max_bytes, default_origin, progress, faults
    )


def read_all(
    files: Iterable[tuple[str, BinaryIO]],
    *,
    max_bytes: int = MAX_BYTES,
    default_origin: Origin = "public",
    progress: Progress | None = None,
) -> list[Article]:
    """As `read`, of several (name, stream) as if they were one archive: faults and articles name their file."""
    faults = Faults()
    return _read(_expanded(files, max_bytes, faults), max_bytes, default_origin, progress, faults)


@dataclass(frozen=True, slots=True)
class _File:
    """`place` names it where it is one of several."""

    name: str
    place: str
    stream: BinaryIO


def _read(
    files: Iterable[_File], max_bytes: int, origin: Origin, progress: Progress | None, faults: Faults
) -> list[Article]:
    checker = _Checker(origin)
    with without_cycle_collection():
        articles = list(told(_articles(files, max_bytes, checker, faults), progress))
    if not articles and not faults.count:
        faults.add(None, "", "holds no article")
    faults.refuse()
    return articles


def _articles(files: Iterable[_File], max_bytes: int, checker: _Checker, faults: Faults) -> Iterator[Article]:
    """Those of all files; what is wrong with one goes to the faults with the file's name before its place."""
    for file in files:
        own = Faults()
        try:
            for line, fields in _records(file, max_bytes, own):
                yield checker.article(Row(own, line), fields, file.place)
        except FormatErrors as error:
            own.listed += error.errors
            own.rest += error.rest
        for fault in own.listed:
            place = ", ".join(part for part in (file.place, fault.place) if part)
            faults.add(fault.line, place, fault.message)
        faults.rest += own.rest


def _records(file: _File, max_bytes: int, faults: Faults) -> Iterator[Record]:
    layout = _LAYOUTS.get(_ending(file.name))
    if layout is None:
        endings = ", ".join((*_LAYOUTS, ".zip"))
        message = f"the name {quoted(_base(file.name).name)} ends in none of {endings}, which say how a file is read"
        raise FormatErrors([Fault(None, "", message)])
    found = 0
    for record in layout(text_lines(file.stream, max_bytes, faults), _base(file.name).stem, faults):
        found += 1
        yield record
    if not found and not faults.count:
        faults.add(None, "", "the file holds no article")


def _base(name: str) -> PurePosixPath:
    return PurePosixPath(name.replace("\\", "/"))


def _ending(name: str) -> str:
    return _base(name).suffix.lower()


# Files and archives of them


def _expanded(
    files: Iterable[tuple[str, BinaryIO]], max_bytes: int, faults: Faults, *, named: bool = True
) -> Iterator[_File]:
    """The files, those of archives unpacked, one in memory at a time. Raises FormatErrors for too much in all."""
    left = max_bytes
    for name, stream in files:
        if (size := size_of(stream)) > left:
            message = _too_much_in_all(max_bytes)
            if size > max_bytes:
                message = (
                    f"the file has {size:,} bytes ({size / 1e6:,.1f} MB), the limit is {max_bytes:,} bytes "
                    f"({max_bytes / 1e6:,.1f} MB): split it into several files and import them one after another"
                )
            raise FormatErrors([Fault(None, "", message)])
        place = name if named else ""
        if _ending(name) != ".zip":
            left -= size
            yield _File(name, place, stream)
            continue
        for file in _unpacked(stream, place, left, max_bytes, faults):
            left -= size_of(file.stream)
            yield file


def _too_much_in_all(max_bytes: int) -> str:
    most = f"the files hold, unpacked, more than {max_bytes:,} bytes ({max_bytes / 1e6:,.1f} MB) in all"
    return f"{most}: split them and import one part after another"


def _unpacked(stream: BinaryIO, place: str, left: int, max_bytes: int, faults: Faults) -> Iterator[_File]:
    archive = archives.opened(stream, place, MOST_FILES)
    for member in archive.infolist():
        base = _base(member.filename)
        if member.is_dir() or base.parts[:1] == ("__MACOSX",) or base.name.startswith("."):
            continue
        where = "/".join(part for part in (place, member.filename) if part)
        fault = archives.not_unpacked(member)
        if _ending(member.filename) == ".zip":
            fault = "is an archive within the archive: unpack it first"
        if fault:
            faults.add(None, where, fault)
            continue
        try:
            with archive.open(member) as packed:
                raw = packed.read(left + 1)
        except archives.BROKEN as error:
            faults.add(None, where, f"cannot be unpacked ({error}): pack it anew")
            continue
        left -= len(raw)
        if left < 0:
            raise FormatErrors([Fault(None, "", _too_much_in_all(max_bytes))])
        yield _File(member.filename, where, io.BytesIO(raw))


# Layouts


def _story(lines: Iterator[str], stem: str, faults: Faults) -> Iterator[Record]:
    """To the end of the file, because a line further on may not be UTF-8."""
    paragraphs: list[list[str]] = [[]]
    highlights: list[list[str]] = []
    size = 0
    for line in lines:
        size += len(line)
        if size > 2 * LONGEST_ARTICLE:
            continue
        if marker := _MARKER.match(line):
            highlights.append([])
            line = line[marker.end() :]
        text = line.strip()
        if highlights:
            highlights[-1] += [text] if text else []
        elif text:
            paragraphs[-1].append(text)
        elif paragraphs[-1]:
            paragraphs.append([])
    if size > 2 * LONGEST_ARTICLE:
        faults.add(1, "", f"has more than {2 * LONGEST_ARTICLE:,} characters, the limit is {LONGEST_ARTICLE:,}")
        return
    body = [" ".join(block) for block in paragraphs if block]
    if body:
        yield 1, {"id": stem, "paragraphs": body, "highlights": [" ".join(block) for block in highlights]}
    elif highlights:
        faults.add(1, "", "there is no text before the first @highlight: the body of the article is missing")


def _json_lines(lines: Iterator[str], stem: str, faults: Faults) -> Iterator[Record]:
    return json_lines(lines, faults)


def _text(lines: Iterator[str], stem: str, faults: Faults) -> Iterator[Record]:
    for number, line in enumerate(lines, 1):
        if text := line.strip():
            yield number, {"id": f"{stem}-{number}", "paragraphs": [text]}


_LAYOUTS: dict[str, Callable[[Iterator[str], str, Faults], Iterator[Record]]] = {
    ".story": _story,
    ".jsonl": _json_lines,
    ".txt": _text,
}


# From records to articles


class _Checker:
    """Turns records into articles; knows the keys seen so far, in whichever file."""

    def __init__(self, default_origin: Origin) -> None:
        self.default_origin = default_origin
        self.seen: dict[str, tuple[int, str]] = {}

    def article(self, row: Row, fields: dict[str, Any], place: str) -> Article:
        row.check_names(fields, ("id", "paragraphs"), ("title", "highlights", "origin", "source"))
        article = Article(
            key=self.key(row, fields, place),
            title=_line(row, fields, "title", LONGEST_TITLE),
            paragraphs=_texts(row, fields, "paragraphs", least=1),
            highlights=_texts(row, fields, "highlights"),
            origin=self.origin(row, fields),
            source=_line(row, fields, "source", LONGEST_SOURCE),
            line=row.line,
            place=place,
        )
        size = sum(map(len, article.paragraphs + article.highlights))
        if size > LONGEST_ARTICLE:
            row.say("", f"the article has {size:,} characters, the limit is {LONGEST_ARTICLE:,}")
        if article.paragraphs and all(article.paragraphs) and not any(map(_LETTER.search, article.paragraphs)):
            row.say("paragraphs", "hold no sentence: there is no word in them")
        return article

    def key(self, row: Row, fields: dict[str, Any], place: str) -> str:
        key = row.text(fields["id"], "id", LONGEST_KEY) if "id" in fields else ""
        if key and key in self.seen:
            line, file = self.seen[key]
            row.say("id", f"{quoted(key)} is taken: {f'{file}, ' if file else ''}line {line} has it already")
        self.seen.setdefault(key, (row.line, place))
        return key

    def origin(self, row: Row, fields: dict[str, Any]) -> Origin:
        origin = fields.get("origin", self.default_origin)
        if origin in ORIGINS:
            return cast(Origin, origin)
        row.say("origin", f"must be one of {', '.join(ORIGINS)}, not {quoted(origin)}")
        return self.default_origin


def _line(row: Row, fields: dict[str, Any], name: str, longest: int) -> str:
    """A text that may be absent or empty."""
    return _one_line(row.text(fields[name], name, longest)) if fields.get(name, "") != "" else ""


def _one_line(text: str) -> str:
    return _SPACES.sub(_without_line_end, text.strip())


def _without_line_end(run: re.Match[str]) -> str:
    return " " if "\n" in run[0] or "\r" in run[0] else run[0]


def _texts(row: Row, fields: dict[str, Any], name: str, *, least: int = 0) -> tuple[str, ...]:
    given = fields.get(name, [])
    if type(given) is not list:
        row.say(name, f"must be a list of texts, not {kind(given)}")
    elif len(given) > MOST_TEXTS:
        row.say(name, f"has {len(given):,} texts, the limit is {MOST_TEXTS:,}")
    elif len(given) < least and name in fields:
        row.say(name, "must hold at least one text")
    else:
        return tuple(_checked(row, text, f"{name}[{at}]") for at, text in enumerate(given))
    return ()


def _checked(row: Row, given: object, place: str) -> str:
    # How long all of them are together is said of the article.
    text = _one_line(row.text(given, place, LONGEST_LINE))
    if text.startswith(MARKER):
        row.say(place, f"begins with {MARKER}, which announces a bullet in a passage: remove it")
    if PLACEHOLDER in text:
        row.say(place, f"holds {PLACEHOLDER}, which marks the gap of a query: remove it")
    return text
