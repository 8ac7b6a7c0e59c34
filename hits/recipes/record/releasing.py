"""ReCoRD's release: its files, its statistics (R9), and how well people do on exactly its queries (R7).

File names are those of the published data: train.json and dev.json in ReCoRD's own layout, train.jsonl and val.jsonl in
that of SuperGLUE (A. Wang et al. 2019), whose numbers count from 0 in each split. The queries of test have no answers;
those lie in test-key.json, in the own layout, as ReCoRD's evaluation script takes it. Parquet has one row a query.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import Any, BinaryIO

from hits.formats import by_id, record
from hits.formats.reading import kind, quoted
from hits.formats.tables import write_parquet
from hits.recipes.artefacts import check
from hits.recipes.keys import reading
from hits.recipes.record.splitting import CRAWLED, DEFAULTS, HUMAN, REVALIDATE, VALIDATE, Split, kept_item, split
from hits.recipes.source import ChainItem, Collected, Json, ReleaseContent, ToldItem
from hits.text.artefacts import Example
from hits.text.squad import macro
from hits.text.statistics import split_statistics

FILE_VERSION = "1.0"
KEY_FILE = "test-key.json"
_LINES = {"train": "train.jsonl", "dev": "val.jsonl", "test": "test.jsonl"}


def build_release(collected: Collected) -> ReleaseContent:
    """See `release_of`."""
    return release_of(
        list(collected.chain()), seed=collected.seed, options=collected.options, said=_said_by_people(collected)
    )


def _said_by_people(collected: Collected) -> dict[str, str]:
    """What one more worker chose, by query, of those whose answer counts."""
    asked = collected.judged(HUMAN, labels=True)
    return {item.key: item.labels[0].value["text"] for item in asked if item.labels}


def release_of(
    chain: Sequence[ChainItem],
    *,
    seed: int,
    options: Mapping[str, Any] = DEFAULTS,
    said: Mapping[str, str] = MappingProxyType({}),
) -> ReleaseContent:
    """Train, dev and test with the counts and the statistics of each; `said` is what a person answered, by query."""
    options = {**DEFAULTS, **options}
    by_key = {(item.document_key, item.key): item for item in chain}
    found = split([kept_item(item) for item in chain], seed=seed, options=options)
    parts = {"train": found.train, "dev": found.dev, "test": found.test}
    documents = {name: _documents(by_key[i.document_key, i.query_key] for i in items) for name, items in parts.items()}
    statistics = split_statistics(documents, options["tokeniser"])
    for name in ("dev", "test"):
        statistics[name] |= human_performance(documents[name], said)
    return ReleaseContent(
        files=_files(documents),
        counts={name: len(items) for name, items in parts.items()},
        left_out=found.reasons(),
        statistics=statistics,
        notes=found.notes,
        check=partial(check, {name: partial(_examples, of) for name, of in documents.items()}),
        tables={"queries": {name: f"{name}.parquet" for name, items in parts.items() if items}},
        told=dict.fromkeys((VALIDATE, REVALIDATE, HUMAN), partial(_told, found)),
    )


def _told(found: Split) -> Iterator[ToldItem]:
    """Queries have the same key in each stage. Those of test are not told."""
    for split_name, items in (("train", found.train), ("dev", found.dev)):
        for item in items:
            yield ToldItem(item.query_key, split_name)


def _examples(documents: Iterable[record.Document]) -> Iterator[Example]:
    """The names that a passage marks are the candidates of each of its queries."""
    for document in documents:
        names = list(dict.fromkeys(document.text[start : end + 1] for start, end in document.entities))
        for query in document.queries:
            right = frozenset(names.index(text) for text in {answer.text for answer in query.answers} & set(names))
            if right:
                yield Example(document.text, query.query, names, right)


def human_performance(documents: Iterable[record.Document], said: Mapping[str, str]) -> Json:
    """R7, flat: EM and F1 in percent over the queries of one split that a person answered; nothing without any."""
    wanted = {
        query.key: query for document in documents for query in document.queries if query.key in said and query.answers
    }
    if not wanted:
        return {}
    references = {key: [answer.text for answer in query.answers] for key, query in wanted.items()}
    scores = macro({key: said[key] for key in wanted}, references)
    return {"human_queries": scores.n, "human_exact_match": scores.em, "human_f1": scores.f1}


def _documents(items: Iterable[ChainItem]) -> list[record.Document]:
    """One document a passage, with those of its queries that are in the split."""
    groups: dict[str, list[ChainItem]] = defaultdict(list)
    for item in items:
        groups[item.document_key].append(item)
    return [_document(group[0], group) for group in groups.values()]


def _document(first: ChainItem, items: Sequence[ChainItem]) -> record.Document:
    data = first.document
    return record.Document(
        key=first.document_key,
        source=data["source"],
        origin="crawled" if first.origin == CRAWLED else "public",
        text=data["text"],
        entities=tuple(record.Span(start, end) for start, end in data["entities"]),
        queries=tuple(_query(item.data) for item in items),
        key_field=data["key_field"],
    )


def _query(data: Mapping[str, Any]) -> record.Query:
    answers = tuple(record.Answer(**answer) for answer in data["answers"])
    return record.Query(data["key"], data["query"], answers, data["key_field"])


# Files


def _files(documents: Mapping[str, Sequence[record.Document]]) -> dict[str, BinaryIO]:
    files = {KEY_FILE: _spooled(record.written(documents["test"], FILE_VERSION))}
    for name, of in documents.items():
        told = name != "test"
        files[f"{name}.json"] = _spooled(record.written(of, FILE_VERSION, answers=told))
        files[_LINES[name]] = _spooled(record.numbered_lines(of, answers=told))
        # Whoever stores the release reads the streams, so they outlive this function.
        table = files[f"{name}.parquet"] = TemporaryFile()  # noqa: SIM115
        write_parquet(record.rows(of, answers=told), record.ROW_TYPES, table)
    return files


def _spooled(pieces: Iterable[bytes]) -> BinaryIO:
    stream: BinaryIO = TemporaryFile()  # noqa: SIM115
    stream.writelines(pieces)
    return stream


# Scoring what a model answered


def evaluate(key: BinaryIO, predictions: BinaryIO, *, key_name: str, name: str, max_bytes: int) -> Json:
    """{"exact_match", "f1" in percent, "n" queries} of `{query id: answer}` against a file in ReCoRD's own layout.

    As ReCoRD's evaluation script computes them (Zhang et al. 2018, section 5.3). Raises KeyRefusedError, and
    FormatErrors for predictions that cannot be read, with every query without an answer and every answer without one.
    """
    with reading(key_name):
        references = dict(_references(key, max_bytes))
    given = by_id.read_object(predictions, max_bytes=max_bytes)
    said = {id: _text(given, id) for id in references}
    given.refuse("is the id of no query of this file")
    scores = macro(said, references)
    return {"exact_match": scores.em, "f1": scores.f1, "n": scores.n}


def _references(key: BinaryIO, max_bytes: int) -> Iterator[tuple[str, list[str]]]:
    for document in record.read(key, max_bytes=max_bytes, default_origin="public"):
        for query in document.queries:
            yield query.key, [answer.text for answer in query.answers]


def _text(given: by_id.ById, id: str) -> str:
    said = given.take(id, "answer")
    if isinstance(said, str):
        return said
    if said is not by_id.MISSING:
        given.faults.add(None, quoted(id), f"its answer must be a text, not {kind(said)}")
    return ""
