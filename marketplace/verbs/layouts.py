"""A requester's layouts, and the pages made from them."""

from collections.abc import Mapping
from datetime import datetime

from common.html_templates import with_form
from marketplace.models import HitLayout, Requester
from marketplace.rules import limits
from marketplace.rules.errors import DoesNotExist, ParameterValidationError
from marketplace.rules.questions.html import HtmlQuestion, html_question_xml
from marketplace.rules.questions.kinds import NO_FRAMES
from marketplace.rules.questions.layouts import check_layout, fill_layout
from marketplace.verbs import frames


def register(requester: Requester, name: str, html: str, now: datetime, raw: bool = False) -> HitLayout:
    """Keep a layout under a new id; a `raw` one takes its values as they are. Raises ParameterValidationError."""
    limits.check_length("Name", name, limits.LAYOUT_NAME, blank=False)
    check_layout(html, raw)
    return HitLayout.objects.create(requester=requester, name=name, html=html, raw=raw, created_at=now)


def find(requester: Requester, layout_id: str) -> HitLayout:
    layout = HitLayout.objects.filter(requester=requester, layout_id=layout_id).first()
    if layout is None:
        raise DoesNotExist("Hit layout", layout_id)
    return layout


def question(layout: HitLayout, values: Mapping[str, str]) -> str:
    """The HTMLQuestion that the layout gives with these values; its frame fits the window."""
    if not frames.origin():
        raise ParameterValidationError(NO_FRAMES)
    return html_question_xml(HtmlQuestion(page(layout, values), 0))


def page(layout: HitLayout, values: Mapping[str, str]) -> str:
    """The layout filled in, in a form: its own, or the one that it gets."""
    return fill_layout(with_form(layout.html), values, layout.raw)
