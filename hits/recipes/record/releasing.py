"""ReCoRD's release: its files, its statistics (R9), and how well people do on exactly its queries (R7).

File names are those of the published data: train.json and dev.json in ReCoRD's own layout, train.jsonl and val.jsonl in
that of SuperGLUE (A. Wang et al. 2019), whose numbers count from 0 in each split. The queries of test have no answers;
those lie in test-key.json, in the own layout, as ReCoRD's evaluation script takes it. Parquet has one row a query.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import Any, BinaryIO

from hits.formats.inputs import record
from hits.formats.outputs.tables import write_parquet
from hits.recipes.artefacts import check
from hits.recipes.dealing import NOTHING, Earlier, digest_of
from hits.recipes.record.filtering import FILTER, GENERATE, answered
from hits.recipes.record.query_ids import without_hints
from hits.recipes.record.scoring import KEY_FILE
from hits.recipes.record.splitting import (
    CRAWLED,
    DEFAULTS,
    DEV,
    HUMAN,
    REVALIDATE,
    TEST,
    TRAIN,
    VALIDATE,
    Division,
    divide,
    kept_item,
)
from hits.recipes.source import ChainItem, Collected, Json, ReleaseContent, ReleasedItem, ToldItem
from hits.text.figures.squad import macro
from hits.text.figures.statistics import split_statistics
from hits.text.filtering.artefacts import Example
from hits.text.questions.passage_queries import Rule, ngrams, passage_ngrams, queries, tokens_of

FILE_VERSION = "1.0"
# Of the documents of a split that are read at once.
READ_BYTES = 1 << 16
_NOT_KEPT = {
    "dropped": "not confirmed by the first worker",
    "open": "not validated yet",
    "withdrawn": "made from what does not count any more",
}
_LINES = {"train": "train.jsonl", "dev": "val.jsonl", "test": "test.jsonl"}


def build_release(collected: Collected) -> ReleaseContent:
    """See `release_of`; with what became of the queries that got no further than the first validation."""
    content = release_of(
        collected.chain,
        seed=collected.seed,
        options=collected.options,
        said=_said_by_people(collected),
        earlier=Earlier(collected.released()),
        secret=collected.pseudonym_key,
    )
    left_out = {**_left_out_before(collected), **content.left_out}
    return replace(
        content,
        left_out=left_out,
        written=("queries", sum(left_out.values()) + sum(content.counts.values())),
        funnel={**left_out, **{f"released in {name}": count for name, count in content.counts.items()}},
    )


def _left_out_before(collected: Collected) -> Counter[str]:
    """Queries of articles that were not sent to workers, and those that the first worker did not confirm."""
    counts, validated = Counter[str](), set[str]()
    for key, outcome in collected.outcomes(VALIDATE):
        validated.add(key)
        if outcome != "kept":
            counts[_NOT_KEPT[outcome]] += 1
    for item in collected.judged(GENERATE, computation=FILTER):
        right = answered(item.computed)
        for query in queries(item.data, with_removed=True):
            if f"{item.key}/{query.id}" in validated:
                continue
            if item.outcome in ("dropped", "withdrawn"):
                counts["of an article that was taken out"] += 1
            elif query.id in item.data["removed"]:
                counts["taken out by a lead"] += 1
            else:
                counts["answered by the reader" if query.id in right else "not sent to workers"] += 1
    return counts


def _said_by_people(collected: Collected) -> dict[str, str]:
    """What one more worker chose, by query, of those whose answer counts."""
    asked = collected.judged(HUMAN, labels=True)
    return {item.key: item.labels[0].value["text"] for item in asked if item.labels}


def release_of(
    chain: Callable[[], Iterable[ChainItem]],
    *,
    seed: int,
    options: Mapping[str, Any] = DEFAULTS,
    said: Mapping[str, str] = MappingProxyType({}),
    earlier: Earlier = NOTHING,
    secret: str = "",
) -> ReleaseContent:
    """Train, dev and test with the counts and the statistics of each; `said` is what a person answered, by query, and
    `secret` is what the ids of test are made with.

    `chain` gives the items anew each time, ordered by document and key; none are held. Raises ValueError.
    """
    options = {**DEFAULTS, **options}
    division = divide((kept_item(item, earlier) for item in _ordered(chain())), seed=seed, options=options)
    parts, left_out = _parts(chain(), division, earlier)
    statistics = split_statistics(parts, options["tokeniser"])
    for name in (DEV, TEST):
        statistics[name] |= human_performance(parts[name], said)
    return ReleaseContent(
        files=_files(parts, secret),
        counts={name: part.items for name, part in parts.items()},
        left_out=left_out,
        statistics=statistics,
        notes=(*division.notes, *_note_of_shared_words(parts.values())),
        check=partial(check, {name: partial(_examples, part) for name, part in parts.items()}),
        tables={"queries": {name: f"{name}.parquet" for name, part in parts.items() if part.items}},
        told=dict.fromkeys((VALIDATE, REVALIDATE, HUMAN), partial(_told, parts)),
        splits=partial(_splits, parts),
    )


def _ordered(chain: Iterable[ChainItem]) -> Iterator[ChainItem]:
    """Raises ValueError where a document's items do not stand together, or one stands there twice."""
    last = ("", "")
    for item in chain:
        here = (item.document_key, item.key)
        if here <= last:
            raise ValueError(
                f"items have to come in order, each once, but {'/'.join(here)} comes after {'/'.join(last)}"
            )
        last = here
        yield item


