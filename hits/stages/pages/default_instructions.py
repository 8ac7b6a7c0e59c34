"""Our own instructions of a task as text, for a lead who wants to change a sentence of them."""

from __future__ import annotations

import copy
from html.parser import HTMLParser

from django.template import Context
from django.template.loader import get_template
from django.template.loader_tags import BlockNode

from hits.answers.rules import task_words
from hits.answers.verbs import serving
from hits.models import Stage
from hits.publishing.rules.hit_questions import has_own_page
from hits.stages.verbs import task_settings

INSTRUCTIONS = "instructions"
_PARAGRAPHS = {"p", "h1", "h2", "h3", "h4", "li", "dt", "dd", "td", "th", "figcaption", "blockquote"}


def field_of(stage: Stage) -> str:
    """The setting whose empty value shows ours; empty where there is none, or several."""
    named = [one.name for one in task_settings.fields_of(stage) if one.name.startswith(INSTRUCTIONS)]
    return named[0] if len(named) == 1 and not has_own_page(stage) else ""


def of(stage: Stage) -> str:
    """What workers read where the lead has written no instructions. Raises Refused (no_example)."""
    emptied = copy.copy(stage)
    emptied.settings = {name: value for name, value in stage.settings.items() if not name.startswith(INSTRUCTIONS)}
    with task_words.spoken(stage.page_language or task_words.ENGLISH):
        page = serving.open_page(task_settings.example(emptied), {})
        template = get_template(page.template).template  # type: ignore[attr-defined]
        blocks = template.nodelist.get_nodes_by_type(BlockNode)
        ours = next(block for block in blocks if block.name == INSTRUCTIONS)
        context = Context({"page": page, "project": stage.project})
        with context.render_context.push_state(template), context.bind_template(template):
            return as_text(ours.render(context))


def as_text(html: str) -> str:
    """Paragraphs with a blank line between them; the points of a list stand below one another."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.text()


class _Reader(HTMLParser):
    """Collects the paragraphs of a page, and numbers those of ordered lists."""

    def __init__(self) -> None:
        super().__init__()
        self._lists: list[int | None] = []
        # (what a point begins with, its words)
        self._found: list[tuple[str, list[str]]] = [("", [])]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("ol", "ul"):
            self._lists.append(0 if tag == "ol" else None)
        elif tag in _PARAGRAPHS:
            self._found.append((self._point() if tag == "li" else "", []))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("ol", "ul") and self._lists:
            self._lists.pop()
        elif tag in _PARAGRAPHS:
            self._found.append(("", []))

    def handle_data(self, data: str) -> None:
        self._found[-1][1].append(data)

    def _point(self) -> str:
        if not self._lists or (number := self._lists[-1]) is None:
            return "- "
        self._lists[-1] = number + 1
        return f"{number + 1}. "

    def text(self) -> str:
        lines = [(point, " ".join("".join(words).split())) for point, words in self._found]
        text, before = "", ""
        for point, line in lines:
            if line:
                text += ("\n" if point and before else "\n\n") + point + line
                before = point
        return text.strip()
