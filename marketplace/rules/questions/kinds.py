"""The kinds of question, and the check that each one passes when its HIT is made."""

from collections.abc import Collection
from urllib.parse import urlsplit

from marketplace.rules.errors import ParameterValidationError
from marketplace.rules.question import read_external
from marketplace.rules.questions.form_parser import read_root
from marketplace.rules.questions.html import check_html, read_html_question
from marketplace.rules.questions.xml import fault, parse, split

EXTERNAL, HTML, FORM = "external", "html", "form"
_LOOPBACK = {"127.0.0.1": "localhost", "localhost": "127.0.0.1", "::1": "localhost"}
NO_FRAMES = (
    "This marketplace cannot show pages of requesters yet: its operator must set MARKETPLACE_FRAMES_URL to a host of "
    "their own. An ExternalQuestion works."
)


def check_question(xml: str, http_hosts: Collection[str], frames: str) -> str:
    """The kind of a question. Raises ParameterValidationError for one that could not be shown or answered.

    `frames` is the origin for pages of requesters, empty when there is none.
    """
    root = parse(xml)
    _, name = split(root.tag)
    if name == "HTMLQuestion":
        check_html(read_html_question(root).html)
        _need(frames)
        return HTML
    if name == "QuestionForm":
        read_root(root)
        _need(frames)
        return FORM
    if name != "ExternalQuestion":
        raise fault(f"The root is <{name}>; expected <ExternalQuestion>, <HTMLQuestion> or <QuestionForm>.")
    read_external(root, http_hosts)
    return EXTERNAL


def _need(frames: str) -> None:
    if not frames:
        raise ParameterValidationError(NO_FRAMES)


def frames_origin(configured: str, public: str) -> str:
    """Where pages of requesters are served: as configured, else the machine's other loopback name, else nowhere.

    Browsers take 127.0.0.1 and localhost for different sites.
    """
    if configured:
        return configured
    parts = urlsplit(public)
    other = _LOOPBACK.get(parts.hostname or "")
    if other is None:
        return ""
    return f"{parts.scheme}://{other}" + (f":{parts.port}" if parts.port else "")
