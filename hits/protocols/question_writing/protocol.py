"""Writing questions about a paragraph, each with its correct and incorrect answers.

Source: Huang et al. (2019), Cosmos QA, section 2.2 and appendix B. Document: {"text"}, one paragraph; item: {}. An
answer is one or more questions; a question has one or more correct answers and a fixed number of incorrect ones.
Form fields are named `q1_question`, `q1_category`, `q1_correct1`, `q1_incorrect3`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hits.protocols import evidence
from hits.protocols.base import AnswerRefusedError, CheckedAnswer, Json, LabelValue
from hits.protocols.choosing import MAX_REMARK, remark
from hits.protocols.given_settings import CLOSING, COMMON, INSTRUCTIONS, Given, paragraphs
from hits.protocols.lines import measured
from hits.protocols.optional import Line, Setting
from hits.text.language.words import FUNCTION_WORDS
from hits.text.questions.overlap import Limits, advice
from hits.text.questions.question_rules import asked_before, too_long
from hits.text.wording import _, gettext_noop
from hits.text.written import alike, kept

LONGEST = 300
MOST_QUESTIONS = 4
CATEGORIES = (
    ("causes", gettext_noop("Causes")),
    ("effects", gettext_noop("Effects")),
    ("facts", gettext_noop("Facts about people or things")),
    ("counterfactual", gettext_noop("What if it had been different")),
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

_CORRECT = (gettext_noop("Correct answer"), gettext_noop("Second correct answer"))

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
        Setting(
            "questions",
            "Most questions about one paragraph",
            "number",
            "1 to 4; the first one is needed.",
            unit="questions",
        ),
        Setting(
            "correct", "Most correct answers a question", "number", "1 or 2; the first one is needed.", unit="answers"
        ),
        Setting("incorrect", "Incorrect answers a question", "number", "1 to 5; all are needed.", unit="answers"),
        Setting(
            "correct_reuse_percent",
            "Correct answers take at most this share of their words from the paragraph",
            "number",
            "Advice beside the field; nothing is refused for it.",
            unit="%",
        ),
        Setting(
            "incorrect_reuse_percent",
            "Incorrect answers take at least this share of their words from the paragraph",
            "number",
            "Advice beside the field; nothing is refused for it.",
            unit="%",
        ),
        Setting(
            "length_factor",
            "Answers differ in length at most by this factor",
            "number",
            "With 2, the longest may have twice the words of the shortest. Advice; nothing is refused for it.",
            unit="times",
        ),
        Setting(
            "pastes",
            "Note what is pasted",
            "bool",
            "The field and how many characters are kept with the answer. Workers are told.",
        ),
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
        found.whole("questions", 1, MOST_QUESTIONS)
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
            "categories": [{"id": ident, "label": _(label)} for ident, label in CATEGORIES],
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

    def asks_texts(self, settings: Json) -> bool:
        return True

    def text_fields(self, document: Json, item: Json, settings: Json) -> list[str]:
        return [field.name for number in _numbers(settings) for field in _fields(number, settings)]

    def given_text(self, document: Json, item: Json, settings: Json) -> str:
        return str(document["text"])

    def in_lines(self, document: Json, item: Json, settings: Json, said: Mapping[str, Any]) -> list[Line]:
        """Each question with its answers and its kind, and how they came about."""
        found: list[Line] = []
        places: dict[str, str] = {}
        for number in range(1, MOST_QUESTIONS + 1):
            value = said.get(f"question{number}")
            if isinstance(value, dict):
                found += _told(number, value)
                places |= _places(number, value)
        return [*found, *_told_advice(said, places, _limits(settings)), *measured(said, places)]

    def scores(self, answers: Iterable[tuple[Json, Json, Any]]) -> Json:
        """Empty: what is written has no reference."""
        return {}


def _numbers(settings: Json) -> range:
    return range(1, settings["questions"] + 1)


def _fields(number: int, settings: Json) -> Iterator[Field]:
    place = _("The text of question %(number)s", number=number)
    yield Field(f"q{number}_question", "question", _("Question"), place, True)
    for at, label in enumerate(map(_, _CORRECT[: settings["correct"]]), start=1):
        yield Field(f"q{number}_correct{at}", "correct", label, _of_question(label, number), at == 1)
    for at in range(1, settings["incorrect"] + 1):
        label = _("Incorrect answer %(number)s", number=at)
        yield Field(f"q{number}_incorrect{at}", "incorrect", label, _of_question(label, number), True)


def _of_question(label: str, number: int) -> str:
    return _("%(answer)s of question %(number)s", answer=label, number=number)


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


# What an answer says


def _told(number: int, value: Json) -> Iterator[Line]:
    """The lines of one question. All of it is one label."""
    unit = (f"question{number}",)
    yield Line(f"Question {number}", value["question"], unit)
    for label, text in zip(_CORRECT, value["correct"], strict=False):
        yield Line(label, text, unit)
    for at, text in enumerate(value["incorrect"], start=1):
        yield Line(f"Incorrect answer {at}", text, unit)
    if kind := dict(CATEGORIES).get(value["category"]):
        yield Line("Kind of question", kind, unit)


def _places(number: int, value: Json) -> dict[str, str]:
    """The names of the question's fields as workers see them."""
    asked = {"questions": 1, "correct": len(_CORRECT), "incorrect": max(1, len(value["incorrect"]))}
    return {field.name: field.place for field in _fields(number, asked)}


