"""How often the method recommended without gold answers is within a point of the most accurate one, on simulated sets.

`python -m tests.benchmarks.recommending [seed]` prints 20 sets of 600 items, 40 workers and two values: the rarer one
has 5 to 50 % of the items, an item 2 to 9 answers, and some workers give many more answers than others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from hits.stats.aggregation.methods import METHODS, Given
from hits.stats.aggregation.recommending import compare
from hits.stats.answers import Answers

SHARES, EACH, ITEMS, WORKERS = (0.05, 0.12, 0.3, 0.5), (2, 3, 5, 9), 600, 40
KINDS = ("good", "mixed", "spammers", "biased", "lazy")
COMPARED = ("majority_seeded", "dawid_skene", "mace", "glad")
WANTED = 18


def crowd(share: float, kind: str, each: int, seed: int) -> tuple[Answers, dict[str, str]]:
    """(answers, true value by item). Biased and lazy workers prefer the common value."""
    draw = np.random.default_rng(seed)
    truth = (draw.random(ITEMS) < share).astype(int)
    right = np.repeat(draw.beta(17, 3, WORKERS)[:, None], 2, axis=1)
    some = draw.random(WORKERS) < 0.33
    if kind == "mixed":
        right = np.repeat(draw.uniform(0.5, 0.98, WORKERS)[:, None], 2, axis=1)
    elif kind == "biased":
        right = np.stack([draw.uniform(0.93, 0.995, WORKERS), draw.uniform(0.45, 0.85, WORKERS)], axis=1)
    elif kind in ("spammers", "lazy"):
        right[some] = 0.5 if kind == "spammers" else (0.98, 0.05)
    often = draw.gamma(1, 1, WORKERS) + 0.05
    rows = []
    for item in range(ITEMS):
        for worker in draw.choice(WORKERS, each, replace=False, p=often / often.sum()):
            said = truth[item] if draw.random() < right[worker, truth[item]] else 1 - truth[item]
            rows.append((str(item), f"w{worker}", str(said)))
    return Answers.of(rows), {str(item): str(value) for item, value in enumerate(truth)}


def compared(answers: Answers, known: dict[str, str]) -> tuple[dict[str, float], str]:
    """(share of right items by method, the recommended method)."""
    found = {name: METHODS[name][1](Given(answers, {}, {}, (), 1)) for name in COMPARED}
    rows: list[dict[str, Any]] = [{"method": name, "title": METHODS[name][0], "accuracy": None} for name in COMPARED]
    recommended = compare(answers, "nominal", rows, found)
    assert recommended
    right = {
        name: float(np.mean([known[item] == value for item, value in zip(answers.items, one.values, strict=True)]))
        for name, one in found.items()
    }
    return right, recommended["method"]


def sets(seed: int) -> Iterator[tuple[float, str, int, int]]:
    """Every share with every kind of crowd; the number of answers goes round."""
    for number in range(len(SHARES) * len(KINDS)):
        share, kind = SHARES[number // len(KINDS)], KINDS[number % len(KINDS)]
        yield share, kind, EACH[(number + number // 4 + seed) % 4], 1000 * seed + number


def main(seed: int) -> int:
    close = 0
    print(f"{'rare':>5} {'workers':9} {'each':>4} " + " ".join(f"{name:>15}" for name in COMPARED) + "  recommended")
    for share, kind, each, number in sets(seed):
        right, chosen = compared(*crowd(share, kind, each, number))
        lost = max(right.values()) - right[chosen]
        close += lost <= 0.01 + 1e-9
        told = " ".join(f"{right[name]:>15.1%}" for name in COMPARED)
        print(f"{share:>5.0%} {kind:9} {each:>4} {told}  {chosen}, {100 * lost:.1f} points below the best", flush=True)
    print(f"within a point of the best in {close} of 20, wanted {WANTED}   {'ok' if close >= WANTED else 'MISSED'}")
    return 0 if close >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 11))
