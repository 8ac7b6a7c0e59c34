"""Marking spans of a text: what is taken, what is refused, and what the page and simulated people get."""

import json
from dataclasses import replace

import pytest
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as some

from hits import protocols
from hits.crowd import answering
from hits.crowd.html import parse
from hits.crowd.key import AnswerKey
from hits.crowd.people import gather
from hits.crowd.task_page import NotATaskError, Screen
from hits.protocols.base import AnswerRefusedError, SettingsRefusedError
from hits.protocols.marked import LONGEST_FIELD, MOST_SPANS, words
from hits.protocols.spans import simulated
from hits.protocols.spans.protocol import protocol

TEXT = "Mara 🛳 sailed to Port Linden.\nShe didn't meet Tomas Reyes."
SETTINGS = protocol.settings({})
CHARACTERS = protocol.settings({"whole_words": False})
OVERLAPPING = protocol.settings({"overlap": True})


def span(words, label="person", text=TEXT):
    start = text.index(words)
    return [start, start + len(words), label]


def check(*spans, settings=SETTINGS, item=None, text=TEXT, **fields):
    posted = {"spans": json.dumps(spans)} if spans else {}
    return protocol.check({"text": text}, item or {}, settings, posted | fields)


def labels(checked):
    return {label.unit: label.value for label in checked.labels}


def refused(match, *spans, **more):
    with pytest.raises(AnswerRefusedError, match=match) as found:
        check(*spans, **more)
    assert all(reason.endswith(".") and len(reason) < 300 for reason in found.value.reasons)


# What is taken


def test_spans_come_sorted_with_a_word_for_each_label():
    said = labels(check(span("Tomas Reyes"), span("Port Linden", "place"), span("Mara")))
    assert said == {
        "spans": [[0, 4, "person"], [17, 28, "place"], [46, 57, "person"]],
        "nothing": "no",
        "person/marked": "yes",
        "place/marked": "yes",
        "organisation/marked": "no",
    }


def test_offsets_are_code_points_of_the_stored_text():
    ((start, end, _),) = labels(check(span("Port Linden", "place")))["spans"]
    assert TEXT[start:end] == "Port Linden"
    # The ship is one character here and two units of a browser: whoever counts units is refused.
    refused("must be whole words", [start + 1, end + 1, "place"])


def test_there_is_nothing_to_mark_is_an_answer_and_no_answer_is_none():
    assert labels(check(nothing="yes")) == {
        "spans": [], "nothing": "yes", "person/marked": "no", "place/marked": "no", "organisation/marked": "no",
    }  # fmt: skip
    refused("Nothing is marked yet")
    refused("Nothing is marked yet", **{"spans": "[]"})
    refused("said that there is nothing to mark", span("Mara"), nothing="yes")
    refused("neither yes nor no", nothing="maybe")


def test_an_answer_is_right_when_it_is_the_gold_one_in_any_order():
    gold = {"gold": [span("Tomas Reyes"), span("Mara")]}
    right = check(span("Mara"), span("Tomas Reyes"), item=gold).labels[0]
    wrong = check(span("Mara"), item=gold).labels[0]
    assert (right.unit, right.correct, wrong.correct, check(span("Mara")).labels[0].correct) == (
        "spans", True, False, None,
    )  # fmt: skip
    assert protocol.scores([({}, gold, right.value), ({}, gold, wrong.value), ({}, {}, wrong.value)]) == {
        "same_as_gold": 50.0,
        "n": 2,
    }


def test_without_scripts_the_numbers_of_words_are_enough():
    said = labels(
        check(**{"from-1": "1", "to-1": "", "label-1": "person", "from-3": "4", "to-3": "5", "label-3": "place"})
    )
    assert said["spans"] == [[0, 4, "person"], [17, 28, "place"]]


@pytest.mark.parametrize(("first", "last"), [("0", "1"), ("3", "2"), ("1", "99"), ("x", "1"), ("", "2"), ("²", "2")])
def test_numbers_of_words_that_are_not_there_are_refused(first, last):
    refused("Line 1 must hold the number", **{"from-1": first, "to-1": last, "label-1": "person"})


# What is refused


@pytest.mark.parametrize(
    "wrong", [[-1, 4, "person"], [4, 4, "person"], [5, 0, "person"], [0, 9999, "person"], [10**30, 10**31, "person"]]
)
def test_a_span_that_is_empty_or_outside_the_text_is_refused(wrong):
    refused("is empty or lies outside the text", wrong)


@pytest.mark.parametrize(
    "said",
    ["{}", "null", "[[0, 4]]", '[[0, 4, "person", 1]]', '[["0", 4, "person"]]', "[[0, 4, 1]]", '[[0.0, 4, "person"]]',
     '[[false, 4, "person"]]', "[" * 15_000, '[[' + "9" * 5000 + ', 4, "person"]]', "x"],
)  # fmt: skip
def test_what_is_no_list_of_spans_is_refused(said):
    refused("cannot be read", spans=said)


