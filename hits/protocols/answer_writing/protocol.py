"""Answering questions about a story that some sentences were taken out of, and saying where each answer comes from.

Source: Ostermann et al. (2019), MCScript2.0, section 3.3. Document: {"text", "scenario"}; item: {"hidden": [[start,
end), ...], "questions": [{"id", "text", "type"}, ...]}. A question gets one of four labels. Where the text or everyday
knowledge answers it, a correct and an incorrect answer are written; elsewhere a question of one's own, which is as
much work, so that no label is the easy one. Form fields are `<id>_label`, `<id>_correct`, `<id>_incorrect` and
`<id>_alternative`; those that the label does not ask for may hold text, which is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hits.protocols import evidence
from hits.protocols.base import AnswerRefusedError, CheckedAnswer, Json, LabelValue
from hits.protocols.choosing import remark
from hits.protocols.given_settings import CLOSING, COMMON, INSTRUCTIONS, Given, paragraphs
from hits.protocols.lines import chosen, measured, written
from hits.protocols.optional import Line, Setting
from hits.text.questions import question_rules
from hits.text.questions.hiding import visible
from hits.text.questions.question_rules import Rules
from hits.text.wording import _, gettext_noop
from hits.text.written import alike, kept

LABELS = (
    ("text", gettext_noop("The text says it"), gettext_noop("The answer can be read in the story.")),
    (
        "script",
        gettext_noop("Not said, but I know it from everyday life"),
        gettext_noop("Who has done such a thing knows the answer."),
    ),
    (
        "unfitting",
        gettext_noop("The question makes no sense here"),
        gettext_noop("It does not fit the story, or nobody could understand it."),
    ),
    (
        "unknown",
        gettext_noop("It makes sense, but cannot be known"),
        gettext_noop("Neither the story nor everyday life tells."),
    ),
)
ANSWERED = ("text", "script")
TEXTS = ("correct", "incorrect", "alternative")
WRITTEN = {
    "correct": "Correct answer",
    "incorrect": "Incorrect answer",
    "alternative": "Another question in place of this one",
}
DEFAULTS: Json = {**COMMON, "longest_answer": 150, "fewest_words": 4, "pastes": True}

_NOTHING = gettext_noop(
    "There is no question here, so nothing can be answered. Return the HIT: it does not count against you."
)

Fault = tuple[str, str]


@dataclass(frozen=True)
class Said:
    """What a form says of one question; `number` is its place on the page, from 1."""

    number: int
    id: str
    question: str
    label: str
    texts: Mapping[str, str]

    def field(self, name: str) -> str:
        return f"{self.id}_{name}"

    @property
    def answered(self) -> bool:
        return self.label in ANSWERED

    @property
    def blank(self) -> bool:
        return not self.label and not any(self.texts.values())

    @property
    def place(self) -> str:
        return _("Your question instead of question %(number)s", number=self.number)


class AnswerWriting:
    name = "answer_writing"
    title = "Answer questions about a story with gaps"
    fields = (
        INSTRUCTIONS,
        Setting("longest_answer", "Longest answer", "number", "10 to 300; longer ones are refused.", unit="characters"),
        Setting(
            "fewest_words",
            "Fewest words of a question of one's own",
            "number",
            "1 to 10; shorter ones are refused. It is judged by the rules for questions about phrases.",
            unit="words",
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
            "scenario": "repotting a plant",
            "text": "My fern had grown so big that its pot tipped over twice in one week. I bought a wider one at the"
            " market on Saturday. I spread old newspapers on the kitchen floor before I began. Then I eased the fern"
            " out of its old home and shook the dry soil from its roots. It stands by the window again, and so far it"
            " has not fallen over.",
        },
        {
            "hidden": [[117, 177]],
            "questions": [
                {"id": "q1", "text": "Where did they get the new pot?", "type": "np"},
                {"id": "q2", "text": "What kept the floor clean?", "type": "np"},
                {"id": "q3", "text": "When did they sign for the parcel?", "type": "vp"},
            ],
        },
    )

    def settings(self, given: Mapping[str, Any]) -> Json:
        """The longest answer, the fewest words of an alternative question, and whether pastes are noted."""
        found = Given(given, DEFAULTS)
        found.whole("longest_answer", 10, 300)
        found.whole("fewest_words", 1, 10)
        found.truth("pastes")
        return found.done()

    def page(self, document: Json, item: Json, settings: Json, worker: str = "") -> Json:
        """{"text" without its hidden sentences, "scenario", "instructions", "questions", "labels", "rules", ...}.

        A question is {"id", "number", "text"} and, under "label" and each of `TEXTS`, the name of that field.
        """
        rules = _rules(settings)
        return {
            "text": visible(document["text"], item["hidden"]),
            "scenario": document.get("scenario", ""),
            "instructions": paragraphs(settings["instructions"]),
            "questions": [_shown(one) for one in _read(item, {})],
            "labels": [{"id": ident, "text": _(text), "help": _(help)} for ident, text, help in LABELS],
            "longest_answer": settings["longest_answer"],
            "rules": {
                "fewest_words": rules.fewest_words,
                "longest": rules.longest,
                "openings": sorted(rules.openings),
                "narrator": sorted(rules.narrator),
            },
        }

    def check(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str = ""
    ) -> CheckedAnswer:
        """Labels: `<id>/label`; `<id>/correct` and `<id>/incorrect`, or `<id>/alternative`, as {"text"}; and `evidence`
        as {"pastes", "seconds"}, which refuses nothing.

        A text is kept as it was written, in one line, without control characters and outer space.
        """
        options = {**DEFAULTS, **settings}
        answers = _read(item, fields)
        if faults := _faults(answers, options):
            raise AnswerRefusedError([sentence for _, sentence in faults], [name for name, _ in faults])
        labels = [label for one in answers for label in _labels(one)]
        return CheckedAnswer(
            (*labels, LabelValue("evidence", _evidence(answers, options, fields), None)), remark(fields)
        )

    def longest_answer(self, document: Json, item: Json, settings: Json) -> int:
        """Of each question where its answer comes from, two answers, and another question."""
        texts = 2 * settings["longest_answer"] + _rules(settings).longest
        return sum(4 * (len(one.field("incorrect")) + 10) + 2 * texts for one in _read(item, {}))

    def asks_texts(self, settings: Json) -> bool:
        return True

    def text_fields(self, document: Json, item: Json, settings: Json) -> list[str]:
        return [one.field(name) for one in _read(item, {}) for name in TEXTS]

    def given_text(self, document: Json, item: Json, settings: Json) -> str:
        """The story, also what is hidden of it, and the questions."""
        return "\n\n".join([document["text"], *(one.question for one in _read(item, {}))])

    def levels(self, settings: Json) -> dict[str, str]:
        """How each question can be answered; what is written is a text."""
        return {"label": "nominal", **dict.fromkeys(TEXTS, "text")}

    def in_lines(self, document: Json, item: Json, settings: Json, said: Mapping[str, Any]) -> list[Line]:
        """Each question with where its answer comes from and what was written, and how that came about."""
        labels = [{"id": ident, "text": text} for ident, text, _ in LABELS]
        found: list[Line] = []
        places = {}
        for one in _read(item, {}):
            found += chosen(one.question, f"{one.id}/label", labels, said)
            for name in TEXTS:
                found += written(WRITTEN[name], f"{one.id}/{name}", said)
                places[one.field(name)] = f"{WRITTEN[name]}, question {one.number}"
        return [*found, *measured(said, places)]

    def scores(self, answers: Iterable[tuple[Json, Json, Any]]) -> Json:
        """Empty: nothing here has a reference."""
        return {}


def _rules(settings: Json) -> Rules:
    return Rules(fewest_words=settings["fewest_words"])


def _shown(one: Said) -> Json:
    names = {name: one.field(name) for name in ("label", *TEXTS)}
    return {"id": one.id, "number": one.number, "text": one.question, **names}


def _read(item: Json, fields: Mapping[str, str]) -> list[Said]:
    return [
        Said(
            number,
            question["id"],
            question["text"],
            str(fields.get(f"{question['id']}_label", "")),
            {name: kept(str(fields.get(f"{question['id']}_{name}", ""))) for name in TEXTS},
        )
        for number, question in enumerate(item["questions"], start=1)
    ]


def _labels(one: Said) -> Iterator[LabelValue]:
    """Texts are in objects, so that no rule takes a short one for a value to count."""
    yield LabelValue(f"{one.id}/label", one.label, None)
    for name in ("correct", "incorrect") if one.answered else ("alternative",):
        yield LabelValue(f"{one.id}/{name}", {"text": one.texts[name]}, None)


def _evidence(answers: Sequence[Said], settings: Json, fields: Mapping[str, str]) -> Json:
    names = [one.field(name) for one in answers for name in TEXTS]
    return {
        "pastes": evidence.pastes(fields, names) if settings["pastes"] else None,
        "seconds": evidence.seconds(fields),
    }


# What speaks against an answer: (field, sentence)


def _faults(answers: Sequence[Said], settings: Json) -> list[Fault]:
    if not answers:
        return [("", _(_NOTHING))]
    if all(one.blank for one in answers):
        sentence = _("No question is answered yet. Begin with question 1: choose where its answer comes from.")
        return [(answers[0].field("label"), sentence)]
    rules = _rules(settings)
    found = [fault for one in answers for fault in _of_question(one, rules, settings["longest_answer"])]
    return found + list(_asked_twice(answers))


def _of_question(one: Said, rules: Rules, longest: int) -> Iterator[Fault]:
    if one.label not in [label[0] for label in LABELS]:
        yield one.field("label"), _unlabelled(one)
    elif one.answered:
        yield from _of_answers(one, longest)
    else:
        for sentence in question_rules.faults(one.texts["alternative"], one.place, rules):
            yield one.field("alternative"), sentence


def _unlabelled(one: Said) -> str:
    if one.label:
        return _(
            "Question %(number)s is answered in a way that is not offered. Choose where its answer comes from.",
            number=one.number,
        )
    return _("Question %(number)s has no choice yet. Choose where its answer comes from.", number=one.number)


def _of_answers(one: Said, longest: int) -> Iterator[Fault]:
    places = {
        "correct": _("The correct answer to question %(number)s", number=one.number),
        "incorrect": _("The incorrect answer to question %(number)s", number=one.number),
    }
    for name, place in places.items():
        text = one.texts[name]
        if not text:
            yield one.field(name), _("%(place)s is empty. Write it.", place=place)
        if len(text) > longest:
            yield one.field(name), question_rules.too_long(place, len(text), longest)
    if one.texts["correct"] and alike(one.texts["correct"]) == alike(one.texts["incorrect"]):
        yield (
            one.field("incorrect"),
            _(
                "The incorrect answer to question %(number)s says the same as the correct one. Change one.",
                number=one.number,
            ),
        )


def _asked_twice(answers: Sequence[Said]) -> Iterator[Fault]:
    """A question of one's own is new: neither one of those on the page nor written twice."""
    known = {alike(one.question): _("question %(number)s", number=one.number) for one in reversed(answers)}
    for one in answers:
        text = one.texts["alternative"]
        if one.label and not one.answered and text:
            own = _("the one instead of question %(number)s", number=one.number)
            other = known.setdefault(alike(text), own)
            if other != own:
                sentence = _("%(place)s asks the same as %(other)s. Ask something else.", place=one.place, other=other)
                yield one.field("alternative"), sentence


protocol = AnswerWriting()
