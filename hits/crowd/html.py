"""A page as a tree, and its forms as a browser would send them. For pages that close their elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)


@dataclass
class Node:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in the order of the page."""
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def all(self, tag: str, *attributes: str, **values: str) -> list[Node]:
        """Nodes of a tag that have these attributes, and these with these values (data_page stands for data-page)."""
        wanted = {name.replace("_", "-"): value for name, value in values.items()}
        return [
            node
            for node in self.walk()
            if node.tag == tag
            and all(name in node.attributes for name in attributes)
            and all(node.attributes.get(name) == value for name, value in wanted.items())
        ]

    def first(self, tag: str, *attributes: str, **values: str) -> Node | None:
        return next(iter(self.all(tag, *attributes, **values)), None)

    def text(self) -> str:
        """What is written here, scripts left out; white space as it stands in the source."""
        if self.tag in ("script", "style"):
            return ""
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)

    def own_text(self) -> str:
        """What is written here and in no node below."""
        return "".join(child for child in self.children if isinstance(child, str))


@dataclass(frozen=True)
class Form:
    action: str
    method: str
    fields: dict[str, str]


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in _VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        if tag in [node.tag for node in self.open]:
            while self.open.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parse(page: str) -> Node:
    builder = _Builder()
    builder.feed(page)
    builder.close()
    return builder.root


def read_form(node: Node) -> Form:
    """The fields as they would be sent if nobody touched the form; a radio button that is not chosen is not sent."""
    fields: dict[str, str] = {}
    for control in node.walk():
        name, kind = control.attributes.get("name", ""), control.attributes.get("type", "text")
        if not name or control.tag not in ("input", "select", "textarea"):
            continue
        if kind in ("submit", "button", "image", "reset"):
            continue
        if kind not in ("radio", "checkbox") or "checked" in control.attributes:
            fields[name] = _value(control)
    return Form(node.attributes.get("action", ""), node.attributes.get("method", "get").lower(), fields)


def _value(control: Node) -> str:
    if control.tag == "textarea":
        return control.text()
    if control.tag == "select":
        options = control.all("option")
        chosen = [option for option in options if "selected" in option.attributes] or options[:1]
        return chosen[0].attributes.get("value", chosen[0].text().strip()) if chosen else ""
    return control.attributes.get("value", "on" if control.attributes.get("type") in ("radio", "checkbox") else "")
