"""MCScript2.0's release: experts' changes, splits without a common text, files that agree and read back, figures."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from collections import Counter
from dataclasses import replace
from functools import partial
from xml.etree import ElementTree

import pyarrow.parquet
import pytest

from hits.formats.inputs import mcscript
from hits.formats.outputs import tables
from hits.recipes.dealing import IN_TWO
from hits.recipes.mcscript import releasing
from hits.recipes.mcscript.steps import COMPUTATIONS, SCORING, build_release, draw
from hits.recipes.source import Found, ReleasedItem
from tests.hits.recipes.mcscript_collection import Collection, answered, asked, five, item, label, reviewed, story_text
from tests.hits.recipes.scored import scored

SPLITS = ("train", "dev", "test")
KINDS = ["text", "script", "unknown"]
KEEP = {"text": {"action": "keep", "reason": ""}}


def collection(texts: int = 20, scenarios: int = 10, **options) -> Collection:
    """Each text has a question of the text, one of script knowledge and one that nobody can answer."""
    made = Collection(
        *(
            answered(
                f"t{n:03}",
                *(five(kind, f"{kind} answer {n}", f"{kind} lure") for kind in KINDS),
                scenario=f"scenario {n % scenarios}",
                text=story_text(n),
            )
            for n in range(texts)
        ),
        **{"test_scenarios": 1, "test_share": 0.25, "dev_share": 0.1, **options},
    )
    return with_answers(made)


def with_answers(made: Collection) -> Collection:
    (of,) = COMPUTATIONS
    said = of.run(made, {**of.params, "most_iterations": 1}, 3, None)
    made.computed = {each.key: each.data for each in said if isinstance(each, Found)}
    return made


def all_reviewed(made: Collection, **changes) -> Collection:
    """By text: what the expert changed in it; all others are kept as they are."""
    of = {one.key: one for one in made.items}
    made.items += [
        reviewed(of[each.key], each.data, {**KEEP, **changes.get(each.key, {})})
        for each in draw("review", made, 999, seed=3)
    ]
    return made


def content(release, name: str) -> bytes:
    release.files[name].seek(0)
    return release.files[name].read()


def shown(release, name: str) -> list[dict]:
    """The rows of a split as they are published."""
    return [json.loads(line) for line in content(release, f"{name}.jsonl").splitlines()]


def csv_of(release, file: str) -> list[dict]:
    return list(csv.DictReader(io.StringIO(content(release, file).decode())))


def rows(release, name: str) -> list[dict]:
    """The rows of a split with the project's own keys, and the labels that lie in the key."""
    keys = {(row["split"], row["id"], row["question_id"]): row for row in csv_of(release, "ids.csv")}
    labels = {(row["id"], row["question_id"]): int(row["label"]) for row in csv_of(release, "test-key.csv")}
    found = []
    for row in shown(release, name):
        own = keys[name, row["id"], row["question_id"]]
        label = row["label"] if "label" in row else labels[row["id"], row["question_id"]]
        found.append({**row, "label": label, "id": own["text"], "question_id": own["question"]})
    return found


def all_rows(release) -> list[dict]:
    return [row for name in SPLITS for row in rows(release, name)]


def instances(release, name: str) -> list[mcscript.Instance]:
    return mcscript.read(io.BytesIO(content(release, f"{name}-data.xml")))


# Files


def test_a_release_holds_each_split_as_xml_json_lines_and_parquet_that_agree():
    release = build_release(all_reviewed(collection()))
    assert release.counts == {"train": 26, "dev": 4, "test": 10}
    for name in SPLITS:
        table = shown(release, name)
        parquet = pyarrow.parquet.read_table(io.BytesIO(content(release, f"{name}.parquet"))).to_pylist()
        assert parquet == [{**row, "label": row.get("label", -1)} for row in table]
        assert len(table) == release.counts[name]
        if name == "test":
            continue
        from_xml = [
            {
                "id": text.id,
                "scenario": text.scenario,
                "text": text.text,
                "question_id": question.id,
                "question": question.text,
                "type": question.type,
                "answer0": question.answers[0].text,
                "answer1": question.answers[1].text,
                "label": [answer.correct for answer in question.answers].index(True),
            }
            for text in instances(release, name)
            for question in text.questions
        ]
        assert from_xml == table
    assert content(release, "question-types.svg").startswith(b"<svg") and release.files.keys() >= {
        "question-labels.svg"
    }