def test_size_and_number_are_bounded():
    refused(f"more than {LONGEST_FIELD:,} characters", spans="[" + " " * LONGEST_FIELD + "]")
    text = "a " * (MOST_SPANS + 1)
    many = [[2 * n, 2 * n + 1, "person"] for n in range(MOST_SPANS + 1)]
    most = protocol.settings({"most": MOST_SPANS})
    assert len(labels(check(*many[:-1], settings=most, text=text))["spans"]) == MOST_SPANS
    refused(f"at most {MOST_SPANS}", *many, settings=most, text=text)


def test_the_stage_says_how_many_are_marked():
    two = protocol.settings({"fewest": 2, "most": 2})
    assert check(span("Mara"), span("Tomas"), settings=two)
    refused("at least 2; 1 marked", span("Mara"), settings=two)
    refused("at most 2; 3 are", span("Mara"), span("Tomas"), span("Reyes"), settings=two)
    refused("has something to mark", nothing="yes", settings=two)


def test_a_label_outside_the_list_is_refused():
    refused("“Mara” has no label of the list", span("Mara", "animal"))


@pytest.mark.parametrize("part", ["Mar", "Port Lind", "didn", " Mara", "Linden."])
def test_whole_words_are_asked_for_where_the_stage_wants_them(part):
    text = f" {TEXT}"
    refused("must be whole words", span(part, text=text), text=text)


def test_single_characters_are_taken_where_the_stage_allows_them_but_no_spaces_at_the_ends():
    assert labels(check(span("ort L"), span("🛳"), settings=CHARACTERS))["spans"][0] == [5, 6, "person"]
    refused("must not begin or end with a space", span("Port "), settings=CHARACTERS)
    refused("must not begin or end with a space", span("\nShe"), settings=CHARACTERS)


def test_spans_overlap_only_where_the_stage_allows_it():
    both = [span("Port Linden", "place"), span("Port", "organisation")]
    refused("“Port” and “Port Linden” overlap", *both)
    assert len(labels(check(*both, settings=OVERLAPPING))["spans"]) == 2
    assert check(span("Port", "place"), span("Linden", "place"))
    refused("overlap", span("Port", "place"), span("Port", "person"))
    refused("twice in the same way", span("Port"), span("Port"), settings=OVERLAPPING)


EDGES = some.sampled_from(sorted({edge for place in words(TEXT) for edge in place} | {-1, 1, 200}))


@given(some.lists(some.tuples(EDGES, EDGES, some.sampled_from(["person", "place", "no"])), max_size=3))
def test_whatever_is_taken_keeps_to_all_rules(posted):
    try:
        found = labels(check(*map(list, posted)))["spans"]
    except AnswerRefusedError:
        return
    places = words(TEXT)
    covered = [at for start, end, _ in found for at in range(start, end)]
    assert len(covered) == len(set(covered)) > 0
    for start, end, label in found:
        assert start in [place[0] for place in places] and end in [place[1] for place in places]
        assert label in ("person", "place")


# Settings and page


@pytest.mark.parametrize(
    "wrong", [{"labels": []}, {"labels": ["A", "A"]}, {"fewest": -1}, {"most": 0}, {"most": 201}, {"overlap": "yes"},
              {"fewest": 3, "most": 2}],
)  # fmt: skip
def test_settings_that_do_not_fit_are_refused(wrong):
    with pytest.raises(SettingsRefusedError):
        protocol.settings(wrong)


@given(some.text(alphabet="ab .\n\r\t🛳é\u0301", max_size=60))
def test_the_pieces_of_the_page_are_the_text_at_their_places(text):
    pieces = [piece for line in protocol.page({"text": text}, {}, SETTINGS)["marking"]["lines"] for piece in line]
    assert all(text[piece["start"] :].startswith(piece["text"]) for piece in pieces)
    assert [piece["text"] for piece in pieces if piece["number"]] == [text[start:end] for start, end in words(text)]
    assert [piece["number"] for piece in pieces if piece["number"]] == list(range(1, len(words(text)) + 1))
    assert "".join("".join(piece["text"] for piece in pieces).split()) == "".join(text.split())


def test_who_decides_sees_what_others_marked_with_votes_and_numbers_of_words():
    item = {"proposals": [[17, 28, "place", 2], [46, 57, "gone", 1]], "answers": 3}
    place, gone = protocol.page({"text": TEXT}, item, SETTINGS)["proposals"]
    assert (place["text"], place["label"]["text"], place["votes"]) == ("Port Linden", "Place", 2)
    assert (place["first"], place["last"]) == (4, 5)
    assert gone["label"]["id"] == "", "a label that the stage no longer has cannot be taken"


# Simulated people


def screen(text, **settings):
    given = protocol.settings(settings)
    task = protocol.page({"text": text}, {}, given)
    html = render_to_string(
        "spans/task.html", {"page": {"task": task, "settings": given, "draft": {}, "preview": True}}
    )
    # What is asked before submitting: our pages have it, and pages that a requester wrote do not.
    return Screen(parse(html), None, "", "https://ours.example/task/check/", "", None)


