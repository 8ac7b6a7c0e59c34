from xml.dom import minidom

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from marketplace.rules.errors import ParameterValidationError
from marketplace.rules.question import ANSWERS, RESERVED_FIELDS, answer_xml, frame_url, parse_external
from tests.marketplace.conftest import QUESTION

LONE_SURROGATES = st.characters(exclude_categories=["Cs"])
ALLOWED = st.text(LONE_SURROGATES, max_size=40)


def test_an_external_question_names_its_page_and_height() -> None:
    parsed = parse_external(QUESTION, [])
    assert (parsed.url, parsed.frame_height) == ("https://tasks.example.org/frame?item=1&v=2", 600)


def test_a_declaration_and_comments_are_taken() -> None:
    xml = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- by a tool -->\n' + QUESTION
    assert parse_external(xml, []).frame_height == 600


@pytest.mark.parametrize(
    ("address", "joined"),
    [
        ("https://a.b/", "https://a.b/?assignmentId=3A&hitId=3H&workerId=AW&turkSubmitTo=http%3A%2F%2Fc%3A8001"),
        (
            "https://a.b/?x=1#top",
            "https://a.b/?x=1&assignmentId=3A&hitId=3H&workerId=AW&turkSubmitTo=http%3A%2F%2Fc%3A8001#top",
        ),
    ],
)
def test_the_frame_gets_who_and_where_to(address: str, joined: str) -> None:
    assert frame_url(address, "3H", "3A", "AW", "http://c:8001") == joined


def test_a_preview_names_no_worker() -> None:
    assert frame_url("https://a.b/", "3H") == "https://a.b/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=3H"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST.", "[::1]", "0.0.0.0", "app.localhost"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_no_page_is_taken_from_the_workers_own_machine(scheme: str, host: str) -> None:
    xml = QUESTION.replace("https://tasks.example.org", f"{scheme}://{host}")
    with pytest.raises(ParameterValidationError, match="https|own machine"):
        parse_external(xml, [])


def test_a_laptop_takes_pages_from_itself() -> None:
    xml = QUESTION.replace("https://tasks.example.org", "http://localhost:8000")
    assert parse_external(xml, ["127.0.0.1", "localhost"]).url.startswith("http://localhost:8000/")


def test_an_answer_is_one_line_of_ascii() -> None:
    xml = answer_xml({"assignmentId": ["3A"], "q": ["Zoë & <b>"], "boxes": ["1", "2"], "empty": [""]})
    assert xml == (
        f'<?xml version="1.0" encoding="ASCII"?><QuestionFormAnswers xmlns="{ANSWERS}">'
        "<Answer><QuestionIdentifier>q</QuestionIdentifier><FreeText>Zo&#235; &amp; &lt;b&gt;</FreeText></Answer>"
        "<Answer><QuestionIdentifier>boxes</QuestionIdentifier><FreeText>1|2</FreeText></Answer>"
        "<Answer><QuestionIdentifier>empty</QuestionIdentifier><FreeText></FreeText></Answer>"
        "</QuestionFormAnswers>"
    )


@given(st.dictionaries(ALLOWED.filter(lambda name: name not in RESERVED_FIELDS), ALLOWED, min_size=1, max_size=4))
def test_any_answer_is_read_back_by_the_usual_parsers(fields: dict[str, str]) -> None:
    xml = answer_xml({name: [value] for name, value in fields.items()})
    texts = [node.text or "" for node in etree.fromstring(xml.encode()).iter(f"{{{ANSWERS}}}FreeText")]
    kept = [value for name, value in fields.items()]
    assert [readable(value) for value in kept] == texts
    assert minidom.parseString(xml).documentElement.tagName == "QuestionFormAnswers"


def readable(text: str) -> str:
    """XML has no place for most control characters; everything else comes back."""
    return "".join(char for char in text if char in "\t\n\r" or char >= " " and char not in "\ufffe\uffff")
