"""What a QuestionForm shows: titles, texts, lists, pictures and a small part of XHTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from html.entities import html5
from re import compile as pattern
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from marketplace.rules.questions.xml import Reader, fault, listed


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The documented subset, without what only draws frames or runs.
_TAGS = _words(
    "a b big blockquote br center cite code col colgroup dd del div dl dt em font h1 h2 h3 h4 h5 h6 hr i img ins kbd "
    "li ol p pre q s samp small span strike strong sub sup table tbody td tfoot th thead tr tt u ul var"
)
_VOID = frozenset({"br", "col", "hr", "img"})
_ATTRIBUTES = _words(
    "abbr align alt border cellpadding cellspacing cite class color colspan datetime dir face height href id lang name "
    "nowrap rowspan scope size span src start style summary target title type valign value width"
)
# Taken, but not passed on: they could reach out of the block, and the page's policy refuses styles.
_DROPPED = frozenset({"class", "id", "name", "style", "target"})
_ADDRESSES = frozenset({"href", "src", "cite"})
_DEEPEST = 40
_ENTITY = pattern(r"&([A-Za-z][A-Za-z0-9]*;)")
_OF_XML = frozenset({"amp;", "lt;", "gt;", "quot;", "apos;"})
# A link opens beside the task, and must not reach the page that opened it.
_OF_LINKS = ' target="_blank" rel="noopener noreferrer"'
_MEDIA = ("image", "audio", "video")


@dataclass(frozen=True)
class Block:
    """One piece of content; `kind` is title, text, list, image, link or markup, and says which field counts.

    `markup` is made here tag by tag from an allow-list, so a page may show it as it is.
    """

    kind: str
    text: str = ""
    items: Sequence[str] = ()
    url: str = ""
    markup: str = ""


def read_blocks(reader: Reader, element: Element) -> tuple[Block, ...]:
    """The content of an Overview or a QuestionContent; there must be some."""
    blocks = tuple(read_block(reader, name, child) for name, child in reader.children(element, _READERS))
    if not blocks:
        raise fault(f"<{reader.name(element)}> is empty.")
    return blocks


def read_block(reader: Reader, name: str, element: Element) -> Block:
    return _READERS[name](reader, element)


def _title(reader: Reader, element: Element) -> Block:
    return Block("title", text=reader.text(element))


def _text(reader: Reader, element: Element) -> Block:
    return Block("text", text=reader.text(element))


def _list(reader: Reader, element: Element) -> Block:
    items = tuple(reader.text(child) for _, child in reader.children(element, ["ListItem"]))
    if not items:
        raise fault("<List> has no <ListItem>.")
    return Block("list", items=items)


def _binary(reader: Reader, element: Element) -> Block:
    """A picture is shown; for sounds and films there is a link, as the documentation has it."""
    parts = reader.record(element, ("MimeType", "DataURL", "AltText"))
    mime = reader.record(parts["MimeType"], ("Type",), ("SubType",))
    media = reader.word(mime["Type"])
    if media not in _MEDIA:
        raise fault(f"The Type of a Binary is '{media[:40]}'; expected {', '.join(_MEDIA)}.")
    url = web_address(reader.word(parts["DataURL"]), "DataURL")
    return Block("image" if media == "image" else "link", text=reader.text(parts["AltText"]), url=url)


def _application(reader: Reader, element: Element) -> Block:
    raise fault(f"<{reader.name(element)}> is no longer part of a QuestionForm: browsers do not run applets.")


def _formatted(reader: Reader, element: Element) -> Block:
    if len(element):
        raise fault("<FormattedContent> must hold its markup as CDATA: <![CDATA[ ... ]]>.")
    return Block("markup", markup=clean_markup(element.text or ""))


_READERS = {
    "Title": _title,
    "Text": _text,
    "List": _list,
    "Binary": _binary,
    "FormattedContent": _formatted,
    "EmbeddedBinary": _application,
    "Application": _application,
}


def web_address(url: str, name: str) -> str:
    """An address with https or http and a host. Raises ParameterValidationError."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    whole = host is not None and parts.scheme in ("https", "http")
    if not whole or any(char.isspace() or ord(char) < 32 for char in url):
        raise fault(f"{name} is '{url[:80]}'; it must be a whole address that starts with https:// or http://.")
    return url


def clean_markup(xhtml: str) -> str:
    """The same content, written anew from the tags and attributes that are allowed; others are refused by name."""
    known = _ENTITY.sub(lambda match: match[0] if match[1] in _OF_XML else html5.get(match[1], match[0]), xhtml)
    try:
        root: Element = fromstring(f"<div>{known}</div>", forbid_dtd=True)
    except (ParseError, ValueError) as error:
        why = "a document type is not allowed" if isinstance(error, DefusedXmlException) else error
        raise fault(f"The XHTML of a <FormattedContent> cannot be read: {why}.") from error
    return _inside(root, 0)


def show_text(text: str) -> str:
    """Text for HTML; a carriage return would be read as a line feed."""
    return escape(text).replace("\r", "&#13;")


def _inside(element: Element, depth: int) -> str:
    if depth > _DEEPEST:
        raise fault("The XHTML of a <FormattedContent> is nested too deeply.")
    written = [show_text(element.text or "")]
    for child in element:
        written += [_written(child, depth), show_text(child.tail or "")]
    return "".join(written)


def _written(element: Element, depth: int) -> str:
    tag = element.tag
    if not isinstance(tag, str) or tag not in _TAGS:
        raise fault(f"<{str(tag)[:40]}> is not allowed in a <FormattedContent>; allowed are {listed(sorted(_TAGS))}.")
    attributes = "".join(_attribute(tag, name, value) for name, value in element.attrib.items())
    opening = f"<{tag}{attributes}{_OF_LINKS if tag == 'a' else ''}>"
    if tag in _VOID:
        if len(element) or element.text:
            raise fault(f"<{tag}> must be empty.")
        return opening
    # The reader of HTML drops the first line feed of a <pre>.
    return f"{opening}{chr(10) if tag == 'pre' else ''}{_inside(element, depth + 1)}</{tag}>"


def _attribute(tag: str, name: str, value: str) -> str:
    if name not in _ATTRIBUTES:
        raise fault(f"The attribute {name[:40]} of <{tag}> is not allowed in a <FormattedContent>.")
    if name in _DROPPED:
        return ""
    if name in _ADDRESSES:
        web_address(value, f"The {name} of <{tag}>")
    return f' {name}="{show_text(value)}"'
