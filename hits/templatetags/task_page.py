"""What the templates of task pages need beyond Django's own."""

from __future__ import annotations

from collections.abc import Mapping

from django import template

register = template.Library()


@register.filter
def kept(draft: Mapping[str, str], name: str) -> str:
    """What a draft holds under a name that is only known while the page is made: `page.draft|kept:choice.field`."""
    return draft.get(name, "")