def test_texts_and_questions_are_numbered_from_0_in_each_file_as_published():
    release = build_release(all_reviewed(collection()))
    for name in SPLITS:
        root = ElementTree.fromstring(content(release, f"{name}-data.xml"))
        assert [one.get("id") for one in root] == [str(at) for at in range(len(root))]
        for instance in root:
            questions = instance.findall("questions/question")
            assert [one.get("id") for one in questions] == [str(at) for at in range(len(questions))]
    kept = build_release(all_reviewed(collection(ids="keys")))
    assert "ids.csv" not in kept.files
    assert {row["id"] for row in shown(kept, "train")} == {row["id"] for row in rows(release, "train")}


def test_the_labels_of_test_stand_in_the_key_alone():
    release = build_release(all_reviewed(collection()))
    assert b"correct=" not in content(release, "test-data.xml") and b"correct=" in content(release, "dev-data.xml")
    assert all("label" not in row for row in shown(release, "test"))
    key = csv_of(release, "test-key.csv")
    asked = [(row["id"], row["question_id"]) for row in shown(release, "test")]
    assert [(row["id"], row["question_id"]) for row in key] == asked and len(key) == 10


def test_predictions_are_scored_against_the_key():
    release = build_release(all_reviewed(collection()))
    key = content(release, "test-key.csv")
    said = {f"{row['id']}/{row['question_id']}": int(row["label"]) for row in csv_of(release, "test-key.csv")}
    wrong = {**said, "0/0": 1 - said["0/0"]}
    for name, predictions, share in (("said.csv", key, 1.0), ("said.json", json.dumps(wrong).encode(), 0.9)):
        found = scored(SCORING, partial(content, release), predictions, name)
        assert (found["accuracy"], found["n"]) == (share, 10)
        types = Counter(row["type"] for row in shown(release, "test"))
        assert found["accuracy text"] * types["text"] + found["accuracy script"] * types["script"] == share * 10


def test_what_is_released_is_what_was_selected_without_the_hidden_sentence():
    made = all_reviewed(collection())
    found = {(row["id"], row["question_id"]): row for row in all_rows(build_release(made))}
    assert len(found) == 40
    for one in made.items[:20]:
        for number, kind in (("1", "text"), ("2", "script")):
            row = found[one.key, number]
            computed = made.computed[one.key]["questions"][f"q{number}"]
            answers = [row["answer0"], row["answer1"]]
            assert (row["type"], answers[row["label"]]) == (kind, computed["correct"])
            assert answers[1 - row["label"]] == computed["incorrect"]
            assert row["text"] == one.document["text"].split(" Mum")[0]


def test_the_place_of_the_correct_answer_tells_nothing_and_stays():
    release = build_release(all_reviewed(collection(60, 60)))
    places = Counter(row["label"] for row in all_rows(release))
    assert set(places) == {0, 1} and min(places.values()) > 35
    again = build_release(all_reviewed(collection(60, 60)))
    assert all(content(release, name) == content(again, name) for name in release.files)
    assert release.statistics == again.statistics


def test_the_place_of_the_correct_answer_is_decided_by_a_secret_and_not_by_the_seed_which_is_published():
    made, other = (all_reviewed(collection(60, 60)) for _ in range(2))
    other.pseudonym_key = "another secret"
    labels, others = ([row["label"] for row in all_rows(build_release(one))] for one in (made, other))
    assert made.seed == other.seed and labels != others


def test_one_scenario_is_in_test_alone_and_no_text_is_in_two_splits():
    made = collection()
    twin = answered("t900", five("text", "twin"), text=story_text(0), scenario="scenario 3")
    made.items.append(twin)
    release = build_release(all_reviewed(with_answers(made)))
    (note,) = (note for note in release.notes if note.startswith("In test alone: "))
    apart = note.removeprefix("In test alone: ").rstrip(".")
    homes: dict[str, set[str]] = {}
    for name in SPLITS:
        for row in rows(release, name):
            homes.setdefault(row["text"], set()).add(name)
            assert name == "test" or row["scenario"] != apart
    assert len(homes) == 20 and all(len(names) == 1 for names in homes.values())


# Experts


