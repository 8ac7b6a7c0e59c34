"""Answering all questions about a text, to measure how well people do it.

Source: Ostermann et al. (2019), MCScript2.0, section 5.2 (the human upper bound). Document: {"text", "scenario"?}.
Item: {"hidden": [[start, end], ...], "questions": [{"id", "text", "answers": [{"id", "text"}, ...], "intended"}]}. The
hidden sentences are left out, as from the text that machines get. Form fields of question q1 are named `q1_choice` and
`q1_order`, which holds the ids of its answers as they were shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hits.protocols import choosing
from hits.protocols.base import AnswerRefusedError, CheckedAnswer, Json, LabelValue
from hits.protocols.given_settings import CLOSING, COMMON, INSTRUCTIONS, Given, paragraphs
from hits.protocols.lines import chosen
from hits.protocols.majorities import right_shares
from hits.protocols.optional import Line
from hits.text.questions.hiding import visible
from hits.text.wording import _

ORDER = "order"
Fault = tuple[str, str]


class ReadingTest:
    name = "reading_test"
    title = "Answer the questions about a text"
    fields = (INSTRUCTIONS, *CLOSING)
    example: tuple[Json, Json] = (
        {
            "scenario": "washing a dog",
            "text": "On Saturday our dog came home from the pond, and nobody wanted to sit next to him. My sister and I"
            " led him into the yard and filled the tub. He shook himself twice, and both times we got wetter than he"
            " did. In the end we dried him with the old towels and gave him a biscuit.",
        },
        {
            "hidden": [],
            "questions": [
                {
                    "id": "q1",
                    "text": "What did they rub into his fur?",
                    "answers": [{"id": "a0", "text": "soap"}, {"id": "a1", "text": "the old towels"}],
                },
                {
                    "id": "q2",
                    "text": "When did they dry the dog?",
                    "answers": [{"id": "a0", "text": "at the end"}, {"id": "a1", "text": "before they filled the tub"}],
                },
            ],
        },
    )

    def settings(self, given: Mapping[str, Any]) -> Json:
        return Given(given, COMMON).done()

    def page(self, document: Json, item: Json, settings: Json, worker: str = "") -> Json:
        """{"scenario", "text", "instructions", "questions": [{"id", "number", "text", "name", "choices", "order"}]}.

        The choices of a question are in this worker's own order.
        """
        return {
            "scenario": document.get("scenario", ""),
            "text": visible(document["text"], item.get("hidden", [])),
            "instructions": paragraphs(settings["instructions"]),
            "questions": [
                _asked(number, question, _shown(document, question, worker))
                for number, question in enumerate(item["questions"], start=1)
            ],
        }

    def check(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str = ""
    ) -> CheckedAnswer:
        """Labels: `<id>/choice`, the id of an answer, for each question, and `order`: the ids of its answers as this
        worker saw them, by question.
        """
        faults: list[Fault] = []
        for number, question in enumerate(item["questions"], start=1):
            faults += _faults(number, question, _shown(document, question, worker), fields)
        if not item["questions"]:
            faults.append(("", _("There is no question about this text. Please return the HIT.")))
        if faults:
            raise AnswerRefusedError([sentence for _, sentence in faults], [name for name, _ in faults])
        labels = [_label(question, fields[_name(question)]) for question in item["questions"]]
        orders = {one["id"]: [shown["id"] for shown in _shown(document, one, worker)] for one in item["questions"]}
        return CheckedAnswer((*labels, LabelValue(ORDER, orders, None)), choosing.remark(fields))

    def levels(self, settings: Json) -> dict[str, str]:
        """Each question is compared by itself."""
        return {"choice": "nominal"}

    def in_lines(self, document: Json, item: Json, settings: Json, said: Mapping[str, Any]) -> list[Line]:
        """Each question with its answer."""
        return [
            line
            for question in item.get("questions", [])
            for line in chosen(
                question["text"], f"{question['id']}/choice", question["answers"], said, [question.get("intended")]
            )
        ]

    def scores(self, answers: Iterable[tuple[Json, Json, Any]]) -> Json:
        """Empty: an item has several questions. See `item_scores`."""
        return {}

    def item_scores(self, items: Iterable[tuple[Json, Json, Sequence[Mapping[str, Any]]]], settings: Json) -> Json:
        """As `majorities.right_shares`, question by question: `n` are questions, not texts."""
        units = ((f"{question['id']}/choice", given) for _, item, given in items for question in item["questions"])
        return right_shares([_of(unit, said) for said in given if unit in said] for unit, given in units)


def _name(question: Json) -> str:
    return f"{question['id']}_choice"


def _shown(document: Json, question: Json, worker: str) -> list[Json]:
    return choosing.shuffled(question["answers"], worker, document["text"], question["id"], question["text"])


def _asked(number: int, question: Json, shown: Sequence[Json]) -> Json:
    return {
        "id": question["id"],
        "number": number,
        "text": question["text"],
        "name": _name(question),
        "choices": [{"id": answer["id"], "text": answer["text"]} for answer in shown],
        "order": choosing.order_of(shown),
    }


def _faults(number: int, question: Json, shown: Sequence[Json], fields: Mapping[str, str]) -> list[Fault]:
    chosen = str(fields.get(_name(question), ""))
    faults = choosing.order_faults({ORDER: str(fields.get(f"{question['id']}_{ORDER}", ""))}, shown)
    if not chosen:
        asked = question["text"][:150]
        faults.append(
            _(
                "Question %(number)s is not answered yet: “%(asked)s” Choose one of its answers.",
                number=number,
                asked=asked,
            )
        )
    elif chosen not in [answer["id"] for answer in shown]:
        faults.append(
            _("Question %(number)s got an answer that it does not have. Choose one of its answers.", number=number)
        )
    return [(_name(question), sentence) for sentence in faults]


def _label(question: Json, chosen: str) -> LabelValue:
    intended = question.get("intended")
    return LabelValue(f"{question['id']}/choice", chosen, chosen == intended if intended else None)


def _of(unit: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """What an answer says about that unit alone."""
    return {name: said[name] for name in (unit, f"{unit}.correct") if name in said}


protocol = ReadingTest()
