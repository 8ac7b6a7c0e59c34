"""What the template of a task's page needs: for workers, for leads who look at it, and for the files of a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from hits.answers.rules.feedback import Told
from hits.answers.rules.written_texts import text_fields
from hits.items.rules.media import with_media
from hits.model_assist.rules.suggestions import shown_on
from hits.models import Hit, Item
from hits.people.rules.terms import FIELD, Asked
from hits.projects.rules.plugins import protocol_of, settings_of
from hits.protocols.base import Json, Step
from hits.protocols.optional import SourcesProtocol


@dataclass(frozen=True)
class Practice:
    """One of `of` items before a test, `number` from 1. `told` has what was right once the worker answered it."""

    number: int
    of: int
    next_url: str
    told: Told | None = None

    @property
    def last(self) -> bool:
        return self.number == self.of


@dataclass(frozen=True)
class Page:
    """What the task template needs. `token` and `origin`, the marketplace's, are empty in a preview.

    `moved` says that this screen follows another one of the same task, `reasons` why that is the same one again.
    `shown_at` is the address that shows the same, where there is one.
    A HIT about several items shows the `number`-th of `item_count`, from 1; the form carries `kept` along, what was
    said of the others, and only that of the last one goes to the marketplace.
    `sources` are the origins from which the page loads, by the directive of its policy. Of `counted_fields` the page
    counts how much is typed and pasted.
    `terms` are what the worker agrees to before the answer, None where the project has none. `suggestions` are those
    that this worker sees, in words, by field.
    """

    hit: Hit
    template: str
    task: Json
    settings: Json
    assignment_id: str = ""
    worker_id: str = ""
    origin: str = ""
    token: str = ""
    draft: dict[str, str] = field(default_factory=dict)
    first_visit: bool = True
    number: int = 1
    kept: dict[str, str] = field(default_factory=dict)
    step: Step | None = None
    shown_at: str = ""
    moved: bool = False
    reasons: tuple[str, ...] = ()
    sources: Mapping[str, list[str]] = field(default_factory=dict)
    practice: Practice | None = None
    counted_fields: tuple[str, ...] = ()
    terms: Asked | None = None
    suggestions: Mapping[str, str] = field(default_factory=dict)

    @property
    def terms_field(self) -> str:
        return FIELD

    @property
    def preview(self) -> bool:
        return not self.token

    @property
    def step_template(self) -> str:
        """Of one screen alone, where the task has several."""
        return f"{self.hit.stage.protocol}/_step.html"

    @property
    def item_count(self) -> int:
        return self.hit.item_count

    @property
    def leads_on(self) -> bool:
        """Whether another item of the same HIT follows."""
        return self.practice is None and self.number < self.item_count

    @property
    def form_url(self) -> str:
        """Where the form is sent."""
        if self.practice:
            return f"{reverse('task-practice')}?{urlencode({'turkSubmitTo': self.origin})}"
        return self.step_url if self.leads_on else self.submit_url

    @property
    def submit_url(self) -> str:
        return f"{self.origin}/mturk/externalSubmit"

    @property
    def step_url(self) -> str:
        """Where a screen of a task with steps is posted; the page that comes back has to know the marketplace."""
        return f"{reverse('task-step')}?{urlencode({'turkSubmitTo': self.origin})}"

    @property
    def back_url(self) -> str:
        return f"{self.step_url}&go=back"


def page_of(hit: Hit, item: Item, *, worker_id: str = "", step: Step | None = None, **more: Any) -> Page:
    """The page of a HIT about one of its items, as this worker sees it; `more` are further fields of `Page`."""
    protocol, options = protocol_of(hit.stage), settings_of(hit.stage)
    counted = () if more.get("practice") else text_fields(hit.stage, item, protocol, options)
    (document,) = with_media(protocol, hit.stage.project_id, [(item.document.data, item.data)], options)
    return Page(
        hit,
        f"{protocol.name}/task.html",
        protocol.page(document, item.data, options, worker_id),
        options,
        worker_id=worker_id,
        step=step,
        sources=protocol.sources(document, item.data, options) if isinstance(protocol, SourcesProtocol) else {},
        counted_fields=counted,
        suggestions={} if "practice" in more else shown_on(hit.stage, item, worker_id),
        **more,
    )
