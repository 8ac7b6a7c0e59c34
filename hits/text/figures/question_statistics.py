"""The size of a data set of labelled questions on texts, and how they begin: MCScript2.0's section 4, Figures 3 and 4.

Source: S. Ostermann et al. (2019), MCScript2.0, sections 4.1 and 4.2. What is counted, so that figures can be compared:
- tokens are those of `hits.text.figures.statistics`; a text counts once, an answer is a correct or an incorrect one
  alike;
- a question's type is its first word without regard to case, "what" also where it is "what's"; the words of `TYPES`
  have a row of their own and all others are "other".

All is computed in one pass that keeps nothing but numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from hits.text.figures.statistics import tokens
from hits.text.language.words import words

TYPES = ("what", "when", "where", "who", "how", "why", "which")
OTHER = "other"
LABELS = ("text", "script", "text-or-script")


@dataclass(frozen=True)
class AskedQuestion:
    """`label` says where its answer comes from, one of `LABELS`."""

    text: str
    label: str
    correct: str
    incorrect: str


def question_type(question: str) -> str:
    """One of `TYPES`, or `OTHER`."""
    first = next(iter(words(question)), "").partition("'")[0]
    return first if first in TYPES else OTHER


@dataclass
class QuestionTally:
    """Counts while texts are added one by one; `kinds` has the questions by (type, label)."""

    texts: int = 0
    text_tokens: int = 0
    question_tokens: int = 0
    answer_tokens: int = 0
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, text: str, questions: Iterable[AskedQuestion]) -> None:
        self.texts += 1
        self.text_tokens += len(tokens(text))
        for one in questions:
            self.kinds[question_type(one.text), one.label] += 1
            self.question_tokens += len(tokens(one.text))
            self.answer_tokens += len(tokens(one.correct)) + len(tokens(one.incorrect))

    def absorb(self, other: QuestionTally) -> None:
        """Count all that the other one counted. The two must have no text in common."""
        self.texts += other.texts
        self.text_tokens += other.text_tokens
        self.question_tokens += other.question_tokens
        self.answer_tokens += other.answer_tokens
        self.kinds += other.kinds

    def by_type(self) -> dict[str, int]:
        """Every type that occurs, the most frequent first, `OTHER` last."""
        found = Counter[str]()
        for (kind, _), count in self.kinds.items():
            found[kind] += count
        order = sorted(found, key=lambda kind: (kind == OTHER, -found[kind], kind))
        return {kind: found[kind] for kind in order}

    def by_label(self) -> dict[str, int]:
        """`LABELS`, then those of a rule that has other words."""
        others = sorted({label for _, label in self.kinds} - set(LABELS))
        return {label: sum(self.kinds[kind, label] for kind in (*TYPES, OTHER)) for label in (*LABELS, *others)}

    def shares(self, kind: str) -> dict[str, float]:
        """Of a type that occurs: label to its share, 0..1."""
        total = self.by_type()[kind]
        return {label: self.kinds[kind, label] / total for label in self.by_label()}

    def figures(self) -> dict[str, float | None]:
        """Flat, for a table: counts, and means and shares that are None where there is nothing to take them of."""
        labels, kinds = self.by_label(), self.by_type()
        questions = sum(labels.values())
        found: dict[str, float | None] = {
            "questions": questions,
            "texts": self.texts,
            "questions_per_text": _mean(questions, self.texts),
            "mean_tokens_text": _mean(self.text_tokens, self.texts),
            "mean_tokens_question": _mean(self.question_tokens, questions),
            "mean_tokens_answer": _mean(self.answer_tokens, 2 * questions),
        }
        found |= {f"questions_labelled_{_word(label)}": count for label, count in labels.items()}
        found |= {f"questions_with_{kind}": kinds.get(kind, 0) for kind in (*TYPES, OTHER)}
        for kind in kinds:
            found |= {f"{_word(label)}_share_of_{kind}": share for label, share in self.shares(kind).items()}
        return found


def _word(label: str) -> str:
    return label.replace("-", "_")


def _mean(total: int, n: int) -> float | None:
    return total / n if n else None


def together(tallies: Iterable[QuestionTally]) -> QuestionTally:
    """What several tallies counted, as one. They must have no text in common."""
    found = QuestionTally()
    for tally in tallies:
        found.absorb(tally)
    return found
