"""A worker as the project sees them, and blocks: preview, confirm, undo."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits import forms, tasks
from hits.flow.people import blocking
from hits.models import Action, Assignment, Block, Grant, Project, Stage, WorkerStat
from hits.views import jobs, paging
from hits.views.guard import FORM, PAGE, LeadRequest, for_project, for_stage
from hits.views.items import labels_with_keys
from hits.views.stages import frame


def _stats(project: Project, worker_ids: list[str]) -> QuerySet[WorkerStat]:
    stats = WorkerStat.objects.filter(stage__project=project, worker__worker_id__in=worker_ids)
    return stats.select_related("stage", "worker").order_by("stage__position", "worker_id")


@for_project(PAGE)
def worker(request: HttpRequest, project: Project, worker_id: str) -> HttpResponse:
    stats = list(_stats(project, [worker_id]))
    if not stats:
        raise Http404("This worker has not answered in this project.")
    person = stats[0].worker
    mine = project.blocks.filter(worker=person).select_related("stage", "created_by").prefetch_related("actions")
    blocks = list(mine.order_by("-id"))
    standing = next((block for block in blocks if block.state != Block.State.UNDONE), None)
    rows = Assignment.objects.filter(stage__project=project, worker=person)
    rows = rows.select_related("hit__item", "stage").prefetch_related(labels_with_keys(), "actions")
    context = {
        "project": project,
        "worker": person,
        "stats": stats,
        "blocks": blocks,
        "standing": standing,
        "grants": project.grants.filter(worker=person).exclude(state=Grant.State.WITHDRAWN).order_by("key"),
        "proposed_in": None if standing else _proposed_in(stats),
        "page": paging.by_id(rows, request.GET, newest_first=True),
    }
    return render(request, "workers/detail.html", context)


def _proposed_in(stats: list[WorkerStat]) -> Stage | None:
    """The first stage whose policy names this worker now."""
    for stat in stats:
        if any(found.worker == stat.worker.worker_id for found in blocking.proposals(stat.stage)):
            return stat.stage
    return None


@for_stage(FORM)
def block(request: LeadRequest, stage: Stage) -> HttpResponse:
    """GET shows who would be blocked and what follows; POST blocks those who were ticked."""
    if request.method != "POST":
        return _preview(request, stage)
    form = forms.WorkersForm([found.worker for found in blocking.proposals(stage)], request.POST)
    if not form.is_valid():
        messages.error(request, "Nobody was blocked: tick workers of this list, which may have changed since.")
        return _preview(request, stage, 400)
    chosen = form.cleaned_data["workers"]
    try:
        blocking.intend(stage, chosen, request.user, at_most=form.cleaned_data["cost"])
    except (blocking.NotBlockableError, blocking.LossGrownError) as error:
        messages.error(request, str(error))
        return _preview(request, stage, 400)
    said = f"{len(chosen):,} worker{' is' if len(chosen) == 1 else 's are'} being blocked, and their items asked again."
    jobs.start(request, tasks.finish_blocks, stage.pk, said=said)
    return redirect("stage", stage.project.slug, stage.key)


def _preview(request: HttpRequest, stage: Stage, status: int = 200) -> HttpResponse:
    only = request.GET.getlist("worker")
    found = blocking.preview(stage, only if only or "chosen" in request.GET else None)
    rows = [(one, found.answers[one.worker], one.worker in found.chosen) for one in found.proposals]
    context = {**frame(stage), "rows": rows, "workers": len(found.chosen), "loss": found.loss, "left": found.left}
    return render(request, "workers/block.html", context, status=status)


@for_project(FORM)
def undo(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    row = get_object_or_404(project.blocks.select_related("worker", "stage", "created_by"), pk=pk)
    if row.state in (Block.State.LIFTING, Block.State.UNDONE):
        messages.info(request, "This block is undone already.")
        return redirect("worker", project.slug, row.worker.worker_id)
    if request.method == "POST":
        said = f"{row.worker.worker_id} may work again and their answers count again."
        jobs.start(request, tasks.undo_block, row.pk, request.user.pk, Action.Origin.PAGE, said=said)
        return redirect("worker", project.slug, row.worker.worker_id)
    return render(request, "workers/undo.html", {"project": project, "row": row, "back": blocking.undo_preview(row)})
