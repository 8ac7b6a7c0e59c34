"""Marked spans of a text, as a page shows the text, as they are posted and as they are checked. Pure.

A span is (start, end, label id). Offsets count characters of the stored text (Unicode code points, as Python does) from
0; the end is exclusive, so that `text[start:end]` is what was marked. Browsers count UTF-16 units, where a sign such as
an emoji counts as two; `static/task/marking.js` turns them into characters before anything is posted.

A page posts its spans in one hidden field as JSON, [[start, end, label id], ...]; without scripts it posts lines of the
numbers of words, `from-1`, `to-1`, `label-1` and so on; and `nothing`, which says that there is nothing to mark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hits.protocols.base import Json
from hits.protocols.choosing import YES
from hits.stats.agreement.overlap import Span
from hits.text.language.words import units
from hits.text.wording import _, gettext_noop, number

Part = Callable[[str], str]
"""What was posted beside the spans, by its name: `from-1`, `nothing`; empty where nothing was."""
LONGEST_TEXT = 20_000
MOST_SPANS = 200
# 200 spans with ids of 40 characters and offsets of six digits take less.
LONGEST_FIELD = 16_000
# Lines for a browser without scripts.
ROWS = 8
SHOWN = 40
MOST_REASONS = 5
HUES, KEYS = 8, 9
NOTHING = "nothing"
NEITHER = gettext_noop("The box “There is nothing to mark” says neither yes nor no. Reload the page.")
UNREADABLE = gettext_noop("The marked spans cannot be read. Reload the page and mark them again.")
# What a lead reads beside the setting `whole_words`.
WHOLE_WORDS = (
    "Otherwise single characters can be. In scripts without spaces between words, such as Japanese, Chinese or Thai, "
    "each character counts as a word."
)
_LINE = re.compile(r"[^\r\n]+")


@dataclass(frozen=True)
class Limits:
    labels: Collection[str]
    whole_words: bool
    overlap: bool
    fewest: int
    most: int


# What a page shows


def shown(text: str, labels: Sequence[Json], limits: Limits, *, name: str, part: str = "", heading: str) -> Json:
    """What `answers/task/_marking_text.html` and `answers/task/_marking.html` show.

    A line of `lines` is a list of {"text", "start", "number"}, where `number` counts the words of the text and is 0 for
    what lies between them. `name` is that of the hidden field, `part` stands before the names of the others, and
    `heading` is the id of the element that names the text for screen readers.
    """
    return {
        "name": name,
        "part": part,
        "nothing": f"{part}{NOTHING}",
        "heading": heading,
        "unit": "word" if limits.whole_words else "character",
        "overlap": limits.overlap,
        "fewest": limits.fewest,
        "most": limits.most,
        "lines": list(_lines(text, words(text))),
        "labels": with_keys(labels),
        "rows": list(range(1, ROWS + 1)),
    }


def in_words(spans: Iterable[Any], text: str, labels: Mapping[str, str]) -> str:
    """Each span of the text with its label in brackets; empty where there is none. `labels` are texts by their ids.

    A span is a triple or an object of start, end and label.
    """
    found = [(one["start"], one["end"], one["label"]) if isinstance(one, dict) else tuple(one[:3]) for one in spans]
    return "; ".join(f"{text[start:end]} ({labels.get(label, label)})" for start, end, label in found)


def with_keys(labels: Sequence[Json]) -> list[Json]:
    """The labels, each with the key that gives it, where there is one, and the number of its colour."""
    return [
        {**label, "key": number if number <= KEYS else 0, "hue": (number - 1) % HUES + 1}
        for number, label in enumerate(labels, 1)
    ]


def _lines(text: str, places: Sequence[tuple[int, int]]) -> Iterator[list[Json]]:
    numbered = iter(enumerate(places, 1))
    number, (start, end) = next(numbered, (0, (len(text), len(text))))
    for line in _LINE.finditer(text):
        if not line[0].strip():
            continue
        at, pieces = line.start(), []
        while start < line.end():
            if at < start:
                pieces.append({"text": text[at:start], "start": at, "number": 0})
            pieces.append({"text": text[start:end], "start": start, "number": number})
            at = end
            number, (start, end) = next(numbered, (0, (len(text), len(text))))
        if at < line.end():
            pieces.append({"text": text[at : line.end()], "start": at, "number": 0})
        yield pieces


# What is posted


def words(text: str) -> list[tuple[int, int]]:
    """(start, end) of every word; signs and spaces are in none. The page gets them from here, in `_lines`."""
    return units(text)


def taken(said: str, part: Part, text: str, limits: Limits) -> tuple[list[Span], list[str]]:
    """The spans that were posted, in order, and every fault of them as a sentence."""
    spans, found = _posted(said, part, text)
    nothing = part(NOTHING)
    if nothing not in ("", YES):
        found.append(_(NEITHER))
    return sorted(spans), found or faults(spans, nothing == YES, text, limits)


def is_empty(said: str, part: Part) -> bool:
    """Whether nothing was posted: no span, no line of numbers, and not that there is nothing to mark."""
    return said in ("", "[]") and not part(NOTHING) and not _has_rows(part)


def _has_rows(part: Part) -> bool:
    return any(part(f"{name}-{row}").strip() for row in range(1, ROWS + 1) for name in ("from", "to"))


def _posted(said: str, part: Part, text: str) -> tuple[list[Span], list[str]]:
    """The spans of the hidden field and of the lines, with the faults of both."""
    found: list[str] = []
    spans = _of_field(said, found)
    if _has_rows(part):
        spans += _of_rows(part, words(text), found)
    return spans, found


def _of_field(said: str, faults: list[str]) -> list[Span]:
    if len(said) > LONGEST_FIELD:
        faults.append(f"The marked spans take more than {LONGEST_FIELD:,} characters. Mark fewer.")
        return []
    try:
        rows = json.loads(said) if said else []
    except (ValueError, RecursionError):
        rows = None
    # By type: True and False are numbers to Python.
    if not isinstance(rows, list) or not all(
        isinstance(row, list) and [*map(type, row)] == [int, int, str] for row in rows
    ):
        faults.append(_(UNREADABLE))
        return []
    return [(start, end, label) for start, end, label in rows]


def _of_rows(part: Part, places: Sequence[tuple[int, int]], faults: list[str]) -> list[Span]:
    """Without scripts a worker writes the numbers of the first and the last word, which count from 1."""
    found = []
    for row in range(1, ROWS + 1):
        ends = [part(f"{name}-{row}").strip() for name in ("from", "to")]
        if not any(ends):
            continue
        first, last = (_word_number(said, len(places)) for said in (ends[0], ends[1] or ends[0]))
        if first is None or last is None or last < first:
            faults.append(
                _(
                    "Line %(row)s must hold the number of a first and of a last word, 1 to %(most)s.",
                    row=row,
                    most=number(len(places)),
                )
            )
        else:
            found.append((places[first - 1][0], places[last - 1][1], part(f"label-{row}")))
    return found


def _word_number(said: str, count: int) -> int | None:
    """Only digits of ASCII, and not so many that counting them would take time."""
    if not (said.isascii() and said.isdigit() and len(said) <= 7):
        return None
    return int(said) if 1 <= int(said) <= count else None


def faults(spans: Sequence[Span], nothing: bool, text: str, limits: Limits) -> list[str]:
    """What of the spans is not allowed, as sentences; empty where everything is."""
    found = _count_faults(len(spans), nothing, limits)
    if len(spans) > MOST_SPANS:
        return found
    starts, ends = _edges(text, limits.whole_words)
    for span in spans:
        found += _span_faults(span, text, limits, starts, ends)
    if not found:
        found += _together_faults(sorted(spans), text, limits)
    return list(dict.fromkeys(found))[:MOST_REASONS]


def _count_faults(count: int, nothing: bool, limits: Limits) -> list[str]:
    most = min(limits.most, MOST_SPANS)
    if nothing and limits.fewest:
        return [_("This text has something to mark. Mark it.")]
    if nothing and count:
        return [_("You marked something and said that there is nothing to mark. Take one of them back.")]
    if not count and not limits.fewest and not nothing:
        return [_("Nothing is marked yet. Mark what fits, or choose “There is nothing to mark”.")]
    if count < limits.fewest:
        return [_("Mark at least %(least)s; %(count)s marked so far.", least=limits.fewest, count=count)]
    if count > most:
        return [_("Mark at most %(most)s; %(count)s are marked. Delete some.", most=most, count=number(count))]
    return []


def _edges(text: str, whole_words: bool) -> tuple[Collection[int], Collection[int]]:
    """Where a span may begin and where it may end."""
    if whole_words:
        places = words(text)
        return {start for start, _ in places}, {end for _, end in places}
    printed = [at for at, character in enumerate(text) if not character.isspace()]
    return set(printed), {at + 1 for at in printed}


def _span_faults(
    span: Span, text: str, limits: Limits, starts: Collection[int], ends: Collection[int]
) -> Iterable[str]:
    start, end, label = span
    if not 0 <= start < end <= len(text):
        yield _("A marked span is empty or lies outside the text. Reload the page and mark it again.")
        return
    if label not in limits.labels:
        yield _("%(words)s has no label of the list. Choose one.", words=quoted(text, span))
    if start not in starts or end not in ends:
        yield (
            _("%(words)s must be whole words. Delete it and mark it again.", words=quoted(text, span))
            if limits.whole_words
            else _(
                "%(words)s must not begin or end with a space. Delete it and mark it again.", words=quoted(text, span)
            )
        )


def _together_faults(spans: Sequence[Span], text: str, limits: Limits) -> Iterable[str]:
    """Of spans in order: of those that overlap, two neighbours do."""
    for one, other in pairwise(spans):
        if one == other:
            yield _("%(words)s is marked twice in the same way. Delete one of the two.", words=quoted(text, one))
        elif not limits.overlap and other[0] < one[1]:
            yield _(
                "%(words)s and %(others)s overlap. Delete one of the two.",
                words=quoted(text, one),
                others=quoted(text, other),
            )


def quoted(text: str, span: Span) -> str:
    said = " ".join(text[span[0] : span[1]].split())
    return f"“{said if len(said) <= SHOWN else said[: SHOWN - 1] + '…'}”"
