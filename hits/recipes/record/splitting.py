"""Who goes to train, dev and test (Zhang et al. 2018, section 3.4).

- Train may hold public articles only, so every crawled document is marked `eval`: it can serve dev and test alone.
- Dev and test hold public and crawled queries in the ratio 3:7 (an option), so of the public documents just so many
  are marked `eval` as the crawled ones call for. Without crawled documents there is no ratio to keep, and a share of
  the public ones is marked.
- Documents are marked, not queries: all queries of a passage go one way, so that no passage is in two splits.
- Marks are made before validation and queries drop out later, so the ratio is restored when the data is split:
  public queries beyond it go to train, crawled ones, which may not, are left out and counted.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from hits.recipes.partition import nearest_subset
from hits.recipes.source import ChainItem

Purpose = Literal["train", "eval"]

VALIDATE, REVALIDATE, HUMAN = "validate", "revalidate", "human"
PUBLIC, CRAWLED = "public", "crawled"
TRAIN, EVAL = "train", "eval"
DEV, TEST = "dev", "test"
# The recipe's own values; 0.18 are 22,000 of 122,000 queries.
DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {"eval_share": 0.18, "public_parts": 3, "crawled_parts": 7, "dev_share": 0.5, "tokeniser": "whitespace"}
)

NOT_VALIDATED = "not validated"
VALIDATED_ONCE = "meant for dev or test, validated only once"
CRAWLED_IN_TRAIN = "crawled, and train holds public articles only"
SURPLUS_CRAWLED = "crawled, beyond the ratio {}"


class SplitError(ValueError):
    """Items that cannot be split: doubled, or of a document that has two origins or two purposes."""


# Marking


def _nearest_whole(value: Fraction) -> int:
    return int(value + Fraction(1, 2))


def _ratio(options: Mapping[str, Any]) -> Fraction:
    """Public queries to one crawled query, in dev and test."""
    return Fraction(str(options["public_parts"])) / Fraction(str(options["crawled_parts"]))


def _eval_public(public: int, crawled: int, options: Mapping[str, Any]) -> int:
    """How many of the public documents are for dev and test."""
    wanted = crawled * _ratio(options) if crawled else public * Fraction(str(options["eval_share"]))
    return min(public, _nearest_whole(wanted))


def mark(
    documents_meta: Iterable[tuple[str, str]], *, seed: int, options: Mapping[str, Any] = DEFAULTS
) -> dict[str, Purpose]:
    """Document key to purpose, from (key, origin) in any order; the same seed gives the same marks.

    The option `eval_share` (0..1) counts only when no document was crawled. Raises ValueError for a share outside, a
    doubled key or an unknown origin.
    """
    listed = list(documents_meta)
    options = {**DEFAULTS, **options}
    origins = dict(listed)
    for name in ("eval_share", "dev_share"):
        if not 0 <= options[name] <= 1:
            raise ValueError(f"{name} must lie between 0 and 1, but is {options[name]}")
    if len(origins) != len(listed) or not set(origins.values()) <= {PUBLIC, CRAWLED}:
        raise ValueError(f"every document needs a key of its own and an origin, {PUBLIC} or {CRAWLED}")
    public = sorted(key for key, origin in listed if origin == PUBLIC)
    wanted = _eval_public(len(public), len(listed) - len(public), options)
    chosen = set(random.Random(f"mark {seed}").sample(public, wanted))
    return {key: "eval" if origin == CRAWLED or key in chosen else "train" for key, origin in listed}


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


class Group(NamedTuple):
    """A document and how many of its items can be in dev or test."""

    document_key: str
    items: int


@dataclass(frozen=True)
class Division:
    """Where each kept item goes. Held are the documents for dev and test, and nothing of those for train.

    `notes` are sentences on how the ratio was kept.
    """

    parts: Mapping[str, str]
    surplus: str
    notes: tuple[str, ...]

    def place(self, item: KeptItem) -> tuple[str, str]:
        """(train, dev or test, ""), or ("", why it is left out)."""
        if reason := _reason(item):
            return "", reason
        part = TRAIN if item.purpose == TRAIN else self.parts[item.document_key]
        return (part, "") if part else ("", self.surplus)


def divide(kept: Iterable[KeptItem], *, seed: int, options: Mapping[str, Any] = DEFAULTS) -> Division:
    """Give each item at most one split; input order does not matter and the same seed gives the same split.

    Dev takes its share of both, by default half, as nearly as whole documents allow, and about as much of either
    origin. The items are read once and not held. Raises SplitError.
    """
    options = {**DEFAULTS, **options}
    sizes: dict[str, Counter[str]] = {PUBLIC: Counter(), CRAWLED: Counter()}
    for item in kept:
        _refuse_unknown(item)
        if item.purpose == EVAL and not _reason(item):
            sizes[item.origin][item.document_key] += 1
    shuffle = random.Random(f"split {seed}")
    public, crawled = _shuffled(sizes[PUBLIC], shuffle), _shuffled(sizes[CRAWLED], shuffle)
    public, public_surplus, crawled, crawled_surplus = _in_ratio(public, crawled, _ratio(options))
    dev, test = _divided([*public, *crawled], Fraction(str(options["dev_share"])))
    places = ((DEV, dev), (TEST, test), (TRAIN, public_surplus), ("", crawled_surplus))
    wanted = f"{options['public_parts']}:{options['crawled_parts']}"
    return Division(
        parts={group.document_key: part for part, groups in places for group in groups},
        surplus=SURPLUS_CRAWLED.format(wanted),
        notes=_notes(public, public_surplus, crawled, crawled_surplus, wanted),
    )


def split(kept: Iterable[KeptItem], *, seed: int, options: Mapping[str, Any] = DEFAULTS) -> Split:
    """What `divide` says, with all items in memory. Raises SplitError."""
    items = sorted(kept)
    _refuse_misfits(items)
    division = divide(items, seed=seed, options=options)
    found: dict[str, list[KeptItem]] = {TRAIN: [], DEV: [], TEST: []}
    left_out = []
    for item in items:
        part, reason = division.place(item)
        if part:
            found[part].append(item)
        else:
            left_out.append(LeftOut(item, reason))
    parts = {name: tuple(of) for name, of in found.items()}
    return Split(**parts, left_out=tuple(left_out), notes=division.notes)


def _refuse_misfits(items: Sequence[KeptItem]) -> None:
    names = Counter((item.document_key, item.query_key) for item in items)
    if doubled := sorted(name for name, count in names.items() if count > 1):
        raise SplitError(f"{len(doubled)} items are there more than once, such as {'/'.join(doubled[0])}")
    kinds: dict[str, tuple[str, str]] = {}
    for item in items:
        _refuse_unknown(item)
        if kinds.setdefault(item.document_key, (item.origin, item.purpose)) != (item.origin, item.purpose):
            raise SplitError(f"document {item.document_key} has two origins or two purposes")


def _refuse_unknown(item: KeptItem) -> None:
    if item.origin not in (PUBLIC, CRAWLED) or item.purpose not in (TRAIN, EVAL):
        raise SplitError(f"document {item.document_key} has the origin {item.origin}, purpose {item.purpose}")


def _reason(item: KeptItem) -> str:
    """Why an item can be in no split; empty when it can."""
    if item.validations < 1:
        return NOT_VALIDATED
    if item.purpose == EVAL:
        return VALIDATED_ONCE if item.validations < 2 else ""
    return CRAWLED_IN_TRAIN if item.origin == CRAWLED else ""


def _shuffled(sizes: Mapping[str, int], shuffle: random.Random) -> list[Group]:
    listed = [Group(key, sizes[key]) for key in sorted(sizes)]
    shuffle.shuffle(listed)
    return listed


def _items(groups: Iterable[Group]) -> int:
    return sum(group.items for group in groups)


def _take(groups: Sequence[Group], target: Fraction) -> tuple[list[Group], list[Group]]:
    """(groups with as near to `target` items as whole groups allow, the other groups)."""
    chosen = nearest_subset([group.items for group in groups], target)
    taken = [group for group, is_in in zip(groups, chosen, strict=True) if is_in]
    rest = [group for group, is_in in zip(groups, chosen, strict=True) if not is_in]
    return taken, rest


def _divided(groups: Sequence[Group], share: Fraction) -> tuple[list[Group], list[Group]]:
    return _take(groups, share * _items(groups))


def _in_ratio(
    public: list[Group], crawled: list[Group], ratio: Fraction
) -> tuple[list[Group], list[Group], list[Group], list[Group]]:
    """(public, its surplus, crawled, its surplus): whichever origin has too much for the ratio gives some up."""
    if not public or not crawled:
        return public, [], crawled, []
    wanted_public = _items(crawled) * ratio
    if _items(public) > wanted_public:
        return *_take(public, wanted_public), crawled, []
    return public, [], *_take(crawled, _items(public) / ratio)


def _notes(
    public: list[Group], public_surplus: list[Group], crawled: list[Group], crawled_surplus: list[Group], wanted: str
) -> tuple[str, ...]:
    counts = [_items(groups) for groups in (public, public_surplus, crawled, crawled_surplus)]
    if not any(counts):
        return ("Nothing was validated twice, so dev and test are empty.",)
    if not counts[0] + counts[1] or not counts[2] + counts[3]:
        only = CRAWLED if counts[2] else PUBLIC
        return (f"All queries that were validated twice are {only}: no ratio of origins was applied.",)
    notes = [f"Dev and test hold {counts[0]:,} public and {counts[2]:,} crawled queries (wanted {wanted})."]
    if counts[1]:
        notes.append(f"{counts[1]:,} public queries beyond the ratio went to train.")
    if counts[3]:
        notes.append(f"{counts[3]:,} crawled queries beyond the ratio were left out.")
    return tuple(notes)


def kept_item(item: ChainItem) -> KeptItem:
    validations = sum(stage in item.kept_in for stage in (VALIDATE, REVALIDATE))
    return KeptItem(item.document_key, item.key, item.origin, item.purpose, validations)
