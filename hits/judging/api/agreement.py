"""How far the workers of a stage agree, as its newest finished run found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from hits.answers.rules.answer_words import ValueWords
from hits.api.base import StageView, operation
from hits.judging.api import shapes
from hits.judging.rules import stage_statistics
from hits.judging.rules.crowd_answers import refuse_uncompared
from hits.models import Stage


class Agreement(StageView):
    @operation(
        "stages_agreement",
        "How far workers agree on each unit, and how right each method of aggregation is",
        tag="Computations",
        answer=shapes.AgreementShape,
        refuses=[404, 409],
    )
    def get(self, request: Request, **address: str) -> Response:
        refuse_uncompared(self.stage)
        run, going_on = stage_statistics.newest(self.stage), stage_statistics.going_on(self.stage)
        report = stage_statistics.report_of(run) if run else {}
        computed = stage_statistics.computed(self.stage)
        found = {
            "computation": stage_statistics.key_of(self.stage),
            "run": run.pk if run else None,
            "going_on": going_on.pk if going_on else None,
            "finished_at": run.finished_at if run else None,
            "method": report.get("method", ""),
            "answers": computed.answers if computed else 0,
            "since": computed.since if computed else self.stage.summary.answers,
            "units": report.get("units", []),
            "texts": _texts(self.stage, report.get("units", [])),
        }
        return Response(shapes.AgreementShape(found).data)


def _texts(stage: Stage, units: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    words = ValueWords(stage)
    found = {unit["unit"]: words.texts(unit["unit"], (unit.get("confusion") or {}).get("labels", ())) for unit in units}
    return {unit: texts for unit, texts in found.items() if texts}
