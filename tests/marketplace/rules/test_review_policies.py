"""Review policies: what is refused, and scores against the documented chart and a second computation."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.rules import review_policies as rules
from marketplace.rules.errors import ParameterValidationError
from marketplace.rules.question import answer_xml


def policy(name: str, **parameters: Any) -> rules.Policy:
    listed = [
        {"Key": key, "MapEntries": [{"Key": q, "Values": v} for q, v in value.items()]}
        if isinstance(value, dict)
        else {"Key": key, "Values": value if isinstance(value, list) else [str(value)]}
        for key, value in parameters.items()
    ]
    return {"PolicyName": name, "Parameters": listed}


def known(**parameters: Any) -> rules.Policy:
    return policy(rules.KNOWN_ANSWERS, **({"AnswerKey": {"q1": ["B"]}} | parameters))


def plurality(**parameters: Any) -> rules.Policy:
    return policy(rules.PLURALITY, **({"QuestionIds": ["q1"], "QuestionAgreementThreshold": 50} | parameters))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (policy("ScoreMyKnownAnswers/2012"), "only ScoreMyKnownAnswers/2011-09-01"),
        (plurality(), "only ScoreMyKnownAnswers/2011-09-01"),
        (policy(rules.KNOWN_ANSWERS), "AnswerKey is missing"),
        (known(AnswerKey=["B"]), "takes MapEntries"),
        (known(AnswerKey={}), "0 entries"),
        (known(AnswerKey={" ": ["B"]}), "has no Key"),
        (known(AnswerKey={"q1": ["B"], "q1 ": ["C"]}), "names q1 twice"),
        (known(RejectIfKnownAnswerScoreIsLessThan=102), "0 to 101"),
        (known(ApproveIfKnownAnswerScoreIsAtLeast="half"), "whole number"),
        (known(ApproveIfKnownAnswerScoreIsAtLeast="-1"), "whole number"),
        (known(ApproveIfKnownAnswerScoreIsAtLeast=["1", "2"]), "one value"),
        (known(ExtendMaximumAssignments=1), "2 to 25"),
        (known(ExtendMinimumTimeInSeconds=59), "60 to 31536000"),
        (known(RejectReason="r" * 1025), "at most 1024"),
        (known(ApproveWhenever=1), "ApproveWhenever is not a parameter"),
        (known() | {"Parameters": [*known()["Parameters"], *known()["Parameters"]]}, "more than once"),
        (known() | {"Parameters": [*known()["Parameters"], {}]}, "has no Key"),
        (known() | {"Parameters": [*known()["Parameters"], {"Key": "RejectReason"}]}, "has no value"),
    ],
)
def test_a_faulty_assignment_policy_is_refused(given: rules.Policy, words: str) -> None:
    with pytest.raises(ParameterValidationError, match=words):
        rules.read_known_answers(given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (known(), "only SimplePlurality/2011-09-01"),
        (policy(rules.PLURALITY), "QuestionIds is missing; QuestionAgreementThreshold is missing"),
        (plurality(QuestionIds=["q1,,q2"]), "empty id"),
        (plurality(QuestionIds=["q1", "q1"]), "twice"),
        (plurality(QuestionIds=[f"q{n}" for n in range(101)]), "at most 100"),
        (plurality(ExtendIfHITAgreementScoreIsLessThan=50), "ExtendMaximumAssignments is missing; ExtendMin"),
        (plurality(ExtendIfHITAgreementScoreIsLessThan=0), "1 to 100"),
        (plurality(DisregardAssignmentIfRejected="perhaps"), "write T or F"),
        (plurality(AnswerKey={"q1": ["A"]}), "AnswerKey is not a parameter"),
        (plurality(QuestionIds={"q1": ["A"]}), "takes Values"),
    ],
)
def test_a_faulty_hit_policy_is_refused(given: rules.Policy, words: str) -> None:
    with pytest.raises(ParameterValidationError, match=words):
        rules.read_plurality(given)


def test_all_faults_are_named_at_once() -> None:
    with pytest.raises(ParameterValidationError) as caught:
        rules.read_known_answers(known(Surprise=1, RejectIfKnownAnswerScoreIsLessThan=200, ExtendMaximumAssignments=30))
    assert caught.value.message == (
        "AssignmentReviewPolicy: RejectIfKnownAnswerScoreIsLessThan is 200, out of range: 0 to 101 is allowed; "
        "ExtendMaximumAssignments is 30, out of range: 2 to 25 is allowed; Surprise is not a parameter of this policy."
    )


def test_defaults_are_the_documented_ones() -> None:
    read = rules.read_known_answers(known())
    assert (read.approve_from, read.reject_below, read.extend_below) == (None, None, None)
    assert (read.extend_to, read.extend_seconds) == (5, 0)
    assert rules.read_plurality(plurality()).disregard_rejected is False


@pytest.mark.parametrize("given", [["a,b"], ["a", "b"], [" a , b "]])
def test_questions_are_listed_by_comma_or_one_by_one(given: list[str]) -> None:
    assert rules.read_plurality(plurality(QuestionIds=given)).questions == ("a", "b")
    spelled = plurality()
    spelled["Parameters"][0] = {"Key": "QuestionIDs", "Values": given}
    assert rules.read_plurality(spelled).questions == ("a", "b")


@pytest.mark.parametrize(
    ("key", "given", "right"),
    [
        (["B"], ["B"], True),
        (["B"], [" B "], True),
        ([" B"], ["B"], True),
        (["B"], ["b"], False),
        (["B"], ["B."], False),
        (["B"], [], False),
        (["B"], [""], False),
        ([], [], True),
        ([], [" "], True),
        ([], ["B"], False),
        (["A", "B"], ["A"], False),
        (["A"], ["A|B"], False),
        (["A", "B"], ["B|A"], True),
        (["A", "B"], ["B", "A"], True),
    ],
)
def test_a_known_answer_must_be_matched_whole(key: list[str], given: list[str], right: bool) -> None:
    read = rules.read_known_answers(known(AnswerKey={"q1": key}))
    assert rules.score_known_answers(read, {"q1": given} if given else {}).correct == {"q1": right}


def test_the_documented_chart_comes_out() -> None:
    read = rules.read_plurality(plurality(QuestionIds=["A,B,C,D"], QuestionAgreementThreshold=50))
    answers = [
        {"A": ["coat"], "B": ["blue"], "C": ["large"], "D": ["Furry"]},
        {"A": ["sweater"], "B": ["blue"], "C": ["large"], "D": ["fur"]},
        {"A": ["coat"], "B": ["green"], "C": ["large"], "D": ["furr"]},
    ]
    found = rules.score_plurality(read, answers)
    assert {name: agreed and agreed.score for name, agreed in found.agreed.items()} == {
        "A": 66,
        "B": 66,
        "C": 100,
        "D": None,
    }
    assert [worker and worker.score for worker in found.workers] == [100, 66, 66]
    assert found.hit_score == 75


def test_a_tie_agrees_on_nothing() -> None:
    read = rules.read_plurality(plurality(QuestionAgreementThreshold=49))
    found = rules.score_plurality(read, [{"q1": ["a"]}, {"q1": ["b"]}])
    assert (found.agreed["q1"], found.hit_score, list(found.workers)) == (None, 0, [None, None])


def test_an_answer_above_256_characters_takes_no_part() -> None:
    read = rules.read_plurality(plurality())
    found = rules.score_plurality(read, [{"q1": ["a"]}, {"q1": ["x" * 257]}, {"q1": ["x" * 256]}])
    assert found.agreed["q1"] is None
    found = rules.score_plurality(read, [{"q1": ["a"]}, {"q1": ["x" * 257]}])
    assert found.agreed["q1"] == rules.Agreed(frozenset({"a"}), 100)
    assert list(found.workers) == [rules.WorkerScore(1, 0), None]


def test_answers_are_read_as_they_were_submitted() -> None:
    xml = answer_xml({"Q 1": ["é & <b>"], "boxes": ["A", "B"], "empty": [""]})
    assert rules.answers_of(xml) == {"Q 1": ["é & <b>"], "boxes": ["A|B"], "empty": [""]}


def test_selections_are_values_too() -> None:
    xml = (
        '<?xml version="1.0" encoding="ASCII"?><QuestionFormAnswers xmlns="urn:x"><Answer>'
        "<QuestionIdentifier>q1</QuestionIdentifier><SelectionIdentifier>A</SelectionIdentifier>"
        "<SelectionIdentifier>B</SelectionIdentifier><OtherSelectionText>more</OtherSelectionText>"
        "</Answer></QuestionFormAnswers>"
    )
    assert rules.answers_of(xml) == {"q1": ["A", "B", "more"]}


ANSWERS = st.sampled_from([[], ["a"], ["b"], [" a"], ["a", "b"], ["b|a"], ["x" * 300]])
ROWS = st.lists(st.fixed_dictionaries({"q1": ANSWERS, "q2": ANSWERS}), min_size=1, max_size=7)


@given(ROWS, st.integers(0, 101))
def test_agreement_is_what_a_second_computation_finds(rows: list[dict[str, list[str]]], threshold: int) -> None:
    read = rules.read_plurality(plurality(QuestionIds=["q1,q2"], QuestionAgreementThreshold=threshold))
    found = rules.score_plurality(read, rows)
    expected = {name: by_hand([row[name] for row in rows], threshold) for name in ("q1", "q2")}
    assert {name: agreed and (agreed.answer, agreed.score) for name, agreed in found.agreed.items()} == expected
    assert found.hit_score == sum(value is not None for value in expected.values()) * 50
    for row, worker in zip(rows, found.workers, strict=True):
        same = [plain(row[q]) == best[0] for q, best in expected.items() if best and plain(row[q]) is not None]
        assert (worker and worker.score) == (int(100 * same.count(True) / len(same)) if same else None)


def plain(values: Sequence[str]) -> frozenset[str] | None:
    if len("".join(values)) > 256:
        return None
    return frozenset(word.strip() for value in values for word in value.split("|")) - {""}


def by_hand(column: list[list[str]], threshold: int) -> tuple[frozenset[str], int] | None:
    usable = [answer for answer in map(plain, column) if answer is not None]
    shares = {answer: usable.count(answer) for answer in usable}
    winners = [answer for answer, count in shares.items() if count == max(shares.values())]
    if len(winners) != 1 or shares[winners[0]] * 100 // len(usable) <= threshold:
        return None
    return winners[0], shares[winners[0]] * 100 // len(usable)


@given(st.dictionaries(st.sampled_from("abc"), ANSWERS), st.dictionaries(st.sampled_from("abc"), ANSWERS, min_size=1))
def test_the_known_answer_score_is_the_share_of_matches(given: dict[str, Any], key: dict[str, Any]) -> None:
    read = rules.read_known_answers(known(AnswerKey=key))
    tidy = {q: {w.strip() for v in given.get(q, []) for w in v.split("|")} - {""} for q in key}
    right = [q for q in key if tidy[q] == {w.strip() for v in key[q] for w in v.split("|")} - {""}]
    assert rules.score_known_answers(read, given).score == 100 * len(right) // len(key)
