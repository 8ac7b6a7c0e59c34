"""What a HIT asks, as the marketplace takes it: the address of our page, or a page of a lead's own."""

from __future__ import annotations

from collections.abc import Callable

from hits.answers.rules.task_links import task_url
from hits.models import Hit, Stage
from hits.mturk.errors import RefusedError
from hits.mturk.question import external_question, html_question
from hits.projects.rules.plugins import protocol_of, settings_of
from hits.protocols.base import SettingsRefusedError
from hits.protocols.optional import OwnPage, OwnPageProtocol


def has_own_page(stage: Stage) -> bool:
    """Whether the marketplace itself shows the page, which a lead wrote."""
    return isinstance(protocol_of(stage), OwnPageProtocol)


def own_page(hit: Hit) -> OwnPage:
    """Of a stage with pages of its own. Raises ValueError for an item that cannot be shown."""
    protocol = protocol_of(hit.stage)
    assert isinstance(protocol, OwnPageProtocol)
    return protocol.own_page(hit.item.document.data, hit.item.data, settings_of(hit.stage))


def asked_by(stage: Stage) -> Callable[[Hit], str]:
    """The XML of a HIT's question, by its row. Where the page is the lead's own, `item__document` has to be there.

    Touches no table. Raises RefusedError for a row that cannot be shown: it holds up no other.
    """
    protocol = protocol_of(stage)
    if not isinstance(protocol, OwnPageProtocol):
        return lambda hit: external_question(task_url(hit.pk))

    def question(hit: Hit) -> str:
        try:
            page = protocol.own_page(hit.item.document.data, hit.item.data, settings_of(stage))
        except (ValueError, SettingsRefusedError) as error:
            raise RefusedError("PageNotFilled", str(error)) from error
        return html_question(page.html, page.frame_height)

    return question
