"""MCScript2.0's steps: what a file brings, what stories lead to, which questions are answered, what is selected."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import pytest

from hits.formats.files.faults import FormatErrors
from hits.recipes import Found, JudgedItem, Progress, load
from hits.recipes.mcscript.steps import COMPUTATIONS, draw, import_notes, next_items, read_documents
from hits.text.classifiers import CLASSIFIERS
from hits.text.questions.hiding import visible
from tests.hits.recipes.mcscript_collection import (
    OPTIONS,
    Collection,
    answered,
    asked,
    five,
    hidden,
    label,
    story_text,
)

STORY = (
    "We wanted to plant a tree. It was a small apple tree. My brother carried it. We dug a hole behind the shed. "
    "The tree was put in. We filled the hole. It rained a little. The dog watched us from the porch."
)
XML = f"""<?xml version="1.0" ?>
<data>
  <instance id="t1" scenario="planting a tree"><text>{STORY}</text><questions>
    <question id="0" text="Who?" type="text"><answer correct="True" id="0" text="we"/>
    <answer correct="False" id="1" text="they"/></question></questions></instance>
  <instance id="t2"><text>{"He ran. " * 3}{"She saw the old house of a friend. " * 14}</text><questions/></instance>
  <instance id="t3"><text>Too short. Really.</text><questions/></instance>
