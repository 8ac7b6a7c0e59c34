"""The sample of dev whose queries are labelled by the reasoning that they take."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.protocols.labelling.protocol import protocol
from hits.recipes import ChainItem, JudgedItem, load
from hits.recipes.record.steps import build_release, draw
from hits.recipes.sampling import sample
from hits.recipes.source import ReleasedItem

TEXT = "Ada Noor met Bo Lind."


class Kept:
    """A chain, in memory, which comes as from a project's tables: by document and key."""

    def __init__(self, items: list[ChainItem]) -> None:
        self.items, self.seed, self.options = items, 3, load("record").options
        self.pseudonym_key = "a secret"

    def chain(self) -> Iterator[ChainItem]:
        return iter(sorted(self.items, key=lambda item: (item.document_key, item.key)))

    def judged(self, stage: str, *, labels: bool = False, computation: str = "") -> Iterator[JudgedItem]:
        return iter(())

    def outcomes(self, stage: str) -> Iterator[tuple[str, str]]:
        return iter(())

    def released(self) -> Iterator[ReleasedItem]:
        return iter(())


def query(number: int, *kept_in: str, purpose: str = "eval") -> ChainItem:
    document = {"text": f"{TEXT} {number}", "entities": [[0, 7], [13, 19]], "source": "Ours", "key_field": "id"}
    answers = [{"start": 13, "end": 19, "text": "Bo Lind"}]
    data = {"query": "It was @placeholder.", "answers": answers, "key": f"q{number}", "key_field": "id"}
    return ChainItem(f"d{number}", f"q{number}", "public", purpose, document, data, ("validate", *kept_in))


@pytest.fixture
def collected() -> Kept:
    """Forty queries that were validated twice, some of them measured and labelled; others that cannot be in dev."""
    twice = [query(n, "revalidate", *["human", "reasoning"][: n % 3]) for n in range(40)]
    return Kept([*twice, *(query(n) for n in range(40, 50)), *(query(n, purpose="train") for n in range(50, 60))])


