import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.recipes.record.splitting import (
    CRAWLED_IN_TRAIN,
    EXCESS_CRAWLED,
    NOT_VALIDATED,
    VALIDATED_ONCE,
    KeptItem,
    mark,
    split,
)
from hits.recipes.record.steps import next_items
from hits.recipes.source import JudgedItem, NextItem


@st.composite
def collections(draw, origins=("public", "crawled")):
    """Items of up to 40 documents with one to five queries each, as a validation would leave them."""
    items = []
    for number in range(draw(st.integers(0, 40))):
        origin = draw(st.sampled_from(origins))
        purpose = "eval" if origin == "crawled" else draw(st.sampled_from(["train", "eval"]))
        for query in range(draw(st.integers(1, 5))):
            items.append(KeptItem(f"d{number}", f"q{query}", origin, purpose, draw(st.sampled_from([1, 2, 2, 2]))))
    return items


def eval_items(documents, origin, queries=1):
    names = [(d, q) for d in range(documents) for q in range(queries)]
    return [KeptItem(f"{origin}{d}", f"q{q}", origin, "eval", 2) for d, q in names]


def by_origin(items):
    counts = Counter(item.origin for item in items)
    return counts["public"], counts["crawled"]


def meta(public, crawled):
    return [(f"p{i}", "public") for i in range(public)] + [(f"c{i}", "crawled") for i in range(crawled)]


def purposes_of(documents_meta, **options):
    marks = mark(documents_meta, **options)
    return Counter((origin, marks[key]) for key, origin in documents_meta)


# Marking


def test_crawled_documents_are_for_evaluation_and_public_ones_join_in_ratio():
    counts = purposes_of(meta(1000, 70), seed=1)
    assert counts == {("crawled", "eval"): 70, ("public", "eval"): 30, ("public", "train"): 970}


def test_without_crawled_documents_a_share_of_the_public_ones_is_for_evaluation():
    assert purposes_of(meta(1000, 0), seed=1)["public", "eval"] == 180
    assert purposes_of(meta(20, 0), seed=1, options={"eval_share": 0.5})["public", "eval"] == 10
    assert purposes_of(meta(20, 0), seed=1, options={"eval_share": 0})["public", "eval"] == 0
    assert purposes_of(meta(20, 0), seed=1, options={"eval_share": 1})["public", "eval"] == 20


def test_all_public_documents_join_when_there_are_too_few():
    assert purposes_of(meta(2, 70), seed=1) == {("crawled", "eval"): 70, ("public", "eval"): 2}


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 5), st.randoms())
def test_marks_depend_on_the_seed_and_not_on_the_order(public, crawled, seed, order):
    documents_meta = meta(public, crawled)
    shuffled = order.sample(documents_meta, len(documents_meta))
    assert mark(shuffled, seed=seed) == mark(documents_meta, seed=seed)


def test_another_seed_marks_other_documents():
    assert mark(meta(100, 0), seed=1) != mark(meta(100, 0), seed=2)


@pytest.mark.parametrize("first", ["public", "crawled"])
def test_two_files_are_marked_as_one_in_either_order(first):
    """148,000 public articles and 22,000 crawled ones, as the paper has them."""
    public, crawled = meta(148_000, 0), meta(0, 22_000)
    one, other = (public, crawled) if first == "public" else (crawled, public)
    marked = mark(one, seed=1)
    both = mark([*one, *other], seed=1, marked=marked)
    assert Counter((origin, both[key]) for key, origin in [*public, *crawled])["public", "eval"] == 9_429
    if first == "public":
        assert {key for key, _ in public if both[key] == "eval"} <= {key for key in marked if marked[key] == "eval"}


def test_marks_change_for_none_that_is_fixed():
    marked = mark(meta(100, 0), seed=1)
    both = mark(meta(100, 10), seed=1, marked=marked, fixed=marked.keys())
    assert {key: both[key] for key in marked} == marked
    for_eval = {key for key in marked if marked[key] == "eval"}
    grown = mark(meta(100, 100), seed=1, marked=marked, fixed=for_eval)
    chosen = {key for key in marked if grown[key] == "eval"}
    assert for_eval < chosen and len(chosen) == 43


@pytest.mark.parametrize("documents_meta", [[("a", "public"), ("a", "crawled")], [("a", "stolen")]])
def test_marking_refuses_doubled_keys_and_unknown_origins(documents_meta):
    with pytest.raises(ValueError, match="a key of its own and an origin"):
        mark(documents_meta, seed=1)


def test_marking_refuses_a_share_outside_zero_and_one():
    with pytest.raises(ValueError, match="eval_share must lie between 0 and 1"):
        mark(meta(3, 0), seed=1, options={"eval_share": 18})


# Moving on


@pytest.mark.parametrize(
    "stage, purpose, outcome, expected",
    [
        ("validate", "eval", "kept", "revalidate"),
        ("revalidate", "eval", "kept", "human"),
        ("human", "eval", "kept", None),
        ("validate", "train", "kept", None),
        ("validate", "eval", "dropped", None),
        ("revalidate", "eval", "dropped", None),
        ("validate", "eval", "open", None),
    ],
)
def test_what_was_kept_for_evaluation_moves_on(stage, purpose, outcome, expected):
    item = JudgedItem(stage, "q1", {"query": "X"}, "d1", {}, "public", purpose, outcome)
    assert next_items(item) == ([NextItem(expected, "q1", {"query": "X"})] if expected else [])


# Splitting


