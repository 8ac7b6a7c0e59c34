"""Telling a story about an everyday scenario as if to a child.

Source: Ostermann et al. (2019), MCScript2.0, section 3.1. Document: {"scenario", "hint"?}, such as "baking a cake"
and a sentence that helps to understand it; item: {}. One form field: `story`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hits.protocols import evidence
from hits.protocols.base import AnswerRefusedError, CheckedAnswer, Json, LabelValue
from hits.protocols.choosing import MAX_REMARK, remark
from hits.protocols.given_settings import CLOSING, COMMON, INSTRUCTIONS, Given, paragraphs
from hits.protocols.lines import measured, written
from hits.protocols.optional import Likeness, Line, Setting
from hits.protocols.story import instructions as ours
from hits.text.language.words import words
from hits.text.originality.near_duplicates import contained, longest_common, marked, repeats, similar
from hits.text.wording import _, ngettext, number
from hits.text.written import kept_lines

FIELD = "story"
MOST_WORDS = 1500
# Together with a long comment and the notes on pastes it still fits into a draft.
MOST_CHARACTERS = 12_000
# Independent stories about one scenario share less than 5 % of their five-word passages, and none repeats more than
# 5 % of its own: measured on the published stories that the tests read.
MOST_REPEATED = 0.3
MOST_OF_INSTRUCTIONS = 0.3
COPIED = 0.3
DEFAULTS: Json = {**COMMON, "shortest": 60, "longest": 400, "pastes": True}


class Story:
    name = "story"
    title = "Tell a story about something everyday"
    fields = (
        INSTRUCTIONS,
        Setting(
            "shortest",
            "Fewest words of a story",
            "number",
            f"1 to {MOST_WORDS:,}; shorter ones are refused.",
            unit="words",
        ),
        Setting(
            "longest",
            "Most words of a story",
            "number",
            f"Up to {MOST_WORDS:,}; longer ones are refused.",
            unit="words",
        ),
        Setting(
            "pastes",
            "Note what is pasted",
            "bool",
            "How many characters is kept with the answer. Workers are told; nothing is refused.",
        ),
        *CLOSING,
    )
    example: tuple[Json, Json] = (
        {"scenario": "taking the bus to town", "hint": "It is a bus in a city, and you have no ticket yet."},
        {},
    )
    compared = FIELD

    def settings(self, given: Mapping[str, Any]) -> Json:
        """How many words a story has (60 to 400), and whether pastes are noted."""
        found = Given(given, DEFAULTS)
        found.whole("shortest", 1, MOST_WORDS)
        found.whole("longest", 1, MOST_WORDS)
        found.truth("pastes")
        if not found.faults and found.values["longest"] < found.values["shortest"]:
            found.faults.append("longest must not be smaller than shortest.")
        return found.done()

    def page(self, document: Json, item: Json, settings: Json, worker: str = "") -> Json:
        """{"scenario", "hint", "instructions", "ours", "shortest", "longest", "most_characters", "max_comment"}.

        `instructions` are the lead's, in paragraphs; `ours` are shown where there are none.
        """
        return {
            "scenario": document["scenario"],
            "hint": document.get("hint", ""),
            "instructions": paragraphs(settings["instructions"]),
            "ours": {
                "aim": _(ours.AIM),
                "steps": [_(step) for step in ours.STEPS],
                "rules": [_(rule) for rule in ours.RULES],
                "example_about": ours.EXAMPLE_ABOUT,
                "example": ours.EXAMPLE,
                "example_is_good": _(ours.EXAMPLE_IS_GOOD),
            },
            "shortest": settings["shortest"],
            "longest": settings["longest"],
            "most_characters": MOST_CHARACTERS,
            "max_comment": MAX_REMARK,
        }

    def check(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str = ""
    ) -> CheckedAnswer:
        """Labels: `story` as {"text", "words"}, and `evidence` as {"pastes", "seconds"}, which refuses nothing.

        The text keeps its lines and paragraphs; control characters and outer space go. Its words are counted as the
        page counts them (static/task/words.js).
        """
        options = {**DEFAULTS, **settings}
        text = kept_lines(str(fields.get(FIELD, "")))
        faults = _faults(text, document, options)
        if faults:
            raise AnswerRefusedError(faults, [FIELD] * len(faults))
        told = LabelValue(FIELD, {"text": text, "words": len(words(text))}, None)
        return CheckedAnswer((told, LabelValue("evidence", _evidence(options, fields), None)), remark(fields))

    def asks_texts(self, settings: Json) -> bool:
        return True

    def text_fields(self, document: Json, item: Json, settings: Json) -> list[str]:
        return [FIELD]

    def given_text(self, document: Json, item: Json, settings: Json) -> str:
        return "\n\n".join([document["scenario"], document.get("hint", "")])

    def in_lines(self, document: Json, item: Json, settings: Json, said: Mapping[str, Any]) -> list[Line]:
        """The scenario with the story, how long it is, and how it came about."""
        value = said.get(FIELD)
        length = value.get("words") if isinstance(value, dict) else None
        counted = [Line("", f"{_words(length)}.", is_note=True)] if isinstance(length, int) else []
        asked = str(document.get("scenario", ""))
        return [*written(asked, FIELD, said), *counted, *measured(said, {FIELD: "the story"})]

    def scores(self, answers: Iterable[tuple[Json, Json, Any]]) -> Json:
        """Empty: what is told has no reference."""
        return {}

    def compare(self, answers: Mapping[int, Any]) -> dict[int, Likeness]:
        """For every story that has 30 % or more of its passages in another one, the one with most of them."""
        texts = {number: str(value["text"]) for number, value in answers.items()}
        return {
            number: Likeness(
                other=nearest[0].key,
                share=nearest[0].contained,
                passage=longest_common(texts[number], texts[nearest[0].key]),
                own=_runs(texts[number], texts[nearest[0].key]),
                others=_runs(texts[nearest[0].key], texts[number]),
            )
            for number, nearest in similar(texts, least=COPIED, most=1).items()
        }


def _evidence(settings: Json, fields: Mapping[str, str]) -> Json:
    """How the answer came about; None where the page could not note it."""
    return {
        "pastes": evidence.pastes(fields, [FIELD]) if settings["pastes"] else None,
        "seconds": evidence.seconds(fields),
    }


def _runs(text: str, other: str) -> tuple[tuple[str, bool], ...]:
    return tuple((piece.text, piece.shared) for piece in marked(text, other))


# What speaks against a story: sentences


def _faults(text: str, document: Json, settings: Json) -> list[str]:
    if not text:
        return [_("The story is not written yet. Write it into the field.")]
    if len(text) > MOST_CHARACTERS:
        return [
            _(
                "The story has %(length)s characters. Shorten it to %(most)s or fewer, and to %(words)s at most.",
                length=number(len(text)),
                most=number(MOST_CHARACTERS),
                words=_words(settings["longest"]),
            )
        ]
    return [*_wrong_length(text, settings), *_borrowed(text, document, settings), *_repeated(text)]


def _wrong_length(text: str, settings: Json) -> list[str]:
    count, shortest, longest = len(words(text)), settings["shortest"], settings["longest"]
    if count < shortest:
        return [
            _(
                "The story has %(words)s. Write %(more)s more: %(range)s are asked for.",
                words=_words(count),
                more=number(shortest - count),
                range=_range(settings),
            )
        ]
    if count > longest:
        return [
            _(
                "The story has %(words)s. Leave out %(more)s: %(range)s are asked for.",
                words=_words(count),
                more=number(count - longest),
                range=_range(settings),
            )
        ]
    return []


def _range(settings: Json) -> str:
    return _("%(least)s to %(most)s", least=number(settings["shortest"]), most=number(settings["longest"]))


def _words(count: int) -> str:
    return ngettext("%(count)s word", "%(count)s words", count)


def _borrowed(text: str, document: Json, settings: Json) -> list[str]:
    """The page's own text is no story."""
    shown = settings["instructions"] or ours.everything()
    if contained(text, f"{shown}\n{document.get('hint', '')}") < MOST_OF_INSTRUCTIONS:
        return []
    return [_("Much of this is the text of the instructions. Tell the story in your own words.")]


def _repeated(text: str) -> list[str]:
    found = repeats(text)
    if found.share < MOST_REPEATED:
        return []
    return [
        _(
            "The story repeats itself: %(share)s %% of it was said before, such as “%(passage)s”. Tell each thing"
            " once.",
            share=f"{100 * found.share:.0f}",
            passage=f"{found.passage:.60}",
        )
    ]


protocol = Story()
