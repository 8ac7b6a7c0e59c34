"""Advice on written answers, from what they share with the paragraph and how long they are.

Source: L. Huang et al. (2019), Cosmos QA, appendix B: correct answers use few words of the paragraph, incorrect ones
many, and all candidates are alike in length, so that counting words does not give the answer away. The paper names
no figures; the defaults of `Limits` are ours. Advice refuses nothing.

`hits/protocols/question_writing/static/advice.js` computes the same while a worker types; a test holds them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal, TypedDict

from hits.text.language.words import content_words, words

# A product such as 0.7 * 10 may lie a little beside the whole number that is meant.
_TINY = 1e-9
_SHOWN = 5


@dataclass(frozen=True)
class Limits:
    """A correct answer takes at most this share of its content words from the paragraph, an incorrect one at least.

    A candidate is at most `length_factor` times as long as the middle one of the others, and not shorter than that
    one divided by it. Raises ValueError for shares outside 0..1 and factors below 1.
    """

    correct_reuse: float = 0.4
    incorrect_reuse: float = 0.4
    length_factor: float = 2.0

    def __post_init__(self) -> None:
        if not (0 <= self.correct_reuse <= 1 and 0 <= self.incorrect_reuse <= 1):
            raise ValueError("correct_reuse and incorrect_reuse are shares: give numbers from 0 to 1")
        if not self.length_factor >= 1:
            raise ValueError("length_factor must be 1 or more")


class Hint(TypedDict):
    """Advice on one candidate: `field` is "correct" or "incorrect" and its number from 0, such as "incorrect2".

    `share` is, for reuse, that of its content words found in the paragraph (`words`), 0..1; for length, its words
    divided by those of the middle one of the others (`words` is empty). At level "change", `text` says what to do.
    """

    field: str
    kind: Literal["reuse", "length"]
    share: float
    words: list[str]
    level: Literal["good", "change"]
    text: str


def compared(answer: str, paragraph: str) -> tuple[list[str], int]:
    """The different content words of the answer that the paragraph has too, in order, and how many there are in all."""
    own, given = dict.fromkeys(content_words(answer)), set(content_words(paragraph))
    return [word for word in own if word in given], len(own)


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _listed(found: Sequence[str]) -> str:
    """The first words in brackets, or nothing where there is none."""
    more = ", ..." if len(found) > _SHOWN else ""
    return f" ({', '.join(found[:_SHOWN])}{more})" if found else ""


def _change(total: int, reused: int, limits: Limits, correct: bool) -> str:
    """What to do about the reuse, or nothing."""
    if correct:
        over = reused - floor(limits.correct_reuse * total + _TINY)
        return f" Say {over} or more of them in other words." if over > 0 else ""
    under = ceil(limits.incorrect_reuse * total - _TINY) - reused
    return f" Use {under} or more others of its words, so that this answer tempts." if under > 0 else ""


def _reuse_hint(field: str, answer: str, paragraph: str, limits: Limits) -> Hint:
    reused, total = compared(answer, paragraph)
    change = _change(total, len(reused), limits, field.startswith("correct"))
    return Hint(
        field=field,
        kind="reuse",
        share=len(reused) / total if total else 0.0,
        words=reused,
        level="change" if change else "good",
        text=f"{len(reused)} of {_number(total, 'main word')} from the paragraph{_listed(reused)}.{change}",
    )


def _length_hint(field: str, own: int, others: Sequence[int], limits: Limits) -> Hint:
    middle = sorted(others)[(len(others) - 1) // 2]
    most, least = floor(limits.length_factor * middle + _TINY), ceil(middle / limits.length_factor - _TINY)
    change = ""
    if own > most:
        change = f" Shorten it to {_number(most, 'word')} or fewer."
    elif own < least:
        change = f" Write {_number(least, 'word')} or more."
    return Hint(
        field=field,
        kind="length",
        share=own / middle,
        words=[],
        level="change" if change else "good",
        text=f"{_number(own, 'word')}; the others have about {middle}.{change}",
    )


def _hints(paragraph: str, written: Sequence[tuple[str, str]], limits: Limits) -> Iterator[Hint]:
    lengths = {field: len(words(answer)) for field, answer in written}
    for field, answer in written:
        yield _reuse_hint(field, answer, paragraph, limits)
        others = [length for other, length in lengths.items() if other != field]
        if others:
            yield _length_hint(field, lengths[field], others, limits)


def advice(
    paragraph: str, correct: Sequence[str], incorrect: Sequence[str], *, limits: Limits | None = None
) -> list[Hint]:
    """Hints on every candidate that has a word: on reuse, and on length where there are two; correct ones first."""
    named = [(f"correct{at}", answer) for at, answer in enumerate(correct)]
    named += [(f"incorrect{at}", answer) for at, answer in enumerate(incorrect)]
    written = [(field, answer) for field, answer in named if words(answer)]
    return list(_hints(paragraph, written, limits or Limits()))
