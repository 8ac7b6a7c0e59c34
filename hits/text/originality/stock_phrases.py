"""How often somebody writes stock phrases ("furthermore", "it is important to"), beside everybody else.

Source: Monroe, Colaresi and Quinn (2008), Fightin' Words, section 3.5: the log-odds ratio of two groups with an
informative Dirichlet prior, here of one class of words, the stock phrases below, between one writer and all others. Its
prior is the rate of all writers together, with the weight of `PRIOR_WORDS` words. z is the ratio by its standard
deviation: for writers like all others it is between -2 and 2 nineteen times in twenty.

What it cannot say: who or what wrote a text. People who learnt to write essays use such phrases, language models often
do, and either can leave them out. The lists are of English, German and Spanish; of other languages it says nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log, sqrt

from hits.text.language.words import words

# As many words of the crowd's own rate are added to each side, so that a few words say little.
PRIOR_WORDS = 500
# Fewer words of a writer are not compared.
FEWEST_WORDS = 200
_LISTED = """
    additionally; furthermore; moreover; consequently; therefore; thus; overall; ultimately; notably; importantly
    in conclusion; in summary; to summarize; in addition; as a result; in essence; on the other hand; in other words
    it is important to; it is worth noting; plays a crucial role; plays a vital role; a testament to; a sense of
    crucial; essential; delve; delves; underscores; highlights; showcasing; fostering; nuanced; multifaceted; seamless
    darüber hinaus; des weiteren; zusammenfassend; insgesamt; letztendlich; infolgedessen; es ist wichtig; entscheidend
    nicht zuletzt; zusätzlich; in diesem zusammenhang; von entscheidender bedeutung
    además; asimismo; por lo tanto; en conclusión; en resumen; cabe destacar; es importante; en definitiva
    por otro lado; fundamental
"""
PHRASES = frozenset(" ".join(words(one)) for line in _LISTED.splitlines() for one in line.split(";") if one.strip())
_LONGEST = max(len(one.split()) for one in PHRASES)


@dataclass(frozen=True)
class Rates:
    """`phrases` of so many `words`."""

    phrases: int
    words: int

    def __sub__(self, other: Rates) -> Rates:
        return Rates(self.phrases - other.phrases, self.words - other.words)


def phrases_in(found: list[str]) -> dict[str, int]:
    """The stock phrases among the words of a text, with how often each is there. The longest one counts."""
    counted: Counter[str] = Counter()
    at = 0
    while at < len(found):
        longest = range(min(_LONGEST, len(found) - at), 0, -1)
        size = next((size for size in longest if " ".join(found[at : at + size]) in PHRASES), 0)
        if size:
            counted[" ".join(found[at : at + size])] += 1
        at += size or 1
    return dict(counted)


def log_odds(own: Rates, others: Rates) -> tuple[float, float] | None:
    """(log-odds ratio, z) of a writer's stock phrases beside those of all others; None where there is too little."""
    everybody = own.phrases + others.phrases
    if own.words < FEWEST_WORDS or others.words < FEWEST_WORDS or not everybody:
        return None
    prior = PRIOR_WORDS * everybody / (own.words + others.words)
    ratio = _log_odds(own, prior) - _log_odds(others, prior)
    variance = 1 / (own.phrases + prior) + 1 / (others.phrases + prior)
    return ratio, ratio / sqrt(variance)


def _log_odds(rates: Rates, prior: float) -> float:
    seen = rates.phrases + prior
    return log(seen) - log(rates.words + PRIOR_WORDS - seen)


def most_used(counted: Iterable[Mapping[str, int]], most: int = 4) -> list[str]:
    """The phrases that are there most often, the most frequent first."""
    total: Counter[str] = Counter()
    for one in counted:
        total.update(one)
    return [phrase for phrase, _ in sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))[:most]]
