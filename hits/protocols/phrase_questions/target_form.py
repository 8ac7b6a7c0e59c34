"""The form on which a lead corrects target sentences and phrases; it works without a script.

Each phrase has a first and a last word to choose, each sentence room for one more phrase, and everything is saved, or
refused, together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hits.protocols.base import AnswerRefusedError
from hits.protocols.optional import MarkedSentence
from hits.text.language.sentences import sentences
from hits.text.language.words import placed

NEW = "new"
Span = tuple[int, int]


@dataclass
class PhraseRow:
    """The fields of a phrase: `first` and `last` are numbers of words in its sentence; None: not chosen yet."""

    name: str
    text: str
    span: Span | None
    first: int | None
    last: int | None
    removed: bool = False
    faults: list[str] = field(default_factory=list)


@dataclass
class SentenceRow:
    """The fields of a sentence. `words` are its words with their places in the text; the last row is a new phrase's."""

    name: str
    number: int
    span: Span
    text: str
    words: list[tuple[str, int, int]]
    rows: list[PhraseRow]
    removed: bool = False
    faults: list[str] = field(default_factory=list)


Places = Mapping[str, SentenceRow | PhraseRow]


def form_rows(
    text: str, marked: Sequence[MarkedSentence], fields: Mapping[str, str] | None = None
) -> list[SentenceRow]:
    """The rows of the form, as they were posted where they were."""
    rows = [_sentence_row(text, number, one) for number, one in enumerate(marked)]
    return rows if fields is None else _posted(rows, fields)


def _sentence_row(text: str, number: int, one: MarkedSentence) -> SentenceRow:
    sentence = text[one.start : one.end]
    words = [(sentence[a:b], one.start + a, one.start + b) for _, a, b in placed(sentence)]
    rows = [
        PhraseRow(f"s{number}p{at}", text[span[0] : span[1]], span, *_around(words, span))
        for at, span in enumerate(one.phrases)
    ]
    rows.append(PhraseRow(f"s{number}{NEW}", "", None, None, None))
    return SentenceRow(f"s{number}", number + 1, (one.start, one.end), sentence, words, rows)


def _around(words: Sequence[tuple[str, int, int]], span: Span) -> tuple[int | None, int | None]:
    """The first and the last word that the span touches."""
    touched = [number for number, (_, start, end) in enumerate(words) if start < span[1] and span[0] < end]
    return (touched[0], touched[-1]) if touched else (None, None)


def _posted(rows: list[SentenceRow], fields: Mapping[str, str]) -> list[SentenceRow]:
    """The rows as they stand in the form. What is not chosen anew keeps its span to the character."""
    for sentence in rows:
        sentence.removed = f"{sentence.name}-remove" in fields
        for row in sentence.rows:
            row.removed = f"{row.name}-remove" in fields
            first = _number(fields.get(f"{row.name}-first"), len(sentence.words))
            last = _number(fields.get(f"{row.name}-last"), len(sentence.words))
            if (first, last) != (row.first, row.last) and (row.span is None or None not in (first, last)):
                row.first, row.last, row.span = first, last, _span(sentence, first, last)
    return rows


def _number(text: str | None, below: int) -> int | None:
    good = text and text.isascii() and text.isdigit() and len(text) < 5 and int(text) < below
    return int(text) if text and good else None


def _span(sentence: SentenceRow, first: int | None, last: int | None) -> Span | None:
    """One word where only one of the two is chosen. Words back to front give a span that the protocol refuses."""
    first, last = (last if first is None else first), (first if last is None else last)
    if first is None or last is None:
        return None
    return sentence.words[first][1], sentence.words[last][2]


def wanted(rows: Sequence[SentenceRow]) -> tuple[list[MarkedSentence], Places]:
    """What the form says, and the row behind each place of it."""
    found: list[MarkedSentence] = []
    places: dict[str, SentenceRow | PhraseRow] = {}
    for sentence in rows:
        if not sentence.removed:
            kept = [(row, row.span) for row in sentence.rows if row.span and not row.removed]
            places[str(len(found))] = sentence
            places |= {f"{len(found)}.{at}": row for at, (row, _) in enumerate(kept)}
            found.append(MarkedSentence(*sentence.span, tuple(span for _, span in kept)))
    return found, places


def to_add(text: str, marked: Sequence[MarkedSentence]) -> list[tuple[str, str]]:
    """The sentences that are no targets, as (value, words)."""
    return [
        (f"{one.start}-{one.end}", one.text)
        for one in sentences(text)
        if not any(one.start < target.end and target.start < one.end for target in marked)
    ]


def added(text: str, marked: Sequence[MarkedSentence], fields: Mapping[str, str]) -> list[MarkedSentence]:
    """The sentence that was chosen, without a phrase yet; an invented one is none."""
    chosen = fields.get("add", "")
    if chosen not in dict(to_add(text, marked)):
        return []
    start, end = chosen.split("-")
    return [MarkedSentence(int(start), int(end), ())]


def put_beside(refusal: AnswerRefusedError, places: Places) -> list[str]:
    """Each reason beside its row; returns those that belong to none."""
    loose = []
    for place, reason in zip(refusal.fields, refusal.reasons, strict=True):
        if place in places:
            places[place].faults.append(reason)
        else:
            loose.append(reason)
    return loose
