"""The question that is validated one step at a time."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.protocols.base import AnswerRefusedError, SettingsRefusedError, StepwiseProtocol
from hits.protocols.staged_choice.protocol import protocol
from tests.hits.answers.question_set import DOCUMENT, SET, fields, order

SETTINGS = protocol.settings({})
WORKER = "AREADER01"
NAMES = ["paragraph", "question", "picked", "needs_common_sense", "needs_context"]
VALUES = ["", "good", "bad", "c0", "c1", "c9", "none", "yes", "no", "\0"]


def check(said, item=SET, worker=WORKER):
    return protocol.check(DOCUMENT, item, SETTINGS, said, worker)


def step(said, move="on", worker=WORKER):
    return protocol.step(DOCUMENT, SET, SETTINGS, said, worker, move)


def units(checked):
    return {label.unit: label.value for label in checked.labels}


def refusal(call, *args):
    with pytest.raises(AnswerRefusedError) as refused:
        call(*args)
    return " ".join(refused.value.reasons)


def reached(said):
    """The steps that a person would get to, told without the protocol's own table."""
    if said.get("paragraph") != "good":
        return NAMES[:1]
    if said.get("question") != "good":
        return NAMES[:2]
    return NAMES if said.get("picked") in ("c0", "c1", "c2", "c3") else NAMES[:3]


def test_it_asks_one_thing_at_a_time():
    assert isinstance(protocol, StepwiseProtocol)


def test_a_whole_answer_gives_a_label_a_step_and_the_order():
    said = units(check(fields(WORKER)))
    assert said == {**fields(WORKER), "order": order(WORKER).split()}


@pytest.mark.parametrize(("picked", "correct"), [("c1", True), ("c0", False), ("none", False)])
def test_the_picked_answer_is_compared_with_the_intended_one(picked, correct):
    labels = {label.unit: label.correct for label in check(fields(WORKER, picked=picked)).labels}
    assert labels.pop("picked") is correct
    assert set(labels.values()) == {None}


@pytest.mark.parametrize("intended", [{}, {"intended": ""}])
def test_without_an_intended_answer_nothing_is_right_or_wrong(intended):
    item = {name: value for name, value in SET.items() if name != "intended"} | intended
    assert {label.correct for label in check(fields(WORKER), item).labels} == {None}


@pytest.mark.parametrize(
    ("ending", "kept"),
    [({"paragraph": "bad"}, ["paragraph"]), ({"question": "bad"}, NAMES[:2]), ({"picked": "none"}, NAMES[:3])],
)
def test_what_ends_the_sequence_leaves_the_later_steps_without_labels(ending, kept):
    said = units(check(fields(WORKER, **ending)))
    assert said.pop("order", order(WORKER).split()) == order(WORKER).split()
    assert list(said) == kept
    on_screen = step(fields(WORKER, **ending, step=str(len(kept))))
    assert on_screen.last
    assert (on_screen.number, on_screen.of, on_screen.context["name"]) == (len(kept) + 1, len(kept) + 1, "end")
    assert not {"needs_common_sense", "needs_context"} & on_screen.kept.keys()


def test_the_order_is_no_label_where_the_answers_were_never_shown():
    assert "order" not in units(check({"paragraph": "bad"}))


@pytest.mark.parametrize("tampered", ["", "c0 c1 c2 c3 c4", "c1", "x" * 9000, order("ASOMEBODYELSE")])
def test_an_order_that_this_worker_was_not_shown_is_refused(tampered):
    assert tampered != order(WORKER)
    said = fields(WORKER, order=tampered)
    assert "in the order in which you saw them" in refusal(check, said)
    assert "in the order in which you saw them" in refusal(step, {**said, "step": "3"})


def test_a_candidate_of_another_set_is_refused():
    assert "does not offer" in refusal(check, fields(WORKER, picked="c4"))
    assert "does not offer" in refusal(step, fields(WORKER, picked="c4", step="3"))


def test_the_fifth_step_without_the_third_is_refused_by_name():
    said = {name: value for name, value in fields(WORKER).items() if name != "picked"}
    for refused in (refusal(check, said), refusal(step, {**said, "step": "4"})):
        assert refused.startswith("Step 3 is not answered yet: “Which answer is the most plausible?”")
    assert step({**said, "step": "5"}, "stay").context["name"] == "picked"


