"""Giving a question of the key its labels, by what the key says that it needs."""

from __future__ import annotations

from hits.crowd.answering import Answer
from hits.crowd.key import AnswerKey, is_one_of
from hits.crowd.people import Person, happens, one_of
from hits.crowd.task_page import NotATaskError, Screen


def answer(person: Person, screen: Screen, key: AnswerKey) -> Answer | None:
    labels = _labels(screen)
    text, asked = screen.text("article"), screen.text("strong")
    question = key.question(text, asked)
    right = [one for one, name in labels.items() if question and is_one_of(name, question.kinds)]
    if not right:
        return None
    item = f"label {asked} {text}"
    wrong = [one for one in labels if one not in right]
    knows = happens(person, item, "knows", person.accuracy) and not person.chooses_blindly
    return Answer(item, dict(right if knows else [one_of(wrong or right, person, item, "which")]))


def _labels(screen: Screen) -> dict[tuple[str, str], str]:
    """(name, value) of each label's control, with its text. Raises NotATaskError."""
    one_of_them = [one for one in screen.controls("radio") if one.name == "label"]
    several = [one for one in screen.controls("checkbox") if one.name.startswith("has-")]
    if not one_of_them and not several:
        raise NotATaskError("The page has no label to give.")
    return {(one.name, one.value): one.text for one in one_of_them or several}
