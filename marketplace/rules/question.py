"""Question XML in, answer XML out. Entities and DTDs are refused, never resolved."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit
from xml.etree.ElementTree import Element

from common.addresses import is_loopback
from marketplace.rules.errors import ParameterValidationError
from marketplace.rules.questions.xml import PARSING, SCHEMAS, ascii_xml, parse, split

EXTERNAL_QUESTION = SCHEMAS + "2006-07-14/ExternalQuestion.xsd"
ANSWERS = SCHEMAS + "2005-10-01/QuestionFormAnswers.xsd"
NO_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"
RESERVED_FIELDS = frozenset({"assignmentId", "hitId", "workerId", "turkSubmitTo"})
NAMING_FIELDS = ("hitId", "workerId")


@dataclass(frozen=True)
class ExternalQuestion:
    """A task page elsewhere. `frame_height` is in pixels; 0 asks the site to fit the window."""

    url: str
    frame_height: int


def parse_external(xml: str, http_hosts: Collection[str]) -> ExternalQuestion:
    """Read an ExternalQuestion. Plain http and loopback are taken only on `http_hosts`.

    Raises ParameterValidationError.
    """
    return read_external(parse(xml), http_hosts)


def read_external(root: Element, http_hosts: Collection[str]) -> ExternalQuestion:
    namespace, name = split(root.tag)
    if root.tag != f"{{{EXTERNAL_QUESTION}}}ExternalQuestion":
        raise ParameterValidationError(
            f"{PARSING} The root is <{name}> in the namespace '{namespace}'; "
            f"expected <ExternalQuestion> in '{EXTERNAL_QUESTION}'."
        )
    url, height = _external_url(root, http_hosts), _text_of(root, "FrameHeight")
    if not (height.isascii() and height.isdigit() and len(height) <= 9):
        raise ParameterValidationError(f"FrameHeight is '{height}'; it must be a whole number of pixels.")
    return ExternalQuestion(url, int(height))


def _text_of(root: Element, name: str) -> str:
    wanted = [f"{{{EXTERNAL_QUESTION}}}{child}" for child in ("ExternalURL", "FrameHeight")]
    if [child.tag for child in root] != wanted or any(len(child) for child in root):
        raise ParameterValidationError(f"{PARSING} An ExternalQuestion holds one ExternalURL, then one FrameHeight.")
    if (root.text or "").strip() or any((child.tail or "").strip() for child in root):
        raise ParameterValidationError(f"{PARSING} There is text between the elements of the ExternalQuestion.")
    return (root.find(f"{{{EXTERNAL_QUESTION}}}{name}").text or "").strip()  # type: ignore[union-attr]


def _external_url(root: Element, http_hosts: Collection[str]) -> str:
    url = _text_of(root, "ExternalURL")
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError as error:
        raise ParameterValidationError(f"ExternalURL is not an address: {error}.") from error
    if not host or any(char.isspace() or ord(char) < 32 for char in url):
        raise ParameterValidationError("ExternalURL must be a whole address, with a host and without spaces.")
    bare_hosts = {name.strip("[]") for name in http_hosts}
    if parts.scheme != "https" and not (parts.scheme == "http" and host in bare_hosts):
        raise ParameterValidationError("ExternalURL must use https.")
    if is_loopback(host) and host not in bare_hosts:
        raise ParameterValidationError(f"ExternalURL leads to '{host}', which is each worker's own machine.")
    return url


def frame_url(external_url: str, hit_id: str, assignment_id: str = "", worker_id: str = "", submit_to: str = "") -> str:
    """The address of the task frame. Without an assignment it is a preview, which names no worker."""
    fields = {"assignmentId": assignment_id or NO_ASSIGNMENT, "hitId": hit_id}
    if assignment_id:
        fields |= {"workerId": worker_id, "turkSubmitTo": submit_to}
    address, hash_mark, fragment = external_url.partition("#")
    joiner = "&" if "?" in address else "?"
    return f"{address}{joiner}{urlencode(fields)}{hash_mark}{fragment}"


def answer_xml(fields: Mapping[str, Sequence[str]]) -> str:
    """QuestionFormAnswers on one line, ASCII with character references; reserved fields are dropped.

    A field with several values (checkboxes) becomes one Answer, its values joined by `|`. A form that names its HIT or
    its worker and has nothing else keeps these: the forms of psiTurk and Dallinger are so, since their answers went to
    a server of their own. Raises ValueError for a form with less than that.
    """
    own = {name: values for name, values in fields.items() if name not in RESERVED_FIELDS}
    kept = own or {name: fields[name] for name in NAMING_FIELDS if name in fields}
    if not kept:
        raise ValueError("the form has no field besides the id of its assignment")
    answers = "".join(
        f"<Answer><QuestionIdentifier>{ascii_xml(name)}</QuestionIdentifier>"
        f"<FreeText>{ascii_xml('|'.join(values))}</FreeText></Answer>"
        for name, values in kept.items()
    )
    return (
        f'<?xml version="1.0" encoding="ASCII"?><QuestionFormAnswers xmlns="{ANSWERS}">{answers}</QuestionFormAnswers>'
    )