def _note_of_shared_words(parts: Iterable[Iterable[record.Document]]) -> Iterator[str]:
    """What a stricter count than the one by which sentences were dropped (R1) would have dropped too."""
    rule, shared, queries = Rule(tokens="words"), 0, 0
    for document in (one for part in parts for one in part):
        known = passage_ngrams(document.text, rule)
        queries += len(document.queries)
        shared += sum(not known.isdisjoint(ngrams(tokens_of(one.query, rule), rule.ngram)) for one in document.queries)
    if queries:
        yield (
            f"{shared:,} of {queries:,} queries ({100 * shared / queries:.1f} %) share three words in a row with their "
            "passage, in lower case and without punctuation. The option tokens says how sentences were compared."
        )


class _Part:
    """The documents of one split, in a file that is read part by part, as often as they are asked for.

    Readers may take turns. The file is gone with the last reference.
    """

    def __init__(self) -> None:
        self.items = 0
        self._lines: BinaryIO = TemporaryFile()  # noqa: SIM115

    def add(self, items: Sequence[ChainItem]) -> None:
        """Those of one document."""
        self.items += len(items)
        first = items[0]
        asked = [(item.key, item.data) for item in items]
        self._lines.write(json.dumps([first.document_key, first.origin, first.document, asked]).encode() + b"\n")

    def __iter__(self) -> Iterator[record.Document]:
        for key, origin, document, asked in self._read():
            yield _document(key, origin, document, [data for _, data in asked])

    def item_keys(self) -> Iterator[tuple[str, str]]:
        """(key, passage)."""
        return ((key, document["text"]) for _, _, document, asked in self._read() for key, _ in asked)

    def _read(self) -> Iterator[list[Any]]:
        at = 0
        while True:
            self._lines.seek(at)
            lines = self._lines.readlines(READ_BYTES)
            if not lines:
                return
            at = self._lines.tell()
            yield from map(json.loads, lines)


def _parts(chain: Iterable[ChainItem], division: Division, earlier: Earlier) -> tuple[dict[str, _Part], dict[str, int]]:
    """(the documents of each split, how many items were left out by reason)."""
    parts = {name: _Part() for name in (TRAIN, DEV, TEST)}
    left_out: Counter[str] = Counter()
    for _, items in groupby(chain, key=attrgetter("document_key")):
        of_part: dict[str, list[ChainItem]] = defaultdict(list)
        for item in items:
            part, reason = division.place(kept_item(item, earlier))
            if part:
                of_part[part].append(item)
            else:
                left_out[reason] += 1
        for part, placed in of_part.items():
            parts[part].add(placed)
    return parts, dict(sorted(left_out.items()))


def _told(parts: Mapping[str, _Part]) -> Iterator[ToldItem]:
    """Queries have the same key in each stage. Those of test are not told."""
    for name in (TRAIN, DEV):
        for key, _ in parts[name].item_keys():
            yield ToldItem(key, name)


def _splits(parts: Mapping[str, _Part]) -> Iterator[ReleasedItem]:
    for name, part in parts.items():
        for key, passage in part.item_keys():
            yield ReleasedItem(key, digest_of(passage), name)


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


def _document(key: str, origin: str, data: Mapping[str, Any], asked: Iterable[Mapping[str, Any]]) -> record.Document:
    """A passage with those of its queries that are in the split."""
    return record.Document(
        key=key,
        source=data["source"],
        origin="crawled" if origin == CRAWLED else "public",
        text=data["text"],
        entities=tuple(record.Span(start, end) for start, end in data["entities"]),
        queries=tuple(map(_query, asked)),
        key_field=data["key_field"],
    )


def _query(data: Mapping[str, Any]) -> record.Query:
    answers = tuple(record.Answer(**answer) for answer in data["answers"])
    return record.Query(data["key"], data["query"], answers, data["key_field"])


# Files


def _files(documents: Mapping[str, Iterable[record.Document]], secret: str) -> dict[str, BinaryIO]:
    def of(name: str) -> Iterable[record.Document]:
        found = documents[name]
        return found if name != TEST else (without_hints(document, secret) for document in found)

    files = {KEY_FILE: _spooled(record.written(of(TEST), FILE_VERSION))}
    for name in documents:
        told = name != TEST
        files[f"{name}.json"] = _spooled(record.written(of(name), FILE_VERSION, answers=told))
        files[_LINES[name]] = _spooled(record.numbered_lines(of(name), answers=told))
        # Whoever stores the release reads the streams, so they outlive this function.
        table = files[f"{name}.parquet"] = TemporaryFile()  # noqa: SIM115
        write_parquet(record.rows(of(name), answers=told), record.ROW_TYPES, table)
    return files


def _spooled(pieces: Iterable[bytes]) -> BinaryIO:
    stream: BinaryIO = TemporaryFile()  # noqa: SIM115
    stream.writelines(pieces)
    return stream