SEEN = "Every day Mara Okafor rows to Linden. The Water Board pays her, and Tomas Reyes waits at the pier of Veere."


def test_what_a_label_means_stands_in_the_instructions_whoever_wrote_them():
    for own in ("", "Mark what you see."):
        page = screen(TEXT, labels=["Boat | What floats.", "Harbour"], instructions=own).page
        assert "Boat: What floats." in page.first("details").text()
        assert own in page.first("details").text()


def said(person, **settings):
    fields = simulated.answer(person, screen(SEEN, **settings), AnswerKey()).fields
    return check(**fields, settings=protocol.settings(settings), text=SEEN).labels[0].value


def test_simulated_people_who_know_mark_every_name_alike():
    knowing = [replace(person, accuracy=1.0) for person in gather(3, 4, 0, 1.0, 0.0)]
    answers = [said(person) for person in knowing]
    assert [SEEN[start:end] for start, end, _ in answers[0]] == [
        "Mara Okafor", "Linden", "The Water Board", "Tomas Reyes", "Veere",
    ]  # fmt: skip
    assert all(answer == answers[0] for answer in answers)


def test_simulated_people_err_and_what_they_send_is_taken():
    crowd = gather(3, 30, 10, 0.6, 0.0)
    answers = [json.dumps(said(person, fewest=2, most=4)) for person in crowd]
    assert len(set(answers)) > 5


def test_simulated_people_say_so_when_there_is_nothing():
    (person,) = gather(3, 1, 0, 1.0, 0.0)
    found = simulated.answer(person, screen("nothing has a name here"), AnswerKey())
    assert found.fields == {"nothing": "yes"}


def test_another_page_is_not_theirs():
    (person,) = gather(3, 1, 0, 1.0, 0.0)
    with pytest.raises(NotATaskError):
        simulated.answer(person, Screen(parse("<p>Nothing</p>"), None, "", "", "", None), AnswerKey())


def test_the_crowd_finds_out_who_knows_this_kind_of_page():
    (person,) = gather(3, 1, 0, 1.0, 0.0)
    by_all = answering.answer(person, screen(SEEN), AnswerKey(), protocols.simulated())
    assert by_all == simulated.answer(person, screen(SEEN), AnswerKey())


def test_a_suggestion_is_a_list_of_spans_that_could_be_marked():
    def kept(text, settings=SETTINGS):
        return protocol.suggestion({"text": TEXT}, {}, settings, "spans", text)

    both = [span("Port Linden", "Place"), span("Mara")]
    assert kept(json.dumps(both)) == [span("Mara"), span("Port Linden", "place")]
    assert protocol.suggested_labels({"text": TEXT}, {}, SETTINGS, "spans", kept("[]")) == {"spans": []}
    assert labels(check(*kept(json.dumps(both))))["spans"] == kept(json.dumps(both))
    wrong = [
        "x",
        "{}",
        "[1]",
        '[["0", 4, "person"]]',
        json.dumps([[0, 3, "person"]]),
        json.dumps([span("Mara", "ship")]),
    ]
    for text in [*wrong, json.dumps([span("Mara"), span("Mara 🛳 sailed")]), json.dumps([span("Mara")] * 201)]:
        with pytest.raises(AnswerRefusedError):
            kept(text)
    with pytest.raises(AnswerRefusedError, match="something to mark"):
        kept("[]", protocol.settings({"fewest": 1}))


# Scripts without spaces between words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("東京に行く", "東|京|に|行|く"),
        ("カレー、スーパー", "カ|レ|ー|ス|ー|パ|ー"),
        ("私はiPhone 15を持つ", "私|は|iPhone|15|を|持|つ"),
        ("か\u3099く", "か\u3099|く"),
        ("น้ำดี", "น้ำ|ดี"),
        ("ｶﾞｶ", "ｶﾞ|ｶ"),
        ("ລາວ", "ລ|າ|ວ"),
        ("ខ្មែរ", "ខ្|មែ|រ"),
        ("မြန်မာ", "မြ|န်|မာ"),
        ("Mara didn’t go", "Mara|didn’t|go"),
        ("한국어 좋아", "한국어|좋아"),
        ("नमस्ते दुनिया", "नमस्ते|दुनिया"),
    ],
)
def test_each_character_of_a_script_without_spaces_is_a_word_that_can_be_marked(text, found):
    places = words(text)
    assert "|".join(text[start:end] for start, end in places) == found
    page = protocol.page({"text": text}, {}, SETTINGS)
    shown = [(one["start"], one["text"]) for line in page["marking"]["lines"] for one in line if one["number"]]
    assert shown == [(start, text[start:end]) for start, end in places], "the page marks what the server takes"
    for start, end in places:
        assert labels(check([start, end, "place"], text=text))["spans"] == [[start, end, "place"]]
