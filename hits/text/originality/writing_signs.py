"""What is known of how a text came about, as sentences for whoever reviews it. They prove nothing and decide nothing.

Each sentence says a figure and where the others of the stage stand. One with `is_sign` is unusual enough to be read
first; people whose page could count little, such as those who dictate, get none for that.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from hits.text.originality.stock_phrases import Rates, log_odds
from hits.text.originality.typing_counts import Counts, is_possible

PASTED, SPEED, OTHER_INPUT, WRONG_COUNTS = "pasted", "typing_speed", "other_input", "wrong_counts"
NO_COUNTS, NEAR, COPIED = "no_counts", "near_duplicate", "copied_from_item"
PHRASES, EVEN = "stock_phrases", "even_sentences"
# Of a text's characters, and how many of them at least, so that pasting is a sign.
PASTED_SHARE, LEAST_PASTED = 0.5, 80
# A text of which so much stands in what it is about quotes it: then pasting is how one quotes.
QUOTED = 0.5
# Fewer typed characters, or less time (s), tell no speed; the fastest typists reach 17 characters a second.
LEAST_TYPED, LEAST_SECONDS, FASTER_THAN_PEOPLE = 100, 5, 20
# Shorter texts are typed in any way.
LEAST_CHARACTERS, HARDLY_ANY = 50, 0.2
# Shares of what stands in the item's own text that are told.
TOLD_COPIED = 0.2
# Of a worker: z of stock phrases, and answers or sentences from which on something is told.
UNUSUAL_Z, LEAST_ANSWERS, LEAST_SENTENCES = 4, 5, 20
# The most even of so many workers at least are told.
EVEN_SHARE, LEAST_WORKERS = 0.05, 20
QUANTILES = 101


@dataclass(frozen=True)
class Sentence:
    kind: str
    text: str
    is_sign: bool = False


@dataclass(frozen=True)
class Near:
    """An answer of another worker with much of the same wording; `share` 0..1 of both together."""

    share: float
    worker: str
    is_earlier: bool


@dataclass(frozen=True)
class Facts:
    """Of one answer. `counts` is None where its page counted nothing, and `is_readable` false where what came back as
    counts is nothing that a page posts. `seconds` passed from accepting to submitting; `copied`, 0..1, is the share of
    its passages that stand in the item's own text, None for a text without words.
    """

    characters: int
    seconds: float
    counts: Counts | None = None
    is_readable: bool = True
    copied: float | None = None
    near: Near | None = None

    @property
    def is_usable(self) -> bool:
        return self.counts is not None and is_possible(self.counts, self.seconds)

    @property
    def pasted(self) -> float | None:
        """The share of pasted characters, 0..1, of those that the text has or, where more came in, of those."""
        if self.counts is None or not self.is_usable:
            return None
        whole = max(self.characters, self.counts.typed + self.counts.pasted)
        return self.counts.pasted / whole if whole else None

    @property
    def speed(self) -> float | None:
        """Typed characters a second, without pauses."""
        if self.counts is None or not self.is_usable:
            return None
        if self.counts.typed < LEAST_TYPED or self.counts.seconds < LEAST_SECONDS:
            return None
        return self.counts.typed / self.counts.seconds


@dataclass(frozen=True)
class Others:
    """Where the answers of a stage stand: QUANTILES values in rising order each, empty where nothing is known."""

    pasted: Sequence[float] = ()
    speed: Sequence[float] = ()
    copied: Sequence[float] = ()
    evenness: Sequence[float] = ()
    rates: Rates = field(default=Rates(0, 0))


@dataclass(frozen=True)
class Written:
    """Of all texts of one worker in a stage: so many answers, of which `counted` have counts, in `pasted` most was
    pasted, and `near` have an earlier text of somebody else beside them; and sentences by their lengths in words.
    """

    answers: int
    counted: int
    pasted: int
    near: int
    rates: Rates
    phrases: Sequence[str] = ()
    sentences: int = 0
    length_sum: int = 0
    length_squares: int = 0

    @property
    def mean_length(self) -> float:
        return self.length_sum / self.sentences if self.sentences else 0.0

    @property
    def evenness(self) -> float | None:
        """The standard deviation of the lengths of its sentences by their mean; None for too few. Low is even."""
        if self.sentences < LEAST_SENTENCES or not self.mean_length:
            return None
        variance = max(0.0, self.length_squares / self.sentences - self.mean_length**2)
        return sqrt(variance) / self.mean_length


def of_answer(facts: Facts, others: Others) -> list[Sentence]:
    """Those that are signs first."""
    found = [*_of_counts(facts, others), *_of_near(facts), *_of_copied(facts, others)]
    return sorted(found, key=lambda one: not one.is_sign)


def signs(facts: Facts) -> int:
    """How many signs the answer has; the others have no part in it."""
    return sum(one.is_sign for one in of_answer(facts, Others()))


def of_worker(own: Written, others: Others) -> list[Sentence]:
    """Those that are signs first; none for a worker about whom there is nothing to say."""
    found = [*_of_pasting(own), *_of_copying(own), *_of_phrases(own, others.rates), *_of_evenness(own, others)]
    return sorted(found, key=lambda one: not one.is_sign)


def quantiles(values: Iterable[float | None]) -> list[float]:
    """QUANTILES values in rising order; empty for fewer than two known ones."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return []
    found: list[float] = np.quantile(known, np.linspace(0, 1, QUANTILES)).round(4).tolist()
    return found


def below(value: float, among: Sequence[float]) -> float:
    """The share of the others that have less, 0..1."""
    return bisect_left(among, round(value, 4)) / len(among)


