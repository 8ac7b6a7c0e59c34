"""ReCoRD files: passages with marked entities, and cloze queries with reference answers.

Two layouts are read: JSON Lines with one example a line, and the data set's own file
`{"version", "data": [example, ...]}`. An example is
`{id, source, passage: {text, entities: [{start, end}]}, qas: [{id, query, answers: [{start, end, text}]}]}`;
in place of the text `id` there may be a whole number `idx`, and a field `origin` may say "public" or "crawled".
Offsets count characters; ends are INCLUSIVE, in the files and in every `Span` and `Answer`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, BinaryIO, Literal, NamedTuple, cast

from hits.formats.files.bulk import without_cycle_collection
from hits.formats.files.faults import Fault, Faults, FormatErrors
from hits.formats.files.jsonstream import JsonStream, UnreadableJsonError
from hits.formats.files.reading import (
    LONGEST_KEY,
    MAX_BYTES,
    Progress,
    json_values,
    kind,
    quoted,
    text_lines,
    text_pieces,
    told,
    unwanted,
)
from hits.formats.outputs.parquet import Kind

__all__ = [
    "ROW_TYPES",
    "Answer",
    "Document",
    "Fault",
    "FormatErrors",
    "Query",
    "Span",
    "numbered_lines",
    "read",
    "rows",
    "write",
]

Origin = Literal["public", "crawled"]
KeyField = Literal["id", "idx"]

ORIGINS: tuple[Origin, ...] = ("public", "crawled")
PLACEHOLDER = "@placeholder"
# An entity is a name. Longer ones, many to a passage, would be cut out of it again and again.
LONGEST_ENTITY = 1000
LONGEST_PASSAGE = 200_000
_HEAD = 65_536
_WHOLE_FILE = re.compile(rb'(\xef\xbb\xbf)?\s*(\[|\{[ \t\r]*\n|\{\s*"(version|data)"\s*:)')


class Span(NamedTuple):
    start: int
    end: int


class Answer(NamedTuple):
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """`key_field` is the field that held the key: `id` a text, `idx` a whole number."""

    key: str
    query: str
    answers: tuple[Answer, ...]
    key_field: KeyField = "id"


@dataclass(frozen=True, slots=True)
class Document:
    """A passage, verbatim, with its entities and queries in the order of the file.

    `line` (of JSON Lines) and `place` (of the own layout) say where it was read; they take no part in comparison.
    """

    key: str
    source: str
    origin: Origin
    text: str
    entities: tuple[Span, ...]
    queries: tuple[Query, ...]
    key_field: KeyField = "id"
    line: int | None = field(default=None, compare=False)
    place: str = field(default="", compare=False)


def read(
    stream: BinaryIO,
    *,
    max_bytes: int = MAX_BYTES,
    default_origin: str = "public",
    progress: Progress | None = None,
) -> list[Document]:
    """Every document of the file, or FormatErrors with every fault and no document.

    `default_origin` holds for examples without the field `origin`. `progress` is called with the number of
    examples checked so far, every 1,000 and at the end.
    """
    if default_origin not in ORIGINS:
        raise ValueError(f"default_origin must be one of {ORIGINS}, not {default_origin!r}")
    checker = _Checker(default_origin)
    with without_cycle_collection():
        documents = list(_checked(_examples(stream, max_bytes, checker.faults), checker, progress))
    if not documents and not checker.faults.count:
        checker.faults.add(None, "", "the file holds no example")
    checker.faults.refuse()
    return documents


Example = tuple[int | None, str, object]


def _checked(examples: Iterator[Example], checker: _Checker, progress: Progress | None) -> Iterator[Document]:
    for line, place, example in told(examples, progress):
        if document := checker.document(example, line, place):
            yield document


def _examples(stream: BinaryIO, max_bytes: int, faults: Faults) -> Iterator[Example]:
    """(line, place, example) of each example; what cannot be parsed goes to the faults."""
    at = stream.tell()
    head = stream.read(_HEAD)
    stream.seek(at)
    if _WHOLE_FILE.match(head):
        return _file_examples(text_pieces(stream, max_bytes, faults), faults)
    lines = json_values(text_lines(stream, max_bytes, faults, wrong_are_blank=True), faults)
    return ((number, "", example) for number, example in lines)


def _file_examples(pieces: Iterator[str], faults: Faults) -> Iterator[Example]:
    """One example at a time: a tree of the whole file would take many times its size."""
    stream = JsonStream(_of_characters(pieces, faults))
    try:
        yield from _file_members(stream, faults)
        stream.end()
    except UnreadableJsonError as error:
        faults.add(error.line, "", str(error))


def _of_characters(pieces: Iterator[str], faults: Faults) -> Iterator[str]:
    """Raises FormatErrors at bytes that are no characters: nothing after them can be parsed."""
    before = faults.count
    for piece in pieces:
        if faults.count > before:
            faults.refuse()
        yield piece
        before = faults.count


def _file_members(stream: JsonStream, faults: Faults) -> Iterator[Example]:
    has_data = False
    if stream.peek() != "{":
        stream.value()
        names: Iterable[str] = ()
    else:
        names = stream.members()
    for name in names:
        if name == "data" and stream.peek() == "[":
            has_data = True
            for i, example in enumerate(stream.elements()):
                yield None, f"data[{i}]", example
            continue
        value = stream.value()
        if name == "version" and not isinstance(value, str):
            faults.add(None, "version", f"must be a text, not {kind(value)}")
        elif name not in ("version", "data"):
            faults.add(None, "", f"unknown field {quoted(name)}: remove it; there are version, data")
    if not has_data:
        faults.add(None, "data", 'the file must be {"version": text, "data": list}, or one example a line')


# From examples to documents


def _is_whole(value: object) -> bool:
    return type(value) is int


def _is_within(start: object, end: object, size: int) -> bool:
    return type(start) is int and type(end) is int and 0 <= start <= end < size


def _span_fault(start: object, end: object, size: int) -> str:
    """Why start and end are no span of a passage of `size` characters."""
    for name, value in (("start", start), ("end", end)):
        if not _is_whole(value):
            return f"{name} must be a whole number, not {kind(value)}"
    if cast(int, start) > cast(int, end):
        return f"start {start} lies after end {end}"
    return f"{start} to {end} lies outside the passage of {size} characters: offsets go from 0 to {size - 1}"


def _too_long(start: int, end: int) -> str:
    return f"{start} to {end} has {end - start + 1:,} characters, the limit of an entity is {LONGEST_ENTITY:,}"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an example stands, to name the places of its faults."""

    faults: Faults
    line: int | None
    prefix: str

    def say(self, path: str, message: str) -> None:
        self.faults.add(self.line, self.path(path), message)

    def path(self, path: str) -> str:
        return f"{self.prefix}.{path}" if self.prefix and path else self.prefix or path

    def name(self, path: str) -> str:
        return ", ".join(part for part in (f"line {self.line}" if self.line else "", self.path(path)) if part)


