import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from marketplace.rules.errors import FormFaults, ParameterValidationError
from marketplace.rules.questions.form_answers import ANSWERS, form_answers_xml, read_form
from marketplace.rules.questions.form_model import Answer
from marketplace.rules.questions.form_parser import NAMESPACES, parse_form
from marketplace.rules.questions.xml import ascii_xml

NEW, OLD = NAMESPACES


def form_xml(*parts: str, namespace: str = NEW) -> str:
    return f'<QuestionForm xmlns="{namespace}">{"".join(parts)}</QuestionForm>'


def question(answer: str, identifier: str = "q", more: str = "", content: str = "<Text>What?</Text>") -> str:
    return (
        f"<Question><QuestionIdentifier>{identifier}</QuestionIdentifier>{more}"
        f"<QuestionContent>{content}</QuestionContent>"
        f"<AnswerSpecification>{answer}</AnswerSpecification></Question>"
    )


REQUIRED = "<IsRequired>true</IsRequired>"
TEXT = "<FreeTextAnswer/>"


def text_with(constraints: str) -> str:
    return f"<FreeTextAnswer><Constraints>{constraints}</Constraints></FreeTextAnswer>"


def choices(*names: str, before: str = "", other: str = "") -> str:
    listed = "".join(
        f"<Selection><SelectionIdentifier>{name}</SelectionIdentifier><Text>{name.upper()}</Text></Selection>"
        for name in names
    )
    return f"<SelectionAnswer>{before}<Selections>{listed}{other}</Selections></SelectionAnswer>"


def read(answer: str, data: Mapping[str, list[str]], more: str = REQUIRED) -> Answer:
    (found,) = read_form(parse_form(form_xml(question(answer, more=more))), data)
    return found


def fault_of(answer: str, data: Mapping[str, list[str]], more: str = REQUIRED) -> str:
    with pytest.raises(FormFaults) as caught:
        read(answer, data, more)
    return caught.value.faults["q"]


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_both_versions_are_read_with_all_their_content(namespace: str) -> None:
    content = (
        "<Title>T</Title><Text> kept  as it is </Text><List><ListItem>one</ListItem></List>"
        "<Binary><MimeType><Type>image</Type><SubType>png</SubType></MimeType>"
        "<DataURL>https://a.example/x.png</DataURL><AltText>a cat</AltText></Binary>"
        "<FormattedContent><![CDATA[<b>bold</b>&nbsp;<br/>]]></FormattedContent>"
    )
    form = parse_form(form_xml(f"<Overview>{content}</Overview>", question(TEXT), namespace=namespace))
    blocks = form.parts[0].content
    assert [block.kind for block in blocks] == ["title", "text", "list", "image", "markup"]
    assert blocks[1].text == " kept  as it is "
    assert blocks[4].markup == "<b>bold</b>\xa0<br>"


