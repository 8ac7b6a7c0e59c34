"""Cosmos QA's steps: what a file brings, what writing leads to, where "None of the above" goes, what is released."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from functools import partial

import pyarrow.parquet
import pytest

from hits.formats.files.faults import FormatErrors
from hits.recipes import GivenLabel, JudgedItem, load
from hits.recipes.cosmos.steps import (
    COMPUTATIONS,
    SCORING,
    SPLITS,
    admit,
    as_released,
    build_release,
    draw,
    next_items,
    question_set,
    read_documents,
    replaced_sets,
    split_preview,
)
from hits.recipes.source import Found, Progress, ReleasedItem
from hits.stats.vote_rules import known_rules
from hits.text.scorers import SCORERS
from tests.hits.recipes.scored import scored

RECIPE = load("cosmos")
OPTIONS = RECIPE.options
NONE_OF_THE_ABOVE = "None of the above choices ."
STORY = (
    "We had planned the boat trip for months. On the morning itself my brother could not find his boots, and "
    "my father paced up and down beside the car. In the end we left an hour late. The harbour was already empty "
    "when we came. A man on the pier told us that the next boat would leave at noon, so we bought ice cream."
)
QUESTION = "Why did they buy ice cream?"
CORRECT = "They had to wait for the next boat."
INCORRECT = ["The father was hungry after the trip.", "It was part of the plan.", "The man on the pier sold it."]


TWO_FOLDS = {"scorer": "lexical", "folds": 2}


class Kept:
    """What was collected, in memory."""

    plugins, pseudonym_key, earlier = (), "secret", ()

    def __init__(self, *items: JudgedItem, found=(), **options):
        self.items, self.seed, self.options, self._found = items, 3, {**OPTIONS, **options}, dict(found)

    def judged(self, stage, *, labels=False, computation=""):
        found = self._found if computation else {}
        return (replace(item, computed=found.get(item.key)) for item in self.items if item.stage == stage)

    def found(self, computation):
        return iter(sorted(self._found.items()))

    def released(self):
        return iter(self.earlier)


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


def outputs(key="a", system="gpt", count=10, **changes):
    answers = {f"answer{n}": f"{system} says {n}" for n in range(count)}
    return {"id": key, "context": STORY, "question": QUESTION, "system": system, **answers, **changes}


def machines(*rows, **options):
    """The items that a file of outputs gives."""
    found = imported("\n".join(map(json.dumps, rows)).encode(), **options)
    return [item for document in found for item in document.items]


def test_answers_without_a_label_are_a_machines_of_which_four_are_drawn_by_the_seed():
    (item,) = machines(outputs())
    assert (item.stage, item.key, item.data["set"]) == ("generative", "a/gpt", "a")
    texts = [one["text"] for one in item.data["candidates"]]
    assert len(set(texts)) == 4 and set(texts) <= {f"gpt says {n}" for n in range(10)}
    assert [one["id"] for one in item.data["candidates"]] == ["c0", "c1", "c2", "c3"]
    assert "intended" not in item.data and machines(outputs()) == [item]
    assert len({tuple(one["text"] for one in machines(outputs(f"q{n}"))[0].data["candidates"]) for n in range(9)}) > 3
    assert [one.key for one in machines(row_without_label())] == ["a"]


def row_without_label():
    return {name: value for name, value in row().items() if name != "label"}


def test_equal_outputs_are_one_and_fewer_than_four_are_all_there_are():
    (item,) = machines(outputs(count=0, answer0="They waited.", answer1="they  WAITED.", answer2="It was fun."))
    assert sorted(one["text"] for one in item.data["candidates"]) == ["It was fun.", "They waited."]


def test_each_systems_answers_stand_apart_unless_an_option_puts_them_together():
    both = [outputs(system="gpt"), outputs(system="gpt-ft", answer0="gpt says 0")]
    apart = machines(*both)
    assert [(one.key, {name for each in one.data["candidates"] for name in each["systems"]}) for one in apart] == [
        ("a/gpt", {"gpt"}),
        ("a/gpt-ft", {"gpt-ft"}),
    ]
    (pooled,) = machines(*both, generated_from="all", generated_answers=99)
    systems = {each["text"]: each["systems"] for each in pooled.data["candidates"]}
    assert (pooled.key, len(systems), systems["gpt says 0"]) == ("a", 19, ["gpt", "gpt-ft"])


def test_questions_whose_right_answer_is_none_of_the_above_are_left_out_and_so_many_of_the_others_drawn():
    collected = collection(generated_questions=5)
    imported_so = next(
        each for each in collected.items[1].data["candidates"] if each["id"] == collected.items[1].data["intended"]
    )
    imported_so["text"] = NONE_OF_THE_ABOVE
    rows = [
        outputs(item.key, system, context=f"{STORY} {item.key}") for item in collected.items[:20] for system in "xy"
    ]
    documents = imported("\n".join(map(json.dumps, rows)).encode())
    admitted = admit(documents, collected)
    kept = {item.data["set"] for document in admitted for item in document.items}
    assert len(kept) == 5 and kept.isdisjoint({"s000", "s001", "s005", "s010", "s015"})
    assert all(len(document.items) in (0, 2) for document in admitted)
    none = {
        one.key for one in admitted if one.note == "answers to questions whose right answer is “None of the above”."
    }
    assert none == {f"s{n:03}/machine/x" for n in (0, 1, 5, 10, 15)}
    assert admit(documents, collected) == admitted
    stories = imported(STORY.encode())
    assert admit(stories, collected) == stories


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
    released = as_released(item, NONE_OF_THE_ABOVE, set())
    assert texts(released)[released["intended"]] == NONE_OF_THE_ABOVE
    assert len(set(texts(released).items()) & set(texts(item.data).items())) == 3


def test_a_valid_set_gets_it_for_the_answer_that_was_computed():
    item = a_set(1)
    wrong = next(each for each in texts(item.data) if each != item.data["intended"])
    computed = replace(item, computed={"candidate": wrong})
    assert texts(as_released(computed, NONE_OF_THE_ABOVE, {item.key}))[wrong] == NONE_OF_THE_ABOVE
    assert as_released(replace(computed, conclusion="of another rule"), NONE_OF_THE_ABOVE, {item.key}) is item.data
    assert as_released(item, NONE_OF_THE_ABOVE, set()) is item.data


def test_a_set_that_offers_it_already_stays_as_it_is():
    item = a_set(1, "unanswerable")
    item.data["candidates"][0]["text"] = "None of the above choices ."
    assert as_released(item, NONE_OF_THE_ABOVE, set()) is item.data


def test_the_computation_chooses_wrong_answers_of_the_wanted_share():
    sets = [a_set(number) for number in range(20)] + [a_set(30, "unanswerable"), a_set(31, "", outcome="dropped")]
    said = list(COMPUTATIONS[0].run(Kept(*sets), TWO_FOLDS, 3, None))
    found = {each.key: each.data for each in said if isinstance(each, Found)}
    assert [(each.done, each.total) for each in said if isinstance(each, Progress)] == [(10, 20), (20, 20)]
    assert len(found) == 20 and sum(data["drawn"] for data in found.values()) == 14
    for item in sets:
        assert item.key not in found or found[item.key]["candidate"] != item.data["intended"]
    for data in found.values():
        sums = {candidate: sum(scores) for candidate, scores in data["scores"].items()}
        assert sums[data["candidate"]] == min(sums.values())
    again = COMPUTATIONS[0].run(Kept(*reversed(sets)), TWO_FOLDS, 3, None)
    assert {each.key: each.data for each in again if isinstance(each, Found)} == found


def test_where_a_story_is_cut_is_an_option_and_a_paragraph_of_a_fitting_length_stays_whole():
    story = STORY.replace("The harbour was", "The late harbour hour was")
    by_name = {
        name: imported(story.encode(), shortest_paragraph=20, longest_paragraph=45, coherence=name)
        for name in ("lexical", "middle")
    }
    assert by_name["lexical"][0].data["text"] != by_name["middle"][0].data["text"]
    assert all(made[0].data["text"] in story for made in by_name.values())
    (whole,) = imported(STORY.encode(), coherence="middle")
    assert whole.data["text"] == STORY


def scored_elsewhere(sets, rows):
    content = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
    return COMPUTATIONS[0].outside.read(Kept(*sets), {**TWO_FOLDS, "scorer": "imported"}, 3, content)


def files_of(sets):
    written = COMPUTATIONS[0].outside.write(Kept(*sets), TWO_FOLDS, 3)
    return {name: [json.loads(line) for line in b"".join(pieces).splitlines()] for name, pieces in written}


def test_a_scorer_elsewhere_learns_from_and_is_asked_what_one_in_the_box_would_be():
    sets = [a_set(number) for number in range(10)]
    files = files_of(sets)
    assert list(files) == [f"fold{fold}-{part}.jsonl" for fold in (0, 1) for part in ("train", "test")]
    asked = [row["id"] for name, rows in files.items() if "test" in name for row in rows]
    assert len(set(asked)) == len(asked) == 10 * 3 * 4
    assert all(row["follows"] is None for row in files["fold0-test.jsonl"])
    assert sum(row["follows"] for row in files["fold0-train.jsonl"]) == 5 * 3
    assert not {row["id"] for row in files["fold0-train.jsonl"]} & {row["id"] for row in files["fold0-test.jsonl"]}
    contexts = {row["id"].split("/")[1]: row["context"] for row in files["fold0-test.jsonl"][:12]}
    assert contexts["paragraph and question"] == f"{contexts['paragraph']}\n{contexts['question']}"


def test_scores_of_the_same_scorer_elsewhere_choose_the_same_answers():
    sets = [a_set(number) for number in range(10)]
    inside = COMPUTATIONS[0].run(Kept(*sets), {"scorer": "overlap", "folds": 2}, 3, None)
    wanted = {each.key: each.data for each in inside if isinstance(each, Found)}
    scorer = SCORERS.load("overlap").make(3)
    rows = [row for name, rows in files_of(sets).items() if "test" in name for row in rows]
    scores = scorer.score([(row["context"], row["answer"]) for row in rows])
    given = [{"id": row["id"], "score": score} for row, score in zip(rows, scores, strict=True)]
    found = {each.key: each.data for each in scored_elsewhere(sets, given) if isinstance(each, Found)}
    assert found == wanted and len(found) == 10


def test_three_wrong_files_of_scores_are_refused_with_every_fault():
    sets = [a_set(number) for number in range(4)]
    given = [{"id": row["id"], "score": 0.5} for name, rows in files_of(sets).items() if "test" in name for row in rows]
    missing, unknown = given[2:], [*given, {"id": "s9/paragraph/0", "score": 1}]
    no_numbers = [{**given[0], "score": "high"}, {**given[1], "score": None}, {"id": 3}, *given[2:], given[2]]
    for rows, said in [
        (missing, [f"{given[0]['id']!r}: has no score", f"{given[1]['id']!r}: has no score"]),
        (unknown, ["'s9/paragraph/0': is the id of no pair here"]),
        (no_numbers, ["must be a number, not a text", "not null", "id: must be a text", "is there more than once"]),
    ]:
        with pytest.raises(FormatErrors) as refused:
            list(scored_elsewhere(sets, rows))
        told = "\n".join(map(str, refused.value.errors))
        assert [one for one in said if one not in told] == [], told


# Draws and releases


def collection(**options):
    sets = [a_set(number, "unanswerable" if number % 5 == 0 else "valid") for number in range(40)]
    sets += [a_set(50, "", outcome="dropped"), a_set(51, "", outcome="open")]
    chosen = {"s001": {"candidate": next(c for c in texts(sets[1].data) if c != sets[1].data["intended"])}}
    return Kept(
        *sets,
        found=chosen,
        test_sets=14,
        dev_sets=6,
        held_out_share=1.0,
        best_written=10,
        best_kept_share=0.5,
        **options,
    )


def test_the_human_score_takes_released_test_sets():
    collected = collection()
    parts = {row["id"]: name for name in ("train", "dev", "test") for row in jsonl(build_release(collected), name)}
    human = draw("human", collected, 10, seed=3)
    assert len(human) == 10 and {parts[item.key] for item in human} == {"test"}
    assert human == draw("human", collected, 10, seed=3)
    assert all(item.parent == ("validate", item.key) for item in human)


def test_reasoning_takes_answerable_sets_whatever_their_split_or_those_of_the_split_that_is_wanted():
    parts = {row["id"]: name for name in ("train", "dev", "test") for row in jsonl(build_release(collection()), name)}
    drawn = {wanted: draw("reasoning", collection(reasoning_from=wanted), 99, seed=3) for wanted in ("all", *SPLITS)}
    assert all(int(item.key[1:]) % 5 for items in drawn.values() for item in items)
    assert len(drawn["all"]) == 32 and {parts[item.key] for item in drawn["all"]} == set(SPLITS)
    for name in SPLITS:
        assert drawn[name] and {parts[item.key] for item in drawn[name]} == {name}


def test_a_set_that_came_with_none_of_the_above_as_its_right_answer_is_not_answerable():
    collected = collection()
    for item in collected.items[:20]:
        right = next(each for each in item.data["candidates"] if each["id"] == item.data["intended"])
        right["text"] = "None of the above choices."
    assert {item.key for item in draw("reasoning", collected, 99, seed=3)}.isdisjoint(f"s{n:03}" for n in range(20))


def test_the_added_choice_is_spelled_as_published_unless_an_option_says_otherwise():
    released = [jsonl(build_release(collection(**how)), "train") for how in ({}, {"none_text": "None of the above"})]
    for rows, text in zip(released, (NONE_OF_THE_ABOVE, "None of the above"), strict=True):
        said = {answer for row in rows for name, answer in row.items() if name.startswith("answer")}
        assert {answer for answer in said if answer.startswith("None of")} == {text}
    assert RECIPE.options["none_text"] == "None of the above choices ."


def content_of(release, name):
    stream = release.files[name]
    stream.seek(0)
    return stream.read()


PUBLISHED = {"train": "train", "dev": "valid", "test": "test"}


def shown(release, name):
    """The rows of a split as it is published."""
    return [json.loads(line) for line in content_of(release, f"{PUBLISHED[name]}.jsonl").splitlines()]


def csv_of(release, file):
    return list(csv.DictReader(io.StringIO(content_of(release, file).decode())))


def jsonl(release, name):
    """The rows of a split with their labels, those of test from its key."""
    key = {row["id"]: int(row["label"]) for row in csv_of(release, "test-key.csv")}
    return [row if "label" in row else {**row, "label": key[row["id"]]} for row in shown(release, name)]


def test_a_release_holds_each_split_in_three_formats_that_agree():
    release = build_release(collection())
    assert release.counts == {"train": 20, "dev": 6, "test": 14}
    assert release.left_out == {"not validated": 1, "not judged yet": 1}
    for name, published in PUBLISHED.items():
        rows = shown(release, name)
        assert csv_of(release, f"{published}.csv") == [
            {column: str(value) for column, value in row.items()} for row in rows
        ]
        table = pyarrow.parquet.read_table(io.BytesIO(content_of(release, f"{published}.parquet"))).to_pylist()
        assert table == [{"label": -1, **row} for row in rows]
        assert len(rows) == release.counts[name]


def test_the_labels_of_test_stand_in_the_key_alone():
    release = build_release(collection())
    assert all("label" not in row for row in shown(release, "test"))
    assert "label" not in csv_of(release, "test.csv")[0]
    key = csv_of(release, "test-key.csv")
    assert [row["id"] for row in key] == [row["id"] for row in shown(release, "test")]
    assert all(row.keys() == {"id", "label"} for row in key)


def test_where_the_right_answer_of_test_stands_cannot_be_worked_out_from_what_is_published():
    """The ids are published, and by the order that a set got when it was made the id tells the label."""
    release = build_release(collection())
    labels = {row["id"]: int(row["label"]) for row in csv_of(release, "test-key.csv")}
    ids = {item.data["set"]: int(item.data["intended"].removeprefix("c")) for item in collection().items}
    as_made = [ids[key] == label for key, label in labels.items()]
    assert 0 < sum(as_made) < len(as_made)
    other = collection()
    other.pseudonym_key = "another secret"
    assert labels != {row["id"]: int(row["label"]) for row in csv_of(build_release(other), "test-key.csv")}


def asked_of_people(collected, said):
    """The drawn test sets with what three people chose of each: the right one or not."""
    for item, right in zip(draw("human", collected, len(said), seed=3), said, strict=True):
        wrong = next(each["id"] for each in item.data["candidates"] if each["id"] != item.data["intended"])
        chosen = [item.data["intended"] if one else wrong for one in right]
        labels = tuple(GivenLabel(f"W{n}", f"A{n}", "choice", choice, None) for n, choice in enumerate(chosen))
        yield JudgedItem("human", item.key, item.data, "p", {}, "public", "train", "kept", labels=labels)


def test_human_performance_counts_exactly_the_sets_of_test_as_they_are_released():
    collected = collection()
    people = [*asked_of_people(collected, [(1, 1, 0), (1, 0, 0), (1, 1, 1), (1, 1, 1)])]
    moved = replace(people[0], key="s039-moved")
    collected.items += (*people, moved)
    figures = build_release(collected).statistics
    assert (figures["test"]["human_sets"], figures["test"]["human_majority"]) == (4, 0.75)
    assert "human_sets" not in figures["overall"]
    # One was drawn before an answer of it was replaced.
    seen = [{**each, "text": f"{each['text']} then"} for each in people[3].data["candidates"]]
    collected.items = (*collected.items[:-2], replace(people[3], data={**people[3].data, "candidates": seen}))
    figures = build_release(collected).statistics
    assert (figures["test"]["human_sets"], figures["test"]["human_majority"]) == (3, 2 / 3)


def test_predictions_are_scored_against_the_key():
    release = build_release(collection())
    key = {row["id"]: int(row["label"]) for row in csv_of(release, "test-key.csv")}
    first = next(iter(key))
    said = {**key, first: (key[first] + 1) % 4}
    rows = "id,label\n" + "".join(f"{id},{label}\n" for id, label in said.items())
    for name, content in (("said.csv", rows), ("said.json", json.dumps(said))):
        found = scored(SCORING, partial(content_of, release), content.encode(), name)
        assert (found["accuracy"], found["n"]) == (13 / 14, 14)


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
    collected = Kept(*twins, test_sets=14, dev_sets=6, held_out_share=1.0, best_written=10, best_kept_share=0.5)
    release = build_release(collected)
    paragraphs = {name: {row["context"] for row in jsonl(release, name)} for name in release.counts}
    assert release.counts == {"train": 20, "dev": 6, "test": 14}
    assert sum(map(len, paragraphs.values())) == len(set().union(*paragraphs.values())) == 20


def test_sets_that_came_with_none_of_the_above_are_a_part_of_the_share():
    sets = [a_set(number) for number in range(20)]
    for item in sets[:9]:
        item.data["candidates"][0]["text"] = NONE_OF_THE_ABOVE
    said = COMPUTATIONS[0].run(Kept(*sets), TWO_FOLDS, 3, None)
    found = [each.key for each in said if isinstance(each, Found) and each.data["drawn"]]
    assert len(found) == 14 - 9
    assert not set(found) & {item.key for item in sets[:9]}
    drawn, why_not = replaced_sets(Kept(*sets, found=computed(*sets)))
    assert (drawn, why_not) == (set(found), "")


def test_a_release_says_what_was_replaced_and_counts_its_questions():
    release = build_release(collection())
    assert f'8 unanswerable sets have "{NONE_OF_THE_ABOVE}" as their right answer.' in release.notes
    assert f'1 valid sets have "{NONE_OF_THE_ABOVE}" in place of their least challenging answer.' in release.notes
    assert release.statistics["overall"]["questions"] == 40
    assert content_of(release, "question-starts.svg").startswith(b"<svg")


def computed(*sets, before=()):
    collected = Kept(*sets, found=before)
    return {
        each.key: each.data for each in COMPUTATIONS[0].run(collected, TWO_FOLDS, 3, None) if isinstance(each, Found)
    }


def test_after_a_change_of_the_rule_the_share_holds_and_what_was_replaced_stays():
    sets = [a_set(number) for number in range(60)]
    found = computed(*sets)
    first, why_not = replaced_sets(Kept(*sets, found=found))
    assert (len(first), why_not) == (42, "")
    earlier = [ReleasedItem(key, "", "train", "none of the above") for key in first]
    stricter = [one if number % 3 else replace(one, outcome="dropped") for number, one in enumerate(sets)]
    valid = {one.key for one in stricter if one.outcome == "kept"}
    after = Kept(*stricter, found=found)
    after.earlier = earlier
    second, why_not = replaced_sets(after)
    assert (len(second), why_not) == (28, "") and (second <= first or first & valid <= second)
    milder = Kept(*stricter, *(a_set(number) for number in range(60, 100)), found=found)
    milder.earlier = earlier
    third, why_not = replaced_sets(milder)
    assert third == set(found) & valid and "40 of 80 valid sets offer it, though 70 % should" in why_not
    assert why_not in build_release(milder).notes
    milder._found = computed(*milder.items, before=found)
    fourth, why_not = replaced_sets(milder)
    assert (len(fourth), why_not) == (56, "") and first & valid <= fourth


def test_sets_that_a_release_had_with_it_come_before_those_that_the_seed_would_draw():
    sets = [a_set(number) for number in range(20)]
    found = computed(*sets)
    last = {key for key, data in found.items() if not data["drawn"]}
    collected = Kept(*sets, found=found)
    collected.earlier = [ReleasedItem(key, "", "train", "none of the above") for key in last]
    drawn, _ = replaced_sets(collected)
    assert len(last) == 6 and last <= drawn and len(drawn) == 14


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
    assert stages["human"].rule.params["text"] == known_rules.COSMOS_HUMANS.text


def test_written_answers_are_scored_by_their_words_where_an_answer_is_the_right_one():
    release = build_release(collection())
    rows = jsonl(release, "test")
    key = {row["id"]: int(row["label"]) for row in csv_of(release, "test-key.csv")}
    right = {row["id"]: row[f"answer{key[row['id']]}"] for row in rows}
    asked = [id for id, text in right.items() if text != NONE_OF_THE_ABOVE]
    said = {**right, asked[0]: "xyzzy"}
    found = scored(SCORING, partial(content_of, release), json.dumps(said).encode(), "said.json")
    assert found["rouge_l"] == pytest.approx(1 - 1 / len(asked)) and found["n"] == len(rows)
    assert {"bleu", "rouge_l", "meteor"} < found.keys() and "accuracy" not in found