def _of_counts(facts: Facts, others: Others) -> Iterable[Sentence]:
    if not facts.is_readable:
        said = "What came back as the page's counts is nothing that the page posts, so it is not used."
        return [Sentence(WRONG_COUNTS, said, is_sign=True)]
    if facts.counts is None:
        said = "The page counted nothing: scripts were off, or it was opened before counting was switched on."
        return [Sentence(NO_COUNTS, said)]
    if not facts.is_usable:
        said = (
            f"The page's counts cannot be right, so they are not used: {_number(facts.counts.typed)} typed and"
            f" {_number(facts.counts.pasted)} pasted characters, {_number(facts.counts.seconds)} s of typing, while the"
            f" answer took {_number(round(facts.seconds))} s."
        )
        return [Sentence(WRONG_COUNTS, said, is_sign=True)]
    return [*_of_pasted(facts, facts.counts, others), *_of_speed(facts, others), *_of_other_input(facts, facts.counts)]


def _of_pasted(facts: Facts, counts: Counts, others: Others) -> Iterable[Sentence]:
    share = facts.pasted
    if share is None:
        return
    whole = max(facts.characters, counts.typed + counts.pasted)
    if not counts.pasted:
        yield Sentence(PASTED, f"None of {_number(whole)} characters was pasted.")
        return
    quotes = (facts.copied or 0) >= QUOTED
    stands = f", more than in {_percent(below(share, others.pasted))} of the answers here" if others.pasted else ""
    said = f"{_percent(share)} of {_number(whole)} characters were pasted, {_times(counts.pastes)}{stands}."
    much = share >= PASTED_SHARE and counts.pasted >= LEAST_PASTED
    yield Sentence(PASTED, said, is_sign=much and not quotes)


def _of_speed(facts: Facts, others: Others) -> Iterable[Sentence]:
    if facts.speed is None:
        return
    stands = f", faster than {_percent(below(facts.speed, others.speed))} of the answers here" if others.speed else ""
    said = f"Typed {facts.speed:.1f} characters a second, pauses left out{stands}."
    if facts.speed > FASTER_THAN_PEOPLE:
        yield Sentence(SPEED, f"{said} The fastest typists reach 17.", is_sign=True)
    else:
        yield Sentence(SPEED, said)


def _of_other_input(facts: Facts, counts: Counts) -> Iterable[Sentence]:
    if facts.characters >= LEAST_CHARACTERS and counts.typed + counts.pasted < HARDLY_ANY * facts.characters:
        yield Sentence(
            OTHER_INPUT,
            f"Hardly any of its {_number(facts.characters)} characters came key by key or by pasting. That is how it"
            " looks when somebody dictates, writes with an input method or with autocomplete, or goes on with a draft"
            " of an earlier visit.",
        )


def _of_near(facts: Facts) -> Iterable[Sentence]:
    if facts.near is None:
        return
    when = "an earlier" if facts.near.is_earlier else "a later"
    said = f"Shares about {_percent(facts.near.share)} of its wording with {when} answer of {facts.near.worker}."
    yield Sentence(NEAR, said, is_sign=facts.near.is_earlier)


def _of_copied(facts: Facts, others: Others) -> Iterable[Sentence]:
    if facts.copied is None or facts.copied < TOLD_COPIED:
        return
    stands = (
        f", more than in {_percent(below(facts.copied, others.copied))} of the answers here" if others.copied else ""
    )
    said = (
        f"{_percent(facts.copied)} of its passages stand in the item's own text{stands}. An answer may well quote it."
    )
    yield Sentence(COPIED, said)


def _of_pasting(own: Written) -> Iterable[Sentence]:
    if own.pasted:
        said = f"In {own.pasted:,} of {own.counted:,} answers with counts, most of the text was pasted."
        yield Sentence(PASTED, said, is_sign=own.counted >= LEAST_ANSWERS and own.pasted >= own.counted / 2)


def _of_copying(own: Written) -> Iterable[Sentence]:
    if own.near:
        shares = "share much of their wording with an earlier one of another worker"
        said = f"{own.near:,} of {own.answers:,} answers {shares}."
        yield Sentence(NEAR, said, is_sign=own.near > 1)


def _of_phrases(own: Written, everybody: Rates) -> Iterable[Sentence]:
    others = everybody - own.rates
    found = log_odds(own.rates, others)
    if found is None or found[1] < UNUSUAL_Z:
        return
    such = " and ".join(f"“{phrase}”" for phrase in own.phrases[:2])
    yield Sentence(
        PHRASES,
        f"Writes stock phrases such as {such} {_in_a_thousand(own.rates)} times in 1,000 words; the others"
        f" {_in_a_thousand(others)} times (z = {found[1]:.1f}). That is a way of writing, and says not who wrote.",
    )


def _of_evenness(own: Written, others: Others) -> Iterable[Sentence]:
    evenness = own.evenness
    if evenness is None or not others.evenness or below(evenness, others.evenness) > EVEN_SHARE:
        return
    yield Sentence(
        EVEN,
        f"The sentences are of much the same length: {own.mean_length:.1f} words on average, with a standard deviation"
        f" of {evenness * own.mean_length:.1f}, which is {_percent(evenness)} of it; half of the workers here have"
        f" {_percent(others.evenness[len(others.evenness) // 2])} or less.",
    )


def _in_a_thousand(rates: Rates) -> str:
    return f"{1000 * rates.phrases / rates.words:.1f}" if rates.words else "0.0"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _number(value: Any) -> str:
    return f"{value:,}"


def _times(pastes: int) -> str:
    return "at once" if pastes == 1 else f"in {pastes:,} pastes"
