"""Whether who looks at a page may do something: what is not allowed is not shown. The guard asks again."""

from __future__ import annotations

from django import template
from django.http import HttpRequest

from hits.core.roles import may_in, page_verb
from hits.models import Project

register = template.Library()


@register.filter
def may(request: HttpRequest, page: str) -> bool:
    """`{% if request|may:"publish" %}`: whether who asks may send that page's form in this request's project."""
    return may_in(request.project, page_verb(page, "POST"))  # type: ignore[attr-defined]


@register.filter
def may_in_it(project: Project, page: str) -> bool:
    """`{% if project|may_in_it:"import" %}`: as `may`, of one of several projects on a page."""
    return may_in(project, page_verb(page, "POST"))
