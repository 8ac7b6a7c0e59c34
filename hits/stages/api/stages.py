"""Stages, their figures and the few settings of theirs that change."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import ProjectView, StageView, Started, operation, started
from hits.api.paging import PageQuery, page, page_of, sent
from hits.core.jobs import queue
from hits.judging.verbs import advancing
from hits.projects.rules.plugins import refuse_without_crowd
from hits.publishing.rules.hit_plans import is_published
from hits.publishing.verbs import publishing
from hits.recipes.stage_settings import SETTINGS
from hits.stages.api import shapes
from hits.stages.verbs import custom_stages, stage_settings, task_settings
from hits.workers.verbs import blocking

TAG = "Stages"


class Stages(ProjectView):
    @operation(
        "stages_list",
        "The stages of a project with their figures",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.StageShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.project.stages.select_related("summary"), shapes.StageShape)

    @operation(
        "stages_add",
        "Add a stage behind the others; nothing is published",
        tag=TAG,
        takes=shapes.NewStage,
        answer=shapes.StageShape,
        code=201,
        refuses=[400, 404],
    )
    def post(self, request: Request, **address: str) -> Response:
        table = sent(request, shapes.NewStage)
        if "reward" in table:
            table["reward"] = f"{table['reward']:.2f}"
        stage = custom_stages.add_stage(self.project, table, self.user)
        queue.start(tasks.conclude_project, self.project.pk)
        return Response(shapes.StageShape(stage).data, 201)


class StageDetail(StageView):
    crowd = False
    pays = frozenset({"PATCH"})

    @operation("stages_show", "A stage with its figures", tag=TAG, answer=shapes.StageShape, refuses=[404])
    def get(self, request: Request, **address: str) -> Response:
        return Response(shapes.StageShape(self.stage).data)

    @operation(
        "stages_change",
        "Change the settings and what goes on by itself; `settings/` says which of them can change",
        tag=TAG,
        takes=shapes.StageChange,
        answer=shapes.StageShape,
        refuses=[400, 404, 409],
    )
    def patch(self, request: Request, **address: str) -> Response:
        refuse_without_crowd(self.stage)
        given = sent(request, shapes.StageChange)
        changes: dict[str, Any] = dict(given)
        with transaction.atomic():
            self._change_settings(changes)
            if "auto_publish" in changes:
                publishing.publish_by_itself(self.stage, changes["auto_publish"])
            if "auto_block" in changes:
                blocking.block_by_itself(self.stage, changes["auto_block"], self.user)
            if "advance_approved" in changes:
                advancing.only_approved(self.stage, changes["advance_approved"], self.user)
        return Response(shapes.StageShape(self.stage).data)

    def _change_settings(self, changes: dict[str, Any]) -> None:
        names = changes.get("recipe_values", [])
        wanted = {name: stage_settings.recipe_value(self.stage, name) for name in names}
        wanted |= {name: value for name, value in changes.items() if name in SETTINGS}
        if "reward" in changes:
            wanted["reward"] = f"{changes['reward']:.2f}"
        if wanted:
            stage_settings.change(self.stage, wanted, self.user, confirmed=changes.get("confirm"))

    @operation(
        "stages_remove",
        "Remove a stage that was added and never published, with its items",
        tag=TAG,
        code=204,
        refuses=[404, 409],
    )
    def delete(self, request: Request, **address: str) -> Response:
        custom_stages.remove_stage(self.stage, self.user)
        return Response(status=204)


class StageSettings(StageView):
    @operation(
        "stages_settings",
        "The settings of a stage, the recipe's own values, and when each can change",
        tag=TAG,
        answer=shapes.StageSettingShape(many=True),
        refuses=[404, 409],
    )
    def get(self, request: Request, **address: str) -> Response:
        return Response(shapes.StageSettingShape(stage_settings.shown(self.stage), many=True).data)


class Actions(StageView):
    crowd = False

    @operation(
        "stages_actions",
        "What was done to a stage: who did what, when and from where",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.ActionShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.stage.actions.all(), shapes.ActionShape)


class Harvest(StageView):
    @operation(
        "harvest",
        "Fetch the answers now instead of at the next round",
        tag=TAG,
        code=202,
        answer=Started,
        refuses=[404, 503],
    )
    def post(self, request: Request, **address: str) -> Response:
        queue.start(tasks.harvest_stage, self.stage.pk)
        return started("The answers are being fetched.", self.stage_address("stage"))


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
        given = sent(request, shapes.TaskChange)
        task_settings.change_task(self.stage, given, self.user)
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
