"""What a project's recipe computes without a crowd: starting, stopping and watching runs, and their results."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from hits import charts, tasks
from hits.items.verbs import sampling
from hits.judging.rules.stage_statistics import key_for
from hits.judging.verbs import computing
from hits.models import ComputationResult, ComputationRun, Project
from hits.recipes.source import Computation
from hits.refusals import Refused
from hits.views import jobs, paging
from hits.views.forms import ValuesForm
from hits.views.guard import PAGE, VERB, LeadRequest, for_project

RUNS_SHOWN = 10
LOG_SHOWN = 200
GOING_ON = (ComputationRun.State.QUEUED, ComputationRun.State.RUNNING)


class AnswersFileForm(forms.Form):
    """What a model elsewhere made of its files."""

    file = forms.FileField(label="File", widget=forms.FileInput(attrs={"accept": ".json,.jsonl,application/json"}))


@for_project(PAGE)
def index(request: HttpRequest, project: Project) -> HttpResponse:
    return _page(request, project)


def _page(request: HttpRequest, project: Project, status: int = 200, **bound: ValuesForm) -> HttpResponse:
    """`bound` puts a refused form in the place of the empty one, by the computation's key."""
    found = []
    for each in computing.of_recipe(project):
        runs = list(project.computation_runs.filter(key=each.key).select_related("created_by")[:RUNS_SHOWN])
        form = bound.get(each.key) or _form(each)
        going_on = next((run for run in runs if run.state in GOING_ON), None)
        stage = project.stages.select_related("summary").filter(key=each.stage).first()
        waits = bool(stage and not runs and not sampling.has_results(stage))
        row = {"of": each, "form": form, "runs": runs, "going_on": going_on, "stage": stage, "waits": waits}
        found.append(row)
    return render(
        request, "judging/computations/index.html", {"project": project, "computations": found}, status=status
    )


def _form(of: Computation, given: QueryDict | None = None) -> ValuesForm:
    return ValuesForm(of.params, given, prefix=of.key, described=of.options)


def _outside_form(of: Computation, prefix: str, given: QueryDict | None = None) -> ValuesForm:
    """Without the parameter that names the model: it is another one."""
    left_out = of.outside.parameter if of.outside else ""
    params = {name: value for name, value in of.params.items() if name != left_out}
    return ValuesForm(params, given, prefix=prefix, described=of.options)


def _computation(project: Project, key: str) -> Computation:
    of = next((each for each in computing.computations(project) if each.key == key), None)
    if of is None:
        raise Http404
    return of


@for_project(VERB, back="computations")
def start(request: LeadRequest, project: Project, computation: str) -> HttpResponse:
    of = _computation(project, computation)
    form = _form(of, request.POST)
    if not form.is_valid():
        return _page(request, project, 400, **{of.key: form})
    run = computing.start(project, of.key, form.cleaned_data, request.user)
    jobs.start(request, tasks.compute, run.pk, said="Started. You may close this page: it goes on.")
    return redirect("computation", project.slug, run.pk)


def _run(project: Project, pk: int) -> ComputationRun:
    return get_object_or_404(project.computation_runs.select_related("created_by"), pk=pk)


