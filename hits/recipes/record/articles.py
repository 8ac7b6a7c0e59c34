"""From articles to queries (R1), and the queries that go on to people (R1 and R2).

Source: Zhang et al. (2018), sections 3.1 to 3.3. What the queries of an article are is in
`hits.text.questions.passage_queries`.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from hits.formats.files.faults import Faults
from hits.formats.inputs import articles
from hits.formats.inputs.articles import Article
from hits.recipes.sampling import sample
from hits.recipes.source import (
    Collected,
    Computation,
    Found,
    Json,
    JudgedItem,
    NewDocument,
    NextItem,
    Progress,
    SourceDocument,
    SourceItem,
)
from hits.text.originality.fingerprints import duplicates, fingerprint
from hits.text.questions.passage_queries import TOO_LITTLE, Query, generate_all, queries
from hits.text.questions.query_options import rule_of

GENERATE, VALIDATE, FILTER, AGAIN = "generate", "validate", "filter", "generate-again"
# The passage is a document of its own, beside the article's; its key must not be longer than any key may be.
PASSAGE = "/passage"
LONGEST_KEY = 200 - len(PASSAGE)
_HEAD = 65_536
_PARAGRAPHS, _PASSAGE = re.compile(rb'"paragraphs"\s*:'), re.compile(rb'"(qas|passage|data|version)"\s*:')
_AGAIN_STEP = 200
MOST_NAMED = 20


# Import


def are_articles(stream: BinaryIO, name: str) -> bool:
    """Whether a file holds articles; else it is ReCoRD's own layout. The stream stays where it stands."""
    ending = PurePosixPath(name.lower()).suffix
    if ending in (".story", ".zip"):
        return True
    head = stream.read(_HEAD)
    stream.seek(-len(head), io.SEEK_CUR)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] not in (b"{", b"["):
        return ending == ".txt"
    return bool(_PARAGRAPHS.search(head)) and not _PASSAGE.search(head)


def read_articles(
    stream: BinaryIO,
    *,
    name: str,
    max_bytes: int,
    default_origin: Any,
    progress: Callable[[int], None] | None,
    options: Mapping[str, Any],
) -> list[SourceDocument]:
    """One document an article, with one item that holds its queries. Raises FormatErrors with every fault.

    An article with too little for a passage has no item, and a note that says why.
    """
    ending = PurePosixPath(name.lower()).suffix
    # JSON Lines under any other name.
    name = name if ending in (".story", ".zip", ".txt", ".jsonl") else f"{name}.jsonl"
    found = articles.read(stream, name, max_bytes=max_bytes, default_origin=default_origin)
    _refuse_long_keys(found)
    made = generate_all(found, rule_of(options), progress=progress)
    return [_source(article, one.data, one.too_little) for article, one in zip(found, made, strict=True)]


def _refuse_long_keys(found: Iterable[Article]) -> None:
    faults = Faults()
    for article in found:
        if len(article.key) > LONGEST_KEY:
            said = f"has {len(article.key)} characters; an article's id may have {LONGEST_KEY}"
            faults.add(article.line, article.place or "id", said)
    faults.refuse()


def _source(article: Article, data: Json, too_little: str) -> SourceDocument:
    items = () if too_little else (SourceItem(article.key, data, GENERATE),)
    return SourceDocument(
        key=article.key,
        origin=article.origin,
        data={
            "title": article.title,
            "paragraphs": list(article.paragraphs),
            "highlights": list(article.highlights),
            "source": article.source,
            "fingerprint": fingerprint(" ".join((*article.paragraphs, *article.highlights))),
        },
        items=items,
        line=article.line,
        place=article.place,
        note=f"{TOO_LITTLE[too_little]}." if too_little else "",
    )


def admit(documents: list[SourceDocument], collected: Collected) -> list[SourceDocument]:
    """Articles whose text came before, in this file or an earlier one, lose their item: they would lead from one fold
    or split into another. One note names them. ReCoRD's own files stay as they are.
    """
    own = [(document.key, document.data["fingerprint"]) for document in documents if "fingerprint" in document.data]
    if not own:
        return documents
    stored = ((item.document_key, item.document) for item in collected.judged(GENERATE))
    earlier = ((key, data["fingerprint"]) for key, data in stored if "fingerprint" in data)
    named = duplicates(own, earlier=earlier)
    listed = ", ".join(f"{key} (as {first})" for key, first in islice(named.items(), MOST_NAMED))
    more = f" and {len(named) - MOST_NAMED:,} more" if len(named) > MOST_NAMED else ""
    note = f"the same text, or nearly the same, came before: {listed}{more}."
    return [replace(one, items=(), note=note) if one.key in named else one for one in documents]


# Generating again


class _Stored:
    """An article as its document keeps it."""

    def __init__(self, data: Json) -> None:
        self.paragraphs: Sequence[str] = data["paragraphs"]
        self.highlights: Sequence[str] = data["highlights"]