</data>"""


def imported(content: str, **options):
    return read_documents(
        io.BytesIO(content.encode()),
        name="anything",
        max_bytes=10**6,
        default_origin="public",
        seed=1,
        options={**OPTIONS, "first": 4, **options},
    )


def told(*stories: str, **more):
    about = {"scenario": "planting a tree", "hint": "", "targets": imported("planting a tree")[0].data["targets"]}
    labels = [label("story", {"text": text, "words": 9}, f"W{n}") for n, text in enumerate(stories)]
    fields = {"document": about, "labels": tuple(labels), **more}
    return JudgedItem("story", "planting-a-tree", {}, "planting-a-tree", origin="public", purpose="train",
                      outcome=fields.pop("outcome", "kept"), **fields)  # fmt: skip


# Import


def test_a_list_of_scenarios_asks_for_stories():
    one, two = imported("planting a tree | in a garden\nbaking a cake\n")
    assert (one.key, one.data["scenario"], one.data["hint"]) == ("planting-a-tree", "planting a tree", "in a garden")
    assert [(each.stage, each.key, each.data) for each in two.items] == [("story", "baking-a-cake", {})]


def test_texts_of_a_file_are_asked_about_at_once_and_its_questions_are_not_looked_at():
    first, long, short = imported(XML)
    assert {each.stage: each.key for each in first.items} == {"np-short": "t1/np", "vp-short": "t1/vp"}
    assert first.data == {"text": STORY, "scenario": "planting a tree"}
    sentences = [STORY[target["start"] : target["end"]] for target in first.items[0].data["targets"]]
    assert sentences == ["We dug a hole behind the shed.", "The dog watched us from the porch."]
    assert {each.stage for each in long.items} == {"np-long", "vp-long"}
    assert (short.items, short.note) == ((), "no sentence is a target with a phrase to ask about.")


def test_phrases_are_numbered_through_the_item_and_name_their_place_in_the_text():
    noun, verb = imported(XML)[0].items
    phrases = [phrase for target in noun.data["targets"] for phrase in target["phrases"]]
    assert [phrase["id"] for phrase in phrases] == [f"p{n}" for n in range(1, len(phrases) + 1)]
    texts = {STORY[phrase["start"] : phrase["end"]] for phrase in phrases}
    assert {"a hole", "The dog"} <= texts
    assert "dug a hole behind the shed" in {
        STORY[phrase["start"] : phrase["end"]] for target in verb.data["targets"] for phrase in target["phrases"]
    }


def test_counting_starts_at_the_second_sentence_unless_an_option_or_an_older_scenario_says_otherwise():
    assert OPTIONS["first"] == 2
    (first, *_) = imported(XML, first=2)
    assert [STORY[at["start"] : at["end"]] for at in first.items[0].data["targets"]] == [
        "It was a small apple tree.", "We filled the hole."
    ]  # fmt: skip
    (scenario,) = imported("planting a tree", first=2)
    older = {name: value for name, value in scenario.data["targets"].items() if name != "first"}
    starts = {
        next_items(replace(told(STORY), document={**scenario.data, "targets": rule}))[0].data["targets"][0]["start"]
        for rule in (older, {**older, "first": 4})
    }
    assert starts == {STORY.index("We dug")}


def test_from_how_many_targets_on_a_text_is_long_is_an_option():
    (first, *_) = imported(XML, long_from=2)
    assert {each.stage for each in first.items} == {"np-long", "vp-long"}
    about = replace(told(STORY), document={**told(STORY).document, "long_from": 2})
    assert {each.stage for each in next_items(about)} == {"np-long", "vp-long"}


def test_a_file_of_texts_says_how_many_targets_they_have():
    assert import_notes(imported(XML)) == ["Target sentences a text: 2.00 (6 in 3 texts, of which 1 have none)."]
    assert import_notes(imported("planting a tree")) == []


def test_the_options_say_which_sentences_are_targets():
    (first, *_) = imported(XML, every=8)
    assert [len(each.data["targets"]) for each in first.items] == [1, 1]
    assert not imported(XML, longest_tokens=3)[0].items
    with pytest.raises(FormatErrors, match="change the options"):
        imported(XML, every=0)


# From stories to questions


def test_each_story_becomes_a_text_of_its_own_with_what_is_asked_about_it():
    other = STORY.replace("apple", "pear")
    made = next_items(told(STORY, other))
    assert [(each.stage, each.key) for each in made] == [
        ("np-short", "planting-a-tree/AW0/np"),
        ("vp-short", "planting-a-tree/AW0/vp"),
        ("np-short", "planting-a-tree/AW1/np"),
        ("vp-short", "planting-a-tree/AW1/vp"),
    ]
    assert {each.document.key: each.document.data["text"] for each in made if each.document} == {
        "planting-a-tree/AW0": STORY,
        "planting-a-tree/AW1": other,
    }
    assert made[0].data == imported(XML)[0].items[0].data, "as if it had been imported"


def test_a_story_without_a_target_and_one_that_is_not_kept_lead_nowhere():
    assert next_items(told("We planted a tree. That was all.")) == []
    assert next_items(told(STORY, outcome="open")) == []
    assert next_items(replace(told(STORY), stage="answers")) == []


# Which questions are answered


def drawn(collection: Collection, count: int = 99):
    return draw("answers", collection, count, seed=collection.seed)


def test_the_questions_of_both_parts_are_answered_with_the_targets_hidden():
    (one,) = drawn(Collection(asked("d1", "np", "Who paid the fare?"), asked("d1", "vp", "When did they pay?")))
    assert (one.stage, one.key, one.parent) == ("answers", "d1", ("np-short", "d1/np"))
    assert one.data["hidden"] == hidden(story_text(2))
    assert sorted((each["text"], each["type"]) for each in one.data["questions"]) == [
        ("When did they pay?", "vp"),
        ("Who paid the fare?", "np"),
    ]
    assert [each["id"] for each in one.data["questions"]] == ["q1", "q2"]


def test_a_text_waits_for_its_other_part_unless_it_has_none():
    noun, verb = asked("d1", "np", "Who paid the fare?"), asked("d1", "vp", "When did they pay?", outcome="open")
    assert drawn(Collection(noun, verb)) == []
    assert [each.key for each in drawn(Collection(noun))] == ["d1"]


def test_what_two_workers_asked_alike_is_answered_once():
    twice = asked("d1", "np", "Who paid the fare?", "who paid  the fare ?", workers=2)
    (one,) = drawn(Collection(twice, asked("d1", "vp", "WHO paid the fare")))
    assert [each["text"] for each in one.data["questions"]] == ["Who paid the fare?"]


def test_of_many_questions_twelve_are_drawn_and_another_seed_draws_others():
    many = asked("d1", "np", *[f"Who paid {n} coins?" for n in range(30)])
    (one,), (again,), (other,) = (drawn(Collection(many, seed=seed)) for seed in (1, 1, 2))
    texts = [each["text"] for each in one.data["questions"]]
    assert len(set(texts)) == len(texts) == 12 and one == again
    assert texts != [each["text"] for each in other.data["questions"]]
    assert len(drawn(Collection(many, most_questions=5))[0].data["questions"]) == 5
    draws = [drawn(Collection(many, seed=seed))[0].data["questions"] for seed in range(20)]
    assert len({each["text"] for one in draws for each in one}) == 30, "each question has a chance"


def test_a_draw_takes_some_of_the_texts_and_a_larger_one_holds_it():
    texts = Collection(*(asked(f"d{n}", "np", "Who paid the fare?") for n in range(9)))
    few, more = ({each.key for each in drawn(texts, count)} for count in (3, 6))
    assert few < more and len(few) == 3


def test_a_story_that_was_rejected_later_is_asked_about_no_more():
    about = {"story": "AW0"}
    question = asked("planting-a-tree/AW0", "np", "Who paid the fare?", about=about)
    assert [each.key for each in drawn(Collection(told(STORY), question))] == ["planting-a-tree/AW0"]
    assert drawn(Collection(told(), question)) == []


# Which answers are taken


def run(collection: Collection, seed: int = 3, checkpoint=None, **params):
    (of,) = COMPUTATIONS
    said = list(of.run(collection, {**of.params, **params}, seed, checkpoint))
    return said, {each.key: each.data["questions"] for each in said if isinstance(each, Found)}


def test_the_correct_answer_is_the_majoritys_and_the_incorrect_one_of_the_candidates():
    agreeing = [("text", "the driver", "a dog"), ("script", "The driver!", "mum"), ("text", "driver", "a cat")]
    mixed = [*agreeing, ("unknown", "Why was it red?", ""), ("text", "mum", "The  driver")]
    _, found = run(Collection(answered("t1", mixed, five("unknown")), answered("t2", five())))
    assert set(found["t1"]) == {"q1"}, "what nobody can know has no answer"
    one = found["t1"]["q1"]
    assert (one["label"], one["correct"], one["tie"]) == ("text", "driver", False)
    assert one["candidates"]["correct"] == ["the driver", "The driver!", "driver", "mum"]
    assert one["candidates"]["incorrect"] == ["a dog", "mum", "a cat"], "the correct one is no incorrect one"
    assert one["incorrect"] in one["candidates"]["incorrect"]


def test_how_far_apart_answers_are_the_same_and_which_words_count_for_nothing_are_options():
    def tie(*words: str, **options):
        one = answered("t1", [("text", word, "a dog") for word in words], five("unknown"))
        return run(Collection(one, answered("t2", five()), **options))[1]["t1"]["q1"]["tie"]

    assert not tie("cat", "car", "bus", "taxi", "tram"), "cat and car say the same"
    assert tie("cat", "car", "bus", "taxi", "tram", merged_edits=0)
    assert not tie("go to sea", "go sea", "bus", "taxi", "tram", merged_edits=0)
    assert tie("go to sea", "go sea", "bus", "taxi", "tram", merged_edits=0, dropped_words="and")


def test_a_question_with_no_incorrect_answer_left_has_no_result():
    same = [("text", "the driver", "driver")] * 5
    _, found = run(Collection(answered("t1", same, five()), answered("t2", five())))
    assert set(found["t1"]) == {"q2"}


def test_a_run_tells_its_progress_and_goes_on_from_its_checkpoint():
    texts = Collection(*(answered(f"t{n}", five(), five("script", "the ticket")) for n in range(8)))
    said, found = run(texts, batch=4, stop_at=0, most_iterations=3)
    progress = [each for each in said if isinstance(each, Progress)]
    assert (progress[-1].done, len(found)) == (progress[-1].total, 8)
    entries = [each.entry for each in progress if each.entry]
    assert entries and {"iteration", "changed", "accuracy"} <= entries[0].keys()
    checkpoint = next(each.checkpoint for each in progress if each.checkpoint)
    assert run(texts, checkpoint=checkpoint, batch=4, stop_at=0, most_iterations=3)[1] == found
    assert run(Collection(*reversed(texts.items)), batch=4, stop_at=0, most_iterations=3)[1] == found


def some_texts(**computed) -> Collection:
    return Collection(*(answered(f"t{n}", five(), five("script", "the ticket")) for n in range(4)), **computed)


def files_of(collection: Collection) -> dict[str, list[dict]]:
    (of,) = COMPUTATIONS
    written = of.outside.write(collection, {**of.params, "batch": 2}, 3)
    return {name: [json.loads(line) for line in b"".join(pieces).splitlines()] for name, pieces in written}


def scored_elsewhere(collection: Collection, rows: list[dict]):
    (of,) = COMPUTATIONS
    content = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
    said = list(of.outside.read(collection, {**of.params, "classifier": "imported"}, 3, content))
    return said, {each.key: each.data["questions"] for each in said if isinstance(each, Found)}


def asked_in(files: dict[str, list[dict]]) -> list[dict]:
    return [row for name, rows in files.items() if "test" in name for row in rows]


def test_a_classifier_elsewhere_learns_from_other_texts_and_scores_every_answer_once():
    files = files_of(some_texts())
    assert list(files) == [f"batch{number}-{part}.jsonl" for number in (0, 1) for part in ("train", "test")]
    rows = asked_in(files)
    assert len({row["id"] for row in rows}) == len(rows)
    train, test = files["batch0-train.jsonl"], files["batch0-test.jsonl"]
    assert [row["correct"] for row in train] == [True, False] * 4 and {row["correct"] for row in test} == {None}
    assert {row["id"].split()[0] for row in train} & {row["id"].split()[0] for row in test} == set()


def test_scores_of_a_classifier_elsewhere_are_an_iteration_and_the_next_files_go_by_it():
    texts = some_texts()
    rows = asked_in(files_of(texts))
    likeliest = {row["id"]: row["answer"] == "the dog b" for row in rows}
    said, found = scored_elsewhere(texts, [{"id": key, "score": float(one)} for key, one in likeliest.items()])
    (entry,) = [each.entry for each in said if isinstance(each, Progress) and each.entry]
    for one in found["t0"].values():
        assert one["incorrect"] == one["candidates"]["incorrect"][1]
    assert entry["accuracy_after"] == 0.0 and 0 <= entry["changed"] <= 8
    texts.computed = {key: {"questions": questions} for key, questions in found.items()}
    learned = [row for name, rows in files_of(texts).items() if "train" in name for row in rows]
    assert {row["answer"] for row in learned if not row["correct"]} == {"the dog b"}
    again, _ = scored_elsewhere(texts, [{"id": key, "score": float(one)} for key, one in likeliest.items()])
    assert [each.entry["changed"] for each in again if isinstance(each, Progress) and each.entry] == [0]


def test_three_wrong_files_of_scores_are_refused_with_every_fault():
    texts = some_texts()
    given = [{"id": row["id"], "score": 0.5} for row in asked_in(files_of(texts))]
    for rows, told in [
        (given[1:], f"{given[0]['id']!r}: has no score"),
        ([*given, {"id": "t9 q1/0", "score": 1}], "'t9 q1/0': is the id of no answer here"),
        ([{**given[0], "score": True}, *given[1:]], "its score must be a number, not true or false"),
    ]:
        with pytest.raises(FormatErrors, match=re.escape(told)):
            scored_elsewhere(texts, rows)


def test_the_classifier_is_chosen_by_name():
    _, found = run(some_texts(), classifier="overlap")
    assert len(found) == 4
    assert list(CLASSIFIERS.labels()) == ["logistic", "overlap"]


def test_experts_see_every_selected_question_with_its_candidates():
    texts = Collection(answered("t1", five(), five("unknown"), five("script")), answered("t2", five("unfitting")))
    texts.items += [answered("t3", five())]
    _, found = run(texts)
    texts.computed = {key: {"questions": questions} for key, questions in found.items()}
    one, two = draw("review", texts, 99, seed=3)
    assert (one.stage, one.key, one.parent, two.key) == ("review", "t1", ("answers", "t1"), "t3")
    assert [(each["id"], each["type"], each["label"]) for each in one.data["questions"]] == [
        ("q1", "np", "text"),
        ("q3", "np", "script"),
    ]
    assert one.data["questions"][0]["candidates"] == found["t1"]["q1"]["candidates"]
    assert visible(story_text(2), one.data["hidden"]) == "It was day 2. We took the bus. The bus was red."


# The published numbers


def test_the_recipe_has_the_published_numbers():
    stages = {stage.key: stage for stage in load("mcscript").stages}
    assert {key: (str(stage.reward), stage.answers) for key, stage in list(stages.items())[:6]} == {
        "story": ("0.50", 20),
        "np-long": ("0.50", 2),
        "np-short": ("0.30", 2),
        "vp-long": ("0.50", 2),
        "vp-short": ("0.30", 2),
        "answers": ("0.50", 5),
    }
    assert [key for key in stages if key.startswith("human")] == [f"human-{n}" for n in range(1, 6)]
    assert (OPTIONS["annotators"], OPTIONS["annotator_texts"]) == (5, 60)
    assert (OPTIONS["every"], OPTIONS["longest_tokens"], OPTIONS["least_noun_phrases"]) == (4, 19, 2)
    assert (OPTIONS["most_questions"], OPTIONS["test_scenarios"], OPTIONS["common_texts"]) == (12, 5, 20)
    numbers = {"batch": 250, "stop_at": 50, "most_iterations": 30}
    assert COMPUTATIONS[0].params == {"classifier": "logistic", **numbers}


def test_nobody_may_do_both_parts_and_experts_have_qualifications_of_their_own():
    stages = {stage.key: stage for stage in load("mcscript").stages}
    own = {
        key: [(each.qualification, each.comparator) for each in stage.requirements if "-" in each.qualification]
        for key, stage in stages.items()
    }
    for size in ("long", "short"):
        assert stages[f"np-{size}"].grants == "part-np" and ("part-vp", "DoesNotExist") in own[f"np-{size}"]
        assert stages[f"vp-{size}"].grants == "part-vp" and ("part-np", "DoesNotExist") in own[f"vp-{size}"]
    assert own["review"] == [("expert-reviewer", "Exists")]
    assert [own[f"human-{n}"] for n in range(1, 6)] == [[(f"annotator-{n}", "Exists")] for n in range(1, 6)]


def test_nothing_is_drawn_from_nothing():
    empty = Collection()
    assert [draw(stage, empty, 9, seed=1) for stage in ("answers", "review", "human-1")] == [[], [], []]
