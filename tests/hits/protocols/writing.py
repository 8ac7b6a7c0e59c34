"""A paragraph of our own writing and a good answer to it: two questions, one of them with two correct answers."""

from typing import Any

DOCUMENT: dict[str, Any] = {
    "text": "The lift had been out of order since Easter, and Mrs Brandt lives on the fifth floor. On Friday I found"
    " her on the second landing, sitting on her shopping bag and reading the newspaper from back to front. She said"
    " that she was in no hurry at all. I carried the bag, she carried the newspaper, and we have had coffee together"
    " every Friday since.",
    "source": "story-7",
}

QUESTION = {
    "q1_question": "Why was she sitting on the stairs?",
    "q1_category": "causes",
    "q1_correct1": "She needed a rest on her way home.",
    "q1_correct2": "Climbing so high tired her out.",
    "q1_incorrect1": "She was in no hurry to have coffee.",
    "q1_incorrect2": "She found a newspaper on the landing.",
    "q1_incorrect3": "She had been out of order since Easter.",
}
SECOND = {
    "q2_question": "What may happen once the elevator runs again?",
    "q2_category": "",
    "q2_correct1": "The two will still meet each week.",
    "q2_correct2": "",
    "q2_incorrect1": "She will sit on her bag every Friday.",
    "q2_incorrect2": "She will read the newspaper on the fifth floor.",
    "q2_incorrect3": "Nobody will carry the bag on Friday.",
}
FIELDS: dict[str, str] = {**QUESTION, **SECOND}
