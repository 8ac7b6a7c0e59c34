"""A story of our own writing, two sentences of it hidden, with twelve questions and a good answer to each label."""

from __future__ import annotations

from typing import Any

from hits.text.language.sentences import sentences

TEXT = (
    "Last Sunday the three of us made pancakes for breakfast. My daughter cracked the eggs into the big yellow bowl."
    " She wanted to count the shells, and there were four. I stirred the flour and the milk with a wooden spoon until"
    " no lumps were left. We let it rest while her brother set the table.\n\n"
    "The first pancake always looks odd, and this one looked like a map of Norway. I flipped the next ones with a flat"
    " spatula. By the sixth they were round, and by the tenth nobody was hungry any more. We put the plates into the"
    " sink and promised each other to wash them later."
)
_FOUND = sentences(TEXT)
HIDDEN = [[_FOUND[3].start, _FOUND[3].end], [_FOUND[6].start, _FOUND[6].end]]
GONE = ("wooden spoon", "spatula")
DOCUMENT: dict[str, Any] = {"text": TEXT, "scenario": "making pancakes"}

ASKED = (
    "Who cracked the eggs?",
    "What did they mix the batter with?",
    "When did they sell the car?",
    "What is the name of the brother?",
    "How many eggs did they use?",
    "What did they turn the pancakes with?",
    "When did they heat the pan?",
    "Where did they put the dirty plates?",
    "How long did the batter rest?",
    "Who ate the first pancake?",
    "What did they pour into the pan?",
    "When was nobody hungry any more?",
)
QUESTIONS = [
    {"id": f"q{number}", "text": text, "type": "vp" if text.startswith(("When", "How long")) else "np"}
    for number, text in enumerate(ASKED, start=1)
]
ITEM: dict[str, Any] = {"hidden": HIDDEN, "questions": QUESTIONS[:4]}
FULL: dict[str, Any] = {"hidden": HIDDEN, "questions": QUESTIONS}

FIELDS: dict[str, str] = {
    "q1_label": "text",
    "q1_correct": "The daughter.",
    "q1_incorrect": "Her brother.",
    "q2_label": "script",
    "q2_correct": "A spoon or a whisk",
    "q2_incorrect": "A fork and a knife",
    "q3_label": "unfitting",
    "q3_alternative": "What colour was the bowl?",
    "q4_label": "unknown",
    "q4_alternative": "Why did they let the batter rest?",
}
