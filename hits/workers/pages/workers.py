"""A worker as the project sees them, and blocks: preview, confirm, undo."""

from __future__ import annotations

import secrets
from decimal import Decimal

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits import charts, tasks
from hits.answers.rules import answer_words, text_evidence
from hits.items.pages.items import labels_with_items
from hits.items.rules.item_texts import ItemTexts
from hits.judging.rules import stage_statistics
from hits.models import Action, Assignment, Block, Grant, MessageTemplate, Project, Stage, Worker, WorkerStat
from hits.payments.rules.ledger_lists import payment_totals
from hits.people.models import LONGEST_WRITTEN
from hits.people.pages.messages import chosen_template
from hits.people.rules import message_history
from hits.people.rules.message_templates import filled, of_project, values
from hits.people.rules.terms import agreed_to
from hits.people.verbs import messaging
from hits.protocols.base import SettingsRefusedError
from hits.publishing.rules.hit_plans import is_published
from hits.refusals import Refused
from hits.stages.pages.stages import frame
from hits.stages.verbs import custom_stages
from hits.stats.blocking import MEASURES, Policy
from hits.text.language.amounts import amount_is
from hits.views import jobs, paging, words
from hits.views.forms import MessageForm
from hits.views.guard import FORM, PAGE, LeadRequest, for_project, for_stage
from hits.views.spreadsheet import csv_response
from hits.workers.pages import forms
from hits.workers.rules import block_proposals, known_answers, worker_confusion, worker_table
from hits.workers.rules.project_qualifications import title_of, titles_of
from hits.workers.rules.screening import tests_of
from hits.workers.rules.screening_results import standing
from hits.workers.verbs import blocking, comparing

WORKERS_SHOWN = 50
# Of the text that an answer is about.
SHOWN_TEXT = 140
# The columns of the table by the order that a click on them asks for first.
HEADS = (
    ("worker", "Worker", ""),
    ("-why", "What stands out", ""),
    ("-answers", "Answers", "n"),
    ("known", "Gold answers", "n"),
    ("agreement", "Agreement with others", "n"),
    ("chance", "Beyond chance", "n"),
    ("seconds", "Median time", "n"),
    ("-repeats", "Repeated", "n"),
    ("-run", "Longest run", "n"),
    ("competence", "Competence", "n"),
    ("-earned", "Earned", "n"),
)


def _stats(project: Project, worker_ids: list[str]) -> QuerySet[WorkerStat]:
    stats = WorkerStat.objects.filter(stage__project=project, worker__worker_id__in=worker_ids)
    return stats.select_related("stage__summary", "worker").order_by("stage__position", "worker_id")


@for_project(PAGE)
def worker(request: HttpRequest, project: Project, worker_id: str) -> HttpResponse:
    stats = list(_stats(project, [worker_id]))
    if not stats:
        raise Http404("This worker has not answered in this project.")
    person = stats[0].worker
    mine = project.blocks.filter(worker=person).select_related("stage", "created_by").prefetch_related("actions")
    blocks = list(mine.order_by("-id"))
    standing = next((block for block in blocks if block.state != Block.State.UNDONE), None)
    named = block_proposals.named_in([stat.stage for stat in stats])
    rows = [worker_table.WorkerRow(stat, standing, named=named[stat.stage_id].get(worker_id)) for stat in stats]
    answers = Assignment.objects.filter(stage__project=project, worker=person)
    answers = answers.select_related("hit__item", "item", "imported_from", "stage").prefetch_related(
        labels_with_items(), "actions", "hit__item__document", "item__document"
    )
    page = paging.by_id(answers, request.GET, newest_first=True)
    texts = {stat.stage_id: ItemTexts.of(stat.stage) for stat in stats}
    context = {
        "project": project,
        "worker": person,
        "rows": rows,
        "named": None if standing else next((row.named for row in rows if row.named), None),
        "courses": [_course(stat) for stat in stats if stat.scored],
        "newest": known_answers.NEWEST,
        "texts_written": text_evidence.of_worker(project, person),
        "confusions": [(stat, tables) for stat in stats if (tables := _confusion(stat))],
        "differ": answer_words.DIFFER,
        "blocks": blocks,
        "standing": standing,
        "grants": _held(project, person),
        "pools": set(project.pools.values_list("key", flat=True)),
        "agreed": agreed_to(project, person),
        "letters": message_history.letters(project, person),
        "latest": message_history.LATEST,
        "page": page,
        "told": answer_words.of_answers((answer.stage for answer in page.rows), page.rows),
        "texts": {
            one.pk: texts[one.stage_id].text(one.about, SHOWN_TEXT) for one in page.rows if one.stage_id in texts
        },
        "rewards": sum((stat.earned for stat in stats), Decimal(0)),
        "bonuses": payment_totals(project.bonuses.filter(worker=person)),
    }
    return render(request, "workers/detail.html", context)