REFUSED = {
    "text between": form_xml("loose", question(TEXT)),
    "at least one <Question>": form_xml("<Overview><Text>x</Text></Overview>"),
    "<Widget> is not allowed": form_xml("<Widget/>"),
    "has no <QuestionContent>": form_xml(
        "<Question><QuestionIdentifier>q</QuestionIdentifier><AnswerSpecification/></Question>"
    ),
    "used more than once": form_xml(question(TEXT), question(TEXT)),
    "is reserved": form_xml(question(TEXT, "assignmentId")),
    "<FileUploadAnswer> is no longer": form_xml(question("<FileUploadAnswer/>"), namespace=OLD),
    "<Application> is no longer": form_xml("<Overview><Application/></Overview>", question(TEXT), namespace=OLD),
    "must hold its markup as CDATA": form_xml(question(TEXT, content="<FormattedContent><b>x</b></FormattedContent>")),
    "<script> is not allowed": form_xml(
        question(TEXT, content="<FormattedContent><![CDATA[<script>x</script>]]></FormattedContent>")
    ),
    "attribute onclick": form_xml(
        question(TEXT, content='<FormattedContent><![CDATA[<b onclick="x">y</b>]]></FormattedContent>')
    ),
    "must be a whole address": form_xml(
        question(TEXT, content='<FormattedContent><![CDATA[<a href="javascript:x">y</a>]]></FormattedContent>')
    ),
    "document type": f'<!DOCTYPE a [<!ENTITY x "y">]>{form_xml(question(TEXT))}',
    "not an expression that works": form_xml(question(text_with('<AnswerFormatRegex regex="(a"/>'))),
    "do not fit": form_xml(question(choices("a", before="<MinSelectionCount>3</MinSelectionCount>"))),
    "expected one of": form_xml(question(choices("a", before="<StyleSuggestion>slider</StyleSuggestion>"))),
    "no answer can have": form_xml(question(text_with('<Length minLength="9" maxLength="3"/>'))),
    "is above": form_xml(question(text_with('<IsNumeric minValue="9" maxValue="3"/>'))),
    "at most 65535": form_xml(question(TEXT, content=f"<Text>{'x' * 66_000}</Text>")),
    "expected <QuestionForm>": form_xml(question(TEXT), namespace="https://elsewhere.example"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_form_that_would_not_work_is_refused_with_the_reason(why: str) -> None:
    with pytest.raises(ParameterValidationError, match=why):
        parse_form(REFUSED[why])


def test_every_answer_is_there_in_the_forms_order() -> None:
    xml = form_xml(question(TEXT, "b"), question(choices("x", "y", other="<OtherSelection/>"), "a"))
    answers = read_form(parse_form(xml), {"a": ["y"], "b": ["Zoë\r\n]]>"]})
    assert form_answers_xml(answers) == (
        f'<?xml version="1.0" encoding="ASCII"?><QuestionFormAnswers xmlns="{ANSWERS}">'
        "<Answer><QuestionIdentifier>b</QuestionIdentifier><FreeText>Zo&#235;\n]]&gt;</FreeText></Answer>"
        "<Answer><QuestionIdentifier>a</QuestionIdentifier><SelectionIdentifier>y</SelectionIdentifier></Answer>"
        "</QuestionFormAnswers>"
    )
    other = read_form(parse_form(xml), {"a": [""], "a.other": ["mine"]})
    assert "<OtherSelectionText>mine</OtherSelectionText>" in form_answers_xml(other)


@pytest.mark.parametrize(
    ("constraint", "good", "bad"),
    [
        ('<IsNumeric minValue="1" maxValue="9.5"/>', ["1", " 9.5 ", "+3"], ["0", "9.6", "x", "1e1", "٣", "--1"]),
        ('<Length minLength="2" maxLength="3"/>', ["ab", "a\r\nb", "👩🏽x"], ["a", "abcd"]),
        (r'<AnswerFormatRegex regex="^\d{4}$"/>', ["1999"], ["1999\n", "١٩٩٩", "x1999"]),
        ('<AnswerFormatRegex regex="^ab$" flags="i"/>', ["AB"], ["abc"]),
        (r'<AnswerFormatRegex regex="^[\w/$[]+$"/>', ["a/$["], ["é"]),
    ],
)
def test_the_constraints_of_a_text_are_checked_again(constraint: str, good: list[str], bad: list[str]) -> None:
    for text in good:
        assert read(text_with(constraint), {"q": [text]}).text is not None
    for text in bad:
        assert fault_of(text_with(constraint), {"q": [text]})


def test_the_requesters_own_sentence_is_said() -> None:
    wanted = text_with('<AnswerFormatRegex regex="^a$" errorText="One a, please."/>')
    assert fault_of(wanted, {"q": ["b"]}) == "One a, please."


def test_an_expression_that_never_ends_holds_up_nobody() -> None:
    slow = text_with('<AnswerFormatRegex regex="^(a|aa)+$"/>')
    form = parse_form(form_xml(*(question(slow, f"q{number}") for number in range(100))))
    started = time.monotonic()
    answers = read_form(form, {f"q{number}": ["a" * 60_000 + "b"] for number in range(100)})
    assert len(answers) == 100 and time.monotonic() - started < 600


def test_what_is_not_required_may_stay_empty_and_what_is_may_not() -> None:
    wanted = text_with('<Length minLength="5"/>')
    assert read(wanted, {}, more="").text == ""
    assert fault_of(wanted, {"q": ["  "]}) == "Answer this question."
    assert read(choices("a", "b"), {}, more="") == Answer("q")
    assert fault_of(choices("a", "b"), {}) == "Answer this question."


def test_selections_are_counted_and_must_be_offered() -> None:
    two = choices("a", "b", "c", before="<MinSelectionCount>2</MinSelectionCount>", other="<OtherSelection/>")
    assert read(two, {"q": ["c", "a"]}).selections == ("a", "c")
    assert read(two, {"q": ["a"], "q.other": ["d"]}) == Answer("q", None, ("a",), "d")
    assert fault_of(two, {"q": ["a"]}) == "Choose at least 2; 1 chosen."
    assert fault_of(two, {"q": ["a", "b", "c"]}) == "Choose at most 2; 3 chosen."
    assert fault_of(two, {"q": ["a", "z"]}) == "Choose from what is offered."
    one = choices("a", other="<OtherSelection/>")
    assert fault_of(one, {"q": ["a"], "q.other": ["mine"]}) == "Choose one of the answers, or write your own, not both."
    assert fault_of(choices("a"), {"q": [], "q.other": ["mine"]}) == "Answer this question."


@given(st.dictionaries(st.sampled_from(["t", "s", "s.other", "m"]), st.lists(st.text(max_size=8), max_size=3)))
def test_whatever_is_sent_is_refused_or_read_back(data: dict[str, list[str]]) -> None:
    form = parse_form(
        form_xml(
            question(text_with('<Length maxLength="6"/>'), "t"),
            question(choices("a", "b", other="<OtherSelection/>"), "s"),
            question(choices("a", "b", before="<MaxSelectionCount>2</MaxSelectionCount>"), "m"),
        )
    )
    try:
        answers = read_form(form, data)
    except FormFaults as refusal:
        assert refusal.faults.keys() <= {"t", "s", "m"}
        return
    root = etree.fromstring(form_answers_xml(answers).encode())
    names = [node.text for node in root.iter(f"{{{ANSWERS}}}QuestionIdentifier")]
    assert names == ["t", "s", "m"]
    for answer, node in zip(answers, root, strict=True):
        kept: list[Any] = [child.text or "" for child in node[1:]]
        said = [answer.text] if answer.text is not None else [*answer.selections, *filter(None, [answer.other])]
        assert kept == [etree.fromstring(f"<a>{ascii_xml(text)}</a>").text or "" for text in said]
