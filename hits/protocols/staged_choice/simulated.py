"""Judging a question one step at a time, each from what its screen shows."""

from __future__ import annotations

from hits.crowd.answering import Answer
from hits.crowd.html import Node
from hits.crowd.key import AnswerKey, Written, is_one_of
from hits.crowd.people import Person, happens, one_of
from hits.crowd.task_page import Screen

NOTICES_JUNK = 0.95
# Of the mistakes that a person makes in picking, so many are made in saying what a question needs.
SLIPS = 0.3
PICKED, NONE = "picked", "none"


def answer(person: Person, screen: Screen, key: AnswerKey) -> Answer | None:
    step = screen.node("section", id="step")
    text = screen.text("article")
    story = key.about(text)
    if story is None:
        return None
    asked = step.first("p", **{"class": "asked"})
    choices = {one.value: one.text for one in screen.controls("radio")}
    name = next((one.name for one in screen.controls("radio")), "")
    if asked is None:
        item = f"{name} {story[0]}"
        if not name:
            return Answer(item, {})
        # Stories of the key are fit to be read.
        return Answer(
            item, {name: one_of(sorted(choices), person, item, "random") if person.chooses_blindly else "good"}
        )
    question = key.question(text, asked.own_text())
    if question is None:
        return None
    item = f"{name} {story[0]} {question.question} {_shown(step, choices)}"
    return Answer(item, {name: _said(person, item, name, choices, question)} if name else {})


def _shown(step: Node, choices: dict[str, str]) -> str:
    """The answers on the screen in one order for everybody: two sets may share their question."""
    picked = step.first("bdi")
    return " ".join(sorted(choices.values())) + (picked.text() if picked else "")


def _said(person: Person, item: str, name: str, values: dict[str, str], question: Written) -> str:
    if person.chooses_blindly:
        return one_of(sorted(values), person, item, "random")
    if name == "question":
        return "bad" if question.junk and happens(person, item, "notices", NOTICES_JUNK) else "good"
    if name == PICKED:
        return _picked(person, item, {value: text for value, text in values.items() if value != NONE}, question)
    slips = happens(person, item, "slips", SLIPS * (1 - person.accuracy))
    truth = question.needs.get(name, "yes")
    return {"yes": "no", "no": "yes"}[truth] if slips else truth


def _picked(person: Person, item: str, candidates: dict[str, str], question: Written) -> str:
    if question.junk:
        return one_of(sorted(candidates), person, item, "guesses")
    right = [value for value, text in candidates.items() if is_one_of(text, question.correct)]
    wrong = [value for value in sorted(candidates) if value not in right]
    knows = happens(person, item, "knows", person.accuracy)
    return one_of((right if knows else wrong) or sorted(candidates), person, item, "which")
