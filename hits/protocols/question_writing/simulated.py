"""Writing questions about a paragraph: those of the key, or rubbish that the page takes."""

from __future__ import annotations

from hits.crowd.answering import Answer
from hits.crowd.html import Node
from hits.crowd.key import AnswerKey, Written
from hits.crowd.people import Person, draw
from hits.crowd.task_page import Screen


def answer(person: Person, screen: Screen, key: AnswerKey) -> Answer | None:
    found = key.about(screen.node("p", "data-paragraph").text())
    if found is None:
        return None
    story, questions = found
    item = f"write {story}"
    if person.writes_junk:
        # All of it, another one first for each paragraph.
        start = int(draw(person.seed, person.name, item, "junk") * len(key.junk))
        questions = (*key.junk[start:], *key.junk[:start])
    fields: dict[str, str] = {}
    for place, question in zip(screen.page.all("fieldset", "data-question"), questions, strict=False):
        fields |= _filled(place, question)
    return Answer(item, fields)


def _filled(place: Node, question: Written) -> dict[str, str]:
    """The fields of one question by their names, as many as there are."""
    texts = {"question": [question.question], "correct": question.correct, "incorrect": question.incorrect}
    fields = {
        area.attributes["name"]: text
        for kind, given in texts.items()
        for area, text in zip(place.all("textarea", data_kind=kind), given, strict=False)
    }
    return fields | {select.attributes["name"]: question.category for select in place.all("select")}
