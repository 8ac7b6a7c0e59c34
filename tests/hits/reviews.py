"""Answers of experts, as verbs leave them behind: the form checked by its protocol, its labels in the table."""

from __future__ import annotations

from typing import Any

from hits import protocols
from hits.models import Assignment, Stage
from tests.hits import factories as make
from tests.hits.protocols import reviewed


def review(stage: Stage, worker: Any = None, key: str = "", **changes: str) -> Assignment:
    """One more item of the stage, and its answer: the form of `reviewed.fields` with these fields changed."""
    document = make.document(stage.project, data=reviewed.DOCUMENT)
    columns: dict[str, Any] = {"key": key} if key else {}
    item = make.item(stage, document=document, data=reviewed.ITEM, state="kept", **columns)
    answer = make.assignment(make.hit(item), worker, answer=reviewed.fields(**changes))
    checked = protocols.get(stage.protocol).check(document.data, item.data, {}, answer.answer)
    for label in checked.labels:
        make.label(answer, unit=label.unit, value=label.value, correct=label.correct)
    return answer
