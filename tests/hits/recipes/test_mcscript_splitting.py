"""Which texts are MCScript2.0's test, dev and train: whole scenarios apart, whole texts, any order, one seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as some

from hits.recipes import load
from hits.recipes.mcscript.splitting import Split, ToldText, split

SHARES = {"test_share": 0.2, "dev_share": 0.1}
collections = some.lists(
    some.builds(ToldText, some.integers(0, 60).map(str), some.sampled_from(["", "cake", "bus", "tree", "letter"])),
    max_size=80,
)


def collection(scenarios: int, stories: int) -> list[ToldText]:
    return [
        ToldText(f"{scenario}-{story}", f"s{scenario:03}") for scenario in range(scenarios) for story in range(stories)
    ]


def parts_of(texts: list[ToldText], found: Split) -> Counter[str]:
    return Counter(found.part(text.digest) for text in texts)


def test_a_collection_of_the_papers_size_is_split_as_the_paper_was() -> None:
    texts = collection(200, 18)[:3487]
    options = load("mcscript").options
    found = split(
        texts,
        scenarios=options["test_scenarios"],
        test_share=options["test_share"],
        dev_share=options["dev_share"],
        seed=7,
    )
    assert parts_of(texts, found) == {"train": 2500, "dev": 355, "test": 632}
    assert len(found.apart) == 5 and found.notes == ()
    assert {found.part(text.digest) for text in texts if text.scenario in found.apart} == {"test"}
    others = {text.scenario for text in texts if found.part(text.digest) == "test"} - set(found.apart)
    assert len(others) > 100, "the rest of test comes from everywhere"


def test_few_scenarios_leave_something_to_learn_from_and_say_so() -> None:
    texts = collection(8, 4)
    found = split(texts, scenarios=5, test_share=0.2, dev_share=0.1, seed=7)
    assert parts_of(texts, found) == {"train": 23, "dev": 3, "test": 6}
    assert len(found.apart) == 1
    (note,) = found.notes
    assert note.startswith("Fewer than 5 scenarios are in test alone, as the texts of more would not fit")


def test_where_all_of_a_few_scenarios_fit_the_note_says_that_there_are_no_more() -> None:
    found = split(collection(3, 4), scenarios=5, test_share=1.0, dev_share=0.0, seed=7)
    assert set(found.apart) == {"s000", "s001", "s002"}
    assert found.notes == ("Fewer than 5 scenarios are in test alone, as there are no more.",)


@given(collections, some.integers(0, 3), some.randoms(use_true_random=False))
def test_shares_are_as_near_as_whole_texts_allow_in_any_order(texts: list[ToldText], seed: int, random: object) -> None:
    found = split(texts, scenarios=2, seed=seed, **SHARES)
    counts = parts_of(texts, found)
    most = max(Counter(text.digest for text in texts).values(), default=0)
    assert counts["test"] <= round(len(texts) * 0.2) + most and counts["dev"] <= round(len(texts) * 0.1) + most
    for text in texts:
        assert text.scenario not in found.apart or found.part(text.digest) == "test"
    shuffled = list(texts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert split(shuffled, scenarios=2, seed=seed, **SHARES) == found


def test_what_was_released_stays_and_so_do_the_scenarios_that_test_had_alone() -> None:
    texts = collection(40, 10)
    drawn = {split(texts, scenarios=2, seed=seed, **SHARES).apart for seed in range(6)}
    assert len(drawn) > 1 and all(len(apart) == 2 for apart in drawn)
    first = split(texts, scenarios=2, seed=1, **SHARES)
    stood = [
        replace(text, earlier=frozenset({first.part(text.digest)}), was_apart=text.scenario in first.apart)
        for text in texts
    ]
    new = [ToldText(f"new-{number}", f"s{number:03}") for number in range(60)]
    again = split([*stood, *new], scenarios=3, seed=2, **SHARES)
    assert all(again.part(text.digest) == first.part(text.digest) for text in texts)
    assert set(again.apart[:2]) == set(first.apart) and again.apart[2] >= "s040", "a third one has no text elsewhere"
    assert {again.part(text.digest) for text in new if text.scenario in first.apart} == {"test"}
    assert parts_of([*stood, *new], again) == {"train": 322, "dev": 46, "test": 92}


def test_texts_without_a_scenario_are_no_scenario() -> None:
    texts = [ToldText(str(number), "") for number in range(30)]
    found = split(texts, scenarios=5, seed=1, **SHARES)
    assert found.apart == () and parts_of(texts, found) == {"train": 21, "dev": 3, "test": 6}
    assert found.notes == ("No text names its scenario, so no scenario is in test alone.",)
    assert split([], scenarios=5, seed=1, **SHARES) == Split({}, (), ())
