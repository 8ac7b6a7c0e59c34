"""Texts that share their wording with another writer's."""

import random

import numpy as np

from hits.text.originality.near_duplicates import passages
from hits.text.originality.other_writers import LEAST, _pairs, nearest, own_sketch
from tests.hits.text.test_fingerprints import changed, text


def found(*told, given=""):
    """Of (writer, text), oldest first."""
    writers = [writer for writer, _ in told]
    return nearest(writers, [np.array(own_sketch(one, given), dtype=np.uint64) for _, one in told])


def test_a_copy_is_told_with_its_source_and_the_source_with_its_first_copy():
    near = found((1, text(1, 60)), (2, text(2, 60)), (3, changed(text(1, 60), 30)), (4, text(1, 60)))
    assert {at: one.other for at, one in near.items()} == {0: 2, 2: 0, 3: 0}
    assert near[3].share == 1.0 and 0.5 < near[2].share < 1


def test_one_s_own_texts_are_not_held_against_one():
    same = text(1, 60)
    assert found((1, same), (1, same)) == {}
    near = found((1, same), (1, same), (2, same), (2, same))
    assert {at: one.other for at, one in near.items()} == {0: 2, 1: 2, 2: 0, 3: 0}


def test_what_stands_in_the_item_itself_is_no_shared_wording():
    quoted = text(9, 40)
    told = [(1, f"{quoted} {text(1, 8)}"), (2, f"{quoted} {text(2, 8)}")]
    assert set(found(*told)) == {0, 1}
    assert found(*told, given=f"Once upon a time {quoted} and so on.") == {}


def test_short_texts_can_be_equal_by_chance():
    assert found((1, "what did the old man carry home"), (2, "What did the old man carry home?")) == {}
    assert nearest([], []) == {} and found((1, ""), (2, "")) == {}


def test_the_pairs_are_those_of_comparing_each_text_with_each_earlier_one():
    """Independently: exact shares of passages, each text beside each."""
    draw = random.Random(4)
    told = []
    for at in range(120):
        source = draw.randrange(at) if at and draw.random() < 0.3 else None
        own = text(1000 + at, 50) if source is None else changed(told[source][1], draw.choice([15, 25, 40]))
        told.append((at % 17, own))
    exact = {}
    for later, (writer, own) in enumerate(told):
        for other, theirs in told[:later]:
            union = passages(own) | passages(theirs)
            share = len(passages(own) & passages(theirs)) / len(union)
            if writer != other and share >= LEAST:
                exact[later] = max(share, exact.get(later, 0))
    near = {at: one for at, one in found(*told).items() if one.other < at}
    assert set(near) == set(exact) and len(exact) > 10
    # Texts of fifty words have fewer passages than a sketch holds numbers, so nothing is estimated.
    assert all(abs(near[at].share - exact[at]) < 1e-9 for at in exact)


def test_a_phrase_that_all_texts_share_costs_no_square():
    shared = text(1, 40)
    told = [(n, f"{shared} {text(n + 2, 80)}") for n in range(3000)]
    sketches = [np.array(own_sketch(one, ""), dtype=np.uint64) for _, one in told]
    writers = [writer for writer, _ in told]
    assert nearest(writers, sketches) == {}
    # Of four and a half million pairs that all share the phrase.
    assert len(_pairs(np.array(writers), sketches)) <= 2 * len(told)
