"""The cloze that is answered by clicking an entity."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hits.protocols.base import AnswerRefusedError, SettingsRefusedError
from hits.protocols.clickable_entity.protocol import MAX_REMARK, protocol
from hits.text.language.passages import mention_groups
from tests.hits.answers import story
from tests.hits.formats.shared_data import shared_file

SETTINGS = protocol.settings({})


def check(fields, item=story.ITEM, document=story.DOCUMENT):
    return protocol.check(document, item, SETTINGS, fields)


def mentions_of(document):
    blocks = protocol.page(document, {"query": "@placeholder"}, SETTINGS)["blocks"]
    return [piece for block in blocks for line in block["lines"] for piece in line if "value" in piece]


def test_any_mention_of_the_right_entity_is_correct():
    first, second = story.places("Annika de Wit")
    only_second = {**story.ITEM, "answers": story.answers("Annika de Wit")[1:]}
    for place in (first, second):
        assert check({"answer": place}, only_second).labels[0].correct is True


def test_another_entity_is_wrong():
    assert check({"answer": story.places("Rotterdam")[0]}).labels[0].correct is False


def test_a_name_that_reads_like_a_reference_is_correct_though_no_mention_is_one():
    document = {"text": "THE HAGUE was quiet. Nobody in Delft spoke.", "entities": [[0, 8], [31, 35]]}
    item = {"query": "@placeholder slept.", "answers": [{"start": 900, "end": 905, "text": "The Hague"}]}
    assert check({"answer": "0-8"}, item, document).labels[0].correct is True
    assert check({"answer": "31-35"}, item, document).labels[0].correct is False


@pytest.mark.parametrize("answers", [{}, {"answers": []}])
def test_without_references_nothing_is_right_or_wrong(answers):
    item = {"query": story.QUERY, **answers}
    assert check({"answer": story.places("Rotterdam")[0]}, item).labels[0].correct is None


def test_the_label_names_the_mention_that_was_clicked():
    start, end = story.MENTIONS[2]
    label = check({"answer": f"{start}-{end}", "text": "Annika de Wit"}).labels[0]
    assert (label.unit, label.value) == ("entity", {"start": start, "end": end, "text": "Annika de Wit"})


@given(some.integers(-5, 2000), some.integers(-5, 2000))
def test_only_the_offsets_of_a_mention_are_an_answer(start, end):
    fields = {"answer": f"{start}-{end}"}
    if [start, end] in story.MENTIONS:
        assert check(fields).labels[0].value["text"] == story.TEXT[start : end + 1]
    else:
        with pytest.raises(AnswerRefusedError):
            check(fields)


@given(some.text(max_size=40))
def test_no_text_whatever_breaks_the_check(text):
    with pytest.raises(AnswerRefusedError):
        check({"answer": text or "x"})


def test_a_text_from_another_place_is_refused():
    with pytest.raises(AnswerRefusedError, match="do not agree"):
        check({"answer": story.places("Rotterdam")[0], "text": "Annika de Wit"})


def test_reports_and_comment_become_a_remark():
    place = story.places("Rotterdam")[0]
    fields = {"answer": place, "ambiguous": "yes", "guessed": "yes", "comment": "  Could be\nMaas.\0 "}
    assert check(fields).remark == "More than one name fits. It was not obvious, I guessed. Could be\nMaas."
    assert check({"answer": place}).remark == ""


@given(some.text(max_size=3000), some.booleans(), some.booleans())
def test_a_remark_is_never_longer_than_its_column_allows(comment, ambiguous, guessed):
    fields = {"answer": story.places("Rotterdam")[0], "comment": comment}
    fields |= {"ambiguous": "yes"} if ambiguous else {}
    fields |= {"guessed": "yes"} if guessed else {}
    assert len(check(fields).remark) <= MAX_REMARK


def test_the_longest_comment_that_the_page_takes_is_kept_whole():
    comment = "x" * protocol.page(story.DOCUMENT, story.ITEM, SETTINGS)["max_comment"]
    fields = {"answer": story.places("Rotterdam")[0], "ambiguous": "yes", "guessed": "yes", "comment": comment}
    assert check(fields).remark.endswith(comment)


def test_every_fault_of_the_settings_is_told_at_once():
    with pytest.raises(SettingsRefusedError) as refused:
        protocol.settings({"min_seconds": -1, "early_submit": "scold", "colour": "red"})
    assert len(refused.value.reasons) == 3


@pytest.mark.parametrize("seconds", [True, 1.5, "30", None, 601])
def test_min_seconds_is_a_whole_number(seconds):
    with pytest.raises(SettingsRefusedError, match="min_seconds"):
        protocol.settings({"min_seconds": seconds})


def test_the_statement_is_cut_at_its_blank():
    assert protocol.page(story.DOCUMENT, story.ITEM, SETTINGS)["statement"] == story.QUERY.split("@placeholder")


def test_where_mentions_overlap_the_longest_is_shown():
    document = {"text": "New York City Council met.", "entities": [[0, 7], [0, 20], [9, 12]]}
    assert [mention["text"] for mention in mentions_of(document)] == ["New York City Council"]


@given(some.text(alphabet="Ab \n@highlt", max_size=80), some.data())
def test_the_page_shows_the_whole_text_once(text, data):
    offsets = some.tuples(some.integers(0, max(len(text) - 1, 0)), some.integers(0, 6))
    spans = [[start, min(start + more, len(text) - 1)] for start, more in data.draw(some.lists(offsets, max_size=6))]
    document = {"text": text, "entities": spans if text else []}
    shown = mentions_of(document)
    for mention in shown:
        start, end = map(int, mention["value"].split("-"))
        assert mention["text"] == text[start : end + 1]
    blocks = protocol.page(document, {"query": ""}, SETTINGS)["blocks"]
    lines = ["".join(piece["text"] for piece in line) for block in blocks for line in block["lines"]]
    assert all(line in text for line in lines)


def test_mentions_of_one_name_share_a_group():
    groups = {}
    for mention in mentions_of(story.DOCUMENT):
        groups.setdefault(mention["group"], set()).add(mention["text"])
    assert {"Annika de Wit"} in groups.values()
    spans = [tuple(span) for span in story.MENTIONS]
    assert len(groups) == len(set(mention_groups(story.TEXT, spans)))


def test_scores_are_exact_match_and_f1_in_percent():
    answers = [(story.DOCUMENT, story.ITEM, {"text": name}) for name in ("Annika de Wit", "Annika", "Rotterdam")]
    scores = protocol.scores(answers)
    assert scores == {"em": pytest.approx(100 / 3), "f1": pytest.approx(100 * (1 + 0.5 + 0) / 3), "n": 3}


def test_answers_without_references_do_not_enter_the_scores():
    unjudged = (story.DOCUMENT, {"query": "x"}, {"text": "Rotterdam"})
    assert protocol.scores([unjudged]) == {}
    assert protocol.scores([unjudged, (story.DOCUMENT, story.ITEM, {"text": "Annika de Wit"})])["n"] == 1


def test_every_reference_of_real_examples_can_be_clicked_and_is_right():
    for line in shared_file("record/examples.jsonl").read_text().splitlines():
        example = json.loads(line)
        spans = [[entity["start"], entity["end"]] for entity in example["passage"]["entities"]]
        document = {"text": example["passage"]["text"], "entities": spans}
        values = {mention["value"] for mention in mentions_of(document)}
        for query in example["qas"]:
            for answer in query["answers"]:
                value = f"{answer['start']}-{answer['end']}"
                assert value in values
                fields = {"answer": value, "text": answer["text"]}
                assert check(fields, query, document).labels[0].correct is True
