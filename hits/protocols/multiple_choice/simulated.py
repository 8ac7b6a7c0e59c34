"""Choosing one answer to a question of the key."""

from __future__ import annotations

from collections.abc import Iterable

from hits.crowd.answering import Answer
from hits.crowd.key import AnswerKey, Written, squeezed
from hits.crowd.people import Person, happens, one_of
from hits.crowd.task_page import NotATaskError, Screen

NONE_OF_THE_ABOVE = "none of the above"


def answer(person: Person, screen: Screen, key: AnswerKey) -> Answer | None:
    choices = {one.value: one.text for one in screen.controls("radio") if one.name == "choice"}
    if not choices:
        raise NotATaskError("The page has no choice of one answer.")
    text, asked = screen.text("article"), screen.text("legend")
    question = key.question(text, asked)
    if question is None:
        return None
    item = f"choice {asked} {' '.join(sorted(choices.values()))} {text}"
    return Answer(item, {"choice": _choose(person, item, choices, question, screen.suggested())})


def _choose(person: Person, item: str, choices: dict[str, str], question: Written, suggested: str) -> str:
    if person.chooses_blindly:
        return one_of(sorted(choices), person, item, "random")
    # However it is spelled: files say "None of the above choices ." as well.
    none = [value for value, text in choices.items() if text.casefold().startswith(NONE_OF_THE_ABOVE)]
    right = _having(choices, question.correct) or none
    wrong = [value for value in sorted(choices) if value not in right]
    knows = happens(person, item, "knows", person.accuracy)
    proposed = _having(choices, [suggested]) if suggested else []
    if proposed and not knows and happens(person, item, "follows", person.follows):
        return proposed[0]
    return one_of((right if knows else wrong) or sorted(choices), person, item, "which")


def _having(choices: dict[str, str], texts: Iterable[str]) -> list[str]:
    wanted = {squeezed(text) for text in texts}
    return [value for value, text in choices.items() if squeezed(text) in wanted]
