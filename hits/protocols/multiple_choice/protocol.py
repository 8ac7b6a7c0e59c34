"""Choosing one or several of a list of answers to a question about a text.

Document: {"text"}. Item: {"question"?, "choices"?: [{"id", "text"}, ...], "gold"?: [id or text, ...]}; question and
choices that an item lacks come from the settings. A question set is an item too: {"question", "candidates",
"intended"} (Huang et al. 2019, Cosmos QA: the human score is such a task).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hits.protocols import choosing
from hits.protocols.base import AnswerRefusedError, CheckedAnswer, Json, LabelValue
from hits.protocols.choosing import gold_of, yes_no
from hits.protocols.given_settings import (
    CLOSING,
    COMMON,
    INSTRUCTIONS,
    LONGEST_QUESTION,
    Given,
    choice_lines,
    paragraphs,
    printed,
)
from hits.protocols.lines import chosen, ticked, written
from hits.protocols.majorities import right_shares
from hits.protocols.optional import Line, Setting
from hits.text.wording import _, number

NO, OPTIONAL, REQUIRED = "no", "optional", "required"
DEFAULTS: Json = {
    **COMMON,
    "question": "Is this text easy to understand?",
    "choices": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}],
    "several": False,
    "shuffle": False,
    "free_text": NO,
    "free_text_label": "Why did you choose this?",
    "free_text_needed_for": [],
}


class MultipleChoice:
    name = "multiple_choice"
    title = "Choose one answer, or several"
    fields = (
        INSTRUCTIONS,
        Setting(
            "question",
            "Question",
            "text",
            "For the items that bring none of their own.",
            rows=2,
            brought_as=("question",),
        ),
        Setting(
            "choices",
            "Answers to choose from, one a line",
            "lines",
            "For the items that bring none of their own. Help may follow a bar: text | help.",
            rows=5,
            lines=choice_lines,
            brought_as=choosing.OWN_CHOICES,
        ),
        Setting("several", "Several answers can be chosen", "bool", "Otherwise a worker chooses exactly one."),
        Setting("shuffle", "Shuffle answers", "bool", "Each worker sees them in an order of their own."),
        Setting(
            "free_text",
            "A text in the worker's own words",
            "choice",
            "Whether the page has a field for it below the answers.",
            options=((NO, "is not asked for"), (OPTIONAL, "may be written"), (REQUIRED, "must be written")),
        ),
        Setting("free_text_label", "Text prompt", "text", "Stands above the field for the text."),
        Setting(
            "free_text_needed_for",
            "Answers that need a text, one a line",
            "lines",
            "Who chooses one of them must write, where others may.",
            rows=2,
            names="choices",
        ),
        *CLOSING,
    )
    example: tuple[Json, Json] = (
        {
            "text": "The night train reached the coast an hour late. Ilse had slept through the stop at the lake,"
            " so she never saw the friend who had waited on the platform with her coat."
        },
        {},
    )

    def settings(self, given: Mapping[str, Any]) -> Json:
        """`choices` may be texts; `free_text_needed_for` names some of them and counts where the text is optional."""
        found = Given(given, DEFAULTS)
        found.text("question", LONGEST_QUESTION)
        choices = found.choices("choices", 2)
        found.truth("several", "shuffle")
        found.one_of("free_text", (NO, OPTIONAL, REQUIRED))
        found.text("free_text_label", LONGEST_QUESTION)
        if choices:
            found.named("free_text_needed_for", choices, "the answers to choose from")
        if found.values["free_text_needed_for"] and found.values["free_text"] == NO:
            found.faults.append("free_text_needed_for names answers, but no text is asked for: let it be written.")
        return found.done()

    def page(self, document: Json, item: Json, settings: Json, worker: str = "") -> Json:
        """{"blocks", "instructions", "question", "choices": [{"id", "text", "help", "field"}], "order", "text"}."""
        shown = _shown(document, item, settings, worker)
        return {
            "blocks": choosing.blocks(document.get("text", "")),
            "instructions": paragraphs(settings["instructions"]),
            "question": _question(item, settings),
            "choices": choosing.boxes(shown, "chosen"),
            "order": choosing.order_of(shown) if settings["shuffle"] else "",
            "needed_for": [choice["text"] for choice in shown if choice["id"] in settings["free_text_needed_for"]],
            "max_text": choosing.MAX_TEXT,
        }

    def check(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str = ""
    ) -> CheckedAnswer:
        """Labels: `choice` (an id), or `<id>/chosen` (yes or no) for each where several can be chosen, and `text`."""
        shown = _shown(document, item, settings, worker)
        faults = choosing.order_faults(fields, shown) if settings["shuffle"] else []
        chosen = _chosen(shown, settings, fields, faults)
        words = _words(shown, settings, fields, chosen, faults)
        if faults:
            raise AnswerRefusedError(faults)
        labels = _labels(choosing.choices_of(item, settings), item, settings, chosen)
        return CheckedAnswer((*labels, *words), choosing.remark(fields))

    def levels(self, settings: Json) -> dict[str, str]:
        """Where several can be chosen, each choice is compared by itself."""
        found = {"chosen" if settings["several"] else "choice": "nominal"}
        return found if settings["free_text"] == NO else {**found, "text": "text"}

    def in_lines(self, document: Json, item: Json, settings: Json, said: Mapping[str, Any]) -> list[Line]:
        """The question with what was chosen, and what was written."""
        asked, choices = _question(item, settings), choosing.choices_of(item, settings)
        gold = gold_of(item, choices)
        return [
            *chosen(asked, "choice", choices, said, gold),
            *ticked(asked, "chosen", choices, said, gold),
            *written(settings["free_text_label"], "text", said),
        ]

    def scores(self, answers: Iterable[tuple[Json, Json, Any]]) -> Json:
        """{"accuracy" in percent, "n"} over one answer an item, each the id of a choice, where the item has gold."""
        judged = [(gold_of(item, choosing.choices_of(item, DEFAULTS)), value) for _, item, value in answers]
        right = [value in gold for gold, value in judged if gold]
        return {"accuracy": choosing.percent(sum(right), len(right)), "n": len(right)} if right else {}

    def has_known_answer(self, document: Json, item: Json, settings: Json) -> bool:
        return bool(item.get("gold") or item.get("intended"))

    def known_values(self, document: Json, item: Json, settings: Json) -> Json:
        choices = choosing.choices_of(item, settings)
        several = settings["several"]
        return choosing.known_values(choices, gold_of(item, choices), "choice", "chosen", several=several)

    def suggestible(self, document: Json, item: Json, settings: Json) -> list[str]:
        return ["chosen" if settings["several"] else "choice"]

    def suggestion(self, document: Json, item: Json, settings: Json, field: str, text: str) -> str | list[str]:
        """The id of a choice, or where several can be chosen a list of them, from ids or texts."""
        choices = choosing.choices_of(item, settings)
        if not settings["several"]:
            return choosing.choice_named(choices, text)
        chosen = choosing.choices_named(choices, text)
        if not chosen:
            raise AnswerRefusedError(["names no answer: at least one has to be chosen"])
        return chosen

    def suggested_labels(self, document: Json, item: Json, settings: Json, field: str, value: Any) -> Json:
        if not settings["several"]:
            return {"choice": value}
        choices = choosing.choices_of(item, settings)
        return {f"{choice['id']}/chosen": yes_no(choice["id"] in value) for choice in choices}

    def known_answer_faults(self, item: Json, settings: Json) -> list[str]:
        return choosing.known_answer_faults(item, choosing.choices_of(item, settings))

    def item_scores(self, items: Iterable[tuple[Json, Json, Sequence[Mapping[str, Any]]]], settings: Json) -> Json:
        """As `majorities.right_shares`, over the items that have gold; of several choices every box has to be right."""
        return right_shares(given for _, _, given in items)


def _shown(document: Json, item: Json, settings: Json, worker: str) -> list[Json]:
    choices = choosing.choices_of(item, settings)
    if not settings["shuffle"]:
        return choices
    return choosing.shuffled(choices, worker, document.get("text", ""), _question(item, settings))


def _question(item: Json, settings: Json) -> str:
    return str(item.get("question") or settings["question"])


def _chosen(shown: Sequence[Json], settings: Json, fields: Mapping[str, str], faults: list[str]) -> list[str]:
    """The ids that were chosen; adds to `faults`."""
    if settings["several"]:
        chosen = choosing.ticked(fields, "chosen", shown, faults)
        if not chosen and not faults:
            faults.append(_("Nothing is chosen yet. Tick every answer that fits."))
        return chosen
    choice = str(fields.get("choice", ""))
    if not choice:
        faults.append(_("No answer is chosen yet. Choose one of them."))
    elif choice not in [one["id"] for one in shown]:
        faults.append(_("This is not one of the answers. Choose one of them."))
    return [choice]


def _words(
    shown: Sequence[Json], settings: Json, fields: Mapping[str, str], chosen: Sequence[str], faults: list[str]
) -> list[LabelValue]:
    """The label of the free text, if there is one; adds to `faults`."""
    if settings["free_text"] == NO:
        return []
    words = printed(str(fields.get("text", "")))
    needed_for = [one["text"] for one in shown if one["id"] in chosen and one["id"] in settings["free_text_needed_for"]]
    if not words and settings["free_text"] == REQUIRED:
        label = settings["free_text_label"][:200]
        faults.append(_("The text is missing: %(question)s Write it in your own words.", question=label))
    elif not words and needed_for:
        faults.append(_("Who chooses “%(answer)s” writes why. Fill in the text.", answer=needed_for[0][:100]))
    if len(words) > choosing.MAX_TEXT:
        length, most = number(len(words)), number(choosing.MAX_TEXT)
        faults.append(_("The text has %(length)s characters. Shorten it to %(most)s.", length=length, most=most))
    # In an object, so that no rule takes a short text for a value to count.
    return [LabelValue("text", {"text": words}, None)] if words else []


def _labels(choices: Sequence[Json], item: Json, settings: Json, chosen: Sequence[str]) -> list[LabelValue]:
    gold = gold_of(item, choices)
    if not settings["several"]:
        return [LabelValue("choice", chosen[0], chosen[0] in gold if gold else None)]
    return [
        LabelValue(
            f"{choice['id']}/chosen",
            yes_no(choice["id"] in chosen),
            (choice["id"] in chosen) == (choice["id"] in gold) if gold else None,
        )
        for choice in choices
    ]


protocol = MultipleChoice()
