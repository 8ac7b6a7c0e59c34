"""Choosing one or several answers, with words of one's own where they are asked for."""

from itertools import product
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.protocols.base import AnswerRefusedError, SettingsRefusedError
from hits.protocols.multiple_choice.protocol import protocol

DOCUMENT = {"text": "The ferry sails at nine.\n\nNobody was on board."}
CHOICES = [{"id": f"c{number}", "text": f"Answer {number}"} for number in range(4)]
ITEM = {"question": "When?", "choices": CHOICES, "gold": ["c2"]}
SET = {"question": "When?", "candidates": CHOICES, "intended": "c2", "author": "AWRITER", "set": "s1"}


def check(fields, item=ITEM, worker="", **given):
    return protocol.check(DOCUMENT, item, protocol.settings(given), fields, worker)


def reasons(fields, item=ITEM, worker="", **given):
    with pytest.raises(AnswerRefusedError) as refused:
        check(fields, item, worker, **given)
    return " ".join(refused.value.reasons)


@pytest.mark.parametrize("item", [ITEM, SET])
def test_a_choice_is_compared_with_gold_or_with_the_intended_candidate(item):
    assert [(label.unit, label.value, label.correct) for label in check({"choice": "c2"}, item).labels] == [
        ("choice", "c2", True)
    ]
    assert check({"choice": "c0"}, item).labels[0].correct is False


def test_gold_may_be_given_by_its_text_and_what_names_no_choice_compares_nothing():
    assert check({"choice": "yes"}, {"gold": ["Yes"]}).labels[0].correct is True
    assert check({"choice": "yes"}, {"gold": ["Perhaps"]}).labels[0].correct is None
    assert check({"choice": "yes"}, {}).labels[0].correct is None


def test_several_choices_give_a_label_each():
    item = {**ITEM, "gold": ["c0", "c2"]}
    labels = check({"chosen-c0": "yes", "chosen-c1": "yes"}, item, several=True).labels
    assert [(label.unit, label.value, label.correct) for label in labels] == [
        ("c0/chosen", "yes", True),
        ("c1/chosen", "yes", False),
        ("c2/chosen", "no", False),
        ("c3/chosen", "no", True),
    ]


def test_nothing_chosen_and_what_is_no_choice_are_refused_with_what_to_do():
    assert "Choose one of them" in reasons({})
    assert "not one of the answers" in reasons({"choice": "c9"})
    assert "Tick every answer that fits" in reasons({}, several=True)
    assert "neither yes nor no" in reasons({"chosen-c0": "perhaps"}, several=True)


def test_a_text_is_a_label_that_no_rule_counts():
    label = check({"choice": "c2", "text": " It\r\nsays\0 so. "}, free_text="optional").labels[1]
    assert (label.unit, label.value, label.correct) == ("text", {"text": "It\nsays so."}, None)
    assert len(check({"choice": "c2", "text": "ignored"}).labels) == 1


def test_a_text_is_needed_where_the_settings_say_so():
    needed = {"choices": ["Yes", "No"], "free_text": "optional", "free_text_needed_for": ["No"]}
    assert "Who chooses “No” writes why" in reasons({"choice": "no"}, {}, **needed)
    assert len(check({"choice": "no", "text": "Late."}, {}, **needed).labels) == 2
    assert len(check({"choice": "yes"}, {}, **needed).labels) == 1
    said = reasons({}, free_text="required")
    assert "The text is missing" in said and "No answer is chosen" in said
    assert "Shorten it" in reasons({"choice": "c2", "text": "x" * 2001}, free_text="optional")


@pytest.mark.parametrize(
    "given", [{"free_text_needed_for": ["Yes"]}, {"free_text": "optional", "free_text_needed_for": ["Maybe"]},
              {"choices": ["One"]}, {"question": " "}, {"several": 1}]
)  # fmt: skip
def test_settings_that_do_not_fit_together_are_refused(given):
    with pytest.raises(SettingsRefusedError):
        protocol.settings(given)


def test_each_worker_sees_one_order_and_workers_see_different_ones():
    options = protocol.settings({"shuffle": True})
    orders = {worker: protocol.page(DOCUMENT, ITEM, options, worker)["order"] for worker in map(str, range(60))}
    assert orders == {worker: protocol.page(DOCUMENT, ITEM, options, worker)["order"] for worker in orders}
    assert len(set(orders.values())) > 12
    assert all(sorted(order.split()) == ["c0", "c1", "c2", "c3"] for order in orders.values())
    first = [order.split()[0] for order in orders.values()]
    assert all(first.count(choice["id"]) > 4 for choice in CHOICES)


