"""What a lead corrects in generated queries, and what is refused of annotations that come from elsewhere."""

import copy
import time
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.text.questions.passage_queries import Rule, generate, judged, queries
from hits.text.questions.query_corrections import (
    CorrectionError,
    add_mention,
    change_mention,
    drop_query,
    move_mention,
    remove_mention,
    restore_query,
    validate,
)
from tests.hits.text.test_passage_queries import SMALL, article

FIRST = "Later that day Merkel said the boats would be painted white and blue."
SECOND = "At night the band and Svensson slept where the first of the boats lay."


@cache
def _generated():
    return generate(article(FIRST, SECOND), SMALL).data


@pytest.fixture
def data():
    return copy.deepcopy(_generated())


def asked(data):
    return {query.id: sorted({data["text"][a:b] for a, b in query.answers}) for query in queries(data)}


def at(text, name):
    return text.index(name), text.index(name) + len(name)


def test_before_any_correction(data):
    assert asked(data) == {"s0-e0": ["Angela Merkel"], "s1-e3": ["Nora Svensson"]}


def test_a_mention_is_made_longer_or_shorter(data):
    start, end = at(data["text"], "Nora Svensson")
    done = change_mention(data, SMALL, None, start, start + 5, end)
    assert asked(done)["s1-e3"] == ["Svensson"]
    assert asked(data)["s1-e3"] == ["Nora Svensson"]


def test_a_mention_that_was_overlooked_adds_an_answer(data):
    start, end = at(data["text"], "brass band")
    done = add_mention(data, SMALL, None, start, end, entity=3)
    assert asked(done)["s1-e3"] == ["Nora Svensson", "brass band"]


def test_a_new_entity_can_be_asked_for(data):
    done = add_mention(data, SMALL, None, *at(data["text"], "brass band"), type="ORG")
    new = max(one["entity"] for one in done["mentions"])
    done = add_mention(done, SMALL, 1, *at(SECOND, "band"), type="ORG", entity=new)
    assert asked(done)[f"s1-e{new}"] == ["brass band"]


def test_a_sentence_with_an_entity_that_the_passage_has_not_is_dropped_and_comes_back(data):
    start, end = at(SECOND, "band")
    done = add_mention(data, SMALL, 1, start, end)
    assert done["sentences"][1]["dropped"] == "no_antecedent" and list(asked(done)) == ["s0-e0"]
    assert asked(remove_mention(done, SMALL, 1, start)) == asked(data)
    assert "s1-e0" in asked(move_mention(done, SMALL, 1, start, 0))


def test_removing_the_last_mention_of_an_entity_drops_the_sentences_that_name_it(data):
    done = remove_mention(data, SMALL, None, at(data["text"], "Nora")[0])
    assert list(asked(done)) == ["s0-e0"]
    assert done["sentences"][1]["mentions"][0]["entity"] is None and validate(done) == []


def test_a_mention_is_moved_to_another_entity_or_to_one_of_its_own(data):
    start, _ = at(data["text"], "Nora")
    assert asked(move_mention(data, SMALL, None, start, 0))["s0-e0"] == ["Angela Merkel", "Nora Svensson"]
    second = data["text"].rindex("Angela")
    done = move_mention(data, SMALL, None, second, None)
    assert len(queries(done)[0].answers) == 1 and validate(done) == []


def test_a_query_is_dropped_and_restored(data):
    done = drop_query(data, "s0-e0")
    assert list(asked(done)) == ["s1-e3"]
    assert restore_query(done, "s0-e0") == data
    for wrong in (lambda: drop_query(done, "s0-e0"), lambda: restore_query(data, "s0-e0")):
        with pytest.raises(CorrectionError, match="s0-e0"):
            wrong()


@pytest.mark.parametrize(
    ("correction", "words"),
    [
        (lambda data: change_mention(data, SMALL, None, 5, 0, 3), "no mention starts at 5"),
        (lambda data: change_mention(data, SMALL, None, 0, 0, 9999), "must be whole numbers"),
        (lambda data: change_mention(data, SMALL, None, 0, 3, 3), "must be whole numbers"),
        (lambda data: change_mention(data, SMALL, None, 0, 0, 14), "without space around"),
        (lambda data: change_mention(data, SMALL, None, 0, 0, data["text"].index(" and")), "” overlaps “"),
        (lambda data: change_mention(data, SMALL, None, 0, 0, 100), "one line"),
        (lambda data: add_mention(data, SMALL, None, *at(data["text"], "@highlight")), "one paragraph or one bullet"),
        (lambda data: add_mention(data, SMALL, None, *at(data["text"], "band"), type="DATE"), "must be one of PERSON"),
        (lambda data: add_mention(data, SMALL, 1, *at(SECOND, "band"), entity=77), "has a mention in the passage"),
        (lambda data: add_mention(data, SMALL, 9, 0, 3), "there is no sentence 9"),
        (lambda data: move_mention(data, SMALL, None, 0, -1), "whole number from 0"),
        (lambda data: remove_mention(data, SMALL, 0, 0), "in sentence 0 no mention starts at 0"),
    ],
)
def test_a_correction_that_makes_no_sense_is_refused_and_changes_nothing(data, correction, words):
    before = copy.deepcopy(data)
    with pytest.raises(CorrectionError, match=words):
        correction(data)
    assert data == before