def edit(question: int, text: str, *, correct: str, incorrect: str = "a lure"):
    before = {"text": "What?", "correct": "a", "incorrect": "b"}
    after = {"text": text, "correct": correct, "incorrect": incorrect}
    return {f"q{question}": {"action": "edit", "reason": "", "duplicate_of": "", "before": before, "after": after}}


def delete(*questions: int, reason: str = "nonsensical"):
    gone = {"action": "delete", "reason": reason, "duplicate_of": "", "before": {}, "after": None}
    return {f"q{number}": gone for number in questions}


def test_experts_changes_are_made_and_counted():
    whole = {"text": {"action": "delete", "reason": "incoherent"}}
    made = all_reviewed(
        collection(),
        t000=edit(1, "What did they really do?", correct="They rode."),
        t001=delete(1),
        t002=delete(1, 2, reason="duplicate"),
        t003=whole,
    )
    release = build_release(made)
    found = {(row["id"], row["question_id"]): row for row in all_rows(release)}
    changed = found["t000", "1"]
    assert (changed["question"], changed[f"answer{changed['label']}"]) == ("What did they really do?", "They rode.")
    assert ("t001", "1") not in found and ("t001", "2") in found
    assert not {key for key, _ in found} & {"t002", "t003"}, "a text goes with its last question"
    assert release.left_out == {
        "questions: unknown": 20,
        "questions that experts deleted: nonsensical": 1,
        "questions that experts deleted: duplicate": 2,
        "texts that experts deleted: incoherent": 1,
        "questions of texts that experts deleted": 2,
        "texts without a question left": 1,
    }
    assert len(found) == sum(release.counts.values()) == 40 - 1 - 2 - 2


def test_how_many_questions_and_answers_experts_exchanged_is_counted():
    plain = build_release(all_reviewed(collection())).statistics["overall"]
    assert not any(name.endswith("by_experts") for name in plain)
    made = collection()
    first = made.computed["t000"]["questions"]["q1"]
    made = all_reviewed(
        made,
        t000=edit(1, "What did t000 do, 1?", correct="They rode.", incorrect=first["incorrect"]),
        t001=edit(2, "What was it?", correct="They rode."),
    )
    found = build_release(made).statistics["overall"]
    assert {name: number for name, number in found.items() if name.endswith("by_experts")} == {
        "questions_reworded_by_experts": 1,
        "correct_answers_exchanged_by_experts": 2,
        "incorrect_answers_exchanged_by_experts": 1,
    }


def test_what_is_computed_after_a_review_changes_nothing_that_the_expert_saw():
    made = all_reviewed(collection(), t001=edit(1, "What was it?", correct="They rode."))
    before = {name: content(build_release(made), f"{name}.jsonl") for name in SPLITS}
    for of in made.computed.values():
        for question in of["questions"].values():
            question["incorrect"] = "nobody has looked at this"
    assert {name: content(build_release(made), f"{name}.jsonl") for name in SPLITS} == before


def test_a_question_that_was_not_in_the_review_is_not_released():
    made = collection()
    kept = dict(made.computed["t000"]["questions"])
    made.computed["t000"]["questions"].pop("q2")
    made = all_reviewed(made)
    made.computed["t000"]["questions"] = kept
    release = build_release(made)
    assert ("t000", "2") not in {(row["id"], row["question_id"]) for row in all_rows(release)}
    assert (sum(release.counts.values()), release.left_out["questions not reviewed yet"]) == (39, 1)


def test_a_text_of_which_the_vote_leaves_no_question_goes_from_the_computation_to_the_release():
    made = collection()
    made.items.append(answered("t900", five("unfitting"), [("unknown", "Why?", "")] * 2 + five("text")[:2]))
    made.items.append(answered("t901", [("text", "the driver", "The driver!")] * 5))
    all_reviewed(with_answers(made))
    assert not {one.key for one in made.items if one.stage == "review"} & {"t900", "t901"}
    release = build_release(made)
    assert sum(release.counts.values()) == 40
    assert release.left_out == {
        "questions: unknown": 20,
        "questions: unfitting": 1,
        "questions: no clear majority": 1,
        "questions without an incorrect answer": 1,
        "texts without a question left": 2,
    }