def _held(project: Project, person: Worker) -> list[tuple[Grant, str]]:
    """What the worker has of the project's qualifications, with its title."""
    rows = list(project.grants.filter(worker=person).exclude(state=Grant.State.WITHDRAWN).order_by("key"))
    titles = titles_of(project) if rows else {}
    return [(row, titles.get(row.key) or title_of(row.key)) for row in rows]


def _course(stat: WorkerStat) -> dict[str, object]:
    """The chart of a worker's known answers in a stage over time, and its parts."""
    parts = known_answers.over_time(stat.stage, stat.worker)
    moments = []
    for part in parts:
        times = f"{part.first:%-d %b %Y, %H:%M} UTC to {part.last:%-d %b %Y, %H:%M} UTC"
        title = f"{times}: {part.right:,} of {part.scored:,} right, {100 * part.share:.1f} %"
        moments.append(charts.Moment(part.last, part.share, title))
    plot = charts.figures_over_time(moments, f"Gold answers right in {stat.stage.title}", charts.percent)
    return {"stat": stat, "parts": parts, "plot": plot}


def _confusion(stat: WorkerStat) -> list[dict[str, object]]:
    """What the worker said in a stage beside the values of its items, with how dark each cell is drawn."""
    computed = stage_statistics.computed(stat.stage)
    return [
        {
            **vars(one),
            "computed": computed,
            "labels": one.read,
            "rows": [(label, charts.shaded(cells)) for label, cells in zip(one.read, one.table, strict=True)],
        }
        for one in worker_confusion.of_worker(stat.stage, stat.worker)
    ]


@for_stage(PAGE)
def workers(request: HttpRequest, stage: Stage) -> HttpResponse:
    """All workers of the stage in the order that the address names; its cost is bounded by the page."""
    order = request.GET.get("sort", worker_table.FIRST)
    order = order if order.removeprefix("-") in worker_table.ORDERS else worker_table.FIRST
    search = request.GET.get("worker", "").strip()[:64]
    page = paging.number(request.GET.get("page"))
    start = (page - 1) * WORKERS_SHOWN
    accuracies = worker_table.accuracies(stage)
    found = list(worker_table.ordered(stage, order, search)[start : start + WORKERS_SHOWN + 1])
    context = {
        **frame(stage),
        "rows": worker_table.rows_of(stage, found[:WORKERS_SHOWN]),
        "heads": [_head(first, title, shape, order) for first, title, shape in HEADS],
        "crowd": comparing.crowd_of(stage),
        "estimates": stage_statistics.estimates_of(stage),
        "accuracies": accuracies,
        "accuracy_plot": accuracy_plot(accuracies),
        "order": order,
        "search": search,
        "page_number": page,
        "more": len(found) > WORKERS_SHOWN,
    }
    return render(request, "workers/list.html", context)


def accuracy_plot(found: worker_table.Accuracies) -> charts.Markup:
    """A point for each worker, or for each group of workers: accuracy upwards over answers given."""
    what = "Gold answers right" if found.known else "Agreement with the others"
    points = [charts.Point(place.mean, place.share, _said(place, found.known), place.workers) for place in found.places]
    label = f"{what} by answers given: {found.workers:,} {'worker' if found.workers == 1 else 'workers'}."
    return charts.scatter(points, label)


