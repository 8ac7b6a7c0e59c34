"""MCScript2.0's steps between its stages (Ostermann et al. 2019).

Scenarios become stories, stories texts with target sentences that are asked about (`asking`); the questions of a text
are answered by those who do not see these sentences, and answers are selected (`selecting`); what experts leave is
split and released, and read by annotators (`releasing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hits.recipes.mcscript.asking import (
    ANSWERS,
    QUESTION_STAGES,
    draw_answers,
    import_notes,
    next_items,
    read_documents,
)
from hits.recipes.mcscript.releasing import build_release, draw_human
from hits.recipes.mcscript.scoring import KEY_FILE, SCORING
from hits.recipes.mcscript.selecting import COMPUTATIONS, REVIEW, SELECT, draw_review
from hits.recipes.source import Collected, DrawSource, NextItem

__all__ = [
    "COMPUTATIONS",
    "KEY_FILE",
    "SCORING",
    "build_release",
    "draw",
    "draws_from",
    "import_notes",
    "mark",
    "next_items",
    "read_documents",
]


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


def draws_from(stage_key: str) -> DrawSource:
    """The questions of all four stages, or answers of which some were selected."""
    return DrawSource(tuple(QUESTION_STAGES)) if stage_key == ANSWERS else DrawSource((ANSWERS,), SELECT)
