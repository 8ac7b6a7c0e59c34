"""A story of our own writing with its questions: what experts review, and what people are tested on."""

from __future__ import annotations

from typing import Any

from hits.protocols.choosing import order_of, shuffled

TEXT = (
    "Yesterday I wanted pancakes, so I looked for the big bowl. My brother broke four eggs into it and only one of them"
    " beside it. I poured in the milk.\n\nThen we whisked until our arms hurt. The pan was hot by then, and the butter"
    " hissed at us. He turned the first one in the air, and the dog was very happy about that."
)
HIDDEN_SENTENCE = "Then we whisked until our arms hurt."
HIDDEN = [[TEXT.index(HIDDEN_SENTENCE), TEXT.index(HIDDEN_SENTENCE) + len(HIDDEN_SENTENCE)]]
DOCUMENT: dict[str, Any] = {"text": TEXT, "scenario": "making pancakes"}


def question(
    number: int, text: str, correct: str, incorrect: str, others: tuple[list[str], list[str]], **more: Any
) -> dict[str, Any]:
    candidates = {"correct": [correct, *others[0]], "incorrect": [incorrect, *others[1]]}
    asked = {"id": f"q{number}", "text": text, "type": "np", "label": "script"}
    return {**asked, "correct": correct, "incorrect": incorrect, "candidates": candidates, **more}


QUESTIONS = [
    question(1, "What did they mix the eggs with?", "a whisk", "the pan", (["a fork", "a whisk"], ["a spade"])),
    question(
        2, "When did the butter hiss?", "after it was in the pan", "before breakfast", (["at once"], []), type="vp",
        label="text",
    ),
    question(3, "What did they use for the mixing?", "a whisk", "their arms", ([], []), label="text-or-script"),
]  # fmt: skip
ITEM: dict[str, Any] = {"hidden": HIDDEN, "questions": QUESTIONS}


def fields(item: dict[str, Any] = ITEM, **changes: str) -> dict[str, str]:
    """The form as it is sent when nobody touched it, with some fields changed."""
    found: dict[str, str] = {"text_delete": "", "text_words": ""}
    for one in item["questions"]:
        for slot in ("text", "correct", "incorrect"):
            found[f"{one['id']}_{slot}"] = one[slot]
        found |= {f"{one['id']}_{name}": "" for name in ("delete", "duplicate_of", "words")}
    return {**found, **changes}


def answers(correct: str, incorrect: str) -> list[dict[str, str]]:
    return [{"id": "a0", "text": correct}, {"id": "a1", "text": incorrect}]


TEST: dict[str, Any] = {
    "hidden": HIDDEN,
    "questions": [
        {
            "id": one["id"],
            "text": one["text"],
            "answers": answers(one["correct"], one["incorrect"]),
            "intended": "a0",
        }
        for one in QUESTIONS
    ],
}


def shown(worker: str, ident: str, item: dict[str, Any] = TEST) -> str:
    """The ids of a question's answers as this worker sees them."""
    (asked,) = [one for one in item["questions"] if one["id"] == ident]
    return order_of(shuffled(asked["answers"], worker, TEXT, ident, asked["text"]))


def choices(*chosen: str, **changes: str) -> dict[str, str]:
    """A form in which the questions have these answers in turn."""
    return {**{f"q{number}_choice": answer for number, answer in enumerate(chosen, start=1)}, **changes}