def generate_again(
    collected: Collected, params: Json, seed: int, checkpoint: Json | None
) -> Iterator[Progress | Found]:
    """The items as the present options give them, two hundred articles at a time; nothing is replaced by it.

    An item whose document is no article, such as one with a passage alone, gets no result.
    """
    rule = rule_of(collected.options)
    total = sum(1 for _ in collected.judged(GENERATE))
    done, items = 0, collected.judged(GENERATE)
    while part := list(islice(items, _AGAIN_STEP)):
        articles = [item for item in part if {"paragraphs", "highlights"} <= item.document.keys()]
        stored = [_Stored(item.document) for item in articles]
        for item, made in zip(articles, generate_all(stored, rule), strict=True):
            why = f"{TOO_LITTLE[made.too_little]} by these options" if made.too_little else ""
            yield Found(item.key, {"data": None if why else made.data, "too_little": why})
        done += len(part)
        yield Progress(min(done, total), total)


def _told_again(item: Json, result: Json) -> Sequence[Mapping[str, str]]:
    """Queries before and after, of one article."""
    made = result["data"]
    after = f"{len(queries(made)):,} queries" if made else f"none: {result['too_little']}"
    return [{"Now": f"{len(queries(item)):,} queries", "By the present options": after}]


COMPUTATION_AGAIN = Computation(
    AGAIN,
    "Generate again",
    "Makes the queries of every article by the present options. Nothing is replaced before you have seen what would "
    "change, on the page of the queries.",
    GENERATE,
    {},
    generate_again,
    table=_told_again,
)


# Sending to people


def draw_queries(collected: Collected, count: int, *, seed: int) -> list[NextItem]:
    """Queries that no reader answered correctly in the newest finished run of the filter, or all without a run.

    Two passes, so that texts are in memory only of what is drawn.
    """
    keys = (_key(item, query) for item, left in _left(collected) for query in left)
    drawn = set(sample(keys, count, f"draw {VALIDATE} {seed}"))
    return [_next(item, query) for item, left in _left(collected) for query in left if _key(item, query) in drawn]


def _left(collected: Collected) -> Iterator[tuple[JudgedItem, list[Query]]]:
    for item in collected.judged(GENERATE, computation=FILTER):
        answered = _answered(item)
        yield item, [query for query in queries(item.data) if not answered.get(query.id, {}).get("correct")]


def _answered(item: JudgedItem) -> dict[str, Json]:
    found: dict[str, Json] = (item.computed or {}).get("queries", {})
    return found


def _key(item: JudgedItem, query: Query) -> str:
    return f"{item.key}/{query.id}"


def _next(item: JudgedItem, query: Query) -> NextItem:
    key, text = _key(item, query), item.data["text"]
    answers = [{"start": start, "end": end - 1, "text": text[start:end]} for start, end in query.answers]
    data = {"query": query.query, "answers": answers, "key": key, "key_field": "id"}
    passage = {
        "text": text,
        "entities": [[one["start"], one["end"] - 1] for one in item.data["mentions"]],
        "source": item.document.get("source", ""),
        "key_field": "id",
    }
    document = NewDocument(item.key + PASSAGE, passage)
    return NextItem(VALIDATE, key, data, parent=(GENERATE, item.key), document=document)


EXAMPLES = 5


def told_of_queries(collected: Collected) -> Json:
    """What a lead reads before queries are sent: counts, what a reader answered by fold, and examples of both.

    {"articles", "queries", "answered", "unfiltered", "readers": names with versions, "folds": [{"fold", "queries",
    "answered"}], "examples": [{"key", "query", "answers", "prediction", "answered"}]}. Counts are of queries that are
    not dropped; `unfiltered` have no prediction.
    """
    counts: Counter[str] = Counter()
    folds: dict[int, Counter[str]] = {}
    readers: Counter[str] = Counter()
    examples: dict[bool, list[Json]] = {True: [], False: []}
    for item in collected.judged(GENERATE, computation=FILTER):
        counts["articles"] += 1
        answered = _answered(item)
        if item.computed:
            readers[f"{item.computed['reader']} {item.computed.get('version', '')}".strip()] += 1
        for query in queries(item.data):
            counts["queries"] += 1
            if query.id not in answered:
                counts["unfiltered"] += 1
                continue
            found = answered[query.id]
            counts["answered"] += found["correct"]
            fold = folds.setdefault(found["fold"], Counter())
            fold["queries"] += 1
            fold["answered"] += found["correct"]
            if len(examples[found["correct"]]) < EXAMPLES:
                examples[found["correct"]].append(_example(item, query, found))
    return {
        **{name: counts[name] for name in ("articles", "queries", "answered", "unfiltered")},
        "readers": list(readers),
        "folds": [{"fold": number, **folds[number]} for number in sorted(folds)],
        "examples": [*examples[True], *examples[False]],
    }


def _example(item: JudgedItem, query: Query, found: Json) -> Json:
    answers = [item.data["text"][start:end] for start, end in query.answers]
    return {
        "key": _key(item, query),
        "query": query.query,
        "answers": list(dict.fromkeys(answers)),
        "prediction": found["prediction"],
        "answered": found["correct"],
    }
