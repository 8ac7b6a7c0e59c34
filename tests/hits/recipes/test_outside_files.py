"""No file that a model elsewhere is to answer says what is right: it is the same, whichever answer is."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from hits import recipes
from hits.recipes.source import Computation
from tests.hits.recipes.test_cosmos_steps import Kept, a_set
from tests.hits.recipes.test_mcscript_steps import Collection, answered
from tests.hits.recipes.test_record_filtering import Articles

WRITERS = ["driver", "mother", "neighbour", "teacher", "baker"]


def question_sets(swapped: bool) -> Kept:
    items = [a_set(number) for number in range(8)]
    for item in items if swapped else []:
        item.data["intended"] = next(
            each["id"] for each in item.data["candidates"] if each["id"] != item.data["intended"]
        )
    return Kept(*items)


def answered_texts(swapped: bool) -> Collection:
    """All wrote the same correct answer and an incorrect one of their own."""
    texts = []
    for number in range(4):
        item = answered(f"t{number}", [("text", "the sister", one) for one in WRITERS])
        for label in item.labels if swapped else []:
            if isinstance(label.value, dict) and "text" in label.value:
                was = label.value["text"]
                label.value["text"] = {"the sister": "driver", "driver": "the sister"}.get(was, was)
        texts.append(item)
    return Collection(*texts)


class Swapped(Articles):
    def judged(self, stage: str, **options: Any) -> Any:
        for item in super().judged(stage, **options):
            data = copy.deepcopy(item.data)
            for mention in data["mentions"]:
                mention["entity"] = {1: 2, 2: 1}.get(mention["entity"], mention["entity"])
            yield item.__class__(**{**vars(item), "data": data})


# What each computation runs over, with its answers and with others in their place.
EXAMPLES: dict[tuple[str, str], Callable[[bool], Any]] = {
    ("cosmos", "least-challenging"): question_sets,
    ("mcscript", "select"): answered_texts,
    ("record", "filter"): lambda swapped: (Swapped if swapped else Articles)(6),
}
FOUND = [
    (name, one)
    for name in recipes.available()
    for one in getattr(recipes.load(name).steps, "COMPUTATIONS", ())
    if one.outside
]


@pytest.mark.parametrize("name, computation", FOUND, ids=[f"{name}-{one.key}" for name, one in FOUND])
def test_files_to_answer_are_the_same_whichever_answer_is_right(name: str, computation: Computation) -> None:
    assert computation.outside
    params = {**computation.params, **{one: 2 for one in ("folds", "batch") if one in computation.params}}
    as_is, swapped = (
        {
            file: b"".join(pieces)
            for file, pieces in computation.outside.write(EXAMPLES[name, computation.key](is_swapped), params, 3)
        }
        for is_swapped in (False, True)
    )
    to_learn_from = {file for file in as_is if "-train." in file}
    to_answer = {file for file in as_is if "-test." in file}
    assert as_is.keys() == to_learn_from | to_answer and len(to_learn_from) == len(to_answer) > 1
    assert all(as_is[file] != swapped[file] for file in to_learn_from), "the example has other answers"
    for file in to_answer:
        assert as_is[file] == swapped[file] and as_is[file].count(b'"id"') > 1
