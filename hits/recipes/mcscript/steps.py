"""MCScript2.0's steps between its stages (Ostermann et al. 2019).

Scenarios become stories, stories texts with target sentences that are asked about (`asking`); the questions of a text
are answered by those who do not see these sentences, and answers are selected (`selecting`); what experts leave is
split and released, and read by five annotators (`releasing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hits.recipes.mcscript.asking import ANSWERS, draw_answers, next_items, read_documents
from hits.recipes.mcscript.releasing import build_release, draw_human
from hits.recipes.mcscript.selecting import COMPUTATIONS, REVIEW, draw_review
from hits.recipes.source import Collected, NextItem

__all__ = ["COMPUTATIONS", "EXPLAINED", "build_release", "draw", "mark", "next_items", "read_documents"]

EXPLAINED = {
    "every": "4 takes the 4th, 8th, 12th ... sentence of a text as a target. Counts for what is imported from now on.",
    "longest_tokens": "A sentence with more words and punctuation marks is no target. Counts for what is imported.",
    "least_noun_phrases": "A sentence with fewer is no target. Counts for what is imported from now on.",
    "most_questions": "Of more questions about a text, so many are drawn for those who answer.",
    "test_scenarios": "All texts of so many scenarios, drawn at random, go to test.",
    "test_share": "The part of all texts that goes to test; 0.18 is 18 %.",
    "dev_share": "The part of all texts that goes to dev; 0.1 is 10 %. All others go to train.",
    "common_texts": "Of the texts that five readers read for the human upper bound, so many are the same for all.",
}


def mark(documents_meta: Iterable[tuple[str, str]], *, seed: int, options: Mapping[str, Any]) -> dict[str, str]:
    """Nothing is set apart before it is known which texts have questions left."""
    return {key: "train" for key, _ in documents_meta}


def draw(stage_key: str, collected: Collected, count: int, *, seed: int) -> list[NextItem]:
    """Texts to answer (M4), to be reviewed (M8) or to read (M10). The same rows and seed draw the same ones."""
    if stage_key == ANSWERS:
        return draw_answers(collected, count, seed=seed)
    if stage_key == REVIEW:
        return draw_review(collected, count, seed=seed)
    return draw_human(stage_key, collected, count, seed=seed)
