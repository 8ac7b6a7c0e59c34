"""The XML that questions come in. A document type or an entity is refused, never resolved."""

from collections.abc import Collection
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from marketplace.rules import limits
from marketplace.rules.errors import ParameterValidationError

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
PARSING = "There was an error parsing the XML question or answer data in your request."
_NOT_IN_XML = {i: None for i in (*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF, *range(0xD800, 0xE000))}


def fault(why: str) -> ParameterValidationError:
    """The refusal of a question that cannot be read."""
    return ParameterValidationError(f"{PARSING} {why}")


def parse(xml: str, what: str = "Question") -> Element:
    """The root element. `what` names the parameter. Raises ParameterValidationError."""
    size = len(xml.encode("utf-8", "surrogatepass"))
    if size > limits.QUESTION_BYTES:
        raise ParameterValidationError(f"{what} has {size} bytes; at most {limits.QUESTION_BYTES} are allowed.")
    return parse_stored(xml)


def parse_stored(xml: str) -> Element:
    """The root of what was taken before, or made here, whatever its size."""
    try:
        # As bytes would be read by the declared encoding; the text itself has come as JSON and has none.
        root: Element = fromstring(xml.strip(), forbid_dtd=True)
    except (ParseError, ValueError, LookupError) as error:
        raise fault(
            "A document type or entity is not allowed." if isinstance(error, DefusedXmlException) else f"{error}."
        ) from error
    return root


def split(tag: str) -> tuple[str, str]:
    """Namespace and name of an element's tag."""
    namespace, _, name = tag.rpartition("}")
    return namespace.lstrip("{"), name


class Reader:
    """Reads elements of one namespace strictly: what the schema does not know is refused by name."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace

    def name(self, element: Element) -> str:
        namespace, name = split(element.tag)
        if namespace != self.namespace:
            raise fault(f"<{name}> is in the namespace '{namespace}'; expected '{self.namespace}'.")
        return name

    def children(self, element: Element, allowed: Collection[str]) -> list[tuple[str, Element]]:
        """The child elements with their names; neither text between them nor another element is taken."""
        parent = self.name(element)
        if (element.text or "").strip() or any((child.tail or "").strip() for child in element):
            raise fault(f"There is text between the elements of <{parent}>.")
        found = [(self.name(child), child) for child in element]
        for name, _ in found:
            if name not in allowed:
                raise fault(f"<{name}> is not allowed in <{parent}>; expected {listed(allowed)}.")
        return found

    def record(self, element: Element, required: Collection[str], optional: Collection[str] = ()) -> dict[str, Element]:
        """Child elements by name, each there at most once, in any order."""
        found: dict[str, Element] = {}
        parent = self.name(element)
        for name, child in self.children(element, [*required, *optional]):
            if name in found:
                raise fault(f"<{parent}> has more than one <{name}>.")
            found[name] = child
        for name in required:
            if name not in found:
                raise fault(f"<{parent}> has no <{name}>.")
        return found

    def text(self, element: Element) -> str:
        """The text as it stands, white space included."""
        name = self.name(element)
        if len(element):
            raise fault(f"<{name}> holds text only; write markup as CDATA in a place that takes it.")
        return element.text or ""

    def word(self, element: Element) -> str:
        return self.text(element).strip()

    def whole(self, element: Element, what: str = "a whole number") -> int:
        return whole_number(self.word(element), self.name(element), what)


def listed(names: Collection[str]) -> str:
    return ", ".join(f"<{name}>" for name in names) if names else "nothing"


def whole_number(text: str, name: str, what: str = "a whole number") -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise fault(f"{name} is '{text[:40]}'; it must be {what}.")
    return int(text)


def ascii_xml(text: str) -> str:
    """Text for an ASCII document: escaped, other characters as references, what XML has no place for left out."""
    # A literal carriage return would be read back as a line feed.
    clean = escape(text.translate(_NOT_IN_XML), {"\r": "&#13;"})
    return clean.encode("ascii", "xmlcharrefreplace").decode()