def test_a_change_that_was_taken_back_is_not_made():
    """Labels that were undone do not reach the steps."""
    made = all_reviewed(collection(), t001=delete(1))
    made.items = [
        replace(one, labels=one.labels[:1]) if (one.stage, one.key) == ("review", "t001") else one for one in made.items
    ]
    assert sum(build_release(made).counts.values()) == 40


def test_without_a_review_all_is_released_and_with_one_only_what_was_reviewed():
    made = collection()
    alone = build_release(made)
    assert sum(alone.counts.values()) == 40
    assert any(note.startswith("No expert has looked") for note in alone.notes)
    first, second = (draw("review", made, 999, seed=3))[:2]
    made.items += [reviewed(made.items[0], first.data, KEEP), reviewed(made.items[1], second.data, {}, outcome="open")]
    begun = build_release(made)
    assert {row["id"] for row in all_rows(begun)} == {"t000"}
    assert begun.left_out == {"questions: unknown": 20, "questions not reviewed yet": 38}, "texts that wait are no loss"


def test_without_the_computation_nothing_is_released_and_the_preview_says_why():
    made = collection()
    made.computed = {}
    release = build_release(made)
    assert release.counts == {"train": 0, "dev": 0, "test": 0}
    assert any("run the computation “Answers”" in note for note in release.notes)
    assert instances_of_empty(release) == 0


def instances_of_empty(release) -> int:
    return content(release, "train-data.xml").count(b"<instance")


@pytest.mark.parametrize(("text", "why"), [("A text\ufffe. Mum paid.", "texts with characters that XML cannot hold")])
def test_a_text_that_xml_cannot_hold_is_left_out_and_harms_nothing(text, why):
    made = collection()
    made.items.append(answered("t900", five(), text=text))
    release = build_release(with_answers(made))
    assert sum(release.counts.values()) == 40 and release.left_out[why] == 1


def test_a_text_whose_story_was_rejected_later_is_left_out():
    made = collection()
    made.items.append(answered("cake/AW1", five(), about={"story": "AW1"}))
    made.items.append(item("story", "cake", {}, labels=[label("story", {"text": "Cake.", "words": 1}, "W1")]))
    with_answers(made)
    assert sum(build_release(made).counts.values()) == 41
    assert "cake/AW1" in {each.key for each in draw("review", made, 99, seed=3)}
    made.items[-1] = item("story", "cake", {}, labels=[])
    release = build_release(made)
    assert sum(release.counts.values()) == 40 and release.left_out["texts whose story was rejected"] == 1
    assert "cake/AW1" not in {each.key for each in draw("review", made, 99, seed=3)}, "no expert reads it"


def test_stories_and_texts_that_came_no_further_are_counted():
    made = all_reviewed(collection())
    assert build_release(made).left_out == {"questions: unknown": 20}
    stories = [label("story", {"text": "Cake.", "words": 1}, f"W{n}") for n in range(4)]
    made.items.append(item("story", "cake", {}, labels=stories))
    made.items.append(item("story", "tea", {}, labels=stories, outcome="open"))
    for n in (0, 1):
        made.items += [asked(f"cake/AW{n}", part, "Who paid?", about={"story": f"AW{n}"}) for part in ("np", "vp")]
    made.items.append(asked("cake/AW9", "np", "Who paid?", about={"story": "AW9"}))
    release = build_release(made)
    assert release.left_out == {
        "questions: unknown": 20,
        "stories without a target sentence": 2,
        "texts whose questions were not drawn for answers": 2,
        "questions of texts that were not drawn for answers": 2,
        "questions of texts whose story was rejected": 1,
    }, "a rejected story and the stories of an unfinished scenario are not among the stories"
    assert release.written == ("different questions", 63) and sum(release.funnel.values()) == 63


def test_questions_beyond_the_most_that_a_text_has_answered_are_a_line_of_the_funnel():
    """Three were drawn of five different ones; one was asked twice."""
    made = all_reviewed(collection(most_questions=3))
    (first, *_) = [one for one in made.items if one.stage == "answers"]
    drawn = [question["text"] for question in first.data["questions"]]
    made.items += [asked("t000", part, *drawn, f"And who paid the {part}?", "Why so?") for part in ("np", "vp")]
    release = build_release(made)
    assert release.funnel["questions beyond the 3 that a text has answered"] == 3
    assert release.written == ("different questions", 63) and sum(release.funnel.values()) == 63