def _said(place: worker_table.Place, known: bool) -> str:
    who = place.worker_id or f"{place.workers:,} {'worker' if place.workers == 1 else 'workers'}"
    answers = _between(f"{place.fewest:,}", f"{place.most:,}")
    shares = _between(f"{100 * place.lowest:.1f}", f"{100 * place.highest:.1f}")
    measure = "of gold answers right" if known else "agreement with the others"
    return f"{who}: {answers} {'answer' if place.most == 1 else 'answers'}, {shares} % {measure}"


def _between(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _head(first: str, title: str, shape: str, order: str) -> dict[str, str]:
    """`order` is what a click asks for: the other way round where the table stands so already."""
    turned = first.removeprefix("-") if first.startswith("-") else f"-{first}"
    name = first.removeprefix("-")
    direction = ("descending" if order.startswith("-") else "ascending") if order.removeprefix("-") == name else ""
    return {"order": turned if order == first else first, "title": title, "shape": shape, "direction": direction}


@for_stage(PAGE)
def workers_csv(request: HttpRequest, stage: Stage) -> HttpResponse:
    rows = (row.cells() for row in worker_table.all_rows(stage, request.GET.get("sort", worker_table.FIRST)))
    return csv_response(f"{stage.project.slug}-{stage.key}-workers.csv", list(worker_table.COLUMNS), rows)


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
        given = form.cleaned_data
        blocking.intend(stage, chosen, request.user, at_most=given["cost"], tell=given["tell"])
    except Refused as error:
        messages.error(request, str(error))
        return _preview(request, stage, 400)
    said = f"{len(chosen):,} worker{' is' if len(chosen) == 1 else 's are'} being blocked, and their items asked again."
    jobs.start(request, tasks.finish_blocks, stage.pk, said=said)
    return redirect("stage", stage.project.slug, stage.key)


def _preview(request: HttpRequest, stage: Stage, status: int = 200) -> HttpResponse:
    only = request.GET.getlist("worker")
    found = blocking.preview(stage, only if only or "chosen" in request.GET else None)
    rows = [(one, found.answers[one.worker], one.worker in found.chosen) for one in found.proposals]
    context = {
        **frame(stage),
        "rows": rows,
        "workers": len(found.chosen),
        "loss": found.loss,
        "left": found.left,
        "letter": next((block_proposals.text(stage, block_proposals.why_of(one)) for one, _, on in rows if on), ""),
        "measure": MEASURES[Policy.from_dict(stage.quality).measure] if stage.quality else None,
        "policy_words": words.policy(stage.quality) if stage.quality else "",
    }
    return render(request, "workers/block.html", context, status=status)


@for_stage(FORM)
def block_chosen(request: LeadRequest, stage: Stage) -> HttpResponse:
    """GET shows what is known of the workers of the address and what blocking them leads to; POST blocks them."""
    form = forms.BlockByHandForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return _chosen(request, stage, form)
    given = form.cleaned_data
    ids = _ids(request)
    try:
        told = given["told"] if given["tell"] else None
        new = blocking.intend_by_hand(stage, ids, given["reason"], request.user, at_most=given["cost"], told=told)
    except Refused as error:
        messages.error(request, str(error))
        return _chosen(request, stage, form)
    said = f"{new:,} worker{' is' if new == 1 else 's are'} being blocked, and their items asked again."
    jobs.start(request, tasks.finish_blocks, stage.pk, said=said)
    return redirect("workers", stage.project.slug, stage.key)


@for_stage(FORM)
def pause(request: LeadRequest, stage: Stage) -> HttpResponse:
    """GET says what a pause of the workers of the address means; POST pauses them."""
    form = forms.PauseForm(request.POST if request.method == "POST" else None)
    try:
        if form.is_valid():
            given = form.cleaned_data
            new = blocking.pause(stage, _ids(request), given["hours"], given["reason"], request.user)
            said = f"{new:,} worker{' is' if new == 1 else 's are'} being paused for {given['hours']:,} hours."
            jobs.start(request, tasks.finish_blocks, stage.pk, said=said)
            return redirect("workers", stage.project.slug, stage.key)
        rows = blocking.preview_chosen(stage, _ids(request)).rows
    except Refused as error:
        messages.error(request, str(error))
        return redirect("workers", stage.project.slug, stage.key)
    context = {**frame(stage), "rows": rows, "form": form, "unguarded": blocking.unguarded(stage)}
    return render(request, "workers/pause.html", context, status=400 if form.is_bound else 200)


@for_stage(FORM)
def message(request: LeadRequest, stage: Stage) -> HttpResponse:
    """GET shows a draft to each worker of the address, with the worker's own mistakes; POST sends what was written."""
    form = MessageForm(request.POST if request.method == "POST" else None)
    texts = {name: request.POST.get(f"text-{name}", "") for name in _ids(request)} if request.method == "POST" else {}
    if form.is_valid():
        given = form.cleaned_data
        try:
            new = messaging.write(stage, given["subject"], texts, given["confirmation"], request.user)
        except Refused as error:
            messages.error(request, str(error))
            return _message(request, stage, form, texts)
        said = f"{amount_is(new, 'message')} being sent."
        jobs.start(request, tasks.send_messages, stage.project_id, said=said)
        return redirect("workers", stage.project.slug, stage.key)
    return _message(request, stage, form, texts)


def _message(request: HttpRequest, stage: Stage, form: MessageForm, texts: dict[str, str]) -> HttpResponse:
    ids = _ids(request)[: messaging.MOST_AT_ONCE]
    stats = stage.worker_stats.filter(worker__worker_id__in=ids).select_related("worker").order_by("worker__worker_id")
    template = chosen_template(request, stage.project)
    drafts = [(stat.worker, *_draft(stage, stat.worker, template)) for stat in stats]
    rows = [(worker, texts.get(worker.worker_id, text)) for worker, _, text in drafts]
    context = {
        **frame(stage),
        "rows": rows,
        "form": form,
        "confirmation": secrets.token_urlsafe(16),
        "templates": of_project(stage.project),
        "picked": template,
        "chosen_workers": ids,
        "longest": LONGEST_WRITTEN,
    }
    if form.is_bound:
        context |= {"subject": form.data.get("subject", ""), "confirmation": form.data.get("confirmation", "")}
    else:
        context["subject"] = drafts[0][1] if drafts else ""
    return render(request, "workers/message.html", context, status=400 if form.is_bound else 200)


def _draft(stage: Stage, person: Worker, template: MessageTemplate | None) -> tuple[str, str]:
    """Subject and text to begin with: those of the template, or the worker's own mistakes."""
    if template is None:
        return messaging.draft(stage, person)
    begun = values(stage, person)
    return filled(template.subject, begun), filled(template.text, begun)


def _ids(request: HttpRequest) -> list[str]:
    given = request.POST if request.method == "POST" else request.GET
    return given.getlist("worker")[: blocking.MOST_AT_ONCE]


def _chosen(request: HttpRequest, stage: Stage, form: forms.BlockByHandForm) -> HttpResponse:
    try:
        chosen = blocking.preview_chosen(stage, _ids(request))
    except Refused as error:
        messages.error(request, str(error))
        return redirect("workers", stage.project.slug, stage.key)
    context = {
        **frame(stage),
        "chosen": chosen,
        "form": form,
        "unguarded": blocking.unguarded(stage),
        "letter": block_proposals.text(stage, "(the reason above)"),
    }
    return render(request, "workers/block_chosen.html", context, status=400 if form.is_bound else 200)


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


# Tests of workers


@for_stage(FORM)
def screening(request: LeadRequest, stage: Stage) -> HttpResponse:
    """GET shows the figures of a test, or the form that adds one to this stage; POST adds it."""
    if stage.screening_share:
        return render(request, "workers/screening.html", {**frame(stage), "found": standing(stage)})
    form = forms.ScreeningForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            made = custom_stages.add_stage(stage.project, form.table(stage.key), request.user)
        except SettingsRefusedError as refusal:
            for reason in refusal.reasons:
                name, _, rest = reason.partition(" ")
                known = name in form.fields
                form.add_error(name if known else None, f"“{form.fields[name].label}” {rest}" if known else reason)
        else:
            messages.success(request, f"“{made.title}” created. Read its settings through, then publish it.")
            return redirect("stage", stage.project.slug, made.key)
    context = {**frame(stage), "form": form, "tests": tests_of(stage), "fixed": is_published(stage)}
    return render(request, "workers/new_screening.html", context, status=400 if form.is_bound else 200)
