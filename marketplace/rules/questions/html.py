"""HTMLQuestions: the page of a requester, checked at creation."""

from dataclasses import dataclass
from xml.etree.ElementTree import Element

from common.html_pages import html_faults, shown_faults
from marketplace.rules.errors import ParameterValidationError
from marketplace.rules.questions.xml import SCHEMAS, Reader, fault, split

NAMESPACE = SCHEMAS + "2011-11-11/HTMLQuestion.xsd"
_PARSING = (
    "There was an error parsing the HTML5 data in your request. "
    "Please make sure that it is well-formed and valid HTML5. Details: Errors: "
)


@dataclass(frozen=True)
class HtmlQuestion:
    """A page that this marketplace shows. `frame_height` is in pixels; 0 asks the site to fit the window."""

    html: str
    frame_height: int


def read_html_question(root: Element) -> HtmlQuestion:
    """Read without checking the page: it was checked when the HIT was made."""
    namespace, name = split(root.tag)
    if namespace != NAMESPACE:
        raise fault(f"<{name}> is in the namespace '{namespace}'; expected '{NAMESPACE}'.")
    reader = Reader(NAMESPACE)
    parts = reader.record(root, ("HTMLContent", "FrameHeight"))
    height = reader.whole(parts["FrameHeight"], "a whole number of pixels")
    return HtmlQuestion(reader.text(parts["HTMLContent"]), height)


def html_question_xml(question: HtmlQuestion) -> str:
    """The same question as XML."""
    content = question.html.replace("]]>", "]]]]><![CDATA[>")
    return (
        f'<HTMLQuestion xmlns="{NAMESPACE}"><HTMLContent><![CDATA[{content}]]></HTMLContent>'
        f"<FrameHeight>{question.frame_height}</FrameHeight></HTMLQuestion>"
    )


def check_html(html: str) -> None:
    """Refuse a page that browsers would have to repair, or that uses crowd elements which are not offered."""
    if not html.strip():
        raise fault("HTMLContent is empty.")
    found = html_faults(html)
    if found:
        raise ParameterValidationError(_PARSING + shown_faults(found))
