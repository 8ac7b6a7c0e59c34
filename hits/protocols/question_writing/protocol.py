"""Writing questions about a paragraph, each with its correct and incorrect answers.

Source: Huang et al. (2019), Cosmos QA, section 2.2 and appendix B. Document: {"text"}, one paragraph; item: {}. An
answer is one or more questions; a question has one or more correct answers and a fixed number of incorrect ones.
Form fields are named `q1_question`, `q1_category`, `q1_correct1`, `q1_incorrect3`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hits.protocols import evidence
from hits.protocols.base import AnswerRefusedError, CheckedAnswer, Json, LabelValue
from hits.protocols.choosing import MAX_REMARK, remark
from hits.protocols.given_settings import CLOSING, COMMON, INSTRUCTIONS, Given, paragraphs
from hits.protocols.optional import Setting
from hits.text.overlap import Limits, advice
from hits.text.words import FUNCTION_WORDS
from hits.text.written import alike, kept

LONGEST = 300
CATEGORIES = (
    ("causes", "Causes"),
    ("effects", "Effects"),
    ("facts", "Facts about people or things"),
    ("counterfactual", "What if it had been different"),
)
DEFAULTS: Json = {
    **COMMON,
    "questions": 2,
    "correct": 2,
    "incorrect": 3,
    "correct_reuse_percent": 40,
    "incorrect_reuse_percent": 40,
    "length_factor": 2,
    "pastes": True,
}

_CORRECT = ("Correct answer", "Second correct answer")

Fault = tuple[str, str]


@dataclass(frozen=True)
class Field:
    """`place` names it within the whole form; `needed` says that a question is not complete without it."""

    name: str
    kind: str
    label: str
    place: str
    needed: bool


@dataclass(frozen=True)
class Question:
    """What was written into the fields of one question."""

    number: int
    texts: Mapping[Field, str]
    category: str

    def given(self, *kinds: str) -> dict[Field, str]:
        return {field: text for field, text in self.texts.items() if text and field.kind in kinds}

    @property
    def blank(self) -> bool:
        return not any(self.texts.values())

    @property
    def field(self) -> Field:
        return next(iter(self.texts))


class QuestionWriting:
    name = "question_writing"
    title = "Write questions about a paragraph, with their answers"
    fields = (
        INSTRUCTIONS,
        Setting("questions", "Most questions about one paragraph", "number", "1 to 4; the first one is needed."),
        Setting("correct", "Most correct answers a question", "number", "1 or 2; the first one is needed."),
        Setting("incorrect", "Incorrect answers a question", "number", "1 to 5; all are needed."),
        Setting(
            "correct_reuse_percent",
            "Correct answers take at most this share of their words from the paragraph, %",
            "number",
            "Advice beside the field; nothing is refused for it.",
        ),
        Setting(
            "incorrect_reuse_percent",
            "Incorrect answers take at least this share of their words from the paragraph, %",
            "number",
            "Advice beside the field; nothing is refused for it.",
        ),
        Setting(
            "length_factor",
            "Answers differ in length at most by this factor",
            "number",
            "Advice beside the field; nothing is refused for it.",
        ),
        Setting("pastes", "Note what is pasted", "bool", "The field and how many characters. Workers are told."),
        *CLOSING,
    )
    example: tuple[Json, Json] = (
        {
            "text": "My brother had sworn that the tent would go up in five minutes, so we had left the parking lot"
            " without the printed sheet. When the first drops fell, he was holding two poles that did not belong"
            " together and our daughter was handing out biscuits to the neighbours, who had come over with a"
            " hammer. We slept very well in the end, all four of us, in the back of the car."
        },
        {},
    )

    def settings(self, given: Mapping[str, Any]) -> Json:
        """How many questions (1 to 4) and answers are asked for, when advice is given, whether pastes are noted."""
        found = Given(given, DEFAULTS)
        found.whole("questions", 1, 4)
        found.whole("correct", 1, len(_CORRECT))
        found.whole("incorrect", 1, 5)
        found.whole("correct_reuse_percent", 0, 100)
        found.whole("incorrect_reuse_percent", 0, 100)
        found.whole("length_factor", 1, 10)
        found.truth("pastes")
        return found.done()

    def page(self, document: Json, item: Json, settings: Json, worker: str = "") -> Json:
        """{"text", "instructions", "questions": [{"number", "category", "fields"}], "categories", "limits", ...}.

        A field is {"name", "kind", "label", "needed"}.
        """
        limits = _limits(settings)
        return {
            "text": document["text"],
            "instructions": paragraphs(settings["instructions"]),
            "questions": [_shown(number, settings) for number in _numbers(settings)],
            "categories": [{"id": ident, "label": label} for ident, label in CATEGORIES],
            "limits": {
                "correct_reuse": limits.correct_reuse,
                "incorrect_reuse": limits.incorrect_reuse,
                "length_factor": limits.length_factor,
                "function_words": sorted(FUNCTION_WORDS),
            },
            "longest": LONGEST,
            "max_comment": MAX_REMARK,
        }

    def check(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str = ""
    ) -> CheckedAnswer:
        """Labels: `questions` (their number), `question1` ... as {"question", "category", "correct", "incorrect"}, and
        `evidence` as {"pastes", "seconds", "advice"}, which by itself refuses nothing.

        A text is kept as it was written, without outer space; line breaks and tabs in it become spaces, and other
        control characters go.
        """
        options = {**DEFAULTS, **settings}
        questions = _begun([_read(number, options, fields) for number in _numbers(options)])
        faults = [fault for question in questions for fault in _faults(question)] + _asked_twice(questions)
        if faults:
            raise AnswerRefusedError([sentence for _, sentence in faults], [name for name, _ in faults])
        labels = [LabelValue(f"question{question.number}", _value(question), None) for question in questions]
        came = LabelValue("evidence", _evidence(document["text"], questions, options, fields), None)
        return CheckedAnswer((LabelValue("questions", len(questions), None), *labels, came), remark(fields))

    def scores(self, answers: Sequence[tuple[Json, Json, Any]]) -> Json:
        """Empty: what is written has no reference."""
        return {}


def _numbers(settings: Json) -> range:
    return range(1, settings["questions"] + 1)


def _fields(number: int, settings: Json) -> Iterator[Field]:
    yield Field(f"q{number}_question", "question", "Question", f"The text of question {number}", True)
    for at, label in enumerate(_CORRECT[: settings["correct"]], start=1):
        yield Field(f"q{number}_correct{at}", "correct", label, f"{label} of question {number}", at == 1)
    for at in range(1, settings["incorrect"] + 1):
        label = f"Incorrect answer {at}"
        yield Field(f"q{number}_incorrect{at}", "incorrect", label, f"{label} of question {number}", True)


def _shown(number: int, settings: Json) -> Json:
    shown = [
        {"name": field.name, "kind": field.kind, "label": field.label, "needed": field.needed}
        for field in _fields(number, settings)
    ]
    return {"number": number, "category": f"q{number}_category", "fields": shown}


def _limits(settings: Json) -> Limits:
    return Limits(
        correct_reuse=settings["correct_reuse_percent"] / 100,
        incorrect_reuse=settings["incorrect_reuse_percent"] / 100,
        length_factor=settings["length_factor"],
    )


# Reading


def _read(number: int, settings: Json, fields: Mapping[str, str]) -> Question:
    texts = {field: kept(str(fields.get(field.name, ""))) for field in _fields(number, settings)}
    return Question(number, texts, str(fields.get(f"q{number}_category", "")).strip())


def _begun(questions: Sequence[Question]) -> list[Question]:
    """Up to the last one that says something, and the first in any case."""
    last = max((at for at, question in enumerate(questions) if not question.blank), default=0)
    return list(questions[: last + 1])


def _value(question: Question) -> Json:
    return {
        "question": question.texts[question.field],
        "category": question.category,
        "correct": list(question.given("correct").values()),
        "incorrect": list(question.given("incorrect").values()),
    }


# What speaks against an answer: (field, sentence)


def _faults(question: Question) -> list[Fault]:
    if question.blank:
        return [(question.field.name, f"Question {question.number} is not written yet. Write it and its answers.")]
    return [*_missing(question), *_too_long(question), *_said_twice(question), *_unknown_category(question)]


def _missing(question: Question) -> list[Fault]:
    needed = [field for field in question.texts if field.needed]
    if not question.given("correct", "incorrect"):
        wrong = sum(field.kind == "incorrect" for field in needed)
        sentence = f"Question {question.number} has no answers. Write a correct one and {wrong} incorrect."
        return [(needed[1].name, sentence)]
    return [(field.name, f"{field.place} is empty. Write it.") for field in needed if not question.texts[field]]


def _too_long(question: Question) -> list[Fault]:
    return [
        (field.name, f"{field.place} has {len(text):,} characters. Shorten it to {LONGEST} or fewer.")
        for field, text in question.texts.items()
        if len(text) > LONGEST
    ]


def _said_twice(question: Question) -> Iterator[Fault]:
    known: dict[str, Field] = {}
    for field, text in question.given("correct", "incorrect").items():
        other = known.setdefault(alike(text), field)
        if other is not field:
            yield field.name, f"{field.place} says the same as “{other.label}”. Change one of the two."


def _unknown_category(question: Question) -> list[Fault]:
    if question.category in ("", *(ident for ident, _ in CATEGORIES)):
        return []
    sentence = f"Question {question.number} is of a kind that is not offered. Choose its kind once more, or none."
    return [(f"q{question.number}_category", sentence)]


def _asked_twice(questions: Sequence[Question]) -> list[Fault]:
    faults = []
    known: dict[str, int] = {}
    for question in questions:
        text = question.texts[question.field]
        first = known.setdefault(alike(text), question.number) if text else question.number
        if first != question.number:
            sentence = f"Question {question.number} asks the same as question {first}. Ask something else."
            faults.append((question.field.name, sentence))
    return faults


# Evidence


def _evidence(text: str, questions: Sequence[Question], settings: Json, fields: Mapping[str, str]) -> Json:
    """How the answer came about. `pastes` and `seconds` are None where the page could not note them."""
    names = [field.name for question in questions for field in question.texts]
    return {
        "pastes": evidence.pastes(fields, names) if settings["pastes"] else None,
        "seconds": evidence.seconds(fields),
        "advice": {name: said for question in questions for name, said in _advice(text, question, settings).items()},
    }


def _advice(text: str, question: Question, settings: Json) -> dict[str, dict[str, float]]:
    """By field, the shares that the page told while it was written: {"reuse", "length"}."""
    kinds = [[field for field in question.texts if field.kind == kind] for kind in ("correct", "incorrect")]
    names = {f"{field.kind}{at}": field.name for fields in kinds for at, field in enumerate(fields)}
    found: dict[str, dict[str, float]] = {}
    for hint in advice(
        text, *([question.texts[field] for field in fields] for fields in kinds), limits=_limits(settings)
    ):
        found.setdefault(names[hint["field"]], {})[hint["kind"]] = round(hint["share"], 3)
    return found


protocol = QuestionWriting()