class _Checker:
    """Turns examples into documents; knows the keys seen so far."""

    def __init__(self, default_origin: Origin) -> None:
        self.faults = Faults()
        self.default_origin = default_origin
        self.documents: dict[str, tuple[_Place, str]] = {}
        self.queries: dict[str, tuple[_Place, str]] = {}

    def document(self, raw: object, line: int | None, prefix: str) -> Document | None:
        """None when the example has a fault."""
        before = self.faults.count
        example = _Example(self, _Place(self.faults, line, prefix))
        document = example.document(raw)
        return document if self.faults.count == before else None


class _Example:
    """Checks one example. After a fault a check goes on with an empty stand-in, so that all faults are found."""

    def __init__(self, checker: _Checker, place: _Place) -> None:
        self.checker = checker
        self.place = place
        self.say = place.say

    def document(self, raw: object) -> Document:
        example = self.fields(raw, "", ("source", "passage", "qas"), ("id", "idx", "origin"))
        key, key_field = self.key(example, "", self.checker.documents)
        text, entities = self.passage(example["passage"]) if "passage" in example else ("", ())
        return Document(
            key=key,
            source=self.text(example.get("source", ""), "source", blank=True),
            origin=self.origin(example.get("origin", self.checker.default_origin)),
            text=text,
            entities=entities,
            queries=self.queries(example.get("qas"), text, frozenset(entities)) if "qas" in example else (),
            key_field=key_field,
            line=self.place.line,
            place=self.place.prefix,
        )

    def passage(self, raw: object) -> tuple[str, tuple[Span, ...]]:
        """An empty text where the passage cannot be used: then no offset is checked against it."""
        passage = self.fields(raw, "passage", ("text", "entities"), ())
        text = self.text(passage["text"], "passage.text") if "text" in passage else ""
        if len(text) > LONGEST_PASSAGE:
            self.say("passage.text", f"has {len(text):,} characters, the limit is {LONGEST_PASSAGE:,}")
            return "", ()
        entities = passage.get("entities")
        if type(entities) is list:
            return text, self.entities(entities, text) if text else ()
        if "entities" in passage:
            self.say("passage.entities", f"must be a list, not {kind(entities)}")
        return "", ()

    def fields(self, raw: object, path: str, needed: Sequence[str], optional: Sequence[str]) -> dict[str, Any]:
        if type(raw) is not dict:
            self.say(path, f"must be an object, not {kind(raw)}")
            return {}
        for name in needed:
            if name not in raw:
                self.say(path, f"the field {name} is missing")
        for name in raw:
            if name not in needed and name not in optional:
                known = ", ".join((*needed, *optional))
                self.say(path, f"unknown field {quoted(name)}: remove it; there are {known}")
        return cast(dict[str, Any], raw)

    def text(self, value: object, path: str, *, blank: bool = False) -> str:
        if type(value) is not str:
            self.say(path, f"must be a text, not {kind(value)}")
            return ""
        if not blank and not value.strip():
            self.say(path, "must not be blank")
            return ""
        if message := unwanted(value):
            self.say(path, message)
        return value

    def origin(self, value: object) -> Origin:
        if value in ORIGINS:
            return value
        self.say("origin", f"must be one of {', '.join(ORIGINS)}, not {quoted(value)}")
        return self.checker.default_origin

    def key(self, raw: dict[str, Any], path: str, seen: dict[str, tuple[_Place, str]]) -> tuple[str, KeyField]:
        if not raw:
            return "", "id"
        given: list[KeyField] = [name for name in ("id", "idx") if name in raw]
        if len(given) != 1:
            self.say(path, "needs either id (a text) or idx (a whole number), one of them")
            return "", "id"
        (name,) = given
        where = f"{path}.{name}" if path else name
        key = self.text(raw[name], where) if name == "id" else self.number(raw[name], where)
        if len(key) > LONGEST_KEY:
            self.say(where, f"has {len(key)} characters, the limit is {LONGEST_KEY}")
        if key and key in seen:
            first, first_path = seen[key]
            self.say(where, f"{quoted(key)} is taken: {first.name(first_path)} has it already")
        seen.setdefault(key, (self.place, where))
        return key, name

    def number(self, value: object, path: str) -> str:
        if not _is_whole(value):
            self.say(path, f"must be a whole number, not {kind(value)}")
            return ""
        return str(value)

    def entities(self, raw: Sequence[object], text: str) -> tuple[Span, ...]:
        found = [self.entity(item, i, text) for i, item in enumerate(raw)]
        spans = tuple(span for span in found if span)
        if any(a.end >= b.start for a, b in pairwise(spans)):
            self.check_overlaps(found, text)
        return spans

    def entity(self, raw: Any, i: int, text: str) -> Span | None:
        if type(raw) is dict and len(raw) == 2 and "start" in raw and "end" in raw:
            start, end = raw["start"], raw["end"]
            if _is_within(start, end, len(text)) and end - start < LONGEST_ENTITY:
                surface = text[start : end + 1]
                if "\n" not in surface and not surface.isspace():
                    return Span(start, end)
        self.explain_entity(raw, f"passage.entities[{i}]", text)
        return None

    def explain_entity(self, raw: object, path: str, text: str) -> None:
        span = self.fields(raw, path, ("start", "end"), ())
        if "start" not in span or "end" not in span:
            return
        start, end = span["start"], span["end"]
        if not _is_within(start, end, len(text)):
            self.say(path, _span_fault(start, end, len(text)))
        elif end - start >= LONGEST_ENTITY:
            self.say(path, _too_long(start, end))
        elif text[start : end + 1].isspace():
            self.say(path, f"{start} to {end} is blank in the passage")
        elif "\n" in text[start : end + 1]:
            self.say(path, f"{start} to {end} crosses a line end: a mention lies within one paragraph or bullet")

    def check_overlaps(self, found: Sequence[Span | None], text: str) -> None:
        ordered = sorted((span, i) for i, span in enumerate(found) if span)
        last, last_i = ordered[0]
        for span, i in ordered[1:]:
            if span.start <= last.end:
                names = [quoted(text[s.start : s.end + 1]) for s in (span, last)]
                self.say(f"passage.entities[{i}]", f"{names[0]} overlaps entities[{last_i}] {names[1]}")
            if span.end > last.end:
                last, last_i = span, i

    def queries(self, raw: object, text: str, entities: frozenset[Span]) -> tuple[Query, ...]:
        if type(raw) is not list or not raw:
            what = "must hold at least one query" if raw == [] else f"must be a list, not {kind(raw)}"
            self.say("qas", what)
            return ()
        return tuple(self.query(item, f"qas[{i}]", text, entities) for i, item in enumerate(raw))

    def query(self, raw: object, path: str, text: str, entities: frozenset[Span]) -> Query:
        fields = self.fields(raw, path, ("query", "answers"), ("id", "idx"))
        key, key_field = self.key(fields, path, self.checker.queries)
        query = self.text(fields.get("query", ""), f"{path}.query", blank=True)
        holes = query.count(PLACEHOLDER)
        if holes != 1 and "query" in fields:
            self.say(f"{path}.query", f"must hold {PLACEHOLDER} exactly once, not {holes} times")
        answers = self.answers(fields["answers"], path, text, entities) if "answers" in fields else ()
        return Query(key, query, answers, key_field)

    def answers(self, raw: object, path: str, text: str, entities: frozenset[Span]) -> tuple[Answer, ...]:
        if type(raw) is not list or not raw:
            what = "must hold at least one reference answer" if raw == [] else f"must be a list, not {kind(raw)}"
            self.say(f"{path}.answers", what)
            return ()
        if not text:
            return ()
        found = (self.answer(item, f"{path}.answers[{i}]", text, entities) for i, item in enumerate(raw))
        return tuple(answer for answer in found if answer)

    def answer(self, raw: object, path: str, text: str, entities: frozenset[Span]) -> Answer | None:
        fields = self.fields(raw, path, ("start", "end", "text"), ())
        if not {"start", "end", "text"} <= fields.keys():
            return None
        start, end = fields["start"], fields["end"]
        if not _is_within(start, end, len(text)):
            self.say(path, _span_fault(start, end, len(text)))
            return None
        if end - start >= LONGEST_ENTITY:
            self.say(path, _too_long(start, end))
            return None
        answer = Answer(start, end, self.text(fields["text"], f"{path}.text", blank=True))
        surface = text[answer.start : answer.end + 1]
        if answer.text != surface:
            self.say(path, f"the text {quoted(answer.text)} is not what the passage has there, {quoted(surface)}")
        if (answer.start, answer.end) not in entities:
            self.say(path, f"{answer.start} to {answer.end}, {quoted(surface)}, is none of the passage's entities")
        return answer


