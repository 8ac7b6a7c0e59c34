"""Labelling an item with one or several labels of a list, and with those of a second list where the first calls for it.

Document: {"text"}. Item: a question set {"question", "candidates", "intended"}, a cloze {"query" with @placeholder,
"answers"}, or any {"question"?}; {"gold": [label id, ...]} where labels are known. Unlike other tasks this one shows
the right answer: what is asked is how a reader gets there. Sources: Zhang et al. (2018), ReCoRD, section 4 (types of
reasoning, and of the common sense that some need); Huang et al. (2019), Cosmos QA, section 2.6 (question types).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hits.protocols import choosing
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
from hits.protocols.lines import chosen, ticked
from hits.protocols.optional import Line, Setting
from hits.stats.label_shares import has_most, label_shares
from hits.text.wording import _

PLACEHOLDER = "@placeholder"
Said = Mapping[str, Any]
DEFAULTS: Json = {
    **COMMON,
    "question": "Which of these describe it?",
    "labels": [{"id": "clear", "text": "Clear"}, {"id": "unclear", "text": "Unclear"}],
    "several": False,
    "dependent_labels": [],
    "dependent_on": [],
    "dependent_question": "And which of these?",
    "dependent_several": True,
}


class Labelling:
    name = "labelling"
    title = "Label with one or several of a list"
    fields = (
        INSTRUCTIONS,
        Setting("question", "Question", "text", "Stands above the labels."),
        Setting(
            "labels",
            "Labels, one a line",
            "lines",
            "What a label means may follow a bar: text | help.",
            rows=6,
            lines=choice_lines,
        ),
        Setting("several", "Several labels can be given", "bool", "Otherwise a worker gives exactly one."),
        Setting(
            "dependent_labels",
            "More labels, asked for only where the first ones call for it, one a line",
            "lines",
            "Empty: there is no second question.",
            rows=4,
            lines=choice_lines,
        ),
        Setting(
            "dependent_on",
            "Labels that call for it, one a line",
            "lines",
            "Who gives one of them is asked for more.",
            rows=2,
            names="labels",
        ),
        Setting("dependent_question", "Question above them", "text", "Stands above the further labels."),
        Setting(
            "dependent_several", "Several of them can be given", "bool", "Otherwise a worker gives exactly one of them."
        ),
        *CLOSING,
    )
    example = (
        {
            "text": "When the lights came back, the freezer in the shop had been off since the morning."
            " Rosa filled two bags and hung a note on the door."
        },
        {
            "question": "What may have been in the bags?",
            "candidates": [
                {"id": "c0", "text": "Food that had thawed."},
                {"id": "c1", "text": "Light bulbs for the shop."},
            ],
            "intended": "c0",
        },
    )

    def settings(self, given: Mapping[str, Any]) -> Json:
        """Labels may be texts; `dependent_on` names labels of the first list."""
        found = Given(given, DEFAULTS)
        found.text("question", LONGEST_QUESTION)
        found.text("dependent_question", LONGEST_QUESTION)
        found.truth("several", "dependent_several")
        labels = found.choices("labels", 2)
        taken = [label["id"] for label in labels]
        dependent = found.choices("dependent_labels", 0, taken)
        if labels:
            found.named("dependent_on", labels, "the labels")
        if bool(found.values["dependent_on"]) != bool(found.values["dependent_labels"]):
            found.faults.append("dependent_labels and dependent_on go together: give both or neither.")
        if len(dependent) == 1:
            found.faults.append("dependent_labels must hold at least 2 lines, or none.")
        return found.done()

    def page(self, document: Json, item: Json, settings: Json, worker: str = "") -> Json:
        """{"blocks", "instructions", "statement", "asked", "candidates": [{"text", "intended"}], "labels",
        "dependent_labels"}; a label is {"id", "text", "help", "field", "opens"}.
        """
        opens = settings["dependent_on"]
        labels = choosing.boxes(settings["labels"], "has")
        return {
            "blocks": choosing.blocks(document.get("text", "")),
            "instructions": paragraphs(settings["instructions"]),
            "statement": _statement(item),
            "asked": item.get("question", ""),
            "candidates": _candidates(item),
            "labels": [{**label, "opens": label["id"] in opens} for label in labels],
            "dependent_labels": choosing.boxes(settings["dependent_labels"], "has"),
        }

    def check(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str = ""
    ) -> CheckedAnswer:
        """Labels: `label` (an id), or `<id>/has` (yes or no) for each where several can be given.

        Of the second list `dependent`, or `<id>/has`, where it was asked for; its fields are dropped otherwise.
        """
        faults: list[str] = []
        first = _given(settings["labels"], settings["several"], "label", fields, faults)
        second: list[str] = []
        asked = bool(set(first) & set(settings["dependent_on"]))
        if asked:
            of = settings["dependent_labels"]
            second = _given(of, settings["dependent_several"], "dependent", fields, faults)
        if faults:
            raise AnswerRefusedError(faults)
        labels = _labels(settings["labels"], settings["several"], "label", first, item)
        if asked:
            labels += _labels(settings["dependent_labels"], settings["dependent_several"], "dependent", second, item)
        return CheckedAnswer(tuple(labels), choosing.remark(fields))

    def levels(self, settings: Json) -> dict[str, str]:
        """Where several labels can be given, each is compared by itself."""
        lists = [("label", settings["several"])]
        if settings["dependent_labels"]:
            lists.append(("dependent", settings["dependent_several"]))
        return {"has" if several else unit: "nominal" for unit, several in lists}

    def in_lines(self, document: Json, item: Json, settings: Json, said: Mapping[str, Any]) -> list[Line]:
        """What the labels are about, with those of both lists."""
        first, second = settings["labels"], settings["dependent_labels"]
        about = "".join(_statement(item)) or str(item.get("question", ""))
        asked = "\n".join([about, *(f"– {one['text']}" for one in _candidates(item)), settings["question"]]).strip()
        gold, further = (choosing.gold_of({"gold": item.get("gold")}, labels) for labels in (first, second))
        return [
            *chosen(asked, "label", first, said, gold),
            *ticked(asked, "has", first, said, gold),
            *chosen(settings["dependent_question"], "dependent", second, said, further),
            *ticked(settings["dependent_question"], "has", second, said, further),
        ]

    def known_values(self, document: Json, item: Json, settings: Json) -> Json:
        found: Json = {}
        for labels, unit, several in (
            (settings["labels"], "label", settings["several"]),
            (settings["dependent_labels"], "dependent", settings["dependent_several"]),
        ):
            gold = choosing.gold_of({"gold": item.get("gold")}, labels)
            found |= choosing.known_values(labels, gold, unit, "has", several=several)
        return found

    def scores(self, answers: Iterable[tuple[Json, Json, Any]]) -> Json:
        """Single answers measure nothing: see `item_scores`."""
        return {}

    def item_scores(self, items: Iterable[tuple[Json, Json, Sequence[Said]]], settings: Json) -> Json:
        """{"n" items, "labels": [{"label", "count", "share", "low", "high"}, ...], "note"}; shares of 1.

        An item has a label if more than half of those who answered gave it. With a second list there is also
        "dependent", over the items whose labels call for it, by the answers that do; its labels have "share_of_all",
        too.
        """
        first = {label["id"] for label in settings["labels"]}
        opens = set(settings["dependent_on"])
        labels, second = [], []
        for _document, _item, given in items:
            if not given:
                continue
            chosen = [_ids(said) for said in given]
            labels.append(has_most([ids & first for ids in chosen]))
            if labels[-1] & opens:
                second.append(has_most([ids - first for ids in chosen if ids & opens]))
        if not labels:
            return {}
        report = label_shares(labels).to_dict()
        if opens:
            report["dependent"] = label_shares(second).within(len(labels)).to_dict()
        return report


def _statement(item: Json) -> list[str]:
    """A cloze as [before, name, between, name, after], its blanks filled; empty for other items."""
    if not item.get("query"):
        return []
    name = next((answer["text"] for answer in item.get("answers") or []), "…")
    pieces = item["query"].split(PLACEHOLDER)
    return [part for piece in pieces for part in (piece, name)][:-1]


def _candidates(item: Json) -> list[Json]:
    given = item.get("candidates") or []
    return [{"text": one["text"], "intended": one["id"] == item.get("intended")} for one in given]


def _given(
    labels: Sequence[Json], several: bool, field: str, fields: Mapping[str, str], faults: list[str]
) -> list[str]:
    """The ids that were given; adds to `faults`."""
    is_first = field == "label"
    before = len(faults)
    if several:
        given = choosing.ticked(fields, "has", labels, faults)
    else:
        said = str(fields.get(field, ""))
        given = [said] if said else []
        if said and said not in [label["id"] for label in labels]:
            faults.append(
                _("This is no label of the first list. Choose one of them.")
                if is_first
                else _("This is no label of the second list. Choose one of them.")
            )
    if not given and len(faults) == before:
        faults.append(_missing(is_first, several))
    return given


def _missing(is_first: bool, several: bool) -> str:
    if is_first and several:
        return _("The first list has no label yet. Choose all that fit.")
    if several:
        return _("The second list has no label yet. Choose all that fit.")
    if is_first:
        return _("The first list has no label yet. Choose one.")
    return _("The second list has no label yet. Choose one.")


def _labels(labels: Sequence[Json], several: bool, unit: str, given: Sequence[str], item: Json) -> list[LabelValue]:
    gold = choosing.gold_of({"gold": item.get("gold")}, labels)
    if not several:
        return [LabelValue(unit, given[0], given[0] in gold if gold else None)]
    return [
        LabelValue(
            f"{label['id']}/has",
            yes_no(label["id"] in given),
            (label["id"] in given) == (label["id"] in gold) if gold else None,
        )
        for label in labels
    ]


def _ids(said: Mapping[str, Any]) -> set[str]:
    """The ids of the labels that an answer gives."""
    one = {said[unit] for unit in ("label", "dependent") if unit in said}
    return one | {
        unit.removesuffix("/has") for unit, value in said.items() if value == choosing.YES and unit[-4:] == "/has"
    }


protocol = Labelling()
