"""The size of a multiple-choice data set and how its questions begin: Cosmos QA's Table 1 and Figure 2.

What is counted, so that the figures can be compared:
- a question is a question set: one that was written with two correct answers counts twice, as in the paper;
- tokens are those of `hits.text.figures.statistics`; paragraphs are unique by their text, and so are their means;
- "None of the above" is an answer like any other, as its tokens are in the paper's means; where it is the correct
  candidate, the question is unanswerable;
- a prefix is the first three words of a question (fewer where it is shorter) without regard to case.

All is computed in one pass; what stays in memory are a digest of each paragraph and the different prefixes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b

from hits.text.figures.statistics import tokens
from hits.text.language.words import words
from hits.text.questions.least_challenging import QuestionSet

PREFIX_LENGTH = 3
_NONE = ["none", "of", "the", "above"]


@dataclass(frozen=True)
class Tokens:
    """Over all texts of one kind; None where there is no text."""

    mean: float | None
    most: int | None


@dataclass(frozen=True)
class SetStatistics:
    """`unanswerable` is a share, 0..1; None where there is no question."""

    questions: int
    paragraphs: int
    paragraph: Tokens
    question: Tokens
    correct_answer: Tokens
    incorrect_answer: Tokens
    unanswerable: float | None


@dataclass(frozen=True)
class Prefix:
    """`count` questions begin with the words up to and with `word`; `following` is sorted by count, then by word."""

    word: str
    count: int
    following: tuple[Prefix, ...] = ()


@dataclass
class _Lengths:
    n: int = 0
    total: int = 0
    most: int = 0

    def add(self, text: str) -> None:
        length = len(tokens(text))
        self.n, self.total, self.most = self.n + 1, self.total + length, max(self.most, length)

    def absorb(self, other: _Lengths) -> None:
        self.n, self.total, self.most = self.n + other.n, self.total + other.total, max(self.most, other.most)

    def told(self) -> Tokens:
        return Tokens(self.total / self.n, self.most) if self.n else Tokens(None, None)


def is_none_of_the_above(answer: str) -> bool:
    return words(answer)[:4] == _NONE


@dataclass
class Tally:
    """Counts while sets are added one by one."""

    questions: int = 0
    paragraphs: int = 0
    unanswerable: int = 0
    seen: set[bytes] = field(default_factory=set, compare=False)
    paragraph: _Lengths = field(default_factory=_Lengths)
    question: _Lengths = field(default_factory=_Lengths)
    correct: _Lengths = field(default_factory=_Lengths)
    incorrect: _Lengths = field(default_factory=_Lengths)
    prefixes: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def add(self, one: QuestionSet) -> None:
        self.questions += 1
        self.question.add(one.question)
        self.prefixes[tuple(words(one.question)[:PREFIX_LENGTH])] += 1
        self._add_paragraph(one.context)
        for at, answer in enumerate(one.answers):
            (self.correct if at == one.label else self.incorrect).add(answer)
        self.unanswerable += is_none_of_the_above(one.answers[one.label])

    def _add_paragraph(self, text: str) -> None:
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if digest not in self.seen:
            self.seen.add(digest)
            self.paragraphs += 1
            self.paragraph.add(text)

    def statistics(self) -> SetStatistics:
        return SetStatistics(
            questions=self.questions,
            paragraphs=self.paragraphs,
            paragraph=self.paragraph.told(),
            question=self.question.told(),
            correct_answer=self.correct.told(),
            incorrect_answer=self.incorrect.told(),
            unanswerable=self.unanswerable / self.questions if self.questions else None,
        )

    def absorb(self, other: Tally) -> None:
        """Count all that the other one counted. The two must have no paragraph in common."""
        self.questions += other.questions
        self.unanswerable += other.unanswerable
        self.paragraphs += other.paragraphs
        self.prefixes += other.prefixes
        for mine, its in zip(self._lengths(), other._lengths(), strict=True):
            mine.absorb(its)

    def _lengths(self) -> tuple[_Lengths, ...]:
        return self.paragraph, self.question, self.correct, self.incorrect

    def prefix_tree(self) -> tuple[Prefix, ...]:
        """The first words, each with those that follow it. A question without a word is in no prefix."""
        return _tree(self.prefixes)


def _tree(counts: Counter[tuple[str, ...]]) -> tuple[Prefix, ...]:
    rest: dict[str, Counter[tuple[str, ...]]] = {}
    for found, count in counts.items():
        if found:
            rest.setdefault(found[0], Counter())[found[1:]] += count
    heads = (Prefix(word, sum(after.values()), _tree(after)) for word, after in rest.items())
    return tuple(sorted(heads, key=lambda prefix: (-prefix.count, prefix.word)))