# From documents to bytes


def _with_key(key: str, key_field: KeyField, rest: dict[str, object]) -> dict[str, object]:
    """The text id stands first and the number idx last, as in the two published layouts."""
    return {"id": key, **rest} if key_field == "id" else {**rest, "idx": int(key)}


def _asked(query: Query, answers: bool) -> dict[str, object]:
    """Without the key; where answers are not told there is no such field."""
    told = {"answers": [answer._asdict() for answer in query.answers]} if answers else {}
    return {"query": query.query, **told}


def _passage_json(document: Document) -> dict[str, object]:
    return {"text": document.text, "entities": [span._asdict() for span in document.entities]}


def _document_json(document: Document, origins: bool, answers: bool) -> dict[str, object]:
    rest: dict[str, object] = {
        "source": document.source,
        "passage": _passage_json(document),
        "qas": [_with_key(query.key, query.key_field, _asked(query, answers)) for query in document.queries],
    }
    if origins:
        rest["origin"] = document.origin
    return _with_key(document.key, document.key_field, rest)


def write(documents: Iterable[Document], version: str, *, origins: bool = False) -> bytes:
    """The data set's own file layout, UTF-8, one example a line; the same documents always give the same bytes.

    The published layout has no field for the origin: `origins` adds it, so that `read` gives it back.
    """
    return b"".join(written(documents, version, origins=origins))


