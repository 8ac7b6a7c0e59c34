"""Qualification tests as a worker's browser sees them at the marketplace: those on offer, and the answers to one."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hits.crowd.html import Node
from hits.crowd.key import AnswerKey

OFFERED = "worker/qualifications/offered/"
_ONE = re.compile(r"/worker/qualifications/(?!offered/|asked/)[^/]+/")
_ASK = re.compile(r"/worker/qualifications/[^/]+/ask/")
_HAND_IN = re.compile(r"/worker/qualifications/test/[^/]+/")


def offers(page: Node) -> list[str]:
    """The addresses of the qualifications on the list, in its order."""
    links = (link.attributes["href"] for link in page.all("a", "href"))
    return list(dict.fromkeys(link for link in links if _ONE.fullmatch(link)))


def ask_form(page: Node) -> Node | None:
    """The form that begins the test; none where it cannot be taken now."""
    return _form(page, _ASK)


def test_form(page: Node) -> Node | None:
    return _form(page, _HAND_IN)


def _form(page: Node, action: re.Pattern[str]) -> Node | None:
    forms = page.all("form", "action", method="post")
    return next((form for form in forms if action.fullmatch(form.attributes["action"])), None)


def answers(form: Node, key: AnswerKey) -> Mapping[str, str] | None:
    """The right choice of each question by the name of its field; None where the key does not know one of them."""
    found: dict[str, str] = {}
    for asked in form.all("fieldset"):
        radios = {one.attributes.get("id", ""): one for one in asked.all("input", type="radio")}
        texts = {label.attributes.get("for", ""): label.text() for label in asked.all("label")}
        right = key.right_choice(asked.text(), [texts[ident] for ident in radios if ident in texts])
        chosen = [radio for ident, radio in radios.items() if right is not None and texts.get(ident) == right]
        if len(chosen) != 1:
            return None
        found[chosen[0].attributes["name"]] = chosen[0].attributes["value"]
    return found or None
