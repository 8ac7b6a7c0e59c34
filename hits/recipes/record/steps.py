"""ReCoRD's steps between its stages: import, moving on, and samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, BinaryIO

from hits.formats.inputs import record
from hits.recipes.dealing import Earlier
from hits.recipes.record.articles import (
    COMPUTATION_AGAIN,
    admit,
    are_articles,
    draw_queries,
    read_articles,
    told_of_queries,
)
from hits.recipes.record.filtering import FILTERING, GENERATE
from hits.recipes.record.releasing import build_release
from hits.recipes.record.scoring import KEY_FILE, SCORING
from hits.recipes.record.splitting import EVAL, HUMAN, REVALIDATE, VALIDATE, kept_item, mark, split
from hits.recipes.sampling import sample
from hits.recipes.source import (
    Collected,
    DrawSource,
    Json,
    JudgedItem,
    NextItem,
    SourceDocument,
    SourceItem,
)
from hits.text.questions.query_options import OPTIONS, rule_of

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
COMPUTATIONS = (FILTERING, COMPUTATION_AGAIN)
MARKS_WHOLE_PROJECT = True
__all__ = [
    "COMPUTATIONS",
    "KEY_FILE",
    "SCORING",
    "MARKS_WHOLE_PROJECT",
    "admit",
    "build_release",
    "check_option",
    "draw",
    "draws_from",
    "mark",
    "next_items",
    "read_documents",
    "told_of_draw",
]


# Import


def read_documents(
    stream: BinaryIO,
    *,
    name: str = "",
    max_bytes: int,
    default_origin: str,
    progress: Callable[[int], None] | None = None,
    seed: int = 0,
    options: Mapping[str, Any] = NO_OPTIONS,
) -> list[SourceDocument]:
    """The documents of a ReCoRD file, one item a query; or articles, of which queries are made.

    Raises FormatErrors with every fault.
    """
    if are_articles(stream, name):
        return read_articles(
            stream, name=name, max_bytes=max_bytes, default_origin=default_origin, progress=progress, options=options
        )
    found = record.read(stream, max_bytes=max_bytes, default_origin=default_origin, progress=progress)
    return [_source(document) for document in found]


def _source(document: record.Document) -> SourceDocument:
    data: Json = {
        "text": document.text,
        "entities": [list(span) for span in document.entities],
        "source": document.source,
        "key_field": document.key_field,
    }
    items = tuple(_source_item(query) for query in document.queries)
    return SourceDocument(document.key, document.origin, data, items, document.line, document.place)


def _source_item(query: record.Query) -> SourceItem:
    """The item has the query's own key: a release whose queries share one could not be read again."""
    answers = [answer._asdict() for answer in query.answers]
    data: Json = {"query": query.query, "answers": answers, "key": query.key, "key_field": query.key_field}
    return SourceItem(query.key, data)


# Moving on


def next_items(item: JudgedItem) -> list[NextItem]:
    """What was kept for dev and test is asked again, then measured."""
    later = {VALIDATE: REVALIDATE, REVALIDATE: HUMAN}.get(item.stage)
    if later is None or item.outcome != "kept" or item.purpose != EVAL:
        return []
    return [NextItem(later, item.key, item.data)]


def told_of_draw(stage_key: str, collected: Collected) -> Json:
    """See `told_of_queries`; nothing is said of other samples."""
    return told_of_queries(collected) if stage_key == VALIDATE else {}


def check_option(name: str, value: Any) -> None:
    """Raises ValueError for a value that queries cannot be made by."""
    if name in OPTIONS:
        rule_of({name: value})


# Sampling


def draw(stage_key: str, collected: Collected, count: int, *, seed: int) -> list[NextItem]:
    """Queries of articles that go to people, or of dev to be labelled by the reasoning they take (section 4).

    Dev is as a release would have it now. Two passes, so that texts are in memory only of what is drawn.
    """
    if stage_key == VALIDATE:
        return draw_queries(collected, count, seed=seed)
    earlier = Earlier(collected.released())
    dev = split(
        (kept_item(item, earlier) for item in collected.chain()), seed=collected.seed, options=collected.options
    ).dev
    drawn = set(sample((item.query_key for item in dev), count, f"draw {stage_key} {seed}"))
    # The last stage before the sample that kept an item of dev.
    return [
        NextItem(stage_key, item.key, item.data, parent=((HUMAN if HUMAN in item.kept_in else REVALIDATE), item.key))
        for item in collected.chain()
        if item.key in drawn
    ]


def draws_from(stage_key: str) -> DrawSource:
    """Queries that were made of articles, or those that two workers in a row answered correctly."""
    return DrawSource((GENERATE if stage_key == VALIDATE else REVALIDATE,))
