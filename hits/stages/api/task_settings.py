"""What a stage asks of its workers: written until it is published, read at any time."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from hits.api.base import StageView, operation
from hits.publishing.rules.hit_plans import is_published
from hits.stages.api import shapes
from hits.stages.verbs import task_settings

TAG = "Stages"


class Task(StageView):
    @operation(
        "task_show",
        "The task of a stage, and what of it can be written",
        tag=TAG,
        answer=shapes.TaskShape,
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return self._shown()

    @operation(
        "task_change",
        "Write the task, until workers have seen it; what is not sent, of the settings too, stays as it is",
        tag=TAG,
        takes=shapes.TaskChange,
        answer=shapes.TaskShape,
        refuses=[404, 409],
    )
    def patch(self, request: Request, **address: str) -> Response:
        given = shapes.TaskChange(data=request.data)
        given.is_valid(raise_exception=True)
        task_settings.change_task(self.stage, given.validated_data, self.user)
        return self._shown()

    def _shown(self) -> Response:
        stage = self.stage
        task = {
            "protocol": stage.protocol,
            "hit_title": stage.hit_title,
            "hit_description": stage.hit_description,
            "settings": task_settings.shown_settings(stage),
            "frozen": is_published(stage),
            "form": task_settings.fields_of(stage),
        }
        return Response(shapes.TaskShape(task).data)
