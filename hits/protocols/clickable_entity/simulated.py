"""Clicking the name that fills the blank of a statement about a passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hits.crowd.answering import Answer
from hits.crowd.html import Node
from hits.crowd.key import AnswerKey, Truth
from hits.crowd.people import Person, happens, one_of
from hits.crowd.task_page import NotATaskError, Screen

PLACEHOLDER = "@placeholder"


@dataclass(frozen=True)
class Choice:
    """A mention: what is sent for it, what stands there, and which mentions are lit up together with it."""

    value: str
    text: str
    group: str


@dataclass(frozen=True)
class Cloze:
    passage: str
    statement: str
    choices: tuple[Choice, ...]


def answer(person: Person, screen: Screen, key: AnswerKey) -> Answer | None:
    shown = read(screen)
    truth = key.find(shown.passage, shown.statement)
    if truth is None:
        return None
    clicked = choose(person, truth.item, shown.choices, truth)
    return Answer(truth.item, {"answer": clicked.value, "text": clicked.text})


def read(screen: Screen) -> Cloze:
    """Raises NotATaskError."""
    passage = screen.node("div", "data-passage")
    statement = screen.node("p", "data-statement")
    choices = tuple(_choice(label) for label in passage.all("label", "data-group"))
    if not choices:
        raise NotATaskError("The page has no name to click.")
    return Cloze(passage.text(), _with_placeholder(statement), choices)


def _choice(label: Node) -> Choice:
    radio = label.first("input", type="radio")
    if radio is None:
        raise NotATaskError("A name of the page cannot be clicked.")
    return Choice(radio.attributes.get("value", ""), label.text(), label.attributes["data-group"])


def _with_placeholder(statement: Node) -> str:
    parts = []
    for child in statement.children:
        if isinstance(child, str):
            parts.append(child)
        else:
            parts.append(PLACEHOLDER if "data-slot" in child.attributes else child.text())
    return "".join(parts)


def choose(person: Person, item: str, choices: Sequence[Choice], truth: Truth) -> Choice:
    """The name that this person clicks. Choices must not be empty."""
    if person.chooses_blindly:
        return one_of(_one_a_group(choices), person, item, "random")
    right = _right(choices, truth)
    groups = {choice.group for choice in right}
    wrong = [choice for choice in choices if choice.group not in groups]
    knows = happens(person, item, "knows", person.accuracy)
    return one_of((right if knows else wrong) or choices, person, item, "which")


def _right(choices: Sequence[Choice], truth: Truth) -> list[Choice]:
    by_place = [choice for choice in choices if choice.value in truth.spans]
    return by_place or [choice for choice in choices if choice.text in truth.texts]


def _one_a_group(choices: Sequence[Choice]) -> list[Choice]:
    """Somebody who does not read sees names, not how often each is mentioned."""
    first: dict[str, Choice] = {}
    for choice in choices:
        first.setdefault(choice.group, choice)
    return list(first.values())