def _told_advice(said: Mapping[str, Any], places: Mapping[str, str], limits: Limits) -> Iterator[Line]:
    """Where an answer was sent although the page advised against it."""
    noted = said.get("evidence")
    given = (noted.get("advice") or {}) if isinstance(noted, dict) else {}
    for name, shares in given.items():
        for fault in _against(shares, limits, correct="_correct" in name):
            yield Line("", f"{places.get(name, name)} {fault}.", is_note=True)


def _against(shares: Mapping[str, float], limits: Limits, correct: bool) -> Iterator[str]:
    reuse, length = shares.get("reuse"), shares.get("length")
    most, least = limits.correct_reuse, limits.incorrect_reuse
    if reuse is not None and correct and reuse > most:
        yield f"takes {100 * reuse:.0f} % of its words from the paragraph, more than {100 * most:.0f} %"
    if reuse is not None and not correct and reuse < least:
        yield f"takes {100 * reuse:.0f} % of its words from the paragraph, less than {100 * least:.0f} %"
    if length is not None and not 1 / limits.length_factor <= length <= limits.length_factor:
        yield f"is {length:.1f} times as long as the others"


# What speaks against an answer: (field, sentence)


def _faults(question: Question) -> list[Fault]:
    if question.blank:
        sentence = _("Question %(number)s is not written yet. Write it and its answers.", number=question.number)
        return [(question.field.name, sentence)]
    return [*_missing(question), *_too_long(question), *_said_twice(question), *_unknown_category(question)]


def _missing(question: Question) -> list[Fault]:
    needed = [field for field in question.texts if field.needed]
    if not question.given("correct", "incorrect"):
        wrong = sum(field.kind == "incorrect" for field in needed)
        sentence = _(
            "Question %(number)s has no answers. Write a correct one and %(wrong)s incorrect.",
            number=question.number,
            wrong=wrong,
        )
        return [(needed[1].name, sentence)]
    empty = [field for field in needed if not question.texts[field]]
    return [(field.name, _("%(place)s is empty. Write it.", place=field.place)) for field in empty]


def _too_long(question: Question) -> list[Fault]:
    return [
        (field.name, too_long(field.place, len(text), LONGEST))
        for field, text in question.texts.items()
        if len(text) > LONGEST
    ]


def _said_twice(question: Question) -> Iterator[Fault]:
    known: dict[str, Field] = {}
    for field, text in question.given("correct", "incorrect").items():
        other = known.setdefault(alike(text), field)
        if other is not field:
            yield (
                field.name,
                _(
                    "%(place)s says the same as “%(other)s”. Change one of the two.",
                    place=field.place,
                    other=other.label,
                ),
            )


def _unknown_category(question: Question) -> list[Fault]:
    if question.category in ("", *dict(CATEGORIES)):
        return []
    sentence = _(
        "Question %(number)s is of a kind that is not offered. Choose its kind once more, or none.",
        number=question.number,
    )
    return [(f"q{question.number}_category", sentence)]


def _asked_twice(questions: Sequence[Question]) -> list[Fault]:
    faults = []
    known: dict[str, int] = {}
    for question in questions:
        text = question.texts[question.field]
        first = known.setdefault(alike(text), question.number) if text else question.number
        if first != question.number:
            faults.append((question.field.name, asked_before(question.number, first)))
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
