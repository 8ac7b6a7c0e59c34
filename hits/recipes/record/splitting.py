"""Who goes to train, dev and test (Zhang et al. 2018, section 3.4).

- Train may hold public articles only, so every crawled document is marked `eval`: it can serve dev and test alone.
- Dev and test hold public and crawled queries in the ratio 3:7 (an option), so of the public documents just so many
  are marked `eval` as the crawled ones call for. Without crawled documents there is no ratio to keep, and a share of
  the public ones is marked. The marks are those of the whole project: each upload changes those of documents that
  were not validated twice yet.
- Documents are marked, not queries: all queries of a passage go one way, so that no passage is in two splits.
- Marks are made before validation and queries drop out later, so the ratio is restored when the data is split:
  public queries beyond it go to train, crawled ones, which may not, are left out and counted.
- A passage that was released stays in its split (`hits.recipes.dealing`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal

from hits.recipes.dealing import IN_TWO, NONE, Earlier, Group, Splits, deal, digest_of
from hits.recipes.sampling import sample
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
HELD_OUT_ONCE = "released in dev or test before, validated only once"
EXCESS_CRAWLED = "crawled, beyond the ratio {}"


# Marking


def _ratio(options: Mapping[str, Any]) -> Fraction:
    """Public queries to one crawled query, in dev and test."""
    return Fraction(str(options["public_parts"])) / Fraction(str(options["crawled_parts"]))


def _eval_public(public: int, crawled: int, options: Mapping[str, Any]) -> int:
    """How many of the public documents are for dev and test."""
    wanted = crawled * _ratio(options) if crawled else public * Fraction(str(options["eval_share"]))
    return min(public, int(wanted + Fraction(1, 2)))


def mark(
    documents_meta: Iterable[tuple[str, str]],
    *,
    seed: int,
    options: Mapping[str, Any] = DEFAULTS,
    marked: Mapping[str, str] = MappingProxyType({}),
    fixed: Set[str] = frozenset(),
) -> dict[str, Purpose]:
    """Document key to purpose, from (key, origin) in any order; the same seed gives the same marks.

    `marked` has the purposes of documents that were here before: they change where the proportion asks for it, but for
    those that are `fixed`. The option `eval_share` (0..1) counts only when no document was crawled. Raises ValueError
    for a share outside, a doubled key or an unknown origin.
    """
    listed = list(documents_meta)
    options = {**DEFAULTS, **options}
    origins = dict(listed)
    for name in ("eval_share", "dev_share"):
        if not 0 <= options[name] <= 1:
            raise ValueError(f"{name} must lie between 0 and 1, but is {options[name]}")
    if len(origins) != len(listed) or not set(origins.values()) <= {PUBLIC, CRAWLED}:
        raise ValueError(f"every document needs a key of its own and an origin, {PUBLIC} or {CRAWLED}")
    public = [key for key, origin in listed if origin == PUBLIC]
    wanted = _eval_public(len(public), len(listed) - len(public), options)
    chosen = {key for key in public if key in fixed and marked[key] == EVAL}
    for_eval = [key for key in public if key not in fixed and marked.get(key) == EVAL]
    others = [key for key in public if key not in fixed and marked.get(key) != EVAL]
    for keys in (for_eval, others):
        chosen |= set(sample(keys, wanted - len(chosen), f"mark {seed}"))
    return {key: "eval" if origin == CRAWLED or key in chosen else "train" for key, origin in listed}


# Splitting


@dataclass(frozen=True, order=True)
class KeptItem:
    """A query that every validation so far confirmed; `validations` counts them. `earlier` are the splits in which it,
    or another query of its passage, was released before.
    """

    document_key: str
    query_key: str
    origin: str
    purpose: str
    validations: int
    earlier: Splits = field(default=NONE, compare=False)


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


@dataclass(frozen=True)
class Division:
    """Where each kept item goes. Held are the documents for dev and test, and nothing of those for train.

    `notes` are sentences on how the ratio was kept.
    """

    parts: Mapping[str, str]
    notes: tuple[str, ...]

    def place(self, item: KeptItem) -> tuple[str, str]:
        """(train, dev or test, ""), or ("", why it is left out)."""
        if reason := _reason(item):
            return "", reason
        part = TRAIN if item.purpose == TRAIN else self.parts[item.document_key]
        return (part, "") if part in (TRAIN, DEV, TEST) else ("", part)


def divide(kept: Iterable[KeptItem], *, seed: int, options: Mapping[str, Any] = DEFAULTS) -> Division:
    """Give each item at most one split; input order does not matter and the same seed gives the same split.

    Dev takes its share of both, by default half, as nearly as whole documents allow, and about as much of either
    origin. The items are read once and not held. Raises ValueError.
    """
    options = {**DEFAULTS, **options}
    public, crawled = _groups(kept)
    ratio, wanted = _ratio(options), f"{options['public_parts']}:{options['crawled_parts']}"
    there = _fit(public), _fit(crawled)
    in_ratio = (min(there[0], there[1] * ratio), min(there[1], there[0] / ratio)) if all(there) else there
    parts = _held_out(public, in_ratio[0], TRAIN, seed)
    parts |= _held_out(crawled, in_ratio[1], EXCESS_CRAWLED.format(wanted), seed)
    public_eval, crawled_eval = ([group for group in of if parts[group.key] == EVAL] for of in (public, crawled))
    share = Fraction(str(options["dev_share"]))
    dealt = deal(crawled_eval, {DEV: share * _items(crawled_eval)}, seed=seed, rest=TEST).parts
    in_dev = _items(group for group in crawled_eval if dealt[group.key] == DEV)
    target = share * _items([*public_eval, *crawled_eval]) - in_dev
    parts |= {**dealt, **deal(public_eval, {DEV: target}, seed=seed, rest=TEST).parts}
    counts = [_items(of) for of in (public_eval, public, crawled_eval, crawled)]
    return Division(parts, _notes(counts[0], counts[1] - counts[0], counts[2], counts[3] - counts[2], wanted))


def _groups(kept: Iterable[KeptItem]) -> tuple[list[Group[str]], list[Group[str]]]:
    """(public, crawled): the documents with items that can be in dev or test."""
    sizes: dict[str, Counter[str]] = {PUBLIC: Counter(), CRAWLED: Counter()}
    earlier: dict[str, Splits] = {}
    for item in kept:
        _refuse_unknown(item)
        if item.purpose == EVAL and not _reason(item):
            sizes[item.origin][item.document_key] += 1
            earlier[item.document_key] = earlier.get(item.document_key, NONE) | item.earlier
    public, crawled = ([Group(key, size, earlier[key]) for key, size in sizes[of].items()] for of in (PUBLIC, CRAWLED))
    return public, crawled


def _fit(groups: Iterable[Group[str]]) -> Fraction:
    """How many items could be in dev or test."""
    return Fraction(_items(group for group in groups if len(group.earlier) < 2 and TRAIN not in group.earlier))


def _held_out(groups: Sequence[Group[str]], wanted: Fraction, rest: str, seed: int) -> dict[str, str]:
    """`EVAL` for documents that are for dev and test, as those are that one of the two has already."""
    listed = [
        replace(group, earlier=frozenset({EVAL})) if group.earlier in ({DEV}, {TEST}) else group for group in groups
    ]
    return dict(deal(listed, {EVAL: wanted}, seed=seed, rest=rest).parts)


def split(kept: Iterable[KeptItem], *, seed: int, options: Mapping[str, Any] = DEFAULTS) -> Split:
    """What `divide` says, with all items in memory. Raises ValueError."""
    items = sorted(kept)
    _refuse_unsuitable(items)
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


def _refuse_unsuitable(items: Sequence[KeptItem]) -> None:
    names = Counter((item.document_key, item.query_key) for item in items)
    if doubled := sorted(name for name, count in names.items() if count > 1):
        raise ValueError(f"{len(doubled)} items are there more than once, such as {'/'.join(doubled[0])}")
    kinds: dict[str, tuple[str, str]] = {}
    for item in items:
        _refuse_unknown(item)
        if kinds.setdefault(item.document_key, (item.origin, item.purpose)) != (item.origin, item.purpose):
            raise ValueError(f"document {item.document_key} has two origins or two purposes")


def _refuse_unknown(item: KeptItem) -> None:
    if item.origin not in (PUBLIC, CRAWLED) or item.purpose not in (TRAIN, EVAL):
        raise ValueError(f"document {item.document_key} has the origin {item.origin}, purpose {item.purpose}")


def _reason(item: KeptItem) -> str:
    """Why an item can be in no split; empty when it can."""
    if item.validations < 1:
        return NOT_VALIDATED
    if item.purpose == EVAL:
        return VALIDATED_ONCE if item.validations < 2 else ""
    if item.earlier - {TRAIN}:
        return IN_TWO if TRAIN in item.earlier else HELD_OUT_ONCE
    return CRAWLED_IN_TRAIN if item.origin == CRAWLED else ""


def _items(groups: Iterable[Group[str]]) -> int:
    return sum(group.size for group in groups)


def _notes(public: int, public_excess: int, crawled: int, crawled_excess: int, wanted: str) -> tuple[str, ...]:
    """From items in dev and test by origin, and those that are not there."""
    if not public + public_excess + crawled + crawled_excess:
        return ("Nothing was validated twice, so dev and test are empty.",)
    if not public + public_excess or not crawled + crawled_excess:
        only = CRAWLED if crawled else PUBLIC
        return (f"All queries that were validated twice are {only}: no ratio of origins was applied.",)
    notes = [f"Dev and test hold {public:,} public and {crawled:,} crawled queries (wanted {wanted})."]
    if public_excess:
        notes.append(f"{public_excess:,} public queries beyond the ratio went to train.")
    if crawled_excess:
        notes.append(f"{crawled_excess:,} crawled queries beyond the ratio were left out.")
    return tuple(notes)


def kept_item(item: ChainItem, earlier: Earlier) -> KeptItem:
    validations = sum(stage in item.kept_in for stage in (VALIDATE, REVALIDATE))
    stood = earlier.of_item(item.key) | earlier.of_group(digest_of(item.document["text"]))
    return KeptItem(item.document_key, item.key, item.origin, item.purpose, validations, stood)
