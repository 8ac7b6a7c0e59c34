"""SVG pictures that can do nothing but be seen: what else XML can hold is refused, never taken out.

A picture that was changed on its way in would not be the one that a data set is about.
"""

from __future__ import annotations

import re
from xml.parsers import expat

MOST_BYTES = 5_000_000
MOST_DEPTH = 200
NAMESPACE = "http://www.w3.org/2000/svg"
_FORBIDDEN = frozenset({"script", "foreignobject", "handler", "listener", "iframe", "embed", "object"}) | frozenset(
    {"audio", "video", "canvas", "link", "base", "form"}
)
_DATA = re.compile(r"data:image/(png|jpeg|gif|webp)[;,]", re.I)
_LOADED = re.compile(
    r"url\(\s*[\"']?\s*(?!#)(?!data:image/(?:png|jpeg|gif|webp)[;,])|(?:image-set|src)\(",
    re.I,
)
# Others are read in other ways by different programs.
_ENCODINGS = frozenset({"utf-8", "utf-16", "us-ascii", "iso-8859-1"})
_LOADS = "is an SVG picture whose styles load something, or may do so: write what they need inside"
_UNPRINTED = re.compile(r"[\x00-\x20]+")


def check(content: bytes) -> None:
    """Raises ValueError for what is no SVG, or one with scripts, handlers of events, foreign content or anything
    that it would load.
    """
    if len(content) > MOST_BYTES:
        raise ValueError(f"is an SVG picture of more than {MOST_BYTES:,} bytes")
    parser = expat.ParserCreate(namespace_separator=" ")
    reader = _Reader()
    parser.XmlDeclHandler = reader.declaration
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = reader.doctype
    parser.ProcessingInstructionHandler = reader.instruction
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise ValueError(f"is no SVG picture that can be read: {expat.errors.messages[error.code]}") from error


class _Reader:
    """Raises ValueError at the first thing that a picture does not need."""

    def __init__(self) -> None:
        self.depth = 0
        self.style: list[str] | None = None

    def declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding and encoding.lower() not in _ENCODINGS:
            raise ValueError(f"is an SVG picture in the encoding {encoding[:30]}: save it in UTF-8")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        namespace, _, local = name.rpartition(" ")
        if not self.depth and (namespace, local) != (NAMESPACE, "svg"):
            raise ValueError(f'is XML and no SVG: its first element is no <svg xmlns="{NAMESPACE}">')
        if self.style is not None:
            raise ValueError("is an SVG picture with an element inside <style>: remove it")
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise ValueError(f"is an SVG picture with elements more than {MOST_DEPTH} deep in one another")
        if local.lower() in _FORBIDDEN or namespace.endswith("/xhtml"):
            raise ValueError(f"is an SVG picture with <{local[:30]}>: remove it")
        for attribute, value in attributes.items():
            _check_attribute(attribute.rpartition(" ")[2].lower(), value)
        if local.lower() == "style":
            self.style = []

    def end(self, name: str) -> None:
        self.depth -= 1
        if name.rpartition(" ")[2].lower() == "style" and self.style is not None:
            _check_style("".join(self.style))
            self.style = None

    def text(self, text: str) -> None:
        if self.style is not None:
            self.style.append(text)

    def doctype(self, name: str, system: str | None, public: str | None, has_subset: bool) -> None:
        # Drawing programs of old write the one of SVG, which nobody loads. A subset could declare entities.
        if has_subset:
            raise ValueError("is an SVG picture with declarations of its own in <!DOCTYPE>: remove them")

    def instruction(self, target: str, data: str) -> None:
        if target.lower() == "xml-stylesheet":
            raise ValueError("is an SVG picture with a style sheet of elsewhere: write the styles into it")


def _check_attribute(name: str, value: str) -> None:
    if name.startswith("on"):
        raise ValueError(f"is an SVG picture with the event handler {name[:30]}: remove it")
    written = _UNPRINTED.sub("", value)
    if name in ("href", "src") and not (written.startswith("#") or _DATA.match(written)):
        raise ValueError(f"is an SVG picture that refers to {value[:40]!r}: keep what it needs inside")
    if name in ("base", "ping"):
        raise ValueError(f"is an SVG picture with the attribute {name}: remove it")
    if "javascript:" in written.lower():
        raise ValueError("is an SVG picture with an address of script: remove it")
    if name == "attributename" and written.lower().rpartition(":")[2] in ("href", "src"):
        raise ValueError("is an SVG picture that changes an address by animation: remove it")
    if name == "style":
        _check_style(value)
    # With an escape, url( can be written otherwise.
    elif ("\\" in value and "(" in value) or _LOADED.search(value):
        raise ValueError(_LOADS)


def _check_style(text: str) -> None:
    # With escapes of CSS, any of these words can be written otherwise.
    if "@import" in text.lower() or "\\" in text or _LOADED.search(text):
        raise ValueError(_LOADS)