@settings(max_examples=30)
@given(some.permutations(CHOICES), some.text(max_size=8))
def test_the_order_tells_nothing_of_the_order_in_which_the_choices_were_written(written, worker):
    options = protocol.settings({"shuffle": True})
    page = protocol.page(DOCUMENT, {**ITEM, "choices": written}, options, worker)
    assert page["order"] == protocol.page(DOCUMENT, ITEM, options, worker)["order"]


def test_an_order_that_was_not_shown_is_refused():
    order = protocol.page(DOCUMENT, ITEM, protocol.settings({"shuffle": True}), "AW")["order"]
    assert check({"choice": "c2", "order": order}, worker="AW", shuffle=True).labels[0].correct is True
    other = " ".join(reversed(order.split()))
    assert "not sent in the order" in reasons({"choice": "c2", "order": other}, worker="AW", shuffle=True)


def test_the_page_asks_the_items_own_question_and_else_the_one_for_all():
    options = protocol.settings({"question": "Is it true?", "instructions": "Read.\n\nThink."})
    assert protocol.page(DOCUMENT, ITEM, options)["question"] == "When?"
    page = protocol.page(DOCUMENT, {}, options)
    assert (page["question"], page["instructions"]) == ("Is it true?", ["Read.", "Think."])
    assert [choice["text"] for choice in page["choices"]] == ["Yes", "No"]
    assert [line for block in page["blocks"] for line in block["lines"]] == DOCUMENT["text"].split("\n\n")


def said(*choices, gold="c2"):
    return [{"choice": choice, "choice.correct": choice == gold} for choice in choices]


def test_scores_of_all_answers_are_the_accuracy_of_single_ones_and_of_the_majority():
    answered = [said("c2", "c2", "c0"), said("c0", "c1", "c2"), said("c1", "c1", "c1"), []]
    scores = protocol.item_scores([(DOCUMENT, ITEM, given) for given in answered], {})
    assert scores == {"accuracy": pytest.approx(100 / 3), "majority": pytest.approx(100 / 3), "ties": 1,
                      "answers": 9, "n": 3}  # fmt: skip
    assert protocol.item_scores([(DOCUMENT, ITEM, [{"choice": "c0"}])], {}) == {}


def test_the_majority_agrees_with_a_count_of_every_way_to_answer():
    ways = [list(way) for way in product(["c0", "c1", "c2"], repeat=3)]
    scores = protocol.item_scores([(DOCUMENT, ITEM, said(*way)) for way in ways], {})
    assert scores["majority"] == pytest.approx(100 * mean(way.count("c2") >= 2 for way in ways))
    assert scores["ties"] == sum(len(set(way)) == 3 for way in ways)


def test_of_several_choices_an_answer_is_right_when_every_box_is():
    def answer(**boxes):
        labels = check({f"chosen-{one}": "yes" for one in boxes}, {**ITEM, "gold": ["c0", "c2"]}, several=True).labels
        return {label.unit: label.value for label in labels} | {f"{one.unit}.correct": one.correct for one in labels}

    given = [answer(c0=1, c2=1), answer(c0=1, c3=1), answer(c2=1)]
    scores = protocol.item_scores([(DOCUMENT, ITEM, given)], {})
    assert (scores["accuracy"], scores["majority"]) == (pytest.approx(100 / 3), 100)


def test_a_suggestion_is_a_choice_or_where_several_can_be_chosen_a_list():
    one, several = protocol.settings({}), protocol.settings({"several": True})
    assert protocol.suggestible(DOCUMENT, ITEM, one) == ["choice"]
    assert protocol.suggestion(DOCUMENT, ITEM, one, "choice", "Answer 2") == "c2"
    assert protocol.suggestion(DOCUMENT, ITEM, one, "choice", "1") == "c0"
    assert protocol.suggested_labels(DOCUMENT, ITEM, one, "choice", "c2") == {"choice": "c2"}
    assert protocol.suggestible(DOCUMENT, ITEM, several) == ["chosen"]
    assert protocol.suggestion(DOCUMENT, ITEM, several, "chosen", "c3 | Answer 0") == ["c0", "c3"]
    labels = check({"chosen-c0": "yes", "chosen-c3": "yes"}, several=True).labels
    assert protocol.suggested_labels(DOCUMENT, ITEM, several, "chosen", ["c0", "c3"]) == {
        label.unit: label.value for label in labels
    }
    with pytest.raises(AnswerRefusedError) as refused:
        protocol.suggestion(DOCUMENT, ITEM, several, "chosen", "c8 | c9")
    assert len(refused.value.reasons) == 2
    with pytest.raises(AnswerRefusedError, match="names no answer"):
        protocol.suggestion(DOCUMENT, ITEM, several, "chosen", "[]")
