"""What the templates of task pages need beyond Django's own."""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.urls import reverse
from django.utils import translation

from common import request_id as request_ids
from hits.answers.rules import task_words

register = template.Library()


@register.filter
def kept(draft: Mapping[str, str], name: str) -> str:
    """What a draft holds under a name that is only known while the page is made: `page.draft|kept:choice.field`."""
    return draft.get(name, "")


@register.simple_tag
def catalogue_address() -> str:
    """Of the words of the scripts in the page's language; empty in English, which they have by themselves."""
    language = translation.get_language() or task_words.ENGLISH
    version = task_words.catalogue_version(language)
    return reverse("task-words", args=[language, version]) if version else ""


@register.simple_tag
def request_id() -> str:
    """The id that the log has of this page, with which its answer can be followed."""
    return request_ids.current()
