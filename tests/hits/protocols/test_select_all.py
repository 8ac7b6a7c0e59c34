"""Selecting all plausible answers, or none of them."""

import pytest

from hits.protocols.base import AnswerRefusedError
from hits.protocols.select_all.protocol import protocol

DOCUMENT = {"text": "Tom heard the thunder and put the boat back."}
ITEM = {"question": "Why?", "candidates": [{"id": f"c{number}", "text": f"Answer {number}"} for number in range(4)]}
SETTINGS = protocol.settings({})


def check(*selected, worker="", **more):
    fields = {f"selected-{ident}": "yes" for ident in selected} | more
    return protocol.check(DOCUMENT, ITEM, SETTINGS, fields, worker)


def test_every_candidate_and_none_get_a_label():
    labels = {label.unit: label.value for label in check("c1", "c3").labels}
    assert labels == {"c0/selected": "no", "c1/selected": "yes", "c2/selected": "no", "c3/selected": "yes",
                      "none/selected": "no"}  # fmt: skip
    assert [label.value for label in check("none").labels] == ["no"] * 4 + ["yes"]


def test_none_of_the_above_stands_alone():
    with pytest.raises(AnswerRefusedError, match="cannot stand beside another answer. Untick one"):
        check("none", "c2")


def test_nothing_ticked_is_not_none_of_the_above():
    with pytest.raises(AnswerRefusedError, match="or “None of the above”"):
        check()


def test_workers_see_the_candidates_in_an_order_of_their_own_and_none_comes_last():
    orders = {protocol.page(DOCUMENT, ITEM, SETTINGS, f"A{number}")["order"] for number in range(40)}
    assert len(orders) > 8
    assert all("none" not in order for order in orders)


def test_the_order_that_was_shown_is_taken_and_another_is_refused():
    order = protocol.page(DOCUMENT, ITEM, SETTINGS, "AW")["order"]
    assert check("c1", worker="AW", order=order).labels
    with pytest.raises(AnswerRefusedError, match="not sent in the order"):
        check("c1", worker="AW", order=" ".join(reversed(order.split())))


def test_what_else_a_candidate_holds_does_not_reach_the_page():
    item = {**ITEM, "candidates": [{**ITEM["candidates"][0], "system": "model-a"}]}
    assert "model-a" not in str(protocol.page(DOCUMENT, item, SETTINGS))


def test_a_candidate_counts_when_every_worker_selected_it():
    def says(*selected):
        return {label.unit: label.value for label in check(*selected).labels}

    scores = protocol.item_scores([(DOCUMENT, ITEM, [says("c0", "c1"), says("c1"), says("c1", "c2")])], {})
    assert scores == {"selected_by_all": 25.0, "candidates": 4, "n": 1}
    assert protocol.item_scores([(DOCUMENT, ITEM, [])], {}) == {}


def test_the_share_of_each_systems_answers_that_everybody_selected_has_an_interval():
    """The paper's shares, of 200 questions with four answers of each of its two systems."""
    items = []
    for system, right in (("GPT2", 88), ("GPT2-FT", 232)):
        for number in range(200):
            candidates = [{"id": f"c{n}", "text": str(n), "systems": [system]} for n in range(4)]
            said = {f"c{n}/selected": "yes" if number * 4 + n < right else "no" for n in range(4)}
            items.append((DOCUMENT, {"question": "Why?", "candidates": candidates}, [said] * 3))
    found = {row["system"]: row for row in protocol.item_scores(items, {})["systems"]}
    shares = {system: (row["count"], row["candidates"], round(row["share"], 3)) for system, row in found.items()}
    assert shares == {"GPT2": (88, 800, 0.11), "GPT2-FT": (232, 800, 0.29)}
    assert found["GPT2"]["low"] < 0.11 < found["GPT2"]["high"] < found["GPT2-FT"]["low"] < 0.29


def test_an_answer_that_two_systems_wrote_counts_for_both_and_one_without_a_system_for_none():
    candidates = [{"id": "c0", "text": "a", "systems": ["x", "y"]}, {"id": "c1", "text": "b", "systems": [""]}]
    said = {"c0/selected": "yes", "c1/selected": "no"}
    found = protocol.item_scores([(DOCUMENT, {"question": "Why?", "candidates": candidates}, [said])], {})
    assert [(row["system"], row["count"], row["candidates"]) for row in found["systems"]] == [("x", 1, 1), ("y", 1, 1)]


def test_a_suggestion_names_lines_by_id_or_text_and_none_alone():
    def kept(text):
        return protocol.suggestion(DOCUMENT, ITEM, SETTINGS, "selected", text)

    assert kept("c3 | Answer 1") == ["c1", "c3"] == kept('["c1", "c3"]')
    assert kept("none") == ["none"] == kept("None of the above")
    assert protocol.suggested_labels(DOCUMENT, ITEM, SETTINGS, "selected", ["c1", "c3"]) == {
        label.unit: label.value for label in check("c1", "c3").labels
    }
    assert protocol.suggested_labels(DOCUMENT, ITEM, SETTINGS, "selected", ["none"]) == {
        label.unit: label.value for label in check("none").labels
    }
    for text, why in [("c1 | none", "beside another answer"), ("c9", "none of the answers"), ("|", "names no answer")]:
        with pytest.raises(AnswerRefusedError, match=why):
            kept(text)
