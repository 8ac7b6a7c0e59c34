"""Real question sets, validators of stated accuracy, and what chance says must come of them. `-s` prints the table.

The sets are imported, scored, decided and drawn by verbs; the probabilities are worked out here from what
the validators are like, over every combination of three of them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from itertools import product
from math import prod, sqrt

import pytest
from scipy.stats import binom

from hits.crowd.people import draw
from hits.items.verbs import importing, sampling
from hits.judging.verbs import deciding, scoring
from hits.models import Assignment, Item, Project, Stage, StageSummary
from hits.projects.verbs import projects
from hits.protocols.choosing import order_of, shuffled
from tests.hits import factories
from tests.hits.formats.shared_data import shared_file

SETS, DRAWN, WORKERS, SEED, SIGMAS = 200, 80, 3, 7, 4.0
# What a validator is like: shares of sets.
PARAGRAPH_GOOD, QUESTION_GOOD, RIGHT, UNDETERMINED, NEEDS_SENSE, NEEDS_TEXT = 0.99, 0.98, 0.88, 0.03, 0.96, 0.95
PEOPLE_RIGHT = 0.9
# The test split takes all writers here: who the best are is no matter of chance.
OPTIONS = {"best_written": 1, "best_kept_share": 0.0, "test_sets": SETS, "dev_sets": 0, "held_out_share": 1.0}
Fields = dict[str, str]
Answer = Callable[[str, Item], Fields]


@pytest.fixture
def project(db: None) -> Project:
    rows = first_rows(SETS)
    made = projects.create_project(
        "Chance", "cosmos", Decimal(1), "lab@example.org", factories.user(), options=OPTIONS, seed=SEED
    )
    upload = importing.create_upload(made, "sets.csv", rows, "public", None)
    assert importing.import_upload(upload.pk) == SETS
    return made


def first_rows(count: int) -> bytes:
    with shared_file("cosmosqa/examples.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))[:count]
    written = io.StringIO()
    table = csv.DictWriter(written, rows[0])
    table.writeheader()
    table.writerows(rows)
    return written.getvalue().encode()


def answered(stage: Stage, answer: Answer) -> None:
    """Three workers answer every item; the verbs score and conclude."""
    hits = factories.hits(list(stage.items.select_related("document")))
    for number in range(WORKERS):
        worker = factories.worker(f"A{number}{stage.key.upper()}")
        rows = factories.assignments(hits, worker, scored=False)
        for row in rows:
            row.answer = answer(worker.worker_id, row.hit.item)
        Assignment.objects.bulk_update(rows, ["answer"], batch_size=200)
    stage.items.update(state=Item.State.OPEN)
    assert scoring.score(stage) == WORKERS * len(hits)
    deciding.decide(stage)


def says(worker: str, item: Item, what: str, share: float) -> bool:
    return draw(SEED, worker, item.key, what) < share


def validated(worker: str, item: Item) -> Fields:
    """The whole form; what lies behind a step that ends it, counts for nothing."""
    shown = shuffled(item.data["candidates"], worker, item.data["set"])
    return {
        "paragraph": "good" if says(worker, item, "paragraph", PARAGRAPH_GOOD) else "bad",
        "question": "good" if says(worker, item, "question", QUESTION_GOOD) else "bad",
        "picked": _picked(worker, item),
        "order": order_of(shown),
        "needs_common_sense": "yes" if says(worker, item, "sense", NEEDS_SENSE) else "no",
        "needs_context": "yes" if says(worker, item, "text", NEEDS_TEXT) else "no",
    }


def _picked(worker: str, item: Item) -> str:
    at = draw(SEED, worker, item.key, "picks")
    if at < RIGHT:
        return str(item.data["intended"])
    wrong = [one["id"] for one in item.data["candidates"] if one["id"] != item.data["intended"]]
    return "none" if at < RIGHT + UNDETERMINED else wrong[0]


def chosen(worker: str, item: Item) -> Fields:
    wrong = [one["id"] for one in item.data["candidates"] if one["id"] != item.data["intended"]]
    return {"choice": item.data["intended"] if says(worker, item, "chooses", PEOPLE_RIGHT) else wrong[0]}


UNFIT = (False, False, True)


def chances() -> dict[str, float]:
    """The probability of each conclusion, summed over what three validators can say."""
    reached = PARAGRAPH_GOOD * QUESTION_GOOD
    plain = NEEDS_SENSE * NEEDS_TEXT
    # (intended, determined, doubts that it needs both): probability; UNFIT found paragraph or question bad
    ways = {
        (True, True, False): reached * RIGHT * plain,
        (True, True, True): reached * RIGHT * (1 - plain),
        (False, True, False): reached * (1 - RIGHT - UNDETERMINED) * plain,
        (False, True, True): reached * (1 - RIGHT - UNDETERMINED) * (1 - plain),
        (False, False, False): reached * UNDETERMINED,
        UNFIT: 1 - reached,
    }
    assert sum(ways.values()) == pytest.approx(1)
    found = {"valid": 0.0, "unanswerable": 0.0, "": 0.0}
    for three in product(ways, repeat=WORKERS):
        found[_conclusion(three)] += prod(ways[way] for way in three)
    return found


def _conclusion(three: Sequence[tuple[bool, bool, bool]]) -> str:
    if UNFIT in three:
        return ""
    agree = sum(way[0] for way in three) >= 2
    if agree and any(way[2] for way in three):
        return "unanswerable"
    return "valid" if agree and all(way[1] for way in three) else ""


def compared(rows: Iterable[tuple[str, int, int, float]]) -> list[float]:
    """Prints what was seen beside what was to be expected; how far apart they are, in standard deviations."""
    print(f"\n{'':<24}{'seen':>6}{'expected':>10}{'sd':>7}{'sigmas':>8}")
    found = []
    for name, seen, count, chance in rows:
        deviation = sqrt(count * chance * (1 - chance))
        found.append((seen - count * chance) / deviation)
        print(f"{name:<24}{seen:>6}{count * chance:>10.1f}{deviation:>7.1f}{found[-1]:>8.2f}")
    return found


def test_verdicts_and_human_score_are_what_chance_says(project: Project) -> None:
    validate, human = project.stages.get(key="validate"), project.stages.get(key="human")
    answered(validate, validated)
    counts = {word: validate.items.filter(conclusion=word).count() for word in ("valid", "unanswerable")}
    assert sampling.draw(human, DRAWN) == DRAWN
    answered(human, chosen)
    right = human.items.filter(conclusion="right").count()
    measured = StageSummary.objects.get(stage=human).scores
    assert (measured["n"], measured["majority"]) == (DRAWN, pytest.approx(100 * right / DRAWN))
    found = compared(
        [
            ("valid (C4)", counts["valid"], SETS, chances()["valid"]),
            ("unanswerable (C5)", counts["unanswerable"], SETS, chances()["unanswerable"]),
            ("majority right (C8)", right, DRAWN, float(binom.sf(1, WORKERS, PEOPLE_RIGHT))),
        ]
    )
    assert max(map(abs, found)) < SIGMAS


def test_the_chances_add_up_and_agree_with_a_plain_binomial() -> None:
    """Two picks of the intended answer lead to one of two conclusions, as long as everybody finds all fine."""
    found = chances()
    assert sum(found.values()) == pytest.approx(1)
    satisfied = (PARAGRAPH_GOOD * QUESTION_GOOD) ** WORKERS
    agree = satisfied * float(binom.sf(1, WORKERS, RIGHT))
    assert agree - satisfied * (1 - (1 - UNDETERMINED) ** WORKERS) <= found["valid"] + found["unanswerable"] <= agree
