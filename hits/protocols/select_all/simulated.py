"""Ticking every plausible answer to a question of the key, or none of them."""

from __future__ import annotations

from hits.crowd.answering import Answer
from hits.crowd.key import AnswerKey, is_one_of
from hits.crowd.people import Person, happens
from hits.crowd.task_page import NotATaskError, Screen

NONE, TICKED = "selected-none", "yes"


def answer(person: Person, screen: Screen, key: AnswerKey) -> Answer | None:
    boxes = _boxes(screen)
    text, asked = screen.text("article"), screen.text("legend")
    question = key.question(text, asked)
    if question is None:
        return None
    item = f"select {asked} {' '.join(sorted(boxes.values()))} {text}"
    ticked = []
    for name, choice in boxes.items():
        if person.chooses_blindly:
            ticks = happens(person, item, f"random {choice}", 0.5)
        else:
            ticks = is_one_of(choice, question.correct) == happens(person, item, f"knows {choice}", person.accuracy)
        if ticks:
            ticked.append(name)
    return Answer(item, dict.fromkeys(ticked or [NONE], TICKED))


def _boxes(screen: Screen) -> dict[str, str]:
    """The name of each candidate's box, with its text. Raises NotATaskError."""
    found = {one.name: one.text for one in screen.controls("checkbox") if one.name.startswith("selected-")}
    if found.pop(NONE, None) is None:
        raise NotATaskError("The page has no box for none of the answers.")
    return found
