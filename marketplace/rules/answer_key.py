"""Answer keys: the score of a qualification test, and the value that follows from it. Pure.

The documented rules: a worker earns the score of the option whose selections are exactly the
worker's, else the question's default score; the sum is mapped to the value of the qualification.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Protocol
from xml.etree.ElementTree import Element

from marketplace.rules.errors import ParameterValidationError
from marketplace.rules.questions.form_model import Answer, Form, Selection
from marketplace.rules.questions.xml import SCHEMAS, Reader, fault, parse

NAMESPACE = SCHEMAS + "2005-10-01/AnswerKey.xsd"
# What the worker wrote beside the selections: no key can name it, so that no option matches.
_OTHER = ""
_LARGEST_VALUE = 2**31 - 1
_INTEGER = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)
_DECIMAL = re.compile(r"[+-]?[0-9]{1,9}(\.[0-9]{1,9})?", re.ASCII)
_read = Reader(NAMESPACE)


class ValueMapping(Protocol):
    def value(self, total: int) -> int:
        """The value of the qualification for a summed score."""


@dataclass(frozen=True)
class Percentage:
    """The share of `maximum`, in percent, rounded to the nearest whole number, a half upwards."""

    maximum: int

    def value(self, total: int) -> int:
        return _nearest(Fraction(100 * total, self.maximum))


@dataclass(frozen=True)
class Scale:
    """The sum times `multiplier`, rounded to the nearest whole number, a half upwards."""

    multiplier: Fraction

    def value(self, total: int) -> int:
        return _nearest(total * self.multiplier)


@dataclass(frozen=True)
class Ranges:
    """`steps` are (lower bound, upper bound, value), bounds included; they do not overlap."""

    steps: tuple[tuple[int, int, int], ...]
    otherwise: int

    def value(self, total: int) -> int:
        return next((value for low, high, value in self.steps if low <= total <= high), self.otherwise)


@dataclass(frozen=True)
class KeyQuestion:
    identifier: str
    options: Mapping[frozenset[str], int]
    default: int

    def score(self, chosen: Collection[str]) -> int:
        return self.options.get(frozenset(chosen), self.default)


@dataclass(frozen=True)
class AnswerKey:
    questions: tuple[KeyQuestion, ...]
    mapping: ValueMapping

    def value(self, answers: Mapping[str, Collection[str]]) -> int:
        """The value that these answers (question identifier to selections) are worth."""
        return self.mapping.value(
            sum(question.score(answers.get(question.identifier, ())) for question in self.questions)
        )


def parse_answer_key(xml: str) -> AnswerKey:
    """Read an AnswerKey. Raises ParameterValidationError, also when a value could leave 32 bits."""
    root = parse(xml, "AnswerKey")
    if _read.name(root) != "AnswerKey":
        raise fault(f"The root is <{_read.name(root)}>; expected <AnswerKey>.")
    children = _read.children(root, ["Question", "QualificationValueMapping"])
    questions = tuple(_question(child) for name, child in children if name == "Question")
    mappings = [child for name, child in children if name != "Question"]
    if not questions:
        raise fault("An <AnswerKey> holds at least one <Question>.")
    if len(mappings) > 1 or (mappings and children[-1][1] is not mappings[0]):
        raise fault("An <AnswerKey> holds one <QualificationValueMapping> at most, behind its questions.")
    _refuse_repeated([question.identifier for question in questions])
    key = AnswerKey(questions, _mapping(mappings[0]) if mappings else Scale(Fraction(1)))
    _check_size(key)
    return key


def check_fits(key: AnswerKey, form: Form) -> None:
    """Refuse a key that speaks of what its test does not ask; questions without a key are not scored.

    Raises ParameterValidationError.
    """
    asked = {question.identifier: question.answer for question in form.questions}
    for question in key.questions:
        name = question.identifier
        if name not in asked:
            raise ParameterValidationError(f"The AnswerKey scores the question '{name}', which the Test does not ask.")
        answer = asked[name]
        if not isinstance(answer, Selection):
            raise ParameterValidationError(
                f"The AnswerKey scores the question '{name}', but only answers by selection can be scored."
            )
        offered = {choice.identifier for choice in answer.choices}
        unknown = sorted({each for option in question.options for each in option} - offered)
        if unknown:
            raise ParameterValidationError(
                f"The AnswerKey names the selection '{unknown[0]}' of the question '{name}', "
                "which the Test does not offer."
            )


def grade(key: AnswerKey, answers: Iterable[Answer]) -> int:
    """The value that a worker's answers are worth."""
    return key.value({answer.identifier: _chosen(answer) for answer in answers})


def _chosen(answer: Answer) -> tuple[str, ...]:
    return (*answer.selections, _OTHER) if answer.other else answer.selections


