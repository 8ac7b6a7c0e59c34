"""Who the best writers are, and that no paragraph is in two splits."""

import random
from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as some

from hits.recipes.cosmos.splitting import OTHER_WRITER, WrittenSet, best, split, writers
from hits.recipes.dealing import IN_TWO

KEPT = some.builds(
    WrittenSet,
    some.sampled_from([f"p{n}" for n in range(12)]),
    some.sampled_from(["ann", "bo", "cy", ""]),
    some.booleans(),
)
COLLECTIONS = some.lists(KEPT, max_size=60)


def made(author, kept, dropped, start=0):
    return [WrittenSet(f"{author}-p{n // 2}", author, n < kept) for n in range(start, kept + dropped)]


def parts_of(found, sets):
    """The kept sets of each part."""
    parts = defaultdict(list)
    for one in sets:
        if one.kept:
            parts[found.part(one)].append(one)
    return parts


def test_writers_are_counted_by_what_was_kept():
    sets = [*made("ann", 9, 1), *made("bo", 10, 10), WrittenSet("p", "", True)]
    assert [(w.worker, w.written, w.kept, w.share) for w in writers(sets)] == [("bo", 20, 10, 0.5), ("ann", 10, 9, 0.9)]


def test_the_best_wrote_enough_and_well():
    found = writers([*made("ann", 9, 1), *made("bo", 10, 10), *made("cy", 3, 0)])
    assert best(found, least_written=10, least_share=0.9) == {"ann"}
    assert best(found, least_written=3, least_share=0.5) == {"ann", "bo", "cy"}


def test_test_and_dev_are_by_the_best_alone_and_hold_what_was_wanted():
    sets = [*made("ann", 40, 0), *made("bo", 40, 0)]
    found = split(sets, frozenset({"ann"}), test=14, dev=6, seed=1)
    parts = parts_of(found, sets)
    assert (len(parts["test"]), len(parts["dev"]), len(parts["train"])) == (14, 6, 60)
    assert all(one.author == "ann" for one in parts["test"] + parts["dev"])
    assert not found.notes


def test_too_few_sets_of_the_best_shrink_both_alike():
    sets = [*made("ann", 20, 0), *made("bo", 180, 0)]
    found = split(sets, frozenset({"ann"}), test=70, dev=30, seed=1)
    assert [len(parts_of(found, sets)[part]) for part in ("test", "dev", "train")] == [14, 6, 180]
    assert found.notes == ("The best writers have 20 kept sets, fewer than 100: dev and test shrink alike.",)


def test_a_smaller_collection_has_no_larger_a_share_held_out():
    sets = made("ann", 500, 0)
    found = split(sets, frozenset({"ann"}), test=7000, dev=3000, held_out_share=0.281, seed=1)
    assert [len(parts_of(found, sets)[part]) for part in ("test", "dev", "train")] == [98, 42, 360]
    assert not found.notes


def test_what_was_released_stays_and_what_is_new_is_left_out_where_it_cannot_follow():
    released = frozenset
    sets = [
        WrittenSet("a", "ann", True, released({"test"})),
        WrittenSet("a", "ann", True),  # a later set of theirs about a paragraph of test
        WrittenSet("a", "zoe", True),  # and one by somebody who is not among the best
        WrittenSet("b", "zoe", True, released({"dev"})),  # released when they were among the best
        WrittenSet("c", "ann", True, released(), released({"train"})),
        WrittenSet("d", "ann", True, released({"train"}), released({"train", "test"})),
    ]
    found = split(sets, frozenset({"ann"}), test=4, dev=2, seed=1)
    assert [found.part(one) for one in sets] == ["test", "test", OTHER_WRITER, "dev", "train", IN_TWO]


def test_without_best_writers_everything_is_train_and_a_note_says_so():
    sets = made("ann", 4, 0)
    found = split(sets, frozenset(), test=2, dev=2, seed=1)
    assert parts_of(found, sets).keys() == {"train"}
    assert "Lower the thresholds" in found.notes[0]


@given(COLLECTIONS, some.integers(0, 9), some.integers(0, 9), some.integers(0, 3), some.randoms(use_true_random=False))
def test_no_paragraph_is_in_two_splits_and_order_does_not_matter(sets, test, dev, seed, order: random.Random):
    found = split(sets, frozenset({"ann", "bo"}), test=test, dev=dev, seed=seed)
    parts = parts_of(found, sets)
    assert all(one.author in ("ann", "bo") for one in parts["test"] + parts["dev"])
    assert found.parts.keys() == {one.paragraph for one in sets if one.kept}
    assert split(order.sample(sets, len(sets)), frozenset({"ann", "bo"}), test=test, dev=dev, seed=seed) == found
