"""`{% verb "webhooks.add" %}`: the form of a declared verb, where the person may do it."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.loader import render_to_string

from hits.core.pages import form_for
from hits.core.roles import declared, may_in
from hits.core.verbs import REGISTRY

register = template.Library()


@register.simple_tag(takes_context=True)
def verb(context: Any, name: str, row: Any = None, **options: Any) -> str:
    """Of the page's project, or of `row`.

    `fields` names some of the verb's fields; a field by its name has this value and is not asked for; `initial` are
    values to begin with. `button`, `style` (classes of the button), `about` (what a screen reader says behind the
    button's words) and `layout` (a class of the form; in a `row` the labels are for screen readers) are how it looks.
    """
    request = context["request"]
    if not may_in(request.project, declared(name)):
        return ""
    found = REGISTRY[name]
    form = form_for(found, row or request.project, request.project, request, **options)
    return render_to_string("core/_verb.html", {"form": form}, request)
