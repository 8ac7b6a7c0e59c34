"""What adversarial filtering reads of a question."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FilteredQuestion:
    """Questions with one `text_key` have one `text`; `key` is unique; `incorrect` are the candidates."""

    key: str
    text_key: str
    text: str
    question: str
    correct: str
    incorrect: tuple[str, ...]
