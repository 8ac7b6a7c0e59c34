"""Question XML in, answer XML out. Entities and DTDs are refused, never resolved."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from marketplace.rules import limits
from marketplace.rules.errors import ParameterValidationError

_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
EXTERNAL_QUESTION = _SCHEMAS + "2006-07-14/ExternalQuestion.xsd"
ANSWERS = _SCHEMAS + "2005-10-01/QuestionFormAnswers.xsd"
NO_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"
RESERVED_FIELDS = frozenset({"assignmentId", "hitId", "workerId", "turkSubmitTo"})
_PARSING = "There was an error parsing the XML question or answer data in your request."
_XML_CONTROL = {i: None for i in (*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF, *range(0xD800, 0xE000))}


@dataclass(frozen=True)
class ExternalQuestion:
    """A task page elsewhere. `frame_height` is in pixels; 0 asks the site to fit the window."""

    url: str
    frame_height: int


def parse_external(xml: str, http_hosts: Collection[str]) -> ExternalQuestion:
    """Read an ExternalQuestion; plain http is taken only on `http_hosts`. Raises ParameterValidationError."""
    size = len(xml.encode())
    if size > limits.QUESTION_BYTES:
        raise ParameterValidationError(f"Question has {size} bytes; at most {limits.QUESTION_BYTES} are allowed.")
    root = _parse(xml)
    namespace, _, name = root.tag.rpartition("}")
    if name in ("HTMLQuestion", "QuestionForm"):
        raise ParameterValidationError(f"{name} is not offered by this marketplace; use an ExternalQuestion.")
    if root.tag != f"{{{EXTERNAL_QUESTION}}}ExternalQuestion":
        raise ParameterValidationError(
            f"{_PARSING} The root is <{name}> in the namespace '{namespace.lstrip('{')}'; "
            f"expected <ExternalQuestion> in '{EXTERNAL_QUESTION}'."
        )
    return ExternalQuestion(_external_url(root, http_hosts), _frame_height(root))


def _parse(xml: str) -> Element:
    try:
        # As bytes would be read by the declared encoding; the text itself has come as JSON and has none.
        root: Element = fromstring(xml.strip(), forbid_dtd=True)
    except (ParseError, ValueError, LookupError) as error:
        why = "A document type or entity is not allowed." if isinstance(error, DefusedXmlException) else f"{error}."
        raise ParameterValidationError(f"{_PARSING} {why}") from error
    return root


def _text_of(root: Element, name: str) -> str:
    wanted = [f"{{{EXTERNAL_QUESTION}}}{child}" for child in ("ExternalURL", "FrameHeight")]
    if [child.tag for child in root] != wanted or any(len(child) for child in root):
        raise ParameterValidationError(f"{_PARSING} An ExternalQuestion holds one ExternalURL, then one FrameHeight.")
    if (root.text or "").strip() or any((child.tail or "").strip() for child in root):
        raise ParameterValidationError(f"{_PARSING} There is text between the elements of the ExternalQuestion.")
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
    return url


def _frame_height(root: Element) -> int:
    text = _text_of(root, "FrameHeight")
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise ParameterValidationError(f"FrameHeight is '{text}'; it must be a whole number of pixels.")
    return int(text)


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

    A field with several values (checkboxes) becomes one Answer, its values joined by `|`.
    Raises ValueError when nothing is left.
    """
    kept = {name: values for name, values in fields.items() if name not in RESERVED_FIELDS}
    if not kept:
        raise ValueError("the form has no field besides the reserved ones")
    answers = "".join(
        f"<Answer><QuestionIdentifier>{_ascii(name)}</QuestionIdentifier>"
        f"<FreeText>{_ascii('|'.join(values))}</FreeText></Answer>"
        for name, values in kept.items()
    )
    return (
        f'<?xml version="1.0" encoding="ASCII"?><QuestionFormAnswers xmlns="{ANSWERS}">{answers}</QuestionFormAnswers>'
    )


def _ascii(text: str) -> str:
    # A literal carriage return would be read back as a line feed.
    clean = escape(text.translate(_XML_CONTROL), {"\r": "&#13;"})
    return clean.encode("ascii", "xmlcharrefreplace").decode()
