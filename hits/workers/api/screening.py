"""What became of the workers who took a test."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from hits.api.base import StageView, operation
from hits.workers.api import shapes
from hits.workers.rules.screening_results import refuse_no_test, standing


class Screening(StageView):
    @operation(
        "stages_screening",
        "How many workers began, passed and failed the test that this stage is, and which items they failed",
        tag="Quality",
        answer=shapes.ScreeningShape,
        refuses=[404, 409],
    )
    def get(self, request: Request, **address: str) -> Response:
        refuse_no_test(self.stage)
        return Response(shapes.ScreeningShape(standing(self.stage).to_dict()).data)
