"""A stage's vote rule: its text and editions, what another text would conclude, saving one, judging again."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import DoneWhen, QuotedBy, StageView, Started, operation, started
from hits.api.paging import sent
from hits.core.jobs import queue
from hits.stages.api import shapes
from hits.stages.verbs import aggregation_rule

TAG = "Rules"
JUDGED = DoneWhen("left_to_judge", 0)


class StageRule(StageView):
    pays = frozenset({"PUT"})

    @operation("rule_show", "The rule in force, and those before it", tag=TAG, answer=shapes.RuleShape)
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
        done=JUDGED,
        quote=QuotedBy("rule_show", gives=("seen",), names={"seen": "edition"}),
    )
    def put(self, request: Request, **address: str) -> Response:
        new = sent(request, shapes.NewRule)
        wanted = aggregation_rule.written(self.stage, new["text"])
        made = aggregation_rule.save(self.stage, wanted, new["seen"], new["note"], self.user)
        queue.start(tasks.conclude_stage, self.stage.pk)
        return Response({"edition": made.number, "see": self.stage_address("rule")}, status=202)

    def _described(self) -> dict[str, Any]:
        units = aggregation_rule.units(self.stage)
        return {
            "edition": self.stage.rule_edition,
            "rule": self.stage.rule,
            "text": self.stage.rule["params"].get("text", ""),
            "left_to_judge": aggregation_rule.left_to_judge(self.stage),
            "units": units,
            "texts": aggregation_rule.texts(self.stage, units)[0],
            "editions": aggregation_rule.editions(self.stage),
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
        given = sent(request, shapes.RuleText)
        text = given["text"]
        found = aggregation_rule.preview(self.stage, aggregation_rule.written(self.stage, text))
        unheard = aggregation_rule.unheard(text, aggregation_rule.units(self.stage))
        return Response(shapes.RulePreviewShape({**vars(found), "moved": found.moved, "unheard": unheard}).data)


class JudgeAgain(StageView):
    pays = frozenset({"POST"})

    @operation(
        "rule_judge_again",
        "Judge every item with answers again by the rule in force",
        tag=TAG,
        answer=Started,
        code=202,
        refuses=[404],
        done=JUDGED,
    )
    def post(self, request: Request, **address: str) -> Response:
        count = aggregation_rule.mark(self.stage)
        queue.start(tasks.conclude_stage, self.stage.pk)
        return started(f"{count:,} items are being judged again.", self.stage_address("rule"))
