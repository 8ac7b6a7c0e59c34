"""Answers for tests of agreement and aggregation: drawn by a seed, and the real ones of the shared folder."""

import csv

import numpy as np

from hits.stats.answers import Answers
from tests.hits.formats.shared_data import shared_file


def real(name):
    """(answers, known value by item) of labels/NAME.csv."""
    with shared_file(f"labels/{name}.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    answers = Answers.of((row["task"], row["worker"], row["label"]) for row in rows)
    return answers, {row["task"]: row["gold"] for row in rows}


def simulated(items, each, workers, labels, *, seed, spammers=0.1):
    """(rows, known value by item): workers are right with a skill of their own, some of them never look."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, labels, items)
    skill = draw.beta(5, 3, workers)
    skill[draw.random(workers) < spammers] = 0
    item = np.repeat(np.arange(items), each)
    # Who answers is drawn by item: the first of a shuffled row of workers that begins anywhere.
    order = draw.permutation(workers)
    worker = order[(np.repeat(draw.integers(0, workers, items), each) + np.tile(np.arange(each), items)) % workers]
    right = draw.random(len(item)) < skill[worker]
    said = np.where(right, truth[item], draw.integers(0, labels, len(item)))
    rows = list(zip(map("t{}".format, item), map("w{}".format, worker), map("l{}".format, said), strict=True))
    return rows, {f"t{number}": f"l{value}" for number, value in enumerate(truth.tolist())}


def accuracy(answers, values, known):
    """Of a value that is a tuple of tied values, each is right in part."""
    return sum(
        (known[item] in value) / len(value) if isinstance(value, tuple) else value == known[item]
        for item, value in zip(answers.items, values, strict=True)
    ) / len(answers.items)
