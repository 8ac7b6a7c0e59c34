"""Answer keys: read strictly, fitted to their test, scored as an independent reckoning says."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.rules.answer_key import NAMESPACE, check_fits, grade, parse_answer_key
from marketplace.rules.errors import ParameterValidationError
from marketplace.rules.questions.form_model import Answer
from marketplace.rules.questions.form_parser import parse_form

FORM = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2017-11-06/QuestionForm.xsd"


def question(name: str, options: dict[str, int], default: int | None = None) -> str:
    """`options` has selections, joined by a plus sign, and what they score."""
    written = "".join(
        "<AnswerOption>"
        + "".join(f"<SelectionIdentifier>{each}</SelectionIdentifier>" for each in chosen.split("+"))
        + f"<AnswerScore>{score}</AnswerScore></AnswerOption>"
        for chosen, score in options.items()
    )
    rest = "" if default is None else f"<DefaultScore>{default}</DefaultScore>"
    return f"<Question><QuestionIdentifier>{name}</QuestionIdentifier>{written}{rest}</Question>"


def key(*questions: str, mapping: str = "") -> str:
    wrapped = f"<QualificationValueMapping>{mapping}</QualificationValueMapping>" if mapping else ""
    return f'<AnswerKey xmlns="{NAMESPACE}">{"".join(questions)}{wrapped}</AnswerKey>'


def percent(maximum: Any) -> str:
    return f"<PercentageMapping><MaximumSummedScore>{maximum}</MaximumSummedScore></PercentageMapping>"


def scale(multiplier: Any) -> str:
    return f"<ScaleMapping><SummedScoreMultiplier>{multiplier}</SummedScoreMultiplier></ScaleMapping>"


def ranges(*steps: tuple[int, int, int], otherwise: int = 0) -> str:
    written = "".join(
        f"<SummedScoreRange><InclusiveLowerBound>{low}</InclusiveLowerBound><InclusiveUpperBound>{high}"
        f"</InclusiveUpperBound><QualificationValue>{value}</QualificationValue></SummedScoreRange>"
        for low, high, value in steps
    )
    last = f"<OutOfRangeQualificationValue>{otherwise}</OutOfRangeQualificationValue>"
    return f"<RangeMapping>{written}{last}</RangeMapping>"


def form(**selections: str) -> str:
    """A test that asks for selections (their letters), or for a text (an empty string)."""
    asked = ""
    for name, letters in selections.items():
        offered = "".join(
            f"<Selection><SelectionIdentifier>{letter}</SelectionIdentifier><Text>{letter}</Text></Selection>"
            for letter in letters
        )
        answer = f"<SelectionAnswer><MaxSelectionCount>{len(letters)}</MaxSelectionCount><Selections>{offered}"
        answer += "</Selections></SelectionAnswer>"
        asked += (
            f"<Question><QuestionIdentifier>{name}</QuestionIdentifier><QuestionContent><Text>{name}?</Text>"
            f"</QuestionContent><AnswerSpecification>{answer if letters else '<FreeTextAnswer/>'}"
            "</AnswerSpecification></Question>"
        )
    return f'<QuestionForm xmlns="{FORM}">{asked}</QuestionForm>'


TWO = (question("move", {"D": 5}), question("fruit", {"A+B": 10, "A": 4}, default=-2))


@pytest.mark.parametrize(
    ("mapping", "move", "fruit", "value"),
    [
        ("", "D", "AB", 15),
        ("", "D", "BA", 15),
        ("", "D", "A", 9),
        ("", "C", "AB", 10),
        ("", "C", "ABC", -2),
        ("", "D", "", 3),
        ("", "CD", "AB", 10),
        (percent(15), "D", "AB", 100),
        (percent(15), "D", "A", 60),
        (percent(15), "C", "AB", 67),
        (percent(8), "D", "", 38),
        (percent(15), "C", "B", -13),
        (percent(10), "D", "AB", 150),
        (scale(3), "D", "AB", 45),
        (scale("0.1"), "D", "AB", 2),
        (scale("-1"), "D", "AB", -15),
        (ranges((5, 7, 50), (8, 15, 90)), "D", "AB", 90),
        (ranges((5, 7, 50), (8, 15, 90)), "D", "A", 90),
        (ranges((8, 15, 90), (5, 7, 50), otherwise=7), "D", "", 7),
        (ranges((15, 15, 1)), "D", "AB", 1),
        (ranges((16, 99, 1), otherwise=-1), "D", "AB", -1),
    ],
)
def test_it_scores_exact_selections_and_maps_the_sum(mapping: str, move: str, fruit: str, value: int) -> None:
    answers = [Answer("move", None, tuple(move)), Answer("fruit", None, tuple(fruit))]
    assert grade(parse_answer_key(key(*TWO, mapping=mapping)), answers) == value


def test_what_is_written_beside_the_selections_prevents_the_match() -> None:
    alone = parse_answer_key(key(question("q", {"A": 1})))
    assert grade(alone, [Answer("q", None, ("A",))]) == 1
    assert grade(alone, [Answer("q", None, ("A",), "and more")]) == 0


@pytest.mark.parametrize(
    ("xml", "words"),
    [
        ("<AnswerKey", "error parsing"),
        ("<AnswerKey/>", "in the namespace ''"),
        (key(), "at least one <Question>"),
        (f'<!DOCTYPE a [<!ENTITY x "1">]>{key(*TWO)}', "document type or entity"),
        (key(*TWO).replace("</AnswerKey>", "x</AnswerKey>"), "text between the elements"),
        (key(question("q", {"A": 1}), question("q", {"B": 1})), "two questions 'q'"),
        (key(question("q", {"A+B": 1, "B+A": 2})), "same selections: A, B"),
        (key(question("q", {})), "one or more <AnswerOption>"),
        (key(question("", {"A": 1})), "<QuestionIdentifier> is empty"),
        (key(question("q", {"A": 1})).replace(">1<", ">1.5<"), "AnswerScore is '1.5'"),
        (key(question("q", {"A": 10**9})), "at most 9 digits"),
        (key(*TWO, mapping=percent(0)), "at least 1"),
        (key(*TWO, mapping=scale("1e3")), "must be a decimal number"),
        (key(*TWO, mapping=scale(10**9 - 1)), "do not fit into 32 bits"),
        (key(*TWO, mapping=ranges()), "one or more <SummedScoreRange>"),
        (key(*TWO, mapping=ranges((7, 5, 1))), "begins at 7 and ends at 5"),
        (key(*TWO, mapping=ranges((1, 5, 1), (5, 9, 2))), "overlap at 5"),
        (key(*TWO, mapping=percent(5) + scale(2)), "exactly one mapping"),
        (key(*TWO, mapping="<Curve/>"), "<Curve> is not allowed"),
        (key(question("q" * 66_000, {"A": 1})), "at most 65535"),
    ],
)
def test_it_refuses_a_key_that_cannot_be_read(xml: str, words: str) -> None:
    with pytest.raises(ParameterValidationError, match="AnswerKey|error parsing") as refusal:
        parse_answer_key(xml)
    assert words in refusal.value.message


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"move": "CD"}, "'fruit', which the Test does not ask"),
        ({"move": "CD", "fruit": ""}, "only answers by selection"),
        ({"move": "AB", "fruit": "AB"}, "selection 'D' of the question 'move'"),
    ],
)
def test_it_refuses_a_key_of_another_test(asked: dict[str, str], words: str) -> None:
    with pytest.raises(ParameterValidationError) as refusal:
        check_fits(parse_answer_key(key(*TWO)), parse_form(form(**asked)))
    assert words in refusal.value.message


def test_questions_without_a_key_are_not_scored() -> None:
    check_fits(parse_answer_key(key(*TWO)), parse_form(form(move="CD", fruit="AB", remark="")))


LETTERS = st.sets(st.sampled_from("ABC"), min_size=1).map(lambda chosen: "+".join(sorted(chosen)))
QUESTION = st.tuples(
    st.dictionaries(LETTERS, st.integers(-50, 50), min_size=1, max_size=5), st.none() | st.integers(-9, 9)
)
MAPPINGS = st.one_of(
    st.just(("sum", 0)),
    st.tuples(st.just("percent"), st.integers(1, 200)),
    st.tuples(st.just("scale"), st.decimals(-20, 20, places=2)),
    st.tuples(st.just("range"), st.lists(st.tuples(st.integers(-60, 60), st.integers(-99, 99)), min_size=1)),
)


def expected(total: int, kind: str, detail: Any) -> int:
    """The documented value, reckoned with decimals; a half rounds upwards."""
    if kind == "sum":
        return total
    if kind == "range":
        return next((value for low, value in detail if low * 3 <= total <= low * 3 + 2), 1000)
    exact = Decimal(100 * total) / Decimal(detail) if kind == "percent" else Decimal(total) * detail
    shifted = exact + 10**6
    return int(shifted.quantize(Decimal(1), ROUND_HALF_UP)) - 10**6


@given(st.lists(QUESTION, min_size=1, max_size=5), st.lists(st.sets(st.sampled_from("ABC")), min_size=5), MAPPINGS)
def test_any_answers_are_worth_what_an_independent_reckoning_says(
    questions: list[Any], chosen: list[set[str]], mapping: Any
) -> None:
    kind, detail = mapping
    if kind == "range":
        detail = list(dict(detail).items())
    written = {
        "sum": lambda: "",
        "percent": lambda: percent(detail),
        "scale": lambda: scale(f"{detail:.2f}"),
        "range": lambda: ranges(*((low * 3, low * 3 + 2, value) for low, value in detail), otherwise=1000),
    }[kind]()
    xml = key(*(question(f"q{i}", *each) for i, each in enumerate(questions)), mapping=written)
    total = 0
    for (options, default), picked in zip(questions, chosen, strict=False):
        total += options.get("+".join(sorted(picked)), default or 0)
    answers = [Answer(f"q{i}", None, tuple(picked)) for i, picked in enumerate(chosen)]
    assert grade(parse_answer_key(xml), answers) == expected(total, kind, detail)
