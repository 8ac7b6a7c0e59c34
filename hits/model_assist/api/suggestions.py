"""Suggestions of a model, and how far workers follow them."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from hits.api.base import StageView, operation
from hits.api.paging import sent
from hits.formats.inputs.item_values import Place, SuggestionRow
from hits.model_assist.api import shapes
from hits.model_assist.rules.anchoring import report
from hits.model_assist.verbs import suggesting
from hits.text.cells import as_text

TAG = "Items and answers"


class Suggestions(StageView):
    heavy = frozenset({"GET", "POST"})

    @operation(
        "suggestions_report",
        "How often answers agree with the suggestions of a model, in sight and out of sight, and how many follow them",
        tag=TAG,
        answer=shapes.AnchoringShape,
        refuses=[404, 409],
    )
    def get(self, request: Request, **address: str) -> Response:
        return Response(shapes.AnchoringShape(report(self.stage).to_dict()).data)

    @operation(
        "suggestions_add",
        "Give items that are not published suggestions of a model",
        tag=TAG,
        takes=shapes.GivenSuggestions,
        answer=shapes.SuggestedShape,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = sent(request, shapes.GivenSuggestions)
        rows = [
            SuggestionRow(
                one["item"],
                one["field"],
                as_text(one["value"]).strip(),
                "" if one["score"] is None else repr(one["score"]),
                one["model"].strip(),
                Place(row=f"suggestions[{at}]."),
            )
            for at, one in enumerate(given["suggestions"])
        ]
        return Response(shapes.SuggestedShape(vars(suggesting.suggest(self.stage, rows, self.user))).data)
