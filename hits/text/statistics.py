"""The size of a cloze data set: the figures of ReCoRD's Table 1, per split and overall.

What is counted, so that the figures can be compared:
- by whitespace, a token is what stands between spaces, the markers `@highlight` are tokens, and a vocabulary is the
  number of different tokens as they are spelled. So the paper counts: its Table 1 (Zhang et al. 2018, section 3.4) has
  169.3 tokens a passage and 21.4 a query, and 20 published examples have 171.2 and 23.1 by this rule;
- by punctuation, a token is a word (letters and digits, held together by inner apostrophes, hyphens, points and commas,
  as in "don't", "U.S" or "2,257") or one punctuation mark; the markers `@highlight` are no tokens, `@placeholder` is
  one, and a vocabulary is the number of different tokens without regard to case;
- passages are unique by their text, and means of passages are over unique passages;
- entities are mentions, as marked: a name that is marked twice counts twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

OVERALL = "overall"

_TOKEN = re.compile(r"@placeholder|\w+(?:['\u2019.,-]\w+)*|[^\w\s]")
_MARKER = re.compile(r"@highlight\b")


class QueryText(Protocol):
    @property
    def query(self) -> str: ...


class Passage(Protocol):
    """What the figures need of a document, such as a `hits.formats.record.Document`."""

    @property
    def text(self) -> str: ...

    @property
    def entities(self) -> Sequence[tuple[int, int]]: ...

    @property
    def queries(self) -> Sequence[QueryText]: ...


@dataclass(frozen=True)
class Size:
    """Means are None where there is nothing to take a mean of."""

    queries: int
    unique_passages: int
    passage_vocabulary: int
    query_vocabulary: int
    tokens_per_passage: float | None
    entities_per_passage: float | None
    tokens_per_query: float | None


def tokens(text: str) -> list[str]:
    """The tokens in order, in the text's own case."""
    return _TOKEN.findall(_MARKER.sub(" ", text))


def _folded(text: str) -> list[str]:
    return tokens(text.lower())


TOKENISERS: Mapping[str, Callable[[str], list[str]]] = {"whitespace": str.split, "punctuation": _folded}


def _count(texts: Iterable[str], tokenise: Callable[[str], list[str]]) -> tuple[int, int]:
    """(tokens, different tokens)."""
    total, seen = 0, set[str]()
    for text in texts:
        found = tokenise(text)
        total += len(found)
        seen.update(found)
    return total, len(seen)


def _mean(total: int, n: int) -> float | None:
    return total / n if n else None


def _mentions(documents: Iterable[Passage]) -> dict[str, set[tuple[int, int]]]:
    """Passage text to its mentions; documents that repeat a passage add only mentions that are new."""
    found: dict[str, set[tuple[int, int]]] = {}
    for document in documents:
        spans = ((start, end) for start, end in document.entities)
        found.setdefault(document.text, set()).update(spans)
    return found


def size(documents: Sequence[Passage], tokeniser: str = "whitespace") -> Size:
    """`tokeniser` is a name of `TOKENISERS`."""
    tokenise = TOKENISERS[tokeniser]
    passages = _mentions(documents)
    queries = [query.query for document in documents for query in document.queries]
    passage_tokens, passage_vocabulary = _count(passages, tokenise)
    query_tokens, query_vocabulary = _count(queries, tokenise)
    return Size(
        queries=len(queries),
        unique_passages=len(passages),
        passage_vocabulary=passage_vocabulary,
        query_vocabulary=query_vocabulary,
        tokens_per_passage=_mean(passage_tokens, len(passages)),
        entities_per_passage=_mean(sum(map(len, passages.values())), len(passages)),
        tokens_per_query=_mean(query_tokens, len(queries)),
    )


def split_statistics(
    splits: Mapping[str, Sequence[Passage]], tokeniser: str = "whitespace"
) -> dict[str, dict[str, Any]]:
    """Split name to the fields of `Size`, in the given order, and `overall` last.

    A passage that stands in two splits counts once in `overall`. Raises ValueError for a split of that name.
    """
    if OVERALL in splits:
        raise ValueError(f"no split can be called {OVERALL!r}: that is the name of the sum")
    everything = list(chain.from_iterable(splits.values()))
    named = {**splits, OVERALL: everything}
    return {name: vars(size(documents, tokeniser)) for name, documents in named.items()}
