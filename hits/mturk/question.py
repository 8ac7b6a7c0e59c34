"""The XML documents of the wire that this side writes and reads."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from defusedxml import ElementTree

from common.cutting import bounded

EXTERNAL_QUESTION = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
HTML_QUESTION = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"
QUESTION_FORM = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2017-11-06/QuestionForm.xsd"
ANSWERS = "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd}"


def external_question(url: str, frame_height: int = 0) -> str:
    """An ExternalQuestion; `frame_height` in pixels, 0 lets the marketplace fit the frame."""
    return (
        f'<ExternalQuestion xmlns="{EXTERNAL_QUESTION}">'
        f"<ExternalURL>{escape(url)}</ExternalURL><FrameHeight>{frame_height}</FrameHeight></ExternalQuestion>"
    )


def html_question(html: str, frame_height: int = 0) -> str:
    """An HTMLQuestion: a page that the marketplace shows itself; `frame_height` in pixels, 0 lets it fit the frame."""
    content = html.replace("]]>", "]]]]><![CDATA[>")
    return (
        f'<HTMLQuestion xmlns="{HTML_QUESTION}"><HTMLContent><![CDATA[{content}]]></HTMLContent>'
        f"<FrameHeight>{frame_height}</FrameHeight></HTMLQuestion>"
    )


def one_choice_form(title: str, paragraphs: Sequence[str], question: str, choice: str) -> str:
    """A QuestionForm that the marketplace shows itself: words, and one choice that has to be made."""
    words = "".join(f"<Text>{escape(paragraph)}</Text>" for paragraph in paragraphs)
    return (
        f'<QuestionForm xmlns="{QUESTION_FORM}"><Overview><Title>{escape(title)}</Title>{words}</Overview>'
        "<Question><QuestionIdentifier>choice</QuestionIdentifier><IsRequired>true</IsRequired>"
        f"<QuestionContent><Text>{escape(question)}</Text></QuestionContent><AnswerSpecification><SelectionAnswer>"
        "<MinSelectionCount>1</MinSelectionCount><StyleSuggestion>radiobutton</StyleSuggestion><Selections><Selection>"
        f"<SelectionIdentifier>yes</SelectionIdentifier><Text>{escape(choice)}</Text></Selection></Selections>"
        "</SelectionAnswer></AnswerSpecification></Question></QuestionForm>"
    )


def read_answers(xml: str) -> dict[str, str]:
    """Form field to text. A field that came several times is joined by `|`, as the requester site did.

    An answer that is longer than any task takes is cut: whoever knows an assignment may post whatever is taken there.
    """
    found: dict[str, list[str]] = {}
    # The document declares ASCII, and a str with a declaration is refused: hand over bytes.
    for answer in ElementTree.fromstring(xml.encode()).iter(f"{ANSWERS}Answer"):
        name = answer.findtext(f"{ANSWERS}QuestionIdentifier", "")
        value = answer.findtext(f"{ANSWERS}FreeText", "")
        found.setdefault(name, []).append(value)
    return bounded({name: "|".join(values) for name, values in found.items()})
