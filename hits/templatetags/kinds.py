"""What a stage's kind of task has beyond the ordinary, for the links to pages that only some stages have."""

from __future__ import annotations

from django import template

from hits.domain.plugins import pages_of, usable_protocol
from hits.flow.data import undoing
from hits.models import Stage
from hits.protocols.pages import Page

register = template.Library()


@register.filter
def changes_items(stage: Stage) -> bool:
    """Whether its answers change the items that they are about, so that a lead may take that back."""
    return undoing.changing(stage) is not None


@register.filter
def own_pages(stage: Stage) -> tuple[Page, ...]:
    """The pages that its protocol brings; none where it cannot be used, which the stage's page says."""
    return pages_of(stage) if usable_protocol(stage) else ()
