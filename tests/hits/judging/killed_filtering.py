"""A process that filters, to be killed: `python -m tests.hits.judging.killed_filtering begin|resume`.

`begin` makes a project, filters it to the end, and begins a second run that never ends: its reader waits in its third
fold and makes the file KILLED_FILTERING_SIGN. `resume` lets that run go on and prints {run: [state, folds in the log,
results by item]}.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from hits.text.readers import READERS, linear
from tests.benchmarks.machine_filtering import project_of, tables
from tests.hits.text.triples import article

SIGN = Path(os.environ.get("KILLED_FILTERING_SIGN", "unset"))
ARTICLES = 15
# Small weights: of them a checkpoint holds all, and each fold begins with new ones.
linear.HASHED = linear.WORDS_HASHED = 2**12


def begin() -> None:
    tables()
    from hits.judging.verbs import computing

    project = project_of(((f"a{number}", article(number)) for number in range(ARTICLES)), "river")
    computing.run(computing.start(project, "filter", {}, None).pk)
    run = computing.start(project, "filter", {}, None)
    # Both runs are of one reader, as the checkpoint names it: this one only waits.
    module = READERS.load("linear")
    make, made = module.make, []

    def waiting(seed: int):  # type: ignore[no-untyped-def]
        made.append(seed)
        if len(made) == 3:
            SIGN.touch()
            time.sleep(600)
        return make(seed)

    module.make = waiting
    computing.run(run.pk)


def resume() -> None:
    import django

    django.setup()
    from hits.judging.verbs import computing
    from hits.models import ComputationRun

    (pk,) = computing.unfinished()
    computing.run(pk)
    told = {
        run.pk: [run.state, [entry["fold"] for entry in run.log], dict(run.concluded.values_list("item__key", "data"))]
        for run in ComputationRun.objects.order_by("pk")
    }
    print(json.dumps(told))


if __name__ == "__main__":
    {"begin": begin, "resume": resume}[sys.argv[1]]()
