"""Who the best writers are, and that no paragraph is in two splits."""

import random
from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as some

from hits.recipes.cosmos.splitting import WrittenSet, best, split, writers

KEPT = some.builds(
    lambda paragraph, number, author, kept: WrittenSet(f"{paragraph}/{number}", paragraph, author, kept),
    some.sampled_from([f"p{n}" for n in range(12)]),
    some.integers(0, 30),
    some.sampled_from(["ann", "bo", "cy", ""]),
    some.booleans(),
)
COLLECTIONS = some.lists(KEPT, unique_by=lambda one: one.key, max_size=60)


def made(author, kept, dropped, start=0):
    return [WrittenSet(f"{author}{n}", f"{author}-p{n // 2}", author, n < kept) for n in range(start, kept + dropped)]


def test_writers_are_counted_by_what_was_kept():
    sets = [*made("ann", 9, 1), *made("bo", 10, 10), WrittenSet("x", "p", "", True)]
    assert [(w.worker, w.written, w.kept, w.share) for w in writers(sets)] == [("bo", 20, 10, 0.5), ("ann", 10, 9, 0.9)]


def test_the_best_wrote_enough_and_well():
    found = writers([*made("ann", 9, 1), *made("bo", 10, 10), *made("cy", 3, 0)])
    assert best(found, least_written=10, least_share=0.9) == {"ann"}
    assert best(found, least_written=3, least_share=0.5) == {"ann", "bo", "cy"}


def test_test_and_dev_are_by_the_best_alone_and_hold_what_was_wanted():
    sets = [*made("ann", 40, 0), *made("bo", 40, 0)]
    found = split(sets, frozenset({"ann"}), test=14, dev=6, seed=1)
    parts = defaultdict(set)
    for key, name in found.of.items():
        parts[name].add(key)
    assert (len(parts["test"]), len(parts["dev"]), len(parts["train"])) == (14, 6, 60)
    assert all(key.startswith("ann") for key in parts["test"] | parts["dev"])
    assert not found.notes


def test_too_few_sets_of_the_best_shrink_both_alike():
    found = split(made("ann", 20, 0), frozenset({"ann"}), test=70, dev=30, seed=1)
    counts = [sum(name == part for name in found.of.values()) for part in ("test", "dev", "train")]
    assert counts == [14, 6, 0]
    assert found.notes == ("The best writers have 20 kept sets, fewer than 100: dev and test shrink alike.",)


def test_without_best_writers_everything_is_train_and_a_note_says_so():
    found = split(made("ann", 4, 0), frozenset(), test=2, dev=2, seed=1)
    assert set(found.of.values()) == {"train"}
    assert "Lower the thresholds" in found.notes[0]


@given(COLLECTIONS, some.integers(0, 9), some.integers(0, 9), some.integers(0, 3), some.randoms(use_true_random=False))
def test_no_paragraph_is_in_two_splits_and_order_does_not_matter(sets, test, dev, seed, order: random.Random):
    found = split(sets, frozenset({"ann", "bo"}), test=test, dev=dev, seed=seed)
    paragraphs = defaultdict(set)
    for one in sets:
        if one.kept:
            paragraphs[one.paragraph].add(found.of[one.key])
            assert one.author in ("ann", "bo") or found.of[one.key] == "train"
    assert all(len(names) == 1 for names in paragraphs.values())
    assert found.of.keys() == {one.key for one in sets if one.kept}
    assert split(order.sample(sets, len(sets)), frozenset({"ann", "bo"}), test=test, dev=dev, seed=seed) == found
