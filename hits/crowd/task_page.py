"""The clickable-entity page as a worker sees it: the passage, the names that can be clicked, the statement."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urljoin

from hits.crowd.html import Form, Node, read_form

PLACEHOLDER = "@placeholder"


class NotATaskError(ValueError):
    """The page is no clickable-entity task that takes an answer; the message says what is missing."""


@dataclass(frozen=True)
class Choice:
    """A mention: what is sent for it, what stands there, and which mentions are lit up together with it."""

    value: str
    text: str
    group: str


@dataclass(frozen=True)
class Task:
    passage: str
    statement: str
    choices: tuple[Choice, ...]
    form: Form
    page_token: str
    check_url: str

    def fields(self, choice: Choice, seconds: int) -> dict[str, str]:
        """What the page's script would have put into the form when this name is clicked."""
        return {**self.form.fields, "answer": choice.value, "text": choice.text, "seconds_open": str(seconds)}


def read_task(page: Node, url: str) -> Task:
    """Raises NotATaskError."""
    form = page.first("form", "data-page", "data-check", method="post")
    passage = page.first("div", "data-passage")
    statement = page.first("p", "data-statement")
    if form is None or passage is None or statement is None:
        missing = [
            name for name, node in [("form", form), ("passage", passage), ("statement", statement)] if node is None
        ]
        raise NotATaskError(f"The page has no {', no '.join(missing)}.")
    choices = tuple(_choice(label) for label in passage.all("label", "data-group"))
    if not choices:
        raise NotATaskError("The page has no name to click.")
    return Task(
        passage=passage.text(),
        statement=_with_placeholder(statement),
        choices=choices,
        form=read_form(form),
        page_token=form.attributes["data-page"],
        check_url=urljoin(url, form.attributes["data-check"]),
    )


def _choice(label: Node) -> Choice:
    radio = label.first("input", type="radio")
    if radio is None:
        raise NotATaskError("A name of the page cannot be clicked.")
    return Choice(radio.attributes.get("value", ""), label.text(), label.attributes["data-group"])


def _with_placeholder(statement: Node) -> str:
    parts = []
    for child in statement.children:
        if isinstance(child, str):
            parts.append(child)
        else:
            parts.append(PLACEHOLDER if "data-slot" in child.attributes else child.text())
    return "".join(parts)
