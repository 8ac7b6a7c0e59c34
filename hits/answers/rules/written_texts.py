"""The texts that people write on a task's page, and what the page counted of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hits.answers.models import TextEvidence
from hits.answers.rules.item_answers import fields_by_item, without
from hits.items.models import Item
from hits.projects.rules.plugins import protocol_of, settings_of, usable_protocol
from hits.protocols.base import Json, TaskProtocol
from hits.protocols.optional import OwnPageProtocol, TextsProtocol
from hits.stages.models import Stage
from hits.text.originality import typing_counts
from hits.text.originality.typing_counts import Counts
from hits.text.written import kept_lines

NUMBERED = "item{number}:{name}"


def fault_without_texts(protocol: TaskProtocol, settings: Json) -> str:
    """Why nothing can be collected of a task with these settings, as a sentence; empty where something can."""
    if not isinstance(protocol, TextsProtocol):
        return f"“{protocol.title}” has no text to be written."
    return "" if protocol.asks_texts(settings) else "This task has no question that is answered by a text."


def text_fields(stage: Stage, item: Item, protocol: TaskProtocol, settings: Json) -> tuple[str, ...]:
    """The form fields of which the page counts what is typed and pasted; none where the stage does not collect it."""
    if not stage.text_evidence or not isinstance(protocol, TextsProtocol):
        return ()
    return tuple(protocol.text_fields(item.document.data, item.data, settings))


def texts_of(stage: Stage, items: Sequence[Item], fields: Mapping[str, str]) -> tuple[str, str]:
    """(what the answer with these form fields says in the worker's own words, what its items show to write about).

    Fields follow one another with a blank line between. Raises what the protocol's own code raises.
    """
    protocol, settings = protocol_of(stage), settings_of(stage)
    if not isinstance(protocol, TextsProtocol):
        return "", ""
    own, given = [], []
    for item, said in zip(items, fields_by_item(fields, len(items)), strict=True):
        place = item.document.data, item.data, settings
        own += [kept_lines(str(said.get(name, ""))) for name in protocol.text_fields(*place)]
        given.append(protocol.given_text(*place))
    return "\n\n".join(text for text in own if text), "\n\n".join(given)


def without_counts(stage: Stage, fields: Mapping[str, str]) -> dict[str, str]:
    """The form fields of an answer without what its page counted. A page of a lead's own has fields of any name."""
    own = without(fields, typing_counts.NAME)
    if len(own) == len(fields) or isinstance(usable_protocol(stage), OwnPageProtocol):
        return dict(fields)
    return own


def counted(fields: Mapping[str, str], items: int) -> tuple[str, dict[str, Counts]]:
    """(one of TextEvidence.Noted, the counts by form field) of an answer about so many items.

    Of an answer about several, fields have the number of their item, as drafts write them.
    """
    found: dict[str, Counts] = {}
    noted = TextEvidence.Noted.NOTHING
    for number, said in enumerate(fields_by_item(fields, items), 1):
        posted = str(said.get(typing_counts.NAME, ""))
        read = typing_counts.read(posted, said)
        if read is None:
            return TextEvidence.Noted.UNREADABLE, {}
        noted = TextEvidence.Noted.COUNTED if posted else noted
        found |= {
            (NUMBERED.format(number=number, name=name) if items > 1 else name): counts for name, counts in read.items()
        }
    return noted, found