def written(
    documents: Iterable[Document], version: str, *, origins: bool = False, answers: bool = True
) -> Iterator[bytes]:
    """What `write` writes, an example at a time; without `answers` no query tells them."""
    yield f'{{"version": {json.dumps(version, ensure_ascii=False)}, "data": ['.encode()
    before = "\n"
    for document in documents:
        yield (before + json.dumps(_document_json(document, origins, answers), ensure_ascii=False)).encode()
        before = ",\n"
    yield b"\n]}\n" if before == ",\n" else b"\n\n]}\n"


# The layout of SuperGLUE, and flat rows


def numbered_lines(documents: Iterable[Document], *, answers: bool = True) -> Iterator[bytes]:
    """JSON Lines with whole numbers `idx` that count passages and queries from 0, beside the ids, which stay."""
    number = 0
    for idx, document in enumerate(documents):
        asked = enumerate(document.queries, number)
        qas = [{"id": query.key, **_asked(query, answers), "idx": at} for at, query in asked]
        number += len(qas)
        told = {"source": document.source, "passage": _passage_json(document), "qas": qas}
        yield (json.dumps({"id": document.key, **told, "idx": idx}, ensure_ascii=False) + "\n").encode()


def rows(documents: Iterable[Document], *, answers: bool = True) -> Iterator[dict[str, Any]]:
    """One a query, with the columns that data-set libraries give SuperGLUE's ReCoRD, and `id`; `ROW_TYPES` has them.

    Spans end behind their last character there; entities and answers are each named once, in their order.
    """
    number = 0
    for idx, document in enumerate(documents):
        spans = [(document.text[start : end + 1], start, end + 1) for start, end in document.entities]
        texts, starts, ends = ([span[at] for span in spans] for at in range(3))
        for query in document.queries:
            yield {
                "id": query.key,
                "passage": document.text,
                "query": query.query,
                "entities": list(dict.fromkeys(texts)),
                "entity_spans": {"text": texts, "start": starts, "end": ends},
                "answers": list(dict.fromkeys(answer.text for answer in query.answers)) if answers else [],
                "idx": {"passage": idx, "query": number},
            }
            number += 1


# The types of the columns of `rows`, for Parquet.
ROW_TYPES: dict[str, Kind] = {
    "id": "string",
    "passage": "string",
    "query": "string",
    "entities": ["string"],
    "entity_spans": {"text": ["string"], "start": ["int32"], "end": ["int32"]},
    "answers": ["string"],
    "idx": {"passage": "int32", "query": "int32"},
}
