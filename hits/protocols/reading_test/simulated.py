"""Answering all questions about a story with gaps by choosing, as those who wrote the answers know it."""

from __future__ import annotations

from hits.crowd.answering import Answer
from hits.crowd.html import Node
from hits.crowd.key import AnswerKey
from hits.crowd.people import Person, draw, happens, one_of
from hits.crowd.task_page import NotATaskError, Screen
from hits.protocols.answer_writing.simulated import truth_of
from hits.text.written import alike


def answer(person: Person, screen: Screen, key: AnswerKey) -> Answer | None:
    cards = screen.page.all("fieldset", "data-asked")
    if not cards:
        raise NotATaskError("The page has no questions with answers to choose from.")
    story = screen.node("p", "data-gaps").text()
    chosen = dict(_chosen(person, card, story, key) for card in cards)
    return Answer(f"read {story[:80]}", chosen)


def _chosen(person: Person, card: Node, story: str, key: AnswerKey) -> tuple[str, str]:
    """The name of a question's field, and the answer."""
    question = card.all("span", "data-question-text")[0].text()
    buttons = {label.text().strip(): label.all("input", type="radio")[0] for label in card.all("label")}
    name = next(iter(buttons.values())).attributes["name"]
    values = {text: button.attributes["value"] for text, button in buttons.items()}
    return name, values[_pick(person, story, question, sorted(values), key)]


def _pick(person: Person, story: str, question: str, texts: list[str], key: AnswerKey) -> str:
    item = f"choose {question}"
    if person.chooses_blindly:
        return one_of(texts, person, item, "random")
    right = _right(story, question, texts, key)
    wrong = [text for text in texts if text != right]
    knows = happens(person, item, "knows", person.accuracy)
    return right if knows or not wrong else one_of(wrong, person, item, "which")


def _right(story: str, question: str, texts: list[str], key: AnswerKey) -> str:
    """What everybody holds to be right who knows: the truth, or else what it does not exclude."""
    truth = truth_of(story, question, key)
    correct, incorrect = set(map(alike, truth.correct)), set(map(alike, truth.incorrect))
    ranks = {text: (alike(text) not in correct, alike(text) in incorrect, draw(0, question, text)) for text in texts}
    return min(texts, key=lambda text: ranks[text])
