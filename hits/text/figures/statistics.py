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
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy as np

OVERALL = "overall"

_TOKEN = re.compile(r"@placeholder|\w+(?:['\u2019.,-]\w+)*|[^\w\s]")
_MARKER = re.compile(r"@highlight\b")


class QueryText(Protocol):
    @property
    def query(self) -> str: ...


class Passage(Protocol):
    """What the figures need of a document, such as a `hits.formats.inputs.record.Document`."""

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


class _Tokens:
    """How many tokens the texts had that were added, and how many different ones."""

    def __init__(self, tokeniser: str) -> None:
        self._tokenise = TOKENISERS[tokeniser]
        self.total, self.different = 0, set[str]()

    def add(self, text: str) -> None:
        found = self._tokenise(text)
        self.total += len(found)
        self.different.update(found)


def _mean(total: int, n: int) -> float | None:
    return total / n if n else None


def _repeated(documents: Iterable[Passage]) -> frozenset[int]:
    """The hashes that more than one document's passage has. A number for each document is held."""
    hashes = array("q", (hash(document.text) for document in documents))
    different, times = np.unique(np.frombuffer(hashes, np.int64), return_counts=True)
    return frozenset(different[times > 1].tolist())


def size(documents: Iterable[Passage], tokeniser: str = "whitespace") -> Size:
    """`documents` gives them anew each time; passages are held only where they are repeated.

    `tokeniser` is a name of `TOKENISERS`.
    """
    repeated = _repeated(documents)
    mentions: dict[str, set[tuple[int, int]]] = {}
    passages, entities, queries = 0, 0, 0
    passage_tokens, query_tokens = _Tokens(tokeniser), _Tokens(tokeniser)
    for document in documents:
        spans = {(start, end) for start, end in document.entities}
        if hash(document.text) in repeated:
            # Documents that repeat a passage add only mentions that are new.
            mentions.setdefault(document.text, set()).update(spans)
        else:
            passages, entities = passages + 1, entities + len(spans)
            passage_tokens.add(document.text)
        for query in document.queries:
            queries += 1
            query_tokens.add(query.query)
    for text, spans in mentions.items():
        passages, entities = passages + 1, entities + len(spans)
        passage_tokens.add(text)
    return Size(
        queries=queries,
        unique_passages=passages,
        passage_vocabulary=len(passage_tokens.different),
        query_vocabulary=len(query_tokens.different),
        tokens_per_passage=_mean(passage_tokens.total, passages),
        entities_per_passage=_mean(entities, passages),
        tokens_per_query=_mean(query_tokens.total, queries),
    )


class _All:
    """The documents of all splits, one after the other, anew each time."""

    def __init__(self, splits: Iterable[Iterable[Passage]]) -> None:
        self._splits = tuple(splits)

    def __iter__(self) -> Iterator[Passage]:
        return chain.from_iterable(self._splits)


def split_statistics(
    splits: Mapping[str, Iterable[Passage]], tokeniser: str = "whitespace"
) -> dict[str, dict[str, Any]]:
    """Split name to the fields of `Size`, in the given order, and `overall` last. Each gives its documents anew.

    A passage that stands in two splits counts once in `overall`. Raises ValueError for a split of that name.
    """
    if OVERALL in splits:
        raise ValueError(f"no split can be called {OVERALL!r}: that is the name of the sum")
    named: dict[str, Iterable[Passage]] = {**splits, OVERALL: _All(splits.values())}
    return {name: vars(size(documents, tokeniser)) for name, documents in named.items()}