def test_two_workers_see_different_orders_and_each_always_the_same():
    orders = {worker: order(worker) for worker in map("A{:04}".format, range(2400))}
    assert all(orders[worker] == order(worker) for worker in list(orders)[:20])
    counts = Counter(orders.values())
    # 24 orders, 100 expected of each; six standard deviations either way.
    assert len(counts) == 24
    assert all(40 < count < 160 for count in counts.values())


def test_the_order_does_not_depend_on_how_the_set_was_written_down():
    assert order(WORKER, {**SET, "candidates": SET["candidates"][::-1]}) == order(WORKER)
    assert order(WORKER, {**SET, "set": "another"}) != order(WORKER)


def test_the_third_step_shows_the_candidates_in_the_order_that_the_form_carries():
    third = step(fields(WORKER, step="2"))
    assert " ".join(choice["id"] for choice in third.context["choices"]) == f"{third.kept['order']} none"
    assert third.kept["order"] == order(WORKER)


def test_all_steps_follow_one_another_and_the_last_goes_out():
    said, seen = {}, []
    whole = fields(WORKER)
    at = step(said, "stay")
    while not at.last:
        seen.append((at.number, at.of, at.context["name"]))
        said = {**at.kept, at.context["name"]: whole[at.context["name"]], "step": str(at.number)}
        at = step(said)
    seen.append((at.number, at.of, at.context["name"]))
    assert seen == [(number, 5, name) for number, name in enumerate(NAMES, 1)]
    assert units(check({**at.kept, "needs_context": "yes"})) == {**whole, "order": order(WORKER).split()}


def test_nothing_but_what_was_reached_is_shown():
    first, fourth = step({}, "stay"), step(fields(WORKER, step="3"))
    assert "uncle" not in str(first.context)
    assert fourth.context["picked"] == "He did not want to be asked about the word."


def test_one_step_back_keeps_what_was_said_and_may_leave_a_step_open():
    said = {**fields(WORKER, step="4"), "needs_common_sense": ""}
    back = step(said, "back")
    assert (back.context["name"], back.said, back.last) == ("picked", {"picked": "c1"}, False)
    assert {choice["id"] for choice in back.context["choices"] if choice["chosen"]} == {"c1"}
    assert step({"step": "1"}, "back").number == 1


def test_a_changed_mind_drops_what_depended_on_it():
    ended = step(fields(WORKER, question="bad", step="2"))
    assert ended.kept == {"paragraph": "good", "question": "bad"}
    assert "the question makes no sense" in ended.context["help"]
    assert step({**ended.kept, "step": "3"}, "back").context["name"] == "question"


def test_a_comment_is_carried_along_and_becomes_the_remark():
    assert step(fields(WORKER, comment=" Odd.\0 ", step="1")).kept["comment"] == "Odd."
    assert step(fields(WORKER, comment="Odd.", step="4")).said["comment"] == "Odd."
    assert check(fields(WORKER, comment=" Odd.\0 ")).remark == "Odd."


def test_every_fault_of_the_settings_is_told_at_once():
    with pytest.raises(SettingsRefusedError) as refused:
        protocol.settings({"min_seconds": -1, "early_submit": "scold", "colour": "red"})
    assert len(refused.value.reasons) == 3


posted = some.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(NAMES, some.sampled_from(VALUES)),
        "order": some.sampled_from([order(WORKER), "c0 c1", ""]),
        "step": some.sampled_from(["", "0", "1", "2", "3", "4", "5", "6", "x", "٣"]),
        "comment": some.text(max_size=20),
        "else": some.text(max_size=5),
    },
)


@settings(max_examples=120)
@given(posted)
def test_whatever_is_posted_gives_labels_of_the_reached_steps_or_sentences(said):
    allowed = reached(said)
    try:
        found = units(check(said))
    except AnswerRefusedError as error:
        assert all(reason[0].isupper() and reason.endswith(".") for reason in error.reasons)
    else:
        assert set(found) - {"order"} == set(allowed)
        assert ("order" in found) == ("picked" in allowed)
        assert all(found[name] == said[name] for name in allowed)


@settings(max_examples=120)
@given(posted, some.sampled_from(["on", "stay", "back"]))
def test_no_step_comes_before_those_that_it_depends_on(said, move):
    try:
        found = step(said, move)
    except AnswerRefusedError:
        assert move == "on"
        return
    if found.context["name"] == "end":
        assert units(check({**found.kept, **found.said}))
    else:
        before = NAMES[: NAMES.index(found.context["name"])]
        assert set(before) < set(reached(said))
        assert all(found.kept[name] == said[name] for name in before)
    assert found.last == (found.number == found.of)
    assert not found.said.keys() & found.kept.keys()
