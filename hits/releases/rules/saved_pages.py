"""The pages of tasks as files of a release: each as a worker saw it, about one released item.

The item is one of which the release tells labels (`ReleaseContent.told`), or one about the same document or from which
it was drawn: never one of a split whose labels are hidden, and no check question.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from django.conf import settings
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string

from hits.answers.rules import task_words
from hits.answers.rules.task_pages import page_of
from hits.core.jobs.failures import note
from hits.formats.outputs.saved_page import saved
from hits.items.rules import media
from hits.models import Hit, Item, Project, Stage
from hits.projects.rules.plugins import protocol_of, settings_of
from hits.protocols.base import StepwiseProtocol
from hits.publishing.rules.hit_questions import has_own_page, own_page
from hits.recipes.source import Json
from hits.releases.rules.release_values import Told

FOLDER = "task-pages"
# Of a file; of one medium in it, and of all of them before they are written as text.
MOST_BYTES, MOST_MEDIUM, MOST_MEDIA = 4_000_000, 1_000_000, 2_500_000
# Released items among whose documents an example for other stages is looked for.
LOOKED_AT = 200
OWN_SHEET = "frames/crowd-html-elements.css"
# A page with a token is one that can be answered; what is made of it holds no field with it.
_TOKEN = "saved"
_SHEET = re.compile(r'<link rel="stylesheet" href="([^"]+)"')


def files_of(project: Project, told: Told) -> tuple[dict[str, bytes], list[Json]]:
    """(HTML by its name, `task-pages/KEY.html`; {"stage", "file", "item"} of each, or {"stage", "why"} without one)."""
    files: dict[str, bytes] = {}
    facts: list[Json] = []
    examples = _Examples(project, told)
    answered = project.stages.filter(crowd=True, summary__answers__gt=0).select_related("summary")
    for stage in answered.order_by("position"):
        stage.project = project
        if stage.summary.imported == stage.summary.answers:
            facts.append({"stage": stage.key, "why": "its answers were imported, and given on another page"})
            continue
        item = examples.of(stage)
        if item is None:
            facts.append({"stage": stage.key, "why": "no released item of it may be shown"})
            continue
        content, why = _written(stage, item)
        if content:
            name = f"{FOLDER}/{stage.key}.html"
            files[name] = content
            facts.append({"stage": stage.key, "file": name, "item": item.key})
        else:
            facts.append({"stage": stage.key, "why": why})
    return files, facts


class _Examples:
    """Which item stands for a stage. Reads only what a stage with a page needs."""

    def __init__(self, project: Project, told: Told) -> None:
        self._told = told
        self._rows = Item.objects.filter(stage__project=project).select_related("document", "stage")

    def of(self, stage: Stage) -> Item | None:
        """The same one for the same release."""
        if stage.key in self._told:
            return next(iter(self._released(stage.key, 1)), None)
        others = [item for key in self._told for item in self._released(key, LOOKED_AT)]
        for item in others[:1]:
            if drawn_from := next((one for one in _drawn_from(item) if one.stage_id == stage.pk), None):
                return drawn_from
        rows = self._rows.filter(stage=stage, document__in={item.document_id for item in others})
        return rows.exclude(state=Item.State.CHECK).order_by("key").first()

    def _released(self, key: str, most: int) -> list[Item]:
        keys = [item.key for item in islice(self._told[key](), most)]
        found = {item.key: item for item in self._rows.filter(stage__key=key, key__in=keys)}
        return [found[one] for one in keys if one in found]


def _drawn_from(item: Item) -> Iterator[Item]:
    """What an item was drawn from, and that in turn; of one that an answer brought, what that answer is about."""
    seen = {item.pk}
    while True:
        source = item.source
        up = item.parent or (source.hit.item if source and source.hit_id else None)
        if up is None or up.pk in seen:
            return
        seen.add(up.pk)
        yield up
        item = up


def _written(stage: Stage, item: Item) -> tuple[bytes, str]:
    """(the file, why there is none)."""
    item.stage = stage
    kept = _Media(stage.project)
    try:
        with task_words.english():
            html, sheets = _page(Hit(stage=stage, item=item))
        page = saved(
            html,
            title=stage.hit_title,
            note=f"The task “{stage.hit_title}” as a worker saw it, about the item {item.key}. Nothing here is sent.",
            styles=sheets,
            medium=kept.within,
        )
    except Exception as error:
        # The code of a task, also one that was plugged in; without the page the release is whole.
        note(error, f"the page of {stage} for a release")
        return b"", "its page could not be made"
    content = page.encode("utf-8", "replace")
    return (content, "") if len(content) <= MOST_BYTES else (b"", f"its page has more than {MOST_BYTES:,} bytes")


def _page(hit: Hit) -> tuple[str, list[str]]:
    """(the page as it is shown, the sheets that it loads)."""
    stage, item = hit.stage, hit.item
    if has_own_page(stage):
        return own_page(hit).html, [_sheet(OWN_SHEET)]
    protocol, step = protocol_of(stage), None
    if isinstance(protocol, StepwiseProtocol):
        step = protocol.step(item.document.data, item.data, settings_of(stage), {}, "", "stay")
    page = page_of(hit, item, step=step, token=_TOKEN)
    html = render_to_string(page.template, {"page": page, "project": stage.project})
    base = settings.STATIC_URL
    return html, [_sheet(address.removeprefix(base)) for address in _SHEET.findall(html) if address.startswith(base)]


def _sheet(name: str) -> str:
    found = finders.find(name)
    return Path(found).read_text(encoding="utf-8") if isinstance(found, str) else ""


@dataclass
class _Media:
    """Uploaded media of the project as part of the page, as long as there is room; nothing from elsewhere."""

    project: Project
    left: int = MOST_MEDIA
    found: dict[str, str] = field(default_factory=dict)

    def within(self, address: str) -> str | None:
        """A data address for an address of `hits.items.rules.media`."""
        if address not in self.found and (made := self._made(address)):
            self.found[address] = made
        return self.found.get(address)

    def _made(self, address: str) -> str | None:
        beginning, _, rest = address.partition("/media/")
        token, _, base = rest.partition("/")
        file = media.file_at(token, unquote(base)) if rest and not beginning else None
        if file is None or file.project_id != self.project.pk or file.blob.size > min(MOST_MEDIUM, self.left):
            return None
        self.left -= file.blob.size
        return f"data:{file.content_type};base64,{base64.b64encode(file.blob.read()).decode()}"


def described(facts: list[Json], titles: Mapping[str, str]) -> dict[str, str]:
    """Stage by its title to the file with its page, or why there is none."""
    return {titles.get(row["stage"], row["stage"]): _said(row) for row in facts}


def _said(row: Mapping[str, Any]) -> str:
    return f"{row['file']}, about item {row['item']}" if "file" in row else f"none: {row['why']}"