def read(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read()


def dev_of(collected: Kept) -> set[str]:
    released = json.loads(read(build_release(collected).files["dev.json"]))["data"]
    return {one["id"] for document in released for one in document["qas"]}


def test_all_that_can_be_drawn_is_dev_as_released_with_its_passage_query_and_answers(collected: Kept) -> None:
    drawn = draw("reasoning", collected, 10_000, seed=3)
    assert {item.key for item in drawn} == dev_of(collected) and len(drawn) == 20
    of = {item.key: item for item in collected.items}
    assert all(item.stage == "reasoning" and item.data == of[item.key].data for item in drawn)


def test_what_is_drawn_comes_from_the_last_stage_before_that_kept_it(collected: Kept) -> None:
    drawn = draw("reasoning", collected, 10_000, seed=3)
    parents = {item.key: item.parent for item in drawn}
    assert parents == {key: ("revalidate" if int(key[1:]) % 3 == 0 else "human", key) for key in parents}
    assert {stage for stage, _ in parents.values()} == {"revalidate", "human"}


def test_the_seed_alone_says_which_are_drawn(collected: Kept) -> None:
    keys = [item.key for item in draw("reasoning", collected, 8, seed=3)]
    assert len(keys) == 8
    assert set(keys) < {item.key for item in draw("reasoning", collected, 12, seed=3)}
    assert keys != [item.key for item in draw("reasoning", collected, 8, seed=4)]
    collected.items.reverse()
    assert sorted(keys) == sorted(item.key for item in draw("reasoning", collected, 8, seed=3))


def test_without_dev_there_is_nothing_to_draw() -> None:
    assert draw("reasoning", Kept([query(1)]), 100, seed=3) == []


@settings(max_examples=30)
@given(st.sets(st.text(max_size=4), max_size=20), st.integers(0, 25), st.text(max_size=2), st.randoms())
def test_a_sample_has_its_size_and_moves_little(keys: set[str], count: int, new: str, dice: object) -> None:
    found = sample(keys, count, "7")
    assert len(found) == len(set(found)) == min(count, len(keys)) and set(found) <= keys
    assert found == sample(sorted(keys, reverse=True), count, "7")
    assert len(set(found) - set(sample(keys | {new}, count, "7"))) <= 1


# What is asked


def reasoning(recipe: str) -> dict:
    return protocol.settings(next(stage for stage in load(recipe).stages if stage.key == "reasoning").settings)


def said(options: dict, *ticked: str, label: str) -> dict:
    checked = protocol.check({"text": TEXT}, {}, options, {"label": label, **{f"has-{one}": "yes" for one in ticked}})
    return {one.unit: one.value for one in checked.labels}


def test_a_query_of_record_has_one_type_and_common_sense_has_one_kind_or_more() -> None:
    options = reasoning("record")
    assert [label["text"] for label in options["labels"]] == [
        "Paraphrasing", "Partial clue", "Multi-sentence reasoning", "Commonsense reasoning", "Ambiguous",
    ]  # fmt: skip
    kinds = ["conceptual-knowledge", "causal-reasoning", "naive-psychology", "other-common-sense"]
    assert [label["id"] for label in options["dependent_labels"]] == kinds
    assert said(options, *kinds[:2], label="partial-clue") == {"label": "partial-clue"}
    found = said(options, *kinds[:2], label="commonsense-reasoning")
    assert [unit for unit, value in found.items() if value == "yes"] == [f"{kind}/has" for kind in kinds[:2]]
    report = protocol.item_scores([({}, {}, [found]), ({}, {}, [said(options, label="ambiguous")])], options)
    assert report["dependent"]["note"].endswith("add up to 200.0 %, more than 100 %.")


def test_the_labels_of_the_paper_give_the_shares_of_its_two_tables() -> None:
    """Zhang et al. 2018, Tables 2 and 3: of 100 queries, and of the 75 of them that need common sense."""
    options = reasoning("record")
    first = {"paraphrasing": 3, "partial-clue": 10, "multi-sentence-reasoning": 6, "ambiguous": 6}
    second = {"conceptual-knowledge": 37, "causal-reasoning": 24, "naive-psychology": 21, "other-common-sense": 9}
    kinds = [kind for kind, count in second.items() for _ in range(count)]
    ticked = [sorted(set(kinds[at::75])) for at in range(75)]
    answers = [said(options, label=label) for label, count in first.items() for _ in range(count)]
    answers += [said(options, *kinds, label="commonsense-reasoning") for kinds in ticked]
    report = protocol.item_scores([({}, {}, [answer]) for answer in answers], options)

    def percents(table: dict) -> dict[str, float]:
        return {row["label"]: round(100 * row["share"], 1) for row in table["labels"]}

    assert report["n"] == 100
    assert percents(report) == {**first, "commonsense-reasoning": 75}
    assert report["dependent"]["n"] == 75
    assert percents(report["dependent"]) == {
        "conceptual-knowledge": 49.3, "causal-reasoning": 32.0, "naive-psychology": 28.0, "other-common-sense": 12.0,
    }  # fmt: skip


def test_a_question_of_cosmos_needs_common_sense_of_some_kinds_or_none() -> None:
    options = reasoning("cosmos")
    assert [label["id"] for label in options["dependent_labels"]] == [
        "condition", "motivation", "reaction", "temporal-event", "situational-fact", "counterfactual", "other",
    ]  # fmt: skip
    assert said(options, "motivation", label="no-common-sense") == {"label": "no-common-sense"}
    found = said(options, "motivation", "reaction", label="common-sense")
    assert (found["motivation/has"], found["reaction/has"], found["other/has"]) == ("yes", "yes", "no")


@pytest.mark.parametrize("recipe", ["record", "cosmos"])
def test_every_label_says_what_it_means(recipe: str) -> None:
    options = reasoning(recipe)
    assert all(len(label["help"]) > 20 for label in (*options["labels"], *options["dependent_labels"]))
