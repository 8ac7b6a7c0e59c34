"""What predictions score against the files of a release, without a database."""

from __future__ import annotations

import io
from collections.abc import Callable

from hits.recipes.scoring import Scoring
from hits.stats.scores import scores


def scored(
    scoring: Scoring, content: Callable[[str], bytes], predictions: bytes, name: str, file: str = ""
) -> dict[str, float]:
    """{measure: value over all, "n"}, and the measure by part as {"measure part": value}."""
    wanted = file or next(iter(scoring.splits))
    read = scoring.read(lambda one: io.BytesIO(content(one)), wanted, 10**6)
    rows, answers = scoring.scored(read, scoring.predictions(io.BytesIO(predictions), name, read, 10**6))
    found = scores(scoring.compare(rows, answers), 7)
    return {f"{one.measure} {one.part}".strip(): one.value for one in found} | {"n": len(rows)}
