"""A stage's vote rule: its text and editions, what another text would conclude, saving one, judging again."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from hits import queue, tasks
from hits.api.base import StageView, Started, operation, started
from hits.api.shapes import rules as shapes
from hits.flow.setup import ruling

TAG = "Rules"


class StageRule(StageView):
    pays = frozenset({"PUT"})

    @operation("rule_retrieve", "The rule in force, and those before it", tag=TAG, answer=shapes.RuleShape)
    def get(self, request: Request, **address: str) -> Response:
        return Response(shapes.RuleShape(self._described()).data)

    @operation(
        "rule_save",
        "Save another rule; every item with answers is judged by it in the background",
        tag=TAG,
        takes=shapes.NewRule,
        answer=shapes.SavedRule,
        code=202,
        refuses=[404, 409],
    )
    def put(self, request: Request, **address: str) -> Response:
        given = shapes.NewRule(data=request.data)
        given.is_valid(raise_exception=True)
        new = given.validated_data
        wanted = ruling.written(self.stage, new["text"])
        made = ruling.save(self.stage, wanted, new["seen"], new["note"], self.user)
        queue.start(tasks.conclude_stage, self.stage.pk)
        return Response({"edition": made.number, "see": self.stage_address("rule")}, status=202)

    def _described(self) -> dict[str, Any]:
        units = ruling.units(self.stage)
        return {
            "edition": self.stage.rule_edition,
            "rule": self.stage.rule,
            "text": self.stage.rule["params"].get("text", ""),
            "left_to_judge": ruling.left_to_judge(self.stage),
            "units": units,
            "texts": ruling.texts(self.stage, units)[0],
            "editions": ruling.editions(self.stage),
        }


class RulePreview(StageView):
    heavy = frozenset({"POST"})

    @operation(
        "rule_preview",
        "What a text would conclude of the answers that are there; changes nothing",
        tag=TAG,
        takes=shapes.RuleText,
        answer=shapes.RulePreviewShape,
        refuses=[404],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = shapes.RuleText(data=request.data)
        given.is_valid(raise_exception=True)
        text = given.validated_data["text"]
        found = ruling.preview(self.stage, ruling.written(self.stage, text))
        unheard = ruling.unheard(text, ruling.units(self.stage))
        return Response(shapes.RulePreviewShape({**vars(found), "moved": found.moved, "unheard": unheard}).data)


class JudgeAgain(StageView):
    pays = frozenset({"POST"})

    @operation(
        "judge_again",
        "Judge every item with answers again by the rule in force",
        tag=TAG,
        answer=Started,
        code=202,
        refuses=[404],
    )
    def post(self, request: Request, **address: str) -> Response:
        count = ruling.mark(self.stage)
        queue.start(tasks.conclude_stage, self.stage.pk)
        return started(f"{count:,} items are being judged again.", self.stage_address("rule"))
