"""Marking spans of a text and giving each a label from a list.

Document: {"text"}. Item: {"gold"?: spans, "proposals"?: [[start, end, label id, votes], ...], "answers"?: number}. What
others proposed, with how many of so many answers, is shown beside the text to whoever decides between them.

A span is [start, end, label id]; `hits.protocols.marked` says what is counted and how it is posted.

Labels of an answer:
- `spans`, the sorted list of all spans. A release and measures of agreement read it. Rules count texts and numbers
  only, so none counts it; `spans.correct` is there where the item has gold, true where both are the same.
- `nothing`, yes or no: whether the worker said that there is nothing to mark.
- `<label id>/marked`, yes or no: whether anything got that label. A rule counts it by its whole name, or label by
  label: "each label:" and then "found: at least 2 marked = yes".
A unit for each span was the other choice. It would be named after its place, which no rule can know before the
answers come, and a rule counts what several workers said of the same unit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hits.protocols import choosing, marked
from hits.protocols.base import AnswerRefusedError, CheckedAnswer, Json, LabelValue
from hits.protocols.choosing import yes_no
from hits.protocols.given_settings import (
    CLOSING,
    COMMON,
    INSTRUCTIONS,
    LONGEST_QUESTION,
    Given,
    choice_lines,
    paragraphs,
)
from hits.protocols.lines import nothing, ticked
from hits.protocols.optional import Line, Setting
from hits.text.wording import _

DEFAULTS: Json = {
    **COMMON,
    "ask": "Mark every name of a person, a place or an organisation",
    "labels": [
        {"id": "person", "text": "Person"},
        {"id": "place", "text": "Place"},
        {"id": "organisation", "text": "Organisation"},
    ],
    "overlap": False,
    "whole_words": True,
    "fewest": 0,
    "most": 50,
}


class Spans:
    name = "spans"
    title = "Mark spans of a text"
    # What the page "Task" lets a lead change.
    fields = (
        INSTRUCTIONS,
        Setting("ask", "What is to be marked", "text", "Stands above the text.", rows=2),
        Setting(
            "labels",
            "Labels, one a line",
            "lines",
            "The first nine have the keys 1 to 9. Help may follow a bar: text | help.",
            rows=5,
            lines=choice_lines,
        ),
        Setting("overlap", "Marked spans may overlap", "bool", "Otherwise a span within another is refused."),
        Setting("whole_words", "Only whole words can be marked", "bool", marked.WHOLE_WORDS),
        Setting(
            "fewest",
            "Fewest spans",
            "number",
            "0: workers may say that there is nothing to mark.",
            unit="spans",
        ),
        Setting("most", "Most spans", "number", f"1 to {marked.MOST_SPANS}; more are refused.", unit="spans"),
        *CLOSING,
    )
    example: tuple[Json, Json] = (
        {"text": "Ilse Brandt left the harbour office in Linden at noon. The Water Board had called her to Veere."},
        {},
    )

    def settings(self, given: Mapping[str, Any]) -> Json:
        """The given settings completed with defaults. Raises SettingsRefusedError with every fault."""
        found = Given(given, DEFAULTS)
        found.text("ask", LONGEST_QUESTION)
        found.choices("labels", 1)
        found.truth("overlap", "whole_words")
        found.whole("fewest", 0, marked.MOST_SPANS)
        found.whole("most", 1, marked.MOST_SPANS)
        if not found.faults and found.values["fewest"] > found.values["most"]:
            found.faults.append("fewest must not be more than most.")
        return found.done()

    def page(self, document: Json, item: Json, settings: Json, worker: str = "") -> Json:
        """{"marking": see `marked.shown`, "proposals", "answers", "instructions"}: what the template shows."""
        text = document["text"]
        marking = marked.shown(text, settings["labels"], _limits(settings), name="spans", heading="reading-heading")
        places = marked.words(text)
        return {
            "marking": marking,
            "proposals": [_proposal(one, text, places, marking["labels"]) for one in item.get("proposals", [])],
            "answers": item.get("answers", 0),
            "instructions": paragraphs(settings["instructions"]),
        }

    def check(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str = ""
    ) -> CheckedAnswer:
        """Labels `spans`, `nothing`, `<label id>/marked`. A worker can send anything, so all of it is checked here."""
        said, part = fields.get("spans", ""), lambda name: fields.get(name, "")
        spans, faults = marked.taken(said, part, document["text"], _limits(settings))
        if faults:
            raise AnswerRefusedError(faults)
        return CheckedAnswer(tuple(_labels(spans, item, settings)), choosing.remark(fields))

    def has_known_answer(self, document: Json, item: Json, settings: Json) -> bool:
        return "gold" in item

    def levels(self, settings: Json) -> dict[str, str]:
        return {"spans": "span", "nothing": "nominal", "marked": "nominal"}

    def in_lines(self, document: Json, item: Json, settings: Json, said: Mapping[str, Any]) -> list[Line]:
        """What was marked with which label; of the smaller labels only where they stand alone."""
        texts = {label["id"]: label["text"] for label in settings["labels"]}
        if "spans" in said:
            text = str(document.get("text", ""))
            units = tuple(unit for unit in said if unit in self._units(settings))
            known = marked.in_words(item["gold"], text, texts) or nothing() if "gold" in item else ""
            return [Line(settings["ask"], marked.in_words(said["spans"], text, texts) or nothing(), units, known)]
        if "nothing" in said:
            return [
                Line(settings["ask"], nothing() if said["nothing"] == choosing.YES else _("something"), ("nothing",))
            ]
        return list(ticked(settings["ask"], "marked", settings["labels"], said))

    def _units(self, settings: Json) -> set[str]:
        return {"spans", "nothing", *(f"{label['id']}/marked" for label in settings["labels"])}

    def known_values(self, document: Json, item: Json, settings: Json) -> Json:
        return {"spans": item["gold"]} if "gold" in item else {}

    def suggestible(self, document: Json, item: Json, settings: Json) -> list[str]:
        return ["spans"]

    def suggestion(self, document: Json, item: Json, settings: Json, field: str, text: str) -> list[list[Any]]:
        """Sorted [start, end, label id], from JSON with ids or texts of labels."""
        spans = [(start, end, _label_named(settings["labels"], label)) for start, end, label in _spans_in(text)]
        if faults := marked.faults(spans, not spans, document["text"], _limits(settings)):
            raise AnswerRefusedError([f"cannot be an answer: {fault.rstrip('.')}" for fault in faults])
        return _sorted(spans)

    def suggested_labels(self, document: Json, item: Json, settings: Json, field: str, value: Any) -> Json:
        return {"spans": value}

    def scores(self, answers: Iterable[tuple[Json, Json, Any]]) -> Json:
        """{"same_as_gold" in percent, "n"} over one list of spans an item, where the item has gold."""
        judged = [_sorted(item["gold"]) == _sorted(value) for _, item, value in answers if "gold" in item]
        return {"same_as_gold": choosing.percent(sum(judged), len(judged)), "n": len(judged)} if judged else {}


def _limits(settings: Json) -> marked.Limits:
    labels = frozenset(label["id"] for label in settings["labels"])
    return marked.Limits(labels, settings["whole_words"], settings["overlap"], settings["fewest"], settings["most"])


def _spans_in(text: str) -> list[tuple[int, int, str]]:
    """What JSON such as [[0, 5, "person"]] holds. Raises AnswerRefusedError."""
    try:
        found = json.loads(text)
        if not isinstance(found, list):
            raise ValueError
        rows = [(start, end, label) for start, end, label in found]
    except (ValueError, TypeError, RecursionError) as error:
        raise AnswerRefusedError(['is no list such as [[0, 5, "person"]] in JSON']) from error
    if len(rows) > marked.MOST_SPANS or not all(
        type(start) is int and type(end) is int and isinstance(label, str) for start, end, label in rows
    ):
        raise AnswerRefusedError([f"is no list of at most {marked.MOST_SPANS} of a start, an end and a label"])
    return rows


def _label_named(labels: Sequence[Json], text: str) -> str:
    """The id that is meant by an id or a text; anything else as it is."""
    return next((label["id"] for label in labels if text in (label["id"], label["text"])), text)


def _proposal(given: Sequence[Any], text: str, places: Sequence[tuple[int, int]], labels: Sequence[Json]) -> Json:
    """What others marked, as the page shows it; `first` and `last` are the numbers of its words."""
    start, end, label, votes = given
    numbers = [number for number, place in enumerate(places, 1) if place[0] < end and start < place[1]]
    return {
        "start": start,
        "end": end,
        "text": text[start:end],
        "label": next((one for one in labels if one["id"] == label), {"id": "", "text": label, "key": 0, "hue": 0}),
        "votes": votes,
        "first": numbers[0] if numbers else 0,
        "last": numbers[-1] if numbers else 0,
    }


def _labels(spans: Sequence[marked.Span], item: Json, settings: Json) -> Iterator[LabelValue]:
    value = [list(span) for span in spans]
    yield LabelValue("spans", value, _sorted(item["gold"]) == value if "gold" in item else None)
    yield LabelValue("nothing", yes_no(not spans), None)
    given = {label for _, _, label in spans}
    for label in settings["labels"]:
        yield LabelValue(f"{label['id']}/marked", yes_no(label["id"] in given), None)


def _sorted(spans: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return sorted(list(span) for span in spans)


protocol = Spans()