def test_the_questions_of_a_text_that_was_released_in_two_splits_are_a_line_of_the_funnel():
    made = all_reviewed(collection())
    before = build_release(made)
    made.released = lambda: iter([ReleasedItem("t000", "", split, "") for split in ("train", "test")])
    release = build_release(made)
    lost = sum(before.counts.values()) - sum(release.counts.values())
    assert lost > 0 and release.funnel[f"questions {IN_TWO}"] == lost
    assert sum(release.funnel.values()) == sum(before.funnel.values()) == release.written[1]


# People


def test_so_many_annotators_as_an_option_says_read_as_many_texts_and_share_as_many():
    made = all_reviewed(collection(test_share=0.9, dev_share=0.0, annotators=2, annotator_texts=4, common_texts=1))
    lists = [{each.key for each in draw(f"human-{n}", made, 99, seed=3)} for n in (1, 2)]
    assert [len(one) for one in lists] == [4, 4] and len(lists[0] & lists[1]) == 1
    with pytest.raises(ValueError, match="human-3"):
        draw("human-3", made, 99, seed=3)


def test_five_annotators_read_texts_of_test_and_some_of_them_all():
    made = all_reviewed(collection(test_share=0.9, dev_share=0.0, annotator_texts=5, common_texts=3))
    test = {row["id"]: row for row in rows(build_release(made), "test")}
    lists = [{each.key: each for each in draw(f"human-{n}", made, 5, seed=3)} for n in range(1, 6)]
    assert [len(one) for one in lists] == [5] * 5
    common = set.intersection(*map(set, lists))
    assert len(common) == 3 and len(set().union(*lists)) == 3 + 5 * 2 and set().union(*lists) <= set(test)
    one = lists[0][min(common)]
    assert (one.parent, one.data["hidden"]) == (("answers", one.key), made.items[0].data["hidden"])
    asked = one.data["questions"][1]
    row = next(row for row in rows(build_release(made), "test") if (row["id"], row["question_id"]) == (one.key, "2"))
    assert [answer["text"] for answer in asked["answers"]] == [row["answer0"], row["answer1"]]
    assert asked["intended"] == f"a{row['label']}"


def test_the_release_tells_how_right_people_are_and_how_far_they_agree():
    made = all_reviewed(collection(test_share=0.9, dev_share=0.0, annotator_texts=5, common_texts=3))
    assert "human_accuracy" not in build_release(made).statistics["test"]
    for number in (1, 2):
        for drawn in draw(f"human-{number}", made, 5, seed=3):
            # The second one is wrong about every second question of a text.
            said = [
                label(f"{one['id']}/choice", one["intended"] if number == 1 or one["id"] == "q1" else "elsewhere")
                for one in drawn.data["questions"]
            ]
            made.items.append(item(drawn.stage, drawn.key, drawn.data, labels=said))
    found = build_release(made).statistics["test"]
    assert (found["human_annotators"], found["human_texts"]) == (2, 3 + 2 * 2)
    assert found["human_accuracy"] == pytest.approx((1 + 0.5) / 2)
    assert found["human_pairwise_agreement"] == pytest.approx(0.5)


def test_figures_are_of_each_split_and_of_all():
    release = build_release(all_reviewed(collection()))
    figures = release.statistics
    assert list(figures) == ["train", "dev", "test", "overall"]
    for name in ("questions", "texts", "questions_labelled_script", "questions_with_what"):
        assert figures["overall"][name] == sum(figures[split][name] for split in SPLITS)
    assert (figures["overall"]["script_share_of_what"], figures["overall"]["questions_per_text"]) == (0.5, 2.0)


# Memory


def peak(texts: int) -> int:
    """Bytes above those of the collection itself."""
    made = collection(texts, 10)
    build_release(made)
    tracemalloc.start()
    build_release(made)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def test_the_memory_of_a_release_does_not_grow_with_its_texts(monkeypatch: pytest.MonkeyPatch):
    # Tables are written in groups of 2,000 rows; small ones show the same with fewer texts.
    for name in ("write_all", "write_csv"):
        monkeypatch.setattr(releasing, name, partial(getattr(tables, name), row_group=10))
    few, many = peak(100), peak(250)
    assert (many - few) / 150 < 500, "bytes a text: its digest and its scenario's name, not the text and its questions"
