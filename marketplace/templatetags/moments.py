"""Moments as the pages show them: in UTC, until the script of the page puts them into the viewer's own zone."""

from datetime import datetime

from django import template
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

register = template.Library()


@register.simple_tag
def moment(at: datetime, pattern: str = "") -> SafeString:
    """A `<time>` element, to stand in a sentence; `pattern` is one of Django's, without it day, month and time."""
    here = localtime(at)
    return format_html(
        '<time datetime="{}">{} UTC</time>', here.isoformat(), date_format(here, pattern or _("j M H:i"))
    )
