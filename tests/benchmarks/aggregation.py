"""Dawid-Skene on 750,000 labels of four classes, and MACE on 75,000, beside crowd-kit in one run.

Part of `make bench`; alone: `python -m tests.benchmarks.aggregation`. AGGREGATION_LABELS makes both numbers smaller,
the second is a tenth of it. Workers are simulated: some are better than others, and one in ten never looks. Both
sides begin with the same list of rows (item, worker, label), which is a table of pandas for one and arrays for the
other; making it is counted, and shown. Times are of the processor, the shorter of two, and without the first use of a
library. Peak memory is that of a process of its own, above what it held before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from ops.surroundings import ROOT

LABELS = int(os.environ.get("AGGREGATION_LABELS", "750000"))
EACH, WORKERS, CLASSES, SEED = 5, 1000, 4, 7
FEWER = 10
# Of crowd-kit's time.
LIMITS = {"dawid_skene": 1 / 4, "mace": 1 / 2}
# How far the shares of right items may lie apart.
SAME = 0.005
SECONDS = 3000
Json = dict[str, Any]


def main() -> int:
    fine = True
    for method, limit in LIMITS.items():
        labels = LABELS if method == "dawid_skene" else LABELS // FEWER
        mine, theirs = (_child(side, method, str(labels)) for side in ("annotate", "crowdkit"))
        print(f"\n{method} on {labels:,} labels of {CLASSES} classes, {EACH} an item, {WORKERS:,} workers")
        for name, one in (("Annotate", mine), ("crowd-kit", theirs)):
            print(
                f"  {name:10} {one['seconds']:8.2f} s of the processor ({one['reading']:.2f} of them reading), "
                f"{one['right']:.2%} right, at its most {one['peak']:.0f} MiB"
            )
        share, apart = mine["seconds"] / theirs["seconds"], abs(mine["right"] - theirs["right"])
        fine &= share <= limit and apart <= SAME
        print(f"  {share:.3f} of the time, wanted {limit}   {_word(share <= limit)}")
        print(f"  {apart:.2%} apart, wanted {SAME:.1%}   {_word(apart <= SAME)}", flush=True)
    return 0 if fine else 1


def _word(fine: bool) -> str:
    return "ok" if fine else "MISSED"


def _child(*arguments: str) -> Json:
    command = [sys.executable, "-m", "tests.benchmarks.aggregation", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    found: Json = json.loads(done.stdout.splitlines()[-1])
    return found


# In a process of its own

Rows = list[tuple[str, str, str]]


def measured(side: str, method: str, labels: int) -> Json:
    from tests.benchmarks.machine_filtering import forget_peak, peak
    from tests.hits.stats.labels import simulated

    warnings.simplefilter("ignore")
    run = {"annotate": _annotate, "crowdkit": _crowdkit}[side]
    run(method, simulated(500, EACH, 50, CLASSES, seed=1)[0])
    rows, known = simulated(labels // EACH, EACH, WORKERS, CLASSES, seed=SEED)
    forget_peak()
    before = peak()
    # The slow one is measured once where it takes minutes.
    tries = [run(method, rows) for _ in range(1 if (side, method) == ("crowdkit", "mace") else 2)]
    seconds, reading, values = min(tries, key=lambda one: one[0])
    right = sum(values[item] == value for item, value in known.items()) / len(known)
    return {"seconds": seconds, "reading": reading, "right": right, "peak": peak() - before}


def _annotate(method: str, rows: Rows) -> tuple[float, float, dict[str, Any]]:
    from hits.stats.aggregation.dawid_skene import dawid_skene
    from hits.stats.aggregation.mace import mace
    from hits.stats.answers import Answers

    methods: dict[str, Callable[[Answers], Any]] = {
        "dawid_skene": dawid_skene,
        "mace": lambda answers: mace(answers, seed=0),
    }
    began = time.process_time()
    answers = Answers.of(rows)
    reading = time.process_time() - began
    found = methods[method](answers)
    return time.process_time() - began, reading, dict(zip(answers.items, found.values, strict=True))


def _crowdkit(method: str, rows: Rows) -> tuple[float, float, dict[str, Any]]:
    import pandas
    from crowdkit.aggregation import MACE, DawidSkene

    began = time.process_time()
    table = pandas.DataFrame(rows, columns=["task", "worker", "label"])
    reading = time.process_time() - began
    found = (DawidSkene(n_iter=100) if method == "dawid_skene" else MACE()).fit_predict(table)
    return time.process_time() - began, reading, found.to_dict()


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(main())
    which, what, count = sys.argv[1:]
    print(json.dumps(measured(which, what, int(count))))
