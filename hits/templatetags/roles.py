"""Whether who looks at a page may do something: what is not allowed is not shown. The guard asks again."""

from __future__ import annotations

from django import template
from django.http import HttpRequest

from hits.domain.roles import may as role_may
from hits.domain.roles import page_verb

register = template.Library()


@register.filter
def may(request: HttpRequest, page: str) -> bool:
    """`{% if request|may:"publish" %}`: whether the role of this request's project may send that page's form."""
    return role_may(request.role, page_verb(page, "POST"))  # type: ignore[attr-defined]
