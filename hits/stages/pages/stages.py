"""A stage's page, its moving parts, and the verbs that steer it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import F, FloatField, QuerySet
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from hits import tasks
from hits.items.verbs import annotating, sampling
from hits.judging.verbs import advancing, computing
from hits.models import Action, Stage, WorkerStat
from hits.notifications.jobs import needs
from hits.publishing.rules import stage_actions
from hits.publishing.verbs import publishing
from hits.refusals import Refused
from hits.stages.pages import forms, overview
from hits.templatetags.roles import may
from hits.views import action_words, jobs, navigation, paging, words
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, for_stage
from hits.workers.pages import grants, qualification_tests
from hits.workers.rules import block_proposals, worker_table
from hits.workers.verbs import blocking

WORKERS_SHOWN = 25
# Of what was done to a stage, on its page.
LATEST = 20
SORTS = {"answers": "-answers", "accuracy": "-accuracy", "worst": "accuracy"}


def _back(stage: Stage) -> HttpResponse:
    return redirect("stage", stage.project.slug, stage.key)


@for_stage(PAGE, crowd=False)
def detail(request: HttpRequest, stage: Stage) -> HttpResponse:
    """A stage without a crowd is its items."""
    if not stage.crowd:
        return redirect("queries" if annotating.has_annotations(stage) else "items", stage.project.slug, stage.key)
    tests = qualification_tests.of_stage(stage)
    context = {
        **_moving(request, stage),
        **_workers(request, stage),
        "missing": None if stage.summary.items else sampling.missing(stage),
        "fed_by": "" if stage.summary.items else overview.feeders(stage.project).get(stage.key, ""),
        "requirements": words.requirements(stage.requirements, navigation.qualification_titles(stage.project)),
        **tests,
        **grants.of_stage(stage, tests["tests_required"]),
        "done": action_words.told(stage.project, Action.objects.of_stage(stage).order_by("-id")[:LATEST]),
        **overview.further(stage),
    }
    return render(request, "stages/detail.html", context)


@for_stage(PAGE, crowd=False)
def done(request: HttpRequest, stage: Stage) -> HttpResponse:
    """Everything that was done to the stage, newest first."""
    page = paging.by_id(Action.objects.of_stage(stage), request.GET, newest_first=True)
    return render(
        request, "stages/done.html", {**frame(stage), "page": page, "told": action_words.told(stage.project, page.rows)}
    )


def _has_switches(request: HttpRequest, stage: Stage) -> bool:
    """Whether anything of the stage can be switched between going on by itself and waiting for this lead."""
    switched = {
        "advance-approved": stage.approval == Stage.Approval.REVIEW,
        "auto-block": bool(stage.quality),
        "arrivals": stage.position > 1 and not stage.draws,
    }
    return any(there and may(request, page) for page, there in switched.items())


def _moving(request: HttpRequest, stage: Stage) -> dict[str, Any]:
    """What changes on the page while something is published: head, stages, figures, what needs the lead."""
    figures, proposals = overview.figures(stage), block_proposals.proposals(stage)
    return {
        **frame(stage),
        **figures,
        "proposals": proposals,
        "needs": needs.of_stage(stage, len(proposals), figures["refused"]),
        "offered": stage_actions.offered(stage),
        "held_up": [sentence for sentences in needs.held_up(stage).values() for sentence in sentences],
        "awaited": computing.awaited_by(stage),
        "has_switches": _has_switches(request, stage),
    }


def frame(stage: Stage) -> dict[str, object]:
    """What every page of a stage needs."""
    stages = navigation.stages_of(stage.project)
    others = [other.title for other in stages if other.key in stage.not_workers_of]
    return {
        "project": stage.project,
        "stage": stage,
        "summary": stage.summary,
        "stages": stages,
        "others": others,
        "has_annotations": annotating.has_annotations(stage),
        "worker_site": settings.MTURK_SUBMIT_ORIGINS[0],
    }


def _workers(request: HttpRequest, stage: Stage) -> dict[str, object]:
    sort = request.GET.get("sort", "")
    sort = sort if sort in SORTS else "answers"
    search = request.GET.get("worker", "").strip()[:64]
    page = paging.number(request.GET.get("page"))
    found = _sorted(stage.worker_stats.select_related("worker"), SORTS[sort])
    if search:
        found = found.filter(worker__worker_id__icontains=search)
    start = (page - 1) * WORKERS_SHOWN
    rows = list(found[start : start + WORKERS_SHOWN + 1])
    return {
        "workers": worker_table.rows_of(stage, rows[:WORKERS_SHOWN]),
        "worker_search": search,
        "worker_sort": sort,
        "worker_page": page,
        "more_workers": len(rows) > WORKERS_SHOWN,
    }


def _sorted(stats: QuerySet[WorkerStat], order: str) -> QuerySet[WorkerStat]:
    """Workers without a scored answer come last in both directions."""
    if "accuracy" not in order:
        return stats.order_by(order, "id")
    accuracy = Cast("correct", FloatField()) / Cast("scored", FloatField())
    scored = stats.filter(scored__gt=0).annotate(accuracy=accuracy)
    by = F("accuracy").desc() if order.startswith("-") else F("accuracy").asc()
    return scored.order_by(by, "id")


@for_stage(PAGE)
def progress(request: HttpRequest, stage: Stage) -> HttpResponse:
    return render(request, "stages/_progress.html", {**_moving(request, stage), "polled": True})


@for_stage(VERB, back="stage")
def pause(request: HttpRequest, stage: Stage) -> HttpResponse:
    publishing.pause(stage)
    messages.success(request, "Paused. Nothing more is published; HITs that workers see stay open.")
    return _back(stage)


@for_stage(VERB)
def resume(request: HttpRequest, stage: Stage) -> HttpResponse:
    batches = publishing.resume(stage)
    if not batches:
        messages.success(request, "Live again.")
    for pk in batches:
        jobs.start(request, tasks.publish_batch, pk, said="Publishing goes on where it stopped.")
    return _back(stage)


@for_stage(VERB, back="stage")
def arrivals(request: HttpRequest, stage: Stage) -> HttpResponse:
    """Whether items that come from the stage before go out by themselves."""
    publishing.publish_by_itself(stage, request.POST.get("by_itself") == "yes")
    return _back(stage)


@for_stage(FORM, back="stage")
def expire(request: LeadRequest, stage: Stage) -> HttpResponse:
    if request.method != "POST":
        has_effect = "expire" in stage_actions.offered(stage)
        context = {**frame(stage), "closes_at": overview.closing_time(stage), "has_effect": has_effect}
        return render(request, "stages/expire.html", context)
    batch = publishing.expire(stage, request.user)
    jobs.start(request, tasks.publish_batch, batch.pk, said=f"{batch.total:,} open HITs are being closed.")
    return _back(stage)


@for_stage(FORM)
def extend(request: LeadRequest, stage: Stage) -> HttpResponse:
    end = publishing.latest_end(stage)
    shown = {"ends": end.isoformat() if end else ""}
    form = forms.ExtendForm(request.POST if request.method == "POST" else None, initial=shown)
    if form.is_valid():
        until = publishing.later_by(form.cleaned_data["ends"] or end, form.cleaned_data["hours"] * 3600)
        try:
            batch = publishing.extend_until(stage, until, request.user)
        except Refused as error:
            form.add_error("hours", str(error))
        else:
            said = f"{batch.total:,} open HITs get the new closing time."
            jobs.start(request, tasks.publish_batch, batch.pk, said=said)
            return _back(stage)
    context = {
        **frame(stage),
        "form": form,
        "has_effect": "extend" in stage_actions.offered(stage),
        "closes_at": end,
        "initial_end": publishing.later_by(end, 72 * 3600),
    }
    return render(request, "stages/extend.html", context, status=400 if form.is_bound else 200)


@for_stage(FORM)
def delete_hits(request: LeadRequest, stage: Stage) -> HttpResponse:
    """GET says what is lost; POST deletes the finished HITs at the marketplace."""
    if request.method != "POST":
        return render(request, "stages/delete_hits.html", {**frame(stage), **overview.clearable(stage)})
    try:
        batch = publishing.delete_hits(stage, request.user)
    except Refused as error:
        messages.info(request, str(error))
        return _back(stage)
    jobs.start(request, tasks.publish_batch, batch.pk, said=f"{batch.total:,} finished HITs are being deleted.")
    return _back(stage)


@for_stage(VERB)
def harvest(request: HttpRequest, stage: Stage) -> HttpResponse:
    jobs.start(request, tasks.harvest_stage, stage.pk, said="Answers are being collected. Reload in a moment.")
    return _back(stage)


@for_stage(VERB)
def advance_approved(request: LeadRequest, stage: Stage) -> HttpResponse:
    """Whether answers go on to later stages only once they are approved."""
    advancing.only_approved(stage, request.POST.get("only_approved") == "yes", request.user)
    return _back(stage)


@for_stage(VERB)
def auto_block(request: LeadRequest, stage: Stage) -> HttpResponse:
    """Whether the check after every so many answers blocks by itself."""
    blocking.block_by_itself(stage, request.POST.get("by_itself") == "yes", request.user)
    return _back(stage)
