"""How simulated people mark a text; see `hits.crowd.marking`."""

from __future__ import annotations

import json

from hits.crowd import marking
from hits.crowd.answering import Answer
from hits.crowd.key import AnswerKey
from hits.crowd.people import Person
from hits.crowd.task_page import Screen


def answer(person: Person, screen: Screen, key: AnswerKey) -> Answer | None:
    screen.node("div", "data-spans-task")  # a form may have texts to mark as well
    item = f"spans {screen.node('div', 'data-marking').text()}"
    said = marking.marked(person, screen.page, item)
    return Answer(item, {"spans": json.dumps(said)} if said else {"nothing": "yes"})
