"""ReCoRD's steps between its stages: marking, moving on, splitting, samples, and the files of a release.

Who goes where (Zhang et al. 2018, section 3.4):
- Train may hold public articles only, so every crawled document is marked `eval`: it can serve dev and test alone.
- Dev and test hold public and crawled queries in the ratio 3:7, so of the public documents just so many are marked
  `eval` as the crawled ones call for. Without crawled documents there is no ratio to keep, and a share of the public
  ones is marked.
- Documents are marked, not queries: all queries of a passage go one way, so that no passage is in two splits.
- Marks are made before validation and queries drop out later, so the ratio is restored when the data is split:
  public queries beyond it go to train, crawled ones, which may not, are left out and counted.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, BinaryIO, Literal

from hits.formats import record
from hits.recipes.partition import nearest_subset
from hits.recipes.sampling import sample
from hits.recipes.source import (
    ChainItem,
    Collected,
    Json,
    JudgedItem,
    NextItem,
    ReleaseContent,
    SourceDocument,
    SourceItem,
)
from hits.text.statistics import split_statistics

Purpose = Literal["train", "eval"]

VALIDATE, REVALIDATE, HUMAN = "validate", "revalidate", "human"
PUBLIC, CRAWLED = "public", "crawled"
TRAIN, EVAL = "train", "eval"
PUBLIC_PARTS, CRAWLED_PARTS = 3, 7
FILE_VERSION = "1.0"
# 22,000 of 122,000 queries.
EVAL_SHARE = 0.18
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})

NOT_VALIDATED = "not validated"
VALIDATED_ONCE = "meant for dev or test, validated only once"
CRAWLED_IN_TRAIN = "crawled, and train holds public articles only"
SURPLUS_CRAWLED = "crawled, beyond the ratio 3:7"


class SplitError(ValueError):
    """Items that cannot be split: doubled, or of a document that has two origins or two purposes."""


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
    """The documents of a ReCoRD file, one item a query. Raises FormatErrors with every fault."""
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


# Marking and moving on


def _nearest_whole(value: Fraction) -> int:
    return int(value + Fraction(1, 2))


def _eval_public(public: int, crawled: int, eval_share: float) -> int:
    """How many of the public documents are for dev and test."""
    wanted = Fraction(crawled * PUBLIC_PARTS, CRAWLED_PARTS) if crawled else public * Fraction(str(eval_share))
    return min(public, _nearest_whole(wanted))


def mark(
    documents_meta: Iterable[tuple[str, str]], *, seed: int, options: Mapping[str, Any] = NO_OPTIONS
) -> dict[str, Purpose]:
    """Document key to purpose, from (key, origin) in any order; the same seed gives the same marks.

    The option `eval_share` (0..1, by default 22k of 122k) counts only when no document was crawled. Raises ValueError
    for a share outside, a doubled key or an unknown origin.
    """
    listed = list(documents_meta)
    eval_share = options.get("eval_share", EVAL_SHARE)
    origins = dict(listed)
    if not 0 <= eval_share <= 1:
        raise ValueError(f"eval_share must lie between 0 and 1, but is {eval_share}")
    if len(origins) != len(listed) or not set(origins.values()) <= {PUBLIC, CRAWLED}:
        raise ValueError(f"every document needs a key of its own and an origin, {PUBLIC} or {CRAWLED}")
    public = sorted(key for key, origin in listed if origin == PUBLIC)
    wanted = _eval_public(len(public), len(listed) - len(public), eval_share)
    chosen = set(random.Random(f"mark {seed}").sample(public, wanted))
    return {key: "eval" if origin == CRAWLED or key in chosen else "train" for key, origin in listed}


def next_items(item: JudgedItem) -> list[NextItem]:
    """What was kept for dev and test is asked again, then measured."""
    later = {VALIDATE: REVALIDATE, REVALIDATE: HUMAN}.get(item.stage)
    if later is None or item.outcome != "kept" or item.purpose != EVAL:
        return []
    return [NextItem(later, item.key, item.data)]


# Splitting


@dataclass(frozen=True, order=True)
class KeptItem:
    """A query that every validation so far confirmed; `validations` counts them."""

    document_key: str
    query_key: str
    origin: str
    purpose: str
    validations: int


@dataclass(frozen=True, order=True)
class LeftOut:
    item: KeptItem
    reason: str


@dataclass(frozen=True)
class Split:
    """Sorted items; `notes` are sentences on how the ratio was kept."""

    train: tuple[KeptItem, ...]
    dev: tuple[KeptItem, ...]
    test: tuple[KeptItem, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    def reasons(self) -> dict[str, int]:
        """How many items were left out, by reason."""
        return dict(sorted(Counter(left.reason for left in self.left_out).items()))


Group = tuple[KeptItem, ...]


def split(kept: Iterable[KeptItem], *, seed: int) -> Split:
    """Train, dev and test by whole documents; input order does not matter and the same seed gives the same split.

    Dev and test differ in size by as little as whole documents allow, and each takes about half of either origin.
    Raises SplitError.
    """
    items = sorted(kept)
    _refuse_misfits(items)
    reasons = {item: _reason(item) for item in items}
    usable = [item for item in items if reasons[item] is None]
    shuffle = random.Random(f"split {seed}")
    public = _shuffled((item for item in usable if item.purpose == EVAL and item.origin == PUBLIC), shuffle)
    crawled = _shuffled((item for item in usable if item.purpose == EVAL and item.origin == CRAWLED), shuffle)
    public, public_surplus, crawled, crawled_surplus = _in_ratio(public, crawled)
    dev, test = _divided([*public, *crawled], Fraction(1, 2))
    left_out = [LeftOut(item, reason) for item, reason in reasons.items() if reason]
    left_out += [LeftOut(item, SURPLUS_CRAWLED) for item in _flat(crawled_surplus)]
    return Split(
        train=tuple(sorted([item for item in usable if item.purpose == TRAIN] + _flat(public_surplus))),
        dev=tuple(sorted(_flat(dev))),
        test=tuple(sorted(_flat(test))),
        left_out=tuple(sorted(left_out)),
        notes=_notes(public, public_surplus, crawled, crawled_surplus),
    )


def _refuse_misfits(items: Sequence[KeptItem]) -> None:
    names = Counter((item.document_key, item.query_key) for item in items)
    if doubled := sorted(name for name, count in names.items() if count > 1):
        raise SplitError(f"{len(doubled)} items are there more than once, such as {'/'.join(doubled[0])}")
    kinds: dict[str, tuple[str, str]] = {}
    for item in items:
        if item.origin not in (PUBLIC, CRAWLED) or item.purpose not in (TRAIN, EVAL):
            raise SplitError(f"document {item.document_key} has the origin {item.origin}, purpose {item.purpose}")
        if kinds.setdefault(item.document_key, (item.origin, item.purpose)) != (item.origin, item.purpose):
            raise SplitError(f"document {item.document_key} has two origins or two purposes")


def _reason(item: KeptItem) -> str | None:
    """Why an item can be in no split; None when it can."""
    if item.validations < 1:
        return NOT_VALIDATED
    if item.purpose == EVAL:
        return VALIDATED_ONCE if item.validations < 2 else None
    return CRAWLED_IN_TRAIN if item.origin == CRAWLED else None


def _shuffled(items: Iterable[KeptItem], shuffle: random.Random) -> list[Group]:
    groups: dict[str, list[KeptItem]] = defaultdict(list)
    for item in items:
        groups[item.document_key].append(item)
    listed = [tuple(group) for group in groups.values()]
    shuffle.shuffle(listed)
    return listed


def _flat(groups: Iterable[Group]) -> list[KeptItem]:
    return [item for group in groups for item in group]


def _take(groups: Sequence[Group], target: Fraction) -> tuple[list[Group], list[Group]]:
    """(groups with as near to `target` items as whole groups allow, the other groups)."""
    chosen = nearest_subset([len(group) for group in groups], target)
    taken = [group for group, is_in in zip(groups, chosen, strict=True) if is_in]
    rest = [group for group, is_in in zip(groups, chosen, strict=True) if not is_in]
    return taken, rest


def _divided(groups: Sequence[Group], share: Fraction) -> tuple[list[Group], list[Group]]:
    return _take(groups, share * len(_flat(groups)))


def _in_ratio(public: list[Group], crawled: list[Group]) -> tuple[list[Group], list[Group], list[Group], list[Group]]:
    """(public, its surplus, crawled, its surplus): whichever origin has too much for 3:7 gives some up."""
    if not public or not crawled:
        return public, [], crawled, []
    ratio = Fraction(PUBLIC_PARTS, CRAWLED_PARTS)
    wanted_public = len(_flat(crawled)) * ratio
    if len(_flat(public)) > wanted_public:
        return *_take(public, wanted_public), crawled, []
    return public, [], *_take(crawled, len(_flat(public)) / ratio)


def _notes(
    public: list[Group], public_surplus: list[Group], crawled: list[Group], crawled_surplus: list[Group]
) -> tuple[str, ...]:
    counts = [len(_flat(groups)) for groups in (public, public_surplus, crawled, crawled_surplus)]
    if not any(counts):
        return ("Nothing was validated twice, so dev and test are empty.",)
    if not counts[0] + counts[1] or not counts[2] + counts[3]:
        only = CRAWLED if counts[2] else PUBLIC
        return (f"All queries that were validated twice are {only}: no ratio of origins was applied.",)
    notes = [f"Dev and test hold {counts[0]:,} public and {counts[2]:,} crawled queries (wanted 3:7)."]
    if counts[1]:
        notes.append(f"{counts[1]:,} public queries beyond the ratio went to train.")
    if counts[3]:
        notes.append(f"{counts[3]:,} crawled queries beyond the ratio were left out.")
    return tuple(notes)


# Sampling


def draw(stage_key: str, collected: Collected, count: int, *, seed: int) -> list[NextItem]:
    """Queries of dev as a release would have it now, to be labelled by the reasoning they take (section 4).

    Two passes over the chain, so that texts are in memory only of what is drawn.
    """
    dev = split(map(_kept, collected.chain()), seed=collected.seed).dev
    drawn = set(sample((item.query_key for item in dev), count, f"draw {stage_key} {seed}"))
    return [
        NextItem(stage_key, item.key, item.data, parent=(_latest(item), item.key))
        for item in collected.chain()
        if item.key in drawn
    ]


def _latest(item: ChainItem) -> str:
    """The last stage before the sample that kept an item of dev."""
    return HUMAN if HUMAN in item.kept_in else REVALIDATE


# Release


def build_release(collected: Collected) -> ReleaseContent:
    """See `release_of`."""
    return release_of(list(collected.chain()), seed=collected.seed)


def release_of(chain: Sequence[ChainItem], *, seed: int) -> ReleaseContent:
    """train.json, dev.json and test.json in ReCoRD's layout, with the counts and the statistics of each."""
    by_key = {(item.document_key, item.key): item for item in chain}
    found = split([_kept(item) for item in chain], seed=seed)
    parts = {"train": found.train, "dev": found.dev, "test": found.test}
    documents = {name: _documents(by_key[i.document_key, i.query_key] for i in items) for name, items in parts.items()}
    return ReleaseContent(
        files={f"{name}.json": record.write(part, FILE_VERSION) for name, part in documents.items()},
        counts={name: len(items) for name, items in parts.items()},
        left_out=found.reasons(),
        statistics=split_statistics(documents),
        notes=found.notes,
    )


def _kept(item: ChainItem) -> KeptItem:
    validations = sum(stage in item.kept_in for stage in (VALIDATE, REVALIDATE))
    return KeptItem(item.document_key, item.key, item.origin, item.purpose, validations)


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
