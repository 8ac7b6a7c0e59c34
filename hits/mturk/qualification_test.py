"""The XML of a qualification test: a QuestionForm with one choice a question, and the AnswerKey that grades it.

Pure. Texts are escaped, so that nothing in them becomes markup; they must not hold control characters, for XML has no
place for those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from hits.mturk.question import QUESTION_FORM

ANSWER_KEY = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/AnswerKey.xsd"
# Of Test and of AnswerKey each.
MOST_BYTES = 65_535


@dataclass(frozen=True)
class Question:
    """`text` is a passage to read before, or empty; `right` the index of the right choice, from 0."""

    text: str
    question: str
    choices: Sequence[str]
    right: int


def question_form(title: str, paragraphs: Sequence[str], questions: Sequence[Question]) -> str:
    """The Test. Raises ValueError, and ValueError for a text that XML cannot hold."""
    asked = "".join(_asked(number, question) for number, question in enumerate(questions, start=1))
    return _checked(
        f'<QuestionForm xmlns="{QUESTION_FORM}"><Overview><Title>{escape(title)}</Title>{_texts(paragraphs)}</Overview>'
        f"{asked}</QuestionForm>"
    )


def _asked(number: int, question: Question) -> str:
    choices = "".join(
        f"<Selection><SelectionIdentifier>{_choice(index)}</SelectionIdentifier><Text>{escape(text)}</Text></Selection>"
        for index, text in enumerate(question.choices)
    )
    return (
        f"<Question><QuestionIdentifier>{_name(number)}</QuestionIdentifier><IsRequired>true</IsRequired>"
        f"<QuestionContent>{_texts([*_paragraphs(question.text), question.question])}</QuestionContent>"
        "<AnswerSpecification><SelectionAnswer><MinSelectionCount>1</MinSelectionCount>"
        "<MaxSelectionCount>1</MaxSelectionCount><StyleSuggestion>radiobutton</StyleSuggestion>"
        f"<Selections>{choices}</Selections></SelectionAnswer></AnswerSpecification></Question>"
    )


def answer_key(questions: Sequence[Question]) -> str:
    """The AnswerKey: one point for each right choice; the qualification's value is their share in percent."""
    scored = "".join(
        f"<Question><QuestionIdentifier>{_name(number)}</QuestionIdentifier><AnswerOption>"
        f"<SelectionIdentifier>{_choice(question.right)}</SelectionIdentifier><AnswerScore>1</AnswerScore>"
        "</AnswerOption><DefaultScore>0</DefaultScore></Question>"
        for number, question in enumerate(questions, start=1)
    )
    return _checked(
        f'<AnswerKey xmlns="{ANSWER_KEY}">{scored}<QualificationValueMapping><PercentageMapping>'
        f"<MaximumSummedScore>{len(questions)}</MaximumSummedScore></PercentageMapping></QualificationValueMapping>"
        "</AnswerKey>"
    )


def _paragraphs(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _texts(paragraphs: Sequence[str]) -> str:
    return "".join(f"<Text>{escape(paragraph)}</Text>" for paragraph in paragraphs)


def _name(number: int) -> str:
    return f"q{number}"


def _choice(index: int) -> str:
    return f"c{index}"


def _checked(xml: str) -> str:
    if any(ord(char) < 32 and char not in "\t\n" or char in "\ufffe\uffff" for char in xml):
        raise ValueError("The test holds control characters, which XML cannot hold. Take them out.")
    size = len(xml.encode())
    if size > MOST_BYTES:
        raise ValueError(
            f"The test has {size:,} bytes as the marketplace takes it; at most {MOST_BYTES:,} are allowed. "
            "Take out questions or shorten passages."
        )
    return xml