def changed(data, path, value):
    done = copy.deepcopy(data)
    *way, last = path
    inner = done
    for step in way:
        inner = inner[step]
    inner[last] = value
    return done


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("text",), "", "text"),
        (("text",), None, "text"),
        (("mentions",), {}, "mentions"),
        (("mentions", 0), 5, "mentions[0]"),
        (("mentions", 0, "start"), "0", "mentions[0]"),
        (("mentions", 0, "start"), True, "mentions[0]"),
        (("mentions", 0, "end"), 10**9, "mentions[0]"),
        (("mentions", 0, "type"), [], "mentions[0].type"),
        (("mentions", 0, "entity"), None, "mentions[0].entity"),
        (("mentions", 0, "entity"), 0.0, "mentions[0].entity"),
        (("mentions", 1, "start"), 3, "mentions[1]"),
        (("sentences",), None, "sentences"),
        (("sentences", 0), [], "sentences[0]"),
        (("sentences", 0, "text"), FIRST.replace(" ", "\n", 1), "sentences[0].text"),
        (
            ("sentences", 0, "text"),
            "a @placeholder said more than could be true on that day of days, they said",
            "sentences[0].text",
        ),
        (("sentences", 0, "dropped"), "bored", "sentences[0].dropped"),
        (("sentences", 0, "dropped"), [], "sentences[0].dropped"),
        (("sentences", 0, "mentions", 0, "entity"), 99, "sentences[0].mentions[0].entity"),
        (("sentences", 0, "mentions", 0, "entity"), {}, "sentences[0].mentions[0].entity"),
        (("removed",), "s0-e0", "removed"),
        (("removed",), ["s0-e0", "s0-e0"], "removed"),
        (("removed",), [["s0-e0"]], "removed"),
    ],
)
def test_what_is_wrong_with_annotations_is_named_with_its_place(data, path, value, place):
    assert validate(data) == [] and validate(data, data) == []
    assert [one.place for one in validate(changed(data, path, value))] == [place]


def test_other_fields_and_no_object_are_refused(data):
    for wrong in ({**data, "more": 1}, {}, [], None, 5):
        assert len(validate(wrong)) == 1


def test_texts_that_were_handed_out_must_come_back_the_same(data):
    assert [one.place for one in validate(changed(data, ("text",), data["text"] + "."), data)] == ["text"]
    fewer = {**data, "sentences": data["sentences"][:1]}
    assert [one.place for one in validate(fewer, data)] == ["sentences"]
    assert validate(remove_mention(data, SMALL, None, 0), data) == []


def test_very_many_faults_are_listed_up_to_a_limit_and_in_time(data):
    many = {**data, "mentions": [{"start": 0, "end": 3, "type": "ORG", "entity": 0}] * 50_000}
    began = time.process_time()
    assert len(validate(many)) == 1000
    assert len(validate({**data, "mentions": [5] * 50_001})) == 1
    assert time.process_time() - began < 20


def test_a_long_sentence_may_have_few_mentions(data):
    """Each of them is looked for in all of it."""
    text = "Ada " * 50_000
    entity = data["mentions"][0]["entity"]
    marked = [{"start": 4 * n, "end": 4 * n + 3, "type": "ORG", "entity": entity} for n in range(41)]
    long = {**data, "sentences": [{"text": text, "dropped": "", "mentions": marked}]}
    (wrong,) = validate(long)
    assert str(wrong) == "sentences[0].mentions: must be at most 40 in a sentence of this length"
    long["sentences"][0]["mentions"] = marked[:40]
    assert validate(long) == []


VALUES = some.recursive(
    some.none() | some.booleans() | some.integers(-2, 300) | some.text(max_size=3) | some.floats(),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
PATHS = some.sampled_from(
    [
        *((name,) for name in ("text", "mentions", "sentences", "removed")),
        *(("mentions", 0, name) for name in ("start", "end", "type", "entity")),
        *(("sentences", 0, name) for name in ("text", "dropped", "mentions")),
        *(("sentences", 0, "mentions", 0, name) for name in ("start", "end", "type", "entity")),
        *(("mentions", 0), ("sentences", 1), ("sentences", 0, "mentions", 0)),
    ]
)


@settings(max_examples=300, deadline=None)
@given(PATHS, VALUES)
def test_any_value_anywhere_is_taken_or_refused_and_what_is_taken_gives_queries(path, value):
    done = changed(_generated(), path, value)
    if not validate(done):
        assert all(query.query.count("@placeholder") == 1 for query in queries(judged(done, SMALL)))


STEPS = some.tuples(
    some.sampled_from(["change", "add", "remove", "move"]),
    some.sampled_from([None, 0, 1]),
    *(some.integers(0, 90),) * 3,
    some.none() | some.integers(0, 6),
)


@settings(max_examples=150, deadline=None)
@given(some.lists(STEPS, max_size=6))
def test_whatever_a_lead_does_in_whatever_order_an_item_stays_an_item(steps):
    data = _generated()
    for what, place, mention, start, size, entity in steps:
        own = data["mentions"] if place is None else data["sentences"][place]["mentions"]
        starts = own[mention % len(own)]["start"] if own else 0
        try:
            if what == "change":
                data = change_mention(data, Rule(), place, starts, start, start + size)
            elif what == "add":
                data = add_mention(data, Rule(), place, start, start + size, entity=entity)
            elif what == "move":
                data = move_mention(data, Rule(), place, starts, entity)
            else:
                data = remove_mention(data, Rule(), place, starts)
        except CorrectionError:
            continue
        assert validate(data, _generated()) == []
        assert all(query.query.count("@placeholder") == 1 for query in queries(data))
