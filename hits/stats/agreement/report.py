"""All that is said of one unit's agreement, each figure by the level of its values, as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hits.stats.agreement.alpha import krippendorff_alpha
from hits.stats.agreement.confusion import confusion, differences, disagreement, worst_items
from hits.stats.agreement.counts import counts_of
from hits.stats.agreement.figures import Figure
from hits.stats.agreement.kappas import cohen_kappa, fleiss_kappa, pairwise
from hits.stats.answers import Answers

MOST_ITEMS, MOST_WORKERS = 20, 20
COMPARED = ("nominal", "ordinal", "interval", "set", "span")


def report(answers: Answers, level: str, *, order: Sequence[Any] = (), seed: int) -> dict[str, Any]:
    """{"items", "paired", "answers", "workers", "figures", "confusion", "worst", "differences"} of one unit.

    `figures` are {name: Figure}, `confusion` is None where values have no names. `worst` are [item, disagreement].
    Raises AnswersError for a value that cannot be compared at this level.
    """
    by_item, by_answer = disagreement(answers, level, order)
    named = level in ("nominal", "ordinal", "set")
    return {
        "items": len(answers.items),
        "paired": int((answers.per_item() > 1).sum()),
        "answers": len(answers),
        "workers": len(answers.workers),
        "figures": {name: figure.to_dict() for name, figure in _figures(answers, level, order, seed)},
        "confusion": confusion(answers).to_dict() if named else None,
        "worst": worst_items(answers, by_item, MOST_ITEMS),
        "differences": [row.to_dict() for row in differences(answers, by_answer)[:MOST_WORKERS]],
    }


def _figures(answers: Answers, level: str, order: Sequence[Any], seed: int) -> Iterator[tuple[str, Figure]]:
    counts = counts_of(answers)
    yield "alpha", krippendorff_alpha(answers, level, order=order, seed=seed)  # type: ignore[arg-type]
    yield "pairwise", pairwise(counts, seed=seed)
    if level == "nominal":
        yield "fleiss", fleiss_kappa(counts, seed=seed)
        yield "cohen", cohen_kappa(answers, seed=seed)