@given(collections(), st.integers(0, 3))
def test_no_passage_is_in_two_splits_and_every_item_has_one_place(items, seed):
    found = split(items, seed=seed)
    parts = [found.train, found.dev, found.test]
    documents = [{item.document_key for item in part} for part in parts]
    assert sum(map(len, documents)) == len(set().union(*documents))
    placed = [*found.train, *found.dev, *found.test, *(left.item for left in found.left_out)]
    assert sorted(placed) == sorted(items)


@given(collections(), st.integers(0, 3), st.randoms())
def test_the_same_seed_gives_the_same_split_whatever_the_order(items, seed, order):
    assert split(order.sample(items, len(items)), seed=seed) == split(items, seed=seed)


@given(collections())
def test_train_is_public_and_dev_and_test_were_validated_twice(items):
    found = split(items, seed=1)
    assert all(item.origin == "public" and item.validations >= 1 for item in found.train)
    assert all(item.purpose == "eval" and item.validations == 2 for item in (*found.dev, *found.test))


@given(collections())
def test_the_ratio_of_origins_holds_within_one_document(items):
    found = split(items, seed=1)
    usable = [item for item in items if item.purpose == "eval" and item.validations == 2]
    public, crawled = by_origin([*found.dev, *found.test])
    if all(by_origin(usable)):
        largest = max(Counter(item.document_key for item in usable).values())
        assert abs(public - crawled * 3 / 7) <= largest or abs(crawled - public * 7 / 3) <= largest


@settings(max_examples=40)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 9))
def test_dev_and_test_differ_by_at_most_one_when_passages_have_one_query(public, crawled, seed):
    found = split(eval_items(public, "public") + eval_items(crawled, "crawled"), seed=seed)
    assert 0 <= len(found.test) - len(found.dev) <= 1
    for dev, test in zip(by_origin(found.dev), by_origin(found.test), strict=True):
        assert abs(dev - test) <= 4


def test_dev_and_test_differ_by_as_little_as_whole_passages_allow():
    sizes = {"a": 3, "b": 3, "c": 2, "d": 2, "e": 2}
    items = [KeptItem(d, f"q{q}", "public", "eval", 2) for d, size in sizes.items() for q in range(size)]
    found = split(items, seed=4)
    assert (len(found.dev), len(found.test)) == (6, 6)


def test_excess_public_queries_go_to_train():
    found = split(eval_items(100, "public") + eval_items(70, "crawled"), seed=1)
    assert by_origin([*found.dev, *found.test]) == (30, 70)
    assert len(found.train) == 70
    assert found.left_out == ()
    assert found.notes == (
        "Dev and test hold 30 public and 70 crawled queries (wanted 3:7).",
        "70 public queries beyond the ratio went to train.",
    )


def test_excess_crawled_queries_are_left_out_and_counted():
    found = split(eval_items(30, "public") + eval_items(100, "crawled"), seed=1)
    assert by_origin([*found.dev, *found.test]) == (30, 70)
    assert found.reasons() == {EXCESS_CRAWLED.format("3:7"): 30}
    assert found.notes[1] == "30 crawled queries beyond the ratio were left out."


@pytest.mark.parametrize("origin", ["public", "crawled"])
def test_with_one_origin_no_ratio_is_applied_and_that_is_said(origin):
    found = split(eval_items(11, origin), seed=1)
    assert (len(found.dev), len(found.test)) == (5, 6)
    assert found.train == ()
    assert found.notes == (f"All queries that were validated twice are {origin}: no ratio of origins was applied.",)


def test_nothing_kept_gives_an_empty_split():
    found = split([], seed=1)
    assert (found.train, found.dev, found.test, found.left_out) == ((), (), (), ())
    assert found.notes == ("Nothing was validated twice, so dev and test are empty.",)


def test_everything_left_out_has_its_reason():
    items = [
        KeptItem("a", "1", "public", "train", 0),
        KeptItem("b", "1", "public", "eval", 1),
        KeptItem("c", "1", "crawled", "train", 1),
        KeptItem("d", "1", "public", "train", 1),
    ]
    found = split(items, seed=1)
    assert found.reasons() == {NOT_VALIDATED: 1, VALIDATED_ONCE: 1, CRAWLED_IN_TRAIN: 1}
    assert [item.document_key for item in found.train] == ["d"]


def test_another_seed_halves_otherwise():
    items = eval_items(40, "public")
    assert split(items, seed=1).dev != split(items, seed=2).dev


@pytest.mark.parametrize(
    "other, message",
    [
        (KeptItem("a", "1", "public", "eval", 2), "more than once, such as a/1"),
        (KeptItem("a", "2", "crawled", "eval", 2), "two origins or two purposes"),
        (KeptItem("a", "2", "public", "train", 2), "two origins or two purposes"),
        (KeptItem("b", "2", "public", "both", 2), "purpose both"),
    ],
)
def test_items_that_contradict_one_another_are_refused(other, message):
    with pytest.raises(ValueError, match=message):
        split([KeptItem("a", "1", "public", "eval", 2), other], seed=1)


def test_the_published_scale_is_split_in_the_published_numbers():
    dice = random.Random(1)
    items = [KeptItem(f"t{i % 65_000}", f"q{i}", "public", "train", 1) for i in range(100_000)]
    for origin, wanted in (("public", 6_100), ("crawled", 14_000)):
        document = 0
        while wanted > 0:
            size = min(wanted, dice.choice([1, 1, 1, 2, 2, 3]))
            items += [KeptItem(f"{origin}{document}", f"q{q}", origin, "eval", 2) for q in range(size)]
            document, wanted = document + 1, wanted - size
    found = split(items, seed=7)
    assert (len(found.train), len(found.dev), len(found.test)) == (100_100, 10_000, 10_000)
    assert by_origin([*found.dev, *found.test]) == (6_000, 14_000)
