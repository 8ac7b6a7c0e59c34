"""Which of several workers' correct answers is taken: those that say the same count together, and the most win.

Source: S. Ostermann et al. (2019), MCScript2.0, section 3.4, after S. Ostermann et al. (2018), MCScript. Answers are
normalised; those of which one contains the other, and those less than three edits apart (V. Levenshtein 1966), say the
same; the largest group wins, and one of several largest is drawn.

Where the paper leaves a choice:
- One answer contains another if the words of the other stand in it one after the other: "stove" is in "the gas stove",
  and "car" is not in "the carpet".
- Each two answers of a group say the same by themselves (complete linkage): "3 cups" is of the group of "3", and "two",
  one edit from "3", is not. Groups join in the paper's order, those that contain one another first, then those fewer
  edits apart; of equal ones those that become the largest group.
- Edits count however short the answers: "cat" and "car" say the same by this rule, as "2 cups" and "3 cups" do.
- A number is one word ("three" is "3", "1,000" is "1000", "2.5" stays whole); punctuation counts for nothing.
- An answer of nothing but dropped words ("and", "the") keeps them; one without any word ("?!") is compared as it is.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from rapidfuzz.distance import Levenshtein
from text_to_num import alpha2digit

from hits.text.language.words import words

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# A point or colon between digits holds a number or a time together, which `words` would part.
_NUMBER = re.compile(r"\d+(?:[.:]\d+)+")


@dataclass(frozen=True)
class Merging:
    """Which answers say the same: those at most so many edits apart, compared without the words that are dropped."""

    edits: int = 2
    dropped: frozenset[str] = frozenset({"and", "or", "to", "the", "a"})


PUBLISHED = Merging()


@dataclass(frozen=True)
class Selection:
    """`text` stands for `group`, the one of the `groups` that won; with `tie`, it was drawn among the largest.

    Groups hold the answers as they were written, one for each worker who wrote them, in alphabetical order; larger
    groups come first.
    """

    text: str
    group: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    tie: bool


@lru_cache(maxsize=4096)
def normal_form(answer: str, dropped: frozenset[str] = PUBLISHED.dropped) -> tuple[str, ...]:
    """What of an answer is compared: its words in lower case, numbers as digits, without those that are dropped.

    Raises ValueError for an answer of nothing but space.
    """
    bare = answer.strip().lower()
    if not bare:
        raise ValueError("an answer without any character cannot be compared")
    digits = _THOUSANDS.sub("", alpha2digit(bare, "en", threshold=0))
    found = tuple(_words(digits))
    return tuple(word for word in found if word not in dropped) or found or (bare,)


def _words(text: str) -> Iterable[str]:
    end = 0
    for number in _NUMBER.finditer(text):
        yield from words(text[end : number.start()])
        yield number[0]
        end = number.end()
    yield from words(text[end:])


def _contains(longer: Sequence[str], shorter: Sequence[str]) -> bool:
    size = len(shorter)
    return any(longer[at : at + size] == shorter for at in range(len(longer) - size + 1))


def same(one: str, other: str, by: Merging = PUBLISHED) -> bool:
    """Whether two answers say the same by themselves, without a third one between them."""
    return _apart(one, other, by) <= by.edits


def _apart(one: str, other: str, by: Merging) -> int:
    """Edits between two answers, 0 where one contains the other; some number above `by.edits` for any more."""
    a, b = normal_form(one, by.dropped), normal_form(other, by.dropped)
    if _contains(a, b) or _contains(b, a):
        return 0
    return Levenshtein.distance(" ".join(a), " ".join(b), score_cutoff=by.edits)


def groups(answers: Sequence[str], by: Merging = PUBLISHED) -> tuple[tuple[str, ...], ...]:
    """The answers in groups that say the same, as `Selection` has them; their order makes no difference."""
    of_form: dict[tuple[str, ...], tuple[str, ...]] = {}
    for answer in sorted(answers):
        form = normal_form(answer, by.dropped)
        of_form[form] = (*of_form.get(form, ()), answer)
    found = set(of_form.values())
    while closest := min(_joinable(found, by), default=None):
        *_, a, b = closest
        found = found - {a, b} | {tuple(sorted(a + b))}
    return tuple(sorted(found, key=lambda group: (-len(group), group)))


def _joinable(
    found: Iterable[tuple[str, ...]], by: Merging
) -> Iterator[tuple[int, int, tuple[str, ...], tuple[str, ...]]]:
    """(the most edits between two of their answers, minus how many answers they hold, and the groups)."""
    for a, b in combinations(sorted(found), 2):
        apart = max(_apart(one, other, by) for one in a for other in b)
        if apart <= by.edits:
            yield apart, -len(a + b), a, b


def representative(group: Sequence[str], by: Merging = PUBLISHED) -> str:
    """The wording that stands for a group, without space around it.

    Of what most of the group wrote, compared in normal form, it is the most frequent wording; of several the shortest,
    and of those the first in the alphabet.
    """
    wordings = [answer.strip() for answer in group]
    forms = Counter(normal_form(text, by.dropped) for text in wordings)
    times = Counter(wordings)
    return min(times, key=lambda text: (-forms[normal_form(text, by.dropped)], -times[text], len(text), text))


def select(correct: Sequence[str], *, seed: str, by: Merging = PUBLISHED) -> Selection:
    """The answer that most workers gave. Each of several largest groups has the same chance, which `seed` decides.

    A seed that names the question too lets questions be drawn apart. Raises ValueError where there is no answer, or
    one of nothing but space.
    """
    if not correct:
        raise ValueError("there is no answer to select from")
    found = groups(correct, by)
    largest = [group for group in found if len(group) == len(found[0])]
    group = random.Random(f"correct answer {seed}").choice(largest)
    return Selection(representative(group, by), group, found, tie=len(largest) > 1)


def still_incorrect(incorrect: Iterable[str], selected: Selection, by: Merging = PUBLISHED) -> list[str]:
    """The incorrect answers, in their order, without those that are in normal form one of the selected group."""
    right = {normal_form(answer, by.dropped) for answer in selected.group}
    return [answer for answer in incorrect if normal_form(answer, by.dropped) not in right]
