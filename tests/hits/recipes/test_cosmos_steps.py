"""Cosmos QA's steps: what a file brings, what writing leads to, where "None of the above" goes, what is released."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import replace

import pyarrow.parquet
import pytest

from hits.formats.faults import FormatErrors
from hits.quality import known_rules
from hits.recipes import GivenLabel, JudgedItem, load
from hits.recipes.cosmos.steps import (
    COMPUTATIONS,
    NONE_OF_THE_ABOVE,
    as_released,
    build_release,
    draw,
    next_items,
    question_set,
    read_documents,
    split_preview,
)
from hits.recipes.source import Found, Progress

RECIPE = load("cosmos")
OPTIONS = RECIPE.options
STORY = (
    "We had planned the boat trip for months. On the morning itself my brother could not find his boots, and "
    "my father paced up and down beside the car. In the end we left an hour late. The harbour was already empty "
    "when we came. A man on the pier told us that the next boat would leave at noon, so we bought ice cream."
)
QUESTION = "Why did they buy ice cream?"
CORRECT = "They had to wait for the next boat."
INCORRECT = ["The father was hungry after the trip.", "It was part of the plan.", "The man on the pier sold it."]


class Kept:
    """What was collected, in memory."""

    def __init__(self, *items: JudgedItem, found=(), **options):
        self.items, self.seed, self.options, self._found = items, 3, {**OPTIONS, **options}, dict(found)

    def judged(self, stage, *, labels=False, computation=""):
        found = self._found if computation else {}
        return (replace(item, computed=found.get(item.key)) for item in self.items if item.stage == stage)

    def found(self, computation):
        return iter(sorted(self._found.items()))


def a_set(number, conclusion="valid", author="ann", paragraph=None, outcome="kept"):
    key = f"s{number:03}"
    data = question_set(
        key, f"{QUESTION} {number}", f"{CORRECT} {number}", [f"{i} {number}" for i in INCORRECT], author
    )
    paragraph = paragraph or f"p{number:03}"
    document = {"text": f"{STORY} {paragraph}", "source": ""}
    return JudgedItem("validate", key, data, paragraph, document, "public", "train", outcome, conclusion)


def imported(content: bytes, name="stories.txt", **options):
    return read_documents(
        io.BytesIO(content), name=name, max_bytes=10**6, default_origin="public", seed=1, options={**OPTIONS, **options}
    )


# Import


def test_a_story_gives_one_paragraph_to_write_about():
    (found,) = imported(STORY.encode())
    assert found.data["text"] in STORY
    assert 30 <= len(found.data["text"].split()) <= 150
    assert [(item.stage, item.data) for item in found.items] == [("", {})]


def test_a_story_without_a_fitting_paragraph_is_left_out_with_a_reason():
    short, whole = imported(f"Too short.\n{STORY}".encode())
    assert (short.items, short.note) == ((), "no run of whole sentences has 30 to 150 words.")
    assert whole.items


def test_lengths_that_cannot_be_cut_are_refused():
    with pytest.raises(FormatErrors, match="at least twice"):
        imported(STORY.encode(), longest_paragraph=40)


def row(**changes):
    answers = {f"answer{n}": text for n, text in enumerate([CORRECT, *INCORRECT])}
    return {"id": "a", "context": STORY, "question": QUESTION, **answers, "label": 0} | changes


def test_question_sets_go_to_validation_with_the_writer_whom_their_ids_name():
    rows = [row(id="H##A##WRITER##Blog_1##q1_a1##H"), row(id="other", question="Who was late?", label=2)]
    (found,) = imported("\n".join(map(json.dumps, rows)).encode())
    assert [(item.stage, item.data["intended"], item.data["author"]) for item in found.items] == [
        ("validate", "c0", "WRITER"),
        ("validate", "c2", ""),
    ]
    assert found.data["text"] == STORY


def test_answers_without_a_label_are_a_machines():
    (found,) = imported(json.dumps({name: value for name, value in row().items() if name != "label"}).encode())
    (item,) = found.items
    assert item.stage == "generative"
    assert "intended" not in item.data


# From writing to validation


def written(**changes):
    value = {"question": QUESTION, "category": "causes", "correct": [CORRECT], "incorrect": INCORRECT} | changes
    labels = (GivenLabel("ann", "A1", "questions", 1, None), GivenLabel("ann", "A1", "question1", value, None))
    return JudgedItem("write", "p1", {}, "p1", {"text": STORY}, "public", "train", "kept", labels=labels)


def test_a_question_with_two_right_answers_becomes_two_sets_with_the_same_wrong_ones():
    one, two = next_items(written(correct=[CORRECT, "The next boat was late."]))
    assert (one.stage, one.key, two.key) == ("validate", "p1/A1/q1a1", "p1/A1/q1a2")
    for made, right in ((one, CORRECT), (two, "The next boat was late.")):
        texts = {each["id"]: each["text"] for each in made.data["candidates"]}
        assert texts[made.data["intended"]] == right
        assert sorted(texts.values()) == sorted([right, *INCORRECT])
        assert made.data["author"] == "ann"


def test_neither_place_nor_id_tells_the_right_answer():
    places = Counter(question_set(f"k{n}", QUESTION, CORRECT, INCORRECT, "")["intended"] for n in range(400))
    assert places.keys() == {"c0", "c1", "c2", "c3"}
    assert min(places.values()) > 60


@pytest.mark.parametrize("changes", [{"outcome": "open"}, {"stage": "validate"}, {"labels": ()}])
def test_nothing_else_leads_anywhere(changes):
    assert next_items(replace(written(), **changes)) == []


# None of the above


def texts(data):
    return {each["id"]: each["text"] for each in data["candidates"]}


def test_an_unanswerable_set_gets_it_for_its_right_answer():
    item = a_set(1, "unanswerable")
    released = as_released(item)
    assert texts(released)[released["intended"]] == NONE_OF_THE_ABOVE
    assert len(set(texts(released).items()) & set(texts(item.data).items())) == 3


def test_a_valid_set_gets_it_for_the_answer_that_was_computed():
    item = a_set(1)
    wrong = next(each for each in texts(item.data) if each != item.data["intended"])
    computed = replace(item, computed={"candidate": wrong})
    assert texts(as_released(computed))[wrong] == NONE_OF_THE_ABOVE
    assert as_released(replace(computed, conclusion="of another rule")) is item.data
    assert as_released(item) is item.data


def test_a_set_that_offers_it_already_stays_as_it_is():
    item = a_set(1, "unanswerable")
    item.data["candidates"][0]["text"] = "None of the above choices ."
    assert as_released(item) is item.data


def test_the_computation_chooses_wrong_answers_of_the_wanted_share():
    sets = [a_set(number) for number in range(20)] + [a_set(30, "unanswerable"), a_set(31, "", outcome="dropped")]
    said = list(COMPUTATIONS[0].run(Kept(*sets), {"folds": 2}, 3, None))
    found = {each.key: each.data for each in said if isinstance(each, Found)}
    assert [(each.done, each.total) for each in said if isinstance(each, Progress)] == [(10, 20), (20, 20)]
    assert len(found) == 14
    for item in sets:
        assert item.key not in found or found[item.key]["candidate"] != item.data["intended"]
    for data in found.values():
        sums = {candidate: sum(scores) for candidate, scores in data["scores"].items()}
        assert sums[data["candidate"]] == min(sums.values())
    again = COMPUTATIONS[0].run(Kept(*reversed(sets)), {"folds": 2}, 3, None)
    assert {each.key: each.data for each in again if isinstance(each, Found)} == found


# Draws and releases


def collection(**options):
    sets = [a_set(number, "unanswerable" if number % 5 == 0 else "valid") for number in range(40)]
    sets += [a_set(50, "", outcome="dropped"), a_set(51, "", outcome="open")]
    chosen = {"s001": {"candidate": next(c for c in texts(sets[1].data) if c != sets[1].data["intended"])}}
    return Kept(*sets, found=chosen, test_sets=14, dev_sets=6, best_written=10, best_kept_share=0.5, **options)


def test_the_human_score_takes_released_test_sets_and_reasoning_answerable_dev_sets():
    collected = collection()
    parts = {row["id"]: name for name in ("train", "dev", "test") for row in jsonl(build_release(collected), name)}
    human = draw("human", collected, 10, seed=3)
    assert len(human) == 10 and {parts[item.key] for item in human} == {"test"}
    assert human == draw("human", collected, 10, seed=3)
    assert all(item.parent == ("validate", item.key) for item in human)
    reasoning = draw("reasoning", collected, 99, seed=3)
    assert reasoning and all(parts[item.key] == "dev" and int(item.key[1:]) % 5 for item in reasoning)


def content_of(release, name):
    stream = release.files[name]
    stream.seek(0)
    return stream.read()


def jsonl(release, name):
    return [json.loads(line) for line in content_of(release, f"{name}.jsonl").splitlines()]


def test_a_release_holds_each_split_in_three_formats_that_agree():
    release = build_release(collection())
    assert release.counts == {"train": 20, "dev": 6, "test": 14}
    assert release.left_out == {"not validated": 1, "not judged yet": 1}
    for name in release.counts:
        rows = jsonl(release, name)
        assert list(csv.DictReader(io.StringIO(content_of(release, f"{name}.csv").decode()))) == [
            {column: str(value) for column, value in row.items()} for row in rows
        ]
        assert pyarrow.parquet.read_table(io.BytesIO(content_of(release, f"{name}.parquet"))).to_pylist() == rows
        assert len(rows) == release.counts[name]


def test_every_none_of_the_above_is_where_the_verdict_or_the_computation_put_it():
    collected = collection()
    rows = {row["id"]: row for name in ("train", "dev", "test") for row in jsonl(build_release(collected), name)}
    for item in collected.items[:40]:
        answers = [rows[item.key][f"answer{n}"] for n in range(4)]
        right = answers[rows[item.key]["label"]]
        wrong = [answer for n, answer in enumerate(answers) if n != rows[item.key]["label"]]
        assert (right == NONE_OF_THE_ABOVE) == (item.conclusion == "unanswerable")
        assert (NONE_OF_THE_ABOVE in wrong) == (item.key == "s001")


def test_a_larger_draw_holds_the_smaller_one_and_new_sets_hardly_change_it():
    collected = collection()
    few, more = ({item.key for item in draw("human", collected, count, seed=3)} for count in (5, 9))
    assert few < more and len(more) == 9
    collected.items += (a_set(90, paragraph="p001"),)
    assert len(few & {item.key for item in draw("human", collected, 5, seed=3)}) >= 3


def test_a_paragraph_that_two_files_brought_is_in_one_split():
    twins = [a_set(number, paragraph=f"p{number % 20}") for number in range(40)]
    twins = [replace(item, document_key=f"file-{number}") for number, item in enumerate(twins)]
    collected = Kept(*twins, test_sets=14, dev_sets=6, best_written=10, best_kept_share=0.5)
    release = build_release(collected)
    paragraphs = {name: {row["context"] for row in jsonl(release, name)} for name in release.counts}
    assert release.counts == {"train": 20, "dev": 6, "test": 14}
    assert sum(map(len, paragraphs.values())) == len(set().union(*paragraphs.values())) == 20


def test_sets_that_came_with_none_of_the_above_are_a_part_of_the_share():
    sets = [a_set(number) for number in range(20)]
    for item in sets[:9]:
        item.data["candidates"][0]["text"] = NONE_OF_THE_ABOVE
    said = COMPUTATIONS[0].run(Kept(*sets), {"folds": 2}, 3, None)
    found = [each.key for each in said if isinstance(each, Found)]
    assert len(found) == 14 - 9
    assert not set(found) & {item.key for item in sets[:9]}


def test_a_release_says_what_was_replaced_and_counts_its_questions():
    release = build_release(collection())
    assert f'8 unanswerable sets have "{NONE_OF_THE_ABOVE}" as their right answer.' in release.notes
    assert f'1 valid sets have "{NONE_OF_THE_ABOVE}" in place of their least challenging answer.' in release.notes
    assert release.statistics["overall"]["questions"] == 40
    assert content_of(release, "question-starts.svg").startswith(b"<svg")


def test_nothing_kept_gives_empty_splits():
    release = build_release(Kept())
    assert release.counts == {"train": 0, "dev": 0, "test": 0}
    assert jsonl(release, "train") == []


def test_the_preview_of_a_split_names_the_writers_and_follows_the_thresholds():
    collected = collection()
    found = split_preview(collected, collected.options)
    (ann,) = found["writers"]
    assert (ann["worker"], ann["written"], ann["kept"], ann["best"]) == ("ann", 42, 40, True)
    assert found["counts"] == {"train": 20, "dev": 6, "test": 14}
    assert split_preview(collected, {**collected.options, "best_written": 43})["counts"]["train"] == 40


# The published numbers


def test_the_recipe_has_the_published_numbers():
    stages = {stage.key: stage for stage in RECIPE.stages}
    assert {key: (str(stage.reward), stage.answers, stage.draws) for key, stage in stages.items()} == {
        "write": ("0.70", 1, 0),
        "validate": ("0.10", 3, 0),
        "human": ("0.10", 3, 200),
        "generative": ("0.10", 3, 0),
        "reasoning": ("0.10", 1, 500),
    }
    for key in ("write", "validate", "human", "generative"):
        wanted = [(given.qualification, given.comparator, given.integers) for given in stages[key].requirements[:2]]
        assert wanted == [
            ("percent_approved", "GreaterThanOrEqualTo", (99,)),
            ("number_approved", "GreaterThan", (5000,)),
        ]
    assert (OPTIONS["test_sets"], OPTIONS["dev_sets"], OPTIONS["none_share"]) == (7000, 3000, 0.7)
    assert "write" in stages["validate"].asks_other_workers_than


def test_its_rules_are_the_published_ones():
    stages = {stage.key: stage for stage in RECIPE.stages}
    assert stages["validate"].rule.params["text"] == known_rules.COSMOS_VALIDATION.text
    assert stages["generative"].rule.params["text"] == known_rules.COSMOS_GENERATED.text
    of_picks = known_rules.COSMOS_HUMANS.text.replace("picked.", "choice.")
    assert stages["human"].rule.params["text"] == of_picks
