"""Validating a multiple-choice question one step at a time.

Source: Huang et al. (2019), Cosmos QA, section 2.3. Document: {"text": paragraph}; item, a question set: {"question",
"candidates": [{"id", "text"}, ...], "intended" (an id, may be absent), "set" (its key)}. Each step depends on the one
before: whoever finds the paragraph or the question bad, or cannot determine an answer, is asked nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hits.protocols.base import AnswerRefusedError, CheckedAnswer, Json, LabelValue, Move, Step
from hits.protocols.choosing import blocks, order_of, remark, shuffled
from hits.protocols.given_settings import CLOSING, COMMON, INSTRUCTIONS, Given, paragraphs
from hits.protocols.lines import chosen
from hits.protocols.optional import Line
from hits.text.wording import _, gettext_noop

PICKED, ORDER, NONE = "picked", "order", "none"


@dataclass(frozen=True)
class Asked:
    """One step. Its choices are (value, text); the value `ends` leaves nothing more to ask, for the reason `ended`."""

    name: str
    asks: str
    help: str
    choices: tuple[tuple[str, str], ...]
    ends: str = ""
    ended: str = ""


STEPS = (
    Asked(
        "paragraph",
        gettext_noop("Is the paragraph inappropriate or nonsensical?"),
        gettext_noop("Mistakes in spelling do not matter, and neither does whether you like what it says."),
        (
            ("good", gettext_noop("No, it can be used")),
            ("bad", gettext_noop("Yes, it is inappropriate or makes no sense")),
        ),
        ends="bad",
        ended=gettext_noop("the paragraph is inappropriate or makes no sense"),
    ),
    Asked(
        "question",
        gettext_noop("Is the question nonsensical or unrelated to the paragraph?"),
        gettext_noop("A question may ask for more than the paragraph says outright."),
        (
            ("good", gettext_noop("No, it is about the paragraph")),
            ("bad", gettext_noop("Yes, it makes no sense or is about something else")),
        ),
        ends="bad",
        ended=gettext_noop("the question makes no sense or is about something else"),
    ),
    Asked(
        PICKED,
        gettext_noop("Which answer is the most plausible?"),
        gettext_noop("Several may be possible: take the one that fits the paragraph best."),
        ((NONE, gettext_noop("It cannot be determined")),),
        ends=NONE,
        ended=gettext_noop("the most plausible answer cannot be determined"),
    ),
    Asked(
        "needs_common_sense",
        gettext_noop("Does one need common sense to find this answer?"),
        gettext_noop(
            "Common sense is what everybody knows about people and things, and what the paragraph leaves out."
        ),
        (
            ("yes", gettext_noop("Yes, the paragraph does not say it outright")),
            ("no", gettext_noop("No, the paragraph itself says it")),
        ),
    ),
    Asked(
        "needs_context",
        gettext_noop("Could one answer the question without reading the paragraph?"),
        gettext_noop("Imagine that you saw nothing but the question and the answers."),
        (
            ("yes", gettext_noop("No, one has to read the paragraph")),
            ("no", gettext_noop("Yes, the question and the answers are enough")),
        ),
    ),
)


class StagedChoice:
    name = "staged_choice"
    title = "Judge a question step by step"
    fields = (INSTRUCTIONS, *CLOSING)
    example = (
        {
            "text": "The night train reached the coast an hour late. Ilse had slept through the stop at the lake,"
            " so she never saw the friend who had waited on the platform with her coat."
        },
        {
            "question": "Why did the friend wait on the platform?",
            "candidates": [
                {"id": "c0", "text": "To travel on to the coast."},
                {"id": "c1", "text": "To give Ilse something that is hers."},
                {"id": "c2", "text": "To sell her a coat."},
                {"id": "c3", "text": "To complain about the delay."},
            ],
            "set": "example",
        },
    )

    def settings(self, given: Mapping[str, Any]) -> Json:
        return Given(given, COMMON).done()

    def page(self, document: Json, item: Json, settings: Json, worker: str = "") -> Json:
        """{"blocks", "instructions"}: what every step shows. The rest is in the context of the step."""
        return {"blocks": blocks(document["text"]), "instructions": paragraphs(settings["instructions"])}

    def step(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str, move: Move
    ) -> Step:
        """As StepwiseProtocol. After an answer that leaves nothing to ask comes a screen that only submits.

        Its context: {"name", "asks", "help", "choices": [{"id", "text", "chosen"}], "question", "picked"}.
        """
        shown = _shown(item, worker)
        said = _said(fields, shown)
        if move == "on" and (faults := _faults(fields, said, shown, upto=_on_screen(fields, said))):
            raise AnswerRefusedError(faults)
        number = _moved(_on_screen(fields, said), said, move)
        return _screen(number, item, shown, said, remark(fields))

    def check(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str = ""
    ) -> CheckedAnswer:
        """A label for each step that was reached, and `order`: the ids of the candidates as this worker saw them."""
        shown = _shown(item, worker)
        said = _said(fields, shown)
        if faults := _faults(fields, said, shown, upto=len(STEPS)):
            raise AnswerRefusedError(faults)
        return CheckedAnswer(_labels(said, shown, item.get("intended")), remark(fields))

    def levels(self, settings: Json) -> dict[str, str]:
        """Of each step that was asked."""
        return dict.fromkeys((step.name for step in STEPS), "nominal")

    def in_lines(self, document: Json, item: Json, settings: Json, said: Mapping[str, Any]) -> list[Line]:
        """Each step that was reached, and beside the one that picks an answer the question itself."""
        found: list[Line] = []
        for step in STEPS:
            choices = [{"id": value, "text": text} for value, text in _choices(step, item.get("candidates", []))]
            asked = f"{item.get('question', '')}\n{step.asks}" if step.name in (PICKED, "question") else step.asks
            gold = [item["intended"]] if step.name == PICKED and item.get("intended") else []
            found += chosen(asked, step.name, choices, said, gold)
        return found

    def known_values(self, document: Json, item: Json, settings: Json) -> Json:
        return {PICKED: item["intended"]} if item.get("intended") else {}

    def scores(self, answers: Iterable[tuple[Json, Json, Any]]) -> Json:
        """Nothing: what a single label means depends on its step."""
        return {}


def _shown(item: Json, worker: str) -> list[Json]:
    return shuffled(item["candidates"], worker, item["set"])


def _choices(step: Asked, shown: Sequence[Json]) -> list[tuple[str, str]]:
    candidates = [(candidate["id"], candidate["text"]) for candidate in shown] if step.name == PICKED else []
    return [*candidates, *((value, _(text)) for value, text in step.choices)]


def _said(fields: Mapping[str, str], shown: Sequence[Json]) -> dict[str, str]:
    """What was answered, up to the first step that is open or ends the sequence: no field of a later one counts."""
    said: dict[str, str] = {}
    for step in STEPS:
        value = fields.get(step.name, "")
        if value not in dict(_choices(step, shown)):
            break
        said[step.name] = value
        if value == step.ends:
            break
    return said


def _ended(said: Mapping[str, str]) -> Asked | None:
    """The step whose answer left nothing more to ask."""
    return next((step for step in STEPS if step.ends and said.get(step.name) == step.ends), None)


def _reachable(said: Mapping[str, str]) -> int:
    """The number of the last screen that what was said leads to."""
    return min(len(said) + 1, len(STEPS))


def _on_screen(fields: Mapping[str, str], said: Mapping[str, str]) -> int:
    numbers = {str(number): number for number in range(1, len(STEPS) + 1)}
    return numbers.get(fields.get("step", ""), _reachable(said))


def _moved(at: int, said: Mapping[str, str], move: Move) -> int:
    if move == "back":
        return max(1, min(at, _reachable(said)) - 1)
    return min(at + 1 if move == "on" else at, _reachable(said))


def _faults(fields: Mapping[str, str], said: Mapping[str, str], shown: Sequence[Json], upto: int) -> list[str]:
    """Why the steps up to a number are not answered. What an open step leaves unasked is no fault."""
    faults = []
    if len(said) < upto and not _ended(said):
        faults.append(_open(len(said) + 1, fields.get(STEPS[len(said)].name, "")))
    if PICKED in said and fields.get(ORDER, "") != order_of(shown):
        faults.append(
            _("The answers were not sent in the order in which you saw them. Reload the page and choose again.")
        )
    return faults


def _open(number: int, value: str) -> str:
    asks = _(STEPS[number - 1].asks)
    if value:
        return _(
            "Step %(number)s got an answer that it does not offer: “%(asks)s” Choose one of the answers on the page.",
            number=number,
            asks=asks,
        )
    return _(
        "Step %(number)s is not answered yet: “%(asks)s” Choose one of the answers on the page.",
        number=number,
        asks=asks,
    )


def _screen(number: int, item: Json, shown: Sequence[Json], said: Mapping[str, str], comment: str) -> Step:
    ended = _ended(said) if number > len(said) else None
    step = STEPS[number - 1]
    asks = "" if ended else step.name
    last = ended is not None or number == len(STEPS)
    given = dict(said)
    if PICKED in (*said, asks):
        given[ORDER] = order_of(shown)
    if comment:
        given["comment"] = comment
    here = {asks, "comment"} if last else {asks}
    return Step(
        number=number,
        of=number if ended else len(STEPS),
        context=_ending(ended) if ended else _asking(step, item, shown, said),
        said={name: value for name, value in given.items() if name in here},
        kept={name: value for name, value in given.items() if name not in here},
        last=last,
    )


def _asking(step: Asked, item: Json, shown: Sequence[Json], said: Mapping[str, str]) -> Json:
    texts = {candidate["id"]: candidate["text"] for candidate in shown}
    before = [earlier.name for earlier in STEPS[: STEPS.index(step)]]
    return {
        "name": step.name,
        "asks": _(step.asks),
        "help": _(step.help),
        "choices": [
            {"id": value, "text": text, "chosen": said.get(step.name) == value} for value, text in _choices(step, shown)
        ],
        "question": item["question"] if before else "",
        "picked": texts[said[PICKED]] if PICKED in before else "",
    }


def _ending(ended: Asked) -> Json:
    return {
        "name": "end",
        "asks": _("Nothing more to ask"),
        "help": _("You said that %(said)s. Submit that, or go back to change it.", said=_(ended.ended)),
    }


def _labels(said: Mapping[str, str], shown: Sequence[Json], intended: str | None) -> tuple[LabelValue, ...]:
    judged = {PICKED: said.get(PICKED) == intended if intended else None}
    labels = [LabelValue(name, value, judged.get(name)) for name, value in said.items()]
    # A list, which no rule counts: as a text it would make every item's votes look unlike all others.
    seen = [LabelValue(ORDER, [candidate["id"] for candidate in shown], None)] if PICKED in said else []
    return (*labels, *seen)


protocol = StagedChoice()