def _nearest(number: Fraction) -> int:
    return floor(number + Fraction(1, 2))


def _question(element: Element) -> KeyQuestion:
    identifier, options, default = "", dict[frozenset[str], int](), 0
    children = _read.children(element, ["QuestionIdentifier", "AnswerOption", "DefaultScore"])
    names = [name for name, _ in children]
    if names.count("QuestionIdentifier") != 1 or names.count("DefaultScore") > 1 or "AnswerOption" not in names:
        raise fault(
            "A <Question> of an <AnswerKey> holds one <QuestionIdentifier>, one or more <AnswerOption> "
            "and at most one <DefaultScore>."
        )
    for name, child in children:
        if name == "QuestionIdentifier":
            identifier = _identifier(child)
        elif name == "DefaultScore":
            default = _integer(child)
        else:
            chosen, score = _option(child)
            if chosen in options:
                raise fault(f"Two <AnswerOption> name the same selections: {', '.join(sorted(chosen))}.")
            options[chosen] = score
    return KeyQuestion(identifier, options, default)


def _option(element: Element) -> tuple[frozenset[str], int]:
    children = _read.children(element, ["SelectionIdentifier", "AnswerScore"])
    chosen = [_identifier(child) for name, child in children if name == "SelectionIdentifier"]
    scores = [_integer(child) for name, child in children if name == "AnswerScore"]
    if not chosen or len(scores) != 1:
        raise fault("An <AnswerOption> holds one or more <SelectionIdentifier> and one <AnswerScore>.")
    return frozenset(chosen), scores[0]


def _mapping(element: Element) -> ValueMapping:
    kinds = {"PercentageMapping": _percentage, "ScaleMapping": _scale, "RangeMapping": _ranges}
    children = _read.children(element, kinds)
    if len(children) != 1:
        raise fault("A <QualificationValueMapping> holds exactly one mapping.")
    name, child = children[0]
    return kinds[name](child)


def _percentage(element: Element) -> ValueMapping:
    maximum = _integer(_read.record(element, ["MaximumSummedScore"])["MaximumSummedScore"])
    if maximum < 1:
        raise fault("MaximumSummedScore must be at least 1.")
    return Percentage(maximum)


def _scale(element: Element) -> ValueMapping:
    text = _read.word(_read.record(element, ["SummedScoreMultiplier"])["SummedScoreMultiplier"])
    if not _DECIMAL.fullmatch(text):
        raise fault(f"SummedScoreMultiplier is '{text[:40]}'; it must be a decimal number.")
    return Scale(Fraction(text))


def _ranges(element: Element) -> ValueMapping:
    children = _read.children(element, ["SummedScoreRange", "OutOfRangeQualificationValue"])
    steps = tuple(sorted(_step(child) for name, child in children if name == "SummedScoreRange"))
    otherwise = [_integer(child) for name, child in children if name == "OutOfRangeQualificationValue"]
    if not steps or len(otherwise) != 1:
        raise fault("A <RangeMapping> holds one or more <SummedScoreRange> and one <OutOfRangeQualificationValue>.")
    for (_, high, _), (low, _, _) in zip(steps, steps[1:], strict=False):
        if low <= high:
            raise fault(f"Two <SummedScoreRange> overlap at {low}.")
    return Ranges(steps, otherwise[0])


def _step(element: Element) -> tuple[int, int, int]:
    names = ("InclusiveLowerBound", "InclusiveUpperBound", "QualificationValue")
    found = _read.record(element, names)
    low, high, value = (_integer(found[name]) for name in names)
    if low > high:
        raise fault(f"A <SummedScoreRange> begins at {low} and ends at {high}.")
    return low, high, value


def _identifier(element: Element) -> str:
    text = _read.word(element)
    if not text:
        raise fault(f"<{_read.name(element)}> is empty.")
    return text


def _integer(element: Element) -> int:
    text = _read.word(element)
    if not _INTEGER.fullmatch(text):
        raise fault(f"{_read.name(element)} is '{text[:40]}'; it must be a whole number of at most 9 digits.")
    return int(text)


def _refuse_repeated(identifiers: Collection[str]) -> None:
    seen = set[str]()
    for identifier in identifiers:
        if identifier in seen:
            raise fault(f"The <AnswerKey> has two questions '{identifier}'.")
        seen.add(identifier)


def _check_size(key: AnswerKey) -> None:
    """The mappings grow or fall steadily, or have listed values: the ends of the sum show the largest value."""
    ends = (
        sum(pick((*question.options.values(), question.default)) for question in key.questions) for pick in (min, max)
    )
    if any(abs(key.mapping.value(total)) > _LARGEST_VALUE for total in ends):
        raise fault("The values that this key can give do not fit into 32 bits.")
