"""A task's page as a worker's browser sees it: the form that it holds and where its buttons send it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urljoin

from hits.crowd.html import Form, Node, read_form


class NotATaskError(ValueError):
    """The page is no task that takes an answer, or one of another kind; the message says what is missing."""


# Marks the box with which a worker agrees to the project's terms.
TERMS = "data-terms"


@dataclass(frozen=True)
class Control:
    """A radio button or a box with what its label says, help left out."""

    name: str
    value: str
    text: str


@dataclass(frozen=True)
class Onward:
    """What leads to the next screen of a task: its address, and what its button adds to the form.

    `another_item` says that another item of the same HIT follows, for which a person takes as long as for this one.
    """

    url: str
    fields: dict[str, str]
    another_item: bool = False


@dataclass(frozen=True)
class Screen:
    """A page, or one of a task's several. Without `onward` its form goes to `submit_url`, the marketplace's.

    A page that the requester wrote has no `page_token` and no `check_url`: its answer goes to the marketplace at once.
    """

    page: Node
    form: Form
    page_token: str
    check_url: str
    submit_url: str
    onward: Onward | None

    def text(self, tag: str, **values: str) -> str:
        """What is written in the first such node. Raises NotATaskError where there is none."""
        return self.node(tag, **values).text()

    def node(self, tag: str, *attributes: str, **values: str) -> Node:
        """Raises NotATaskError."""
        found = self.page.first(tag, *attributes, **values)
        if found is None:
            what = " ".join([tag, *attributes, *(f"{name}={value}" for name, value in values.items())])
            raise NotATaskError(f"The page has no {what}.")
        return found

    def suggested(self) -> str:
        """The words of the first suggestion of a model on the page; empty without any."""
        found = self.page.first("span", "data-suggested")
        return found.text() if found else ""

    def controls(self, kind: str) -> list[Control]:
        """Those of a kind ("radio", "checkbox") that stand in a label, in the order of the page, but for that of the
        project's terms.
        """
        pairs = [(label, label.first("input", type=kind)) for label in self.page.all("label")]
        return [_control(label, control) for label, control in pairs if control and TERMS not in control.attributes]


def _control(label: Node, control: Node) -> Control:
    words = label.first("span")
    text = words.own_text() if words else label.text()
    return Control(control.attributes.get("name", ""), control.attributes.get("value", ""), text)


def read_screen(page: Node, url: str) -> Screen:
    """Raises NotATaskError."""
    form = page.first("form", "data-page", "data-check", method="post")
    if form is None:
        return _own_page(page, url)
    read = read_form(form)
    return Screen(
        page=page,
        form=replace(read, fields={**read.fields, **_agreement(form)}),
        page_token=form.attributes["data-page"],
        check_url=urljoin(url, form.attributes["data-check"]),
        submit_url=urljoin(url, read.action),
        onward=_onward(form, url),
    )


def _agreement(form: Node) -> dict[str, str]:
    """What ticking the box of the project's terms adds to the form, as everybody does here; nothing without a box."""
    box = form.first("input", TERMS, "name", "value", type="checkbox")
    return {box.attributes["name"]: box.attributes["value"]} if box else {}


def _own_page(page: Node, url: str) -> Screen:
    """A page that the requester wrote: the marketplace's script in it says where its answer goes, and whose it is."""
    script = page.first("script", "data-submit-url", "data-assignment-id")
    if script is None:
        raise NotATaskError("The page has no form.")
    form, said = page.first("form"), script.attributes
    fields = (read_form(form).fields if form else {}) | {
        "assignmentId": said["data-assignment-id"],
        "workerId": said.get("data-worker-id", ""),
    }
    submit_url = urljoin(url, said["data-submit-url"])
    return Screen(page, Form(submit_url, "post", fields), "", "", submit_url, None)


def _onward(form: Node, url: str) -> Onward | None:
    """The first button with an address of its own; one that goes back may be pressed without an answer."""
    if form.first("input", name="page"):
        return Onward(urljoin(url, form.attributes["action"]), {}, another_item=True)
    for button in form.all("button", "formaction", type="submit"):
        if "formnovalidate" not in button.attributes:
            added = {button.attributes.get("name", ""): button.attributes.get("value", "")}
            return Onward(urljoin(url, button.attributes["formaction"]), {k: v for k, v in added.items() if k})
    return None