@for_project(PAGE)
def computation(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    context = {"project": project, **_progress(project, _run(project, pk))}
    return render(request, "judging/computations/run.html", context)


@for_project(PAGE)
def progress(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    context = {"project": project, "polled": True, **_progress(project, _run(project, pk))}
    return render(request, "judging/computations/_run.html", context)


def _progress(project: Project, run: ComputationRun) -> dict[str, Any]:
    of = next((each for each in computing.computations(project) if each.key == run.key), None)
    seconds = ((run.finished_at or timezone.now()) - (run.started_at or run.created_at)).total_seconds()
    rate = run.done / seconds if run.done and seconds > 0 else 0.0
    return {
        "run": run,
        "of": of,
        "going_on": run.state in GOING_ON,
        # Of the statistics that every stage has, the stage whose page shows them.
        "statistics_of": of.stage if of and of.key == key_for(of.stage) else "",
        "can_resume": computing.can_resume(run),
        "seconds": seconds,
        "seconds_left": (run.total - run.done) / rate if rate and run.total > run.done else None,
        **_log(run.log, of.explained if of else {}),
    }


def _log(entries: list[dict[str, Any]], explained: Mapping[str, str]) -> dict[str, Any]:
    """The newest entries as rows of a table, and a line for each column of numbers that does not just count.

    A report has a page of its own.
    """
    entries = [entry for entry in entries if "report" not in entry]
    columns = list(dict.fromkeys(name for entry in entries for name in entry))
    rows = [(number, [_shown(entry.get(name)) for name in columns]) for number, entry in enumerate(entries, start=1)]
    numbers = {name: values for name in columns if (values := _numbers(entries, name))}
    counter = next(
        (name for name, values in numbers.items() if all(after - before == 1 for before, after in pairwise(values))), ""
    )
    first, step = (numbers[counter][0], counter) if counter else (1, "step")
    titles = {name: name.replace("_", " ").capitalize() for name in columns}
    lines = [
        {
            "title": titles[name],
            "explained": explained.get(name, ""),
            "plot": charts.steps(values, titles[name], step, first),
            "rows": charts.step_rows(values, step, first),
        }
        for name, values in numbers.items()
        if name != counter
    ]
    return {"log_columns": titles.values(), "log_rows": rows[-LOG_SHOWN:], "log_total": len(rows), "lines": lines}


def _shown(value: Any) -> Any:
    """Four digits of a fraction are enough for a table."""
    return f"{value:.4g}" if isinstance(value, float) else value


def _numbers(entries: list[dict[str, Any]], name: str) -> list[float]:
    """The column's values where all of them are numbers that a line from zero can show, and there are two or more."""
    values: list[Any] = [entry.get(name) for entry in entries]
    found = [float(value) for value in values if type(value) in (int, float) and value >= 0]
    return found if len(found) == len(values) > 1 else []


@for_project(VERB)
def stop(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    run = _run(project, pk)
    computing.stop(run, request.user)
    messages.success(request, "Stopped. Results of the run before it stand.")
    return redirect("computation", project.slug, run.pk)


@for_project(VERB)
def resume(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    run = _run(project, pk)
    try:
        computing.resume(run)
    except Refused as error:
        messages.error(request, str(error))
    else:
        jobs.start(request, tasks.compute, run.pk, said="It goes on. You may close this page.")
    return redirect("computation", project.slug, run.pk)


# A model elsewhere


@for_project(PAGE)
def outside(request: HttpRequest, project: Project, computation: str) -> HttpResponse:
    return _outside_page(request, project, _with_files(project, computation))


def _with_files(project: Project, key: str) -> Computation:
    of = _computation(project, key)
    if of.outside is None:
        raise Http404
    return of


def _outside_page(
    request: HttpRequest,
    project: Project,
    of: Computation,
    *,
    files: ValuesForm | None = None,
    answers: ValuesForm | None = None,
    file: AnswersFileForm | None = None,
    refusal: str = "",
) -> HttpResponse:
    """A refused form takes the place of the empty one."""
    context = {
        "project": project,
        "of": of,
        "files": files or _outside_form(of, "files"),
        "answers": answers or _outside_form(of, "answers"),
        "file": file or AnswersFileForm(),
        "refusal": refusal,
    }
    status = 409 if refusal else 400 if files or answers else 200
    return render(request, "judging/computations/outside.html", context, status=status)


@for_project(PAGE)
def outside_files(request: HttpRequest, project: Project, computation: str) -> HttpResponse:
    """The zip, with the defaults where the address holds no values."""
    of = _with_files(project, computation)
    form = _outside_form(of, "files", request.GET or None)
    if request.GET and not form.is_valid():
        return _outside_page(request, project, of, files=form)
    try:
        pieces = computing.files(project, of.key, form.cleaned_data if request.GET else {})
    except Refused as error:
        return _outside_page(request, project, of, refusal=str(error))
    response = StreamingHttpResponse(pieces, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-{of.key}.zip"'
    return response  # type: ignore[return-value]


@for_project(VERB)
def bring_in(request: LeadRequest, project: Project, computation: str) -> HttpResponse:
    of = _with_files(project, computation)
    form, file = _outside_form(of, "answers", request.POST), AnswersFileForm(request.POST, request.FILES)
    if not (form.is_valid() and file.is_valid()):
        return _outside_page(request, project, of, answers=form, file=file)
    sent = file.cleaned_data["file"]
    try:
        run = computing.bring_in(project, of.key, form.cleaned_data, sent.name, sent.file, sent.size, request.user)
    except Refused as error:
        return _outside_page(request, project, of, answers=form, refusal=str(error))
    jobs.start(request, tasks.compute, run.pk, said="The file is being read. You may close this page: it goes on.")
    return redirect("computation", project.slug, run.pk)


@for_project(PAGE)
def results(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    run = _run(project, pk)
    page = paging.by_id(run.concluded.select_related("item__stage"), request.GET)
    context = {"project": project, **_progress(project, run), "page": page}
    told = [(row, _table(context["of"], row)) for row in page.rows]
    context |= {"told": told, "tables": any(table for _, table in told)}
    return render(request, "judging/computations/results.html", context)


def _table(of: Computation | None, row: ComputationResult) -> dict[str, Any] | None:
    """The result in rows of cells, each of which holds texts; None where the recipe does not tell it so."""
    if of is None or of.table is None:
        return None
    rows = list(of.table(row.item.data, row.data))
    cells = [[[cell] if isinstance(cell, str) else list(cell) for cell in told.values()] for told in rows]
    return {"columns": list(rows[0]) if rows else [], "rows": cells}
