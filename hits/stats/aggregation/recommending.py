"""What each method of aggregation assumes, where the answers contradict it, and which method is recommended.

With gold answers methods are ranked by them. Without, by the mean probability of their values in a smoothed model of
Dawid and Skene. `tests.benchmarks.recommending` shows how often that picks a method with the most accurate values; in
such simulations it did so more often than the likelihood or the share of held-out answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hits.stats.aggregation.dawid_skene import fit
from hits.stats.aggregation.results import Aggregated, NotFeasibleError, check_size
from hits.stats.answers import Answers, Floats

_EQUAL = "All workers are right equally often, and more often than they give any wrong value."
ASSUMES: Mapping[str, str] = {
    "majority": _EQUAL,
    "majority_seeded": _EQUAL,
    "weighted_majority": "Workers who are right more often on gold answers are right more often on all items.",
    "dawid_skene": "Each worker confuses values with probabilities of their own, the same for all items.",
    "mace": "All values are equally common, and a worker knows the right one or answers by habit.",
    "glad": "All values are equally common, a worker has one ability, and an item is equally easy for all.",
    "median": "Answers lie above the right one as often as below.",
    "mean": "Errors of workers cancel out, and none is so large that it moves the mean.",
    "spans": "All workers mark equally well.",
    "borda": "All workers rank equally well, and each place counts as much as the next.",
}
# Answers a true value that those of all workers count beside a worker's own.
SMOOTHING = 5
# Entropy of the values' shares, of the most it can be: 0.88 is that of 30 and 70 %.
EVEN = 0.88
# Fewer make the confusions of a worker uncertain.
FEW_ANSWERS_A_VALUE, FEW_WORKERS = 10, 3
SUPPOSE_EVEN = ("mace", "glad")


def compare(
    answers: Answers, level: str, rows: Sequence[dict[str, Any]], found: Mapping[str, Aggregated]
) -> dict[str, str] | None:
    """Adds to each row of a method "assumes", "warnings" and "expected", the share of items that it is expected to be
    right on. Gives the recommended one: {"method", "title", "why"}, None where nothing speaks for any.
    """
    truth = _truth(answers) if level == "nominal" else None
    for row in rows:
        name = row["method"]
        row["assumes"] = ASSUMES[name]
        row["warnings"] = warnings(name, answers, truth)
        row["expected"] = _expected(answers, found[name], truth) if name in found and truth is not None else None
    fitting = [row for row in rows if row["method"] in found]
    if fitting and all(row["accuracy"] for row in fitting):
        best = max(fitting, key=lambda row: (row["accuracy"]["right"], row["expected"] or 0))
        why = f"It is right on {best['accuracy']['right']:,} of {best['accuracy']['of']:,} items with a gold answer"
        return _recommended(best, f"{why}; no method is right on more.")
    # Without gold answers the weighted majority is the majority.
    fitting = [row for row in fitting if row["method"] != "weighted_majority" and row["expected"] is not None]
    if not fitting:
        return None
    best = max(fitting, key=lambda row: row["expected"])
    return _recommended(
        best,
        f"There is no gold answer. Its values are expected to be right for {100 * best['expected']:.1f} % of the "
        "items, by a model of each worker's errors; no method is expected to be right for more.",
    )


def _recommended(row: Mapping[str, Any], why: str) -> dict[str, str]:
    return {"method": row["method"], "title": row["title"], "why": why}


def warnings(name: str, answers: Answers, truth: Floats | None) -> list[str]:
    """Where the answers contradict what the method assumes, or are too few for it, as sentences."""
    told: list[str] = []
    if name in SUPPOSE_EVEN and truth is not None and len(answers.values) > 1:
        shares = truth.mean(axis=0)
        entropy = -float((shares * np.log(np.maximum(shares, 1e-12))).sum()) / np.log(len(shares))
        if entropy < EVEN:
            common = f"about {100 * shares.max():.0f} % of the items have the most common one"
            told.append(f"The values are not equally common: {common}.")
    if name == "dawid_skene" and len(answers):
        half = float(np.median(np.bincount(answers.worker, minlength=len(answers.workers))))
        if half < (wanted := FEW_ANSWERS_A_VALUE * len(answers.values)):
            told.append(f"Half of the workers gave {half:,.0f} answers or fewer; {wanted:,} or more are advisable.")
        if (mean := len(answers) / len(answers.items)) < FEW_WORKERS:
            told.append(f"An item has {mean:.1f} answers on average; {FEW_WORKERS} or more are advisable.")
    return told


def _truth(answers: Answers) -> Floats | None:
    """Items x values: probabilities. None without answers or with too many different values."""
    try:
        check_size("The comparison", answers, squared=True)
    except NotFeasibleError:
        return None
    return fit(answers, smoothing=SMOOTHING)[0] if len(answers) else None


def _expected(answers: Answers, found: Aggregated, truth: Floats) -> float:
    """An item without a value counts as wrong."""
    places = {value: at for at, value in enumerate(answers.values)}
    chosen = [(item, places[value]) for item, value in enumerate(found.values) if value is not None]
    return float(sum(truth[item, at] for item, at in chosen)) / len(answers.items)
