"""Answering questions about a story with gaps: as the key has it, or as people who do not look would.

Questions that other simulated people wrote are in no key. What is then held to be true of them depends on story and
question alone, so that those who answer well agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hits.crowd.answering import Answer
from hits.crowd.html import Node
from hits.crowd.key import AnswerKey
from hits.crowd.people import Person, draw, happens, one_of
from hits.crowd.task_page import NotATaskError, Screen
from hits.text.language.sentences import sentences
from hits.text.language.words import content_words
from hits.text.questions.question_rules import faults
from hits.text.written import alike

LABELS = ("text", "script", "unfitting", "unknown")
# The cumulative shares of the labels among questions that no key knows.
_SHARES = (0.3, 0.75, 0.85, 1.0)
_ANSWER_WORDS = 3
_JUNK = ("asdf", "no idea", "good", "yes it is", "something")


@dataclass(frozen=True)
class Truth:
    """What those who know say of one question; answers are there for any label, should somebody need them."""

    label: str
    correct: tuple[str, ...]
    incorrect: tuple[str, ...]


def answer(person: Person, screen: Screen, key: AnswerKey) -> Answer | None:
    story = screen.node("p", "data-gaps").text()
    cards = screen.page.all("fieldset", "data-question")
    if not cards:
        raise NotATaskError("The page has no question to answer.")
    asked = [card.all("strong", "data-asked")[0].text() for card in cards]
    own = _own_questions(story, asked, key)
    fields: dict[str, str] = {}
    for number, (card, question) in enumerate(zip(cards, asked, strict=True)):
        label, texts = _said(person, truth_of(story, question, key), question, number)
        fields |= _filled(
            card, label, (*texts, own[number] if not person.writes_junk else f"what is this thing {number}")
        )
    return Answer(f"answers {asked[0]}", fields)


def _filled(card: Node, label: str, texts: Sequence[str]) -> dict[str, str]:
    """The fields of one question by their names; the page ignores those that the label does not ask for."""
    areas = card.all("textarea")
    longest = [int(area.attributes["maxlength"]) for area in areas]
    given = {area.attributes["name"]: text[:most] for area, text, most in zip(areas, texts, longest, strict=True)}
    return {card.all("input", type="radio")[0].attributes["name"]: label, **given}


def _said(person: Person, truth: Truth, question: str, number: int) -> tuple[str, tuple[str, str]]:
    """(label, (correct, incorrect answer))."""
    item = f"answer {question}"
    guesses = person.chooses_blindly or person.writes_junk or not happens(person, item, "label", person.accuracy)
    label = one_of(LABELS, person, item, "guess") if guesses else truth.label
    if person.writes_junk:
        first = int(draw(person.seed, person.name, item, "junk") * len(_JUNK))
        return label, (_JUNK[first], _JUNK[(first + 1 + number % 3) % len(_JUNK)])
    correct = one_of(truth.correct, person, item, "correct")
    wrong = [text for text in truth.incorrect if alike(text) != alike(correct)]
    return label, (correct, one_of(wrong, person, item, "incorrect") if wrong else f"not {correct}")


def truth_of(story: str, question: str, key: AnswerKey) -> Truth:
    """What is right of a question about a story with gaps, to everybody who knows."""
    known = key.question(story, question)
    if known is None or known.junk:
        return _supposed(story, question)
    label = next((kind for kind in known.kinds if kind in LABELS), "text")
    return Truth(label, known.correct, known.incorrect)


def _supposed(story: str, question: str) -> Truth:
    place = draw(0, story, question, "label")
    label = next(label for label, share in zip(LABELS, _SHARES, strict=True) if place < share)
    # A few words of a sentence, which stand for an answer.
    told = [" ".join(content_words(sentence.text)[-_ANSWER_WORDS:]) for sentence in sentences(story)]
    told = [bit for bit in told if bit] or ["that"]
    at = int(draw(0, story, question, "answer") * len(told))
    return Truth(label, (told[at],), tuple(told[at + 1 :] + told[:at]) or ("nothing",))


def _own_questions(story: str, asked: Sequence[str], key: AnswerKey) -> list[str]:
    """One for each that is asked: those of the key that are not asked here, then others that the page takes."""
    found = key.about(story)
    here = {alike(text) for text in asked}
    known = [one.question for one in (found[1] if found else ())]
    free = [text for text in known if alike(text) not in here and not faults(text)]
    more = [f"What was told at place number {number} of the story?" for number in range(1, len(asked) + 1)]
    return [*free, *more][: len(asked)]
