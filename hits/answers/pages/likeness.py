"""Which of the answers on a page are copies of other answers to the same item, for whoever reviews them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hits.models import Assignment, Label, Stage
from hits.projects.rules.plugins import usable_protocol
from hits.protocols.optional import ComparingProtocol, Likeness


@dataclass(frozen=True)
class Alike:
    """A likeness as a page tells it: `what` is a word for such an answer; `first` says that this one was sent first."""

    likeness: Likeness
    what: str
    worker: str
    submitted_at: datetime
    first: bool


def likenesses(stage: Stage, answers: Iterable[Assignment]) -> dict[int, Alike]:
    """By the id of those of the answers that are much like another one. One query, or none where nothing is compared.

    Every answer to the same items is read, also those that other pages or filters show.
    """
    protocol = usable_protocol(stage)
    items = {answer.pk: answer.about.pk for answer in answers}
    if not items or not isinstance(protocol, ComparingProtocol):
        return {}
    sent, values = _said(stage, protocol.compared, set(items.values()))
    found = {number: like for said in values.values() for number, like in protocol.compare(said).items()}
    return {
        number: Alike(
            found[number],
            protocol.compared,
            *sent[found[number].other],
            (sent[number][1] < sent[found[number].other][1]),
        )
        for number in items.keys() & found.keys()
    }


def _said(
    stage: Stage, unit: str, items: set[int]
) -> tuple[dict[int, tuple[str, datetime]], dict[int, dict[int, Any]]]:
    """(worker, moment) of every answer to the items, and what each says of the unit, item by item; oldest first."""
    rows = Label.objects.filter(stage=stage, unit=unit, item__in=items).order_by(
        "assignment__submitted_at", "assignment_id"
    )
    sent: dict[int, tuple[str, datetime]] = {}
    values: dict[int, dict[int, Any]] = defaultdict(dict)
    for item, answer, value, worker, moment in rows.values_list(
        "item_id", "assignment_id", "value", "worker__worker_id", "assignment__submitted_at"
    ):
        sent[answer] = worker, moment
        values[item][answer] = value
    return sent, values
