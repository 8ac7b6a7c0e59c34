"""Releases: what one would hold, making it, and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, cast

from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits import tasks
from hits.formats.files.faults import FormatErrors
from hits.formats.outputs.licences import OWN
from hits.models import Project, Release, ReleaseFile, Stage
from hits.refusals import Refused
from hits.releases.pages import forms
from hits.releases.rules import release_folders
from hits.releases.rules.release_cards import TEXTS, stated
from hits.releases.verbs import evaluating, releasing, withdrawing
from hits.stats.aggregation.methods import METHODS
from hits.templatetags.figures import minus
from hits.views import jobs, navigation
from hits.views.guard import PAGE, VERB, LeadRequest, for_project

# Up to so many items in its fullest stage a project is counted and released while the lead waits.
SMALL = 20_000
CHART = ".svg"
# In the order of the table; what another recipe measures comes after these, named as it is.
MEASURES = {
    "queries": "Queries",
    "unique_passages": "Unique passages",
    "passage_vocabulary": "Passage vocabulary",
    "query_vocabulary": "Query vocabulary",
    "tokens_per_passage": "Tokens a passage",
    "entities_per_passage": "Entities a passage",
    "tokens_per_query": "Tokens a query",
    "questions": "Questions",
    "paragraphs": "Paragraphs",
    "mean_tokens_paragraph": "Tokens a paragraph",
    "mean_tokens_question": "Tokens a question",
    "mean_tokens_correct_answer": "Tokens a correct answer",
    "mean_tokens_incorrect_answer": "Tokens an incorrect answer",
    "most_tokens_paragraph": "Most tokens of a paragraph",
    "most_tokens_question": "Most tokens of a question",
    "most_tokens_correct_answer": "Most tokens of a correct answer",
    "most_tokens_incorrect_answer": "Most tokens of an incorrect answer",
    "unanswerable_share": "Share that is unanswerable",
    "texts": "Texts",
    "questions_per_text": "Questions a text",
    "mean_tokens_text": "Tokens a text",
    "mean_tokens_answer": "Tokens an answer",
    "human_queries": "Queries that one more person answered",
    "human_exact_match": "Exact match of people, %",
    "human_f1": "F1 of people, %",
    "human_sets": "Question sets that people answered",
    "human_majority": "Accuracy of the majority of people",
    "human_annotators": "Readers for the human upper bound",
    "human_texts": "Texts that they read",
    "human_accuracy": "Human accuracy",
    "human_pairwise_agreement": "Human pairwise agreement",
    "human_krippendorff_alpha": "Krippendorff's alpha of the readers",
}

# What the small models of `hits.text.filtering.artefacts` are shown.
SEES = {
    "question_blind": "Text and answers, not the question",
    "text_blind": "Question and answers, not the text",
    "answers_alone": "Answers alone",
}


@for_project(PAGE)
def releases(request: HttpRequest, project: Project) -> HttpResponse:
    return _index(request, project, forms.ReleaseCardForm(initial=project.card))


@for_project(VERB)
def change_card(request: LeadRequest, project: Project) -> HttpResponse:
    """State licence, citation and description."""
    form = forms.ReleaseCardForm(request.POST)
    if form.is_valid():
        given = form.cleaned_data
        if given["licence"] != OWN and given["terms"] == project.card.get("terms"):
            # The form has the terms that were stated: they go with the licence.
            given = {**given, "terms": ""}
        try:
            withdrawing.change_card(project, given, request.user)
        except Refused as refusal:
            for fault in refusal.details()["faults"]:
                name = fault.split()[0]
                form.add_error(name if name in form.fields else None, fault)
        else:
            messages.success(request, "Saved. The next release states it; those that were made stay as they are.")
            return redirect("releases", project.slug)
    return _index(request, project, form, status=400)


def _index(request: HttpRequest, project: Project, card_form: forms.ReleaseCardForm, status: int = 200) -> HttpResponse:
    rows = list(project.releases.select_related("created_by")[:50])
    frame = _frame(project)
    # A preview costs as much as a release, which may be in the making now: of a large one only when asked for.
    context = {
        **frame,
        "releases": rows,
        "counts_itself": _is_small(frame["stages"]),
        "card_form": card_form,
        "card_texts": [(asked.label, project.card.get(name, "")) for name, asked in TEXTS.items()],
        "card": stated(project.card),
    }
    return render(request, "releases/index.html", context, status=status)


def _is_small(stages: Sequence[Stage]) -> bool:
    return all(stage.summary.items <= SMALL for stage in stages)


def _frame(project: Project) -> dict[str, Any]:
    stages = navigation.stages_of(project)
    titles = {stage.key: stage.title for stage in stages}
    return {
        "project": project,
        "stages": stages,
        "titles": titles,
        "any_items": any(stage.summary.items for stage in stages),
        "any_verdict": any(stage.summary.kept or stage.summary.dropped for stage in stages),
    }


@for_project(PAGE)
def preview(request: HttpRequest, project: Project) -> HttpResponse:
    """Reads every kept item, so it is a page (and a part) of its own."""
    try:
        found = releasing.preview(project)
    except Refused as error:
        messages.error(request, str(error))
        return redirect("releases", project.slug)
    content = {**_frame(project), **described(found), "previewed": True}
    template = "releases/_content.html" if request.headers.get("HX-Request") else "releases/preview.html"
    return render(request, template, content)


def described(manifest: dict) -> dict[str, object]:
    """Counts, statistics and scores of a preview or a manifest, as rows for the page."""
    counts: dict[str, int] = manifest.get("counts", {})
    statistics: dict[str, dict[str, float | None]] = manifest.get("statistics", {})
    splits = list(statistics)
    there = {name for figures in statistics.values() for name in figures}
    measures = [*(name for name in MEASURES if name in there), *sorted(there - MEASURES.keys())]
    table = [(_title(name), [statistics[split].get(name) for split in splits]) for name in measures]
    left_out = sorted(manifest.get("left_out", {}).items(), key=lambda pair: -pair[1])
    return {
        "counts": counts.items(),
        "total": sum(counts.values()),
        "why_empty": manifest.get("why_empty", ""),
        "left_out": left_out,
        "splits": splits,
        "statistics": table,
        "scores": manifest.get("scores", {}).items(),
        "notes": manifest.get("notes", []),
        "collection": manifest.get("collection", []),
        "any_by_models": any(row.get("decided_by_models") for row in manifest.get("collection", [])),
        "any_answers": any(map(releasing.is_told, manifest.get("collection", []))),
        "artefacts": _artefacts(manifest.get("artefacts", {})),
        "licence": manifest.get("licence"),
        "worker_terms": manifest.get("worker_terms"),
        "aggregated": [_values(row) for row in manifest.get("aggregated", [])],
    }


def _values(row: Mapping[str, Any]) -> dict[str, Any]:
    methods = sorted({METHODS[name][0] if name in METHODS else name for name in row["methods"].values()})
    return {**row, "named": ", ".join(methods)}


def _artefacts(found: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, float]]]:
    """(what the model sees, split, its figures)."""
    parts = [(SEES[view], parts) for view, parts in found.items() if view in SEES]
    return [(sees, split, figures) for sees, of in parts for split, figures in of.items()]


def _title(measure: str) -> str:
    return MEASURES.get(measure, measure.replace("_", " ").capitalize())


@for_project(VERB)
def make(request: LeadRequest, project: Project) -> HttpResponse:
    is_small = _is_small(list(project.stages.select_related("summary")))
    try:
        if not is_small:
            releasing.refuse_unjudged(project)
            said = "The release is being made and appears here. If nothing changed, the newest one stays the newest."
            jobs.start(request, tasks.make_release, project.pk, request.user.pk, said=said)
            return redirect("releases", project.slug)
        made, is_new = releasing.release(project, request.user)
    except Refused as error:
        messages.error(request, str(error))
        return redirect("releases", project.slug)
    if is_new:
        messages.success(request, f"Release {made.number} created. Its files never change.")
    else:
        messages.info(request, f"Nothing changed since release {made.number}, so it stays the newest.")
    return redirect("release", project.slug, made.number)


@for_project(PAGE)
def release(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    row = get_object_or_404(project.releases.select_related("created_by"), number=number)
    return _release_page(request, row)


@for_project(VERB)
def evaluate(request: LeadRequest, project: Project, number: int) -> HttpResponse:
    """Scores predictions against the key of test; keeps nothing."""
    return _evaluated(request, project, number, "")


@for_project(VERB)
def keep_system(request: LeadRequest, project: Project, number: int) -> HttpResponse:
    """Scores predictions, and keeps the scores with the release."""
    name = request.POST.get("name", "").strip()
    if not name:
        messages.error(request, "Name the system whose scores are kept.")
        row = get_object_or_404(project.releases.select_related("created_by"), number=number)
        return _release_page(request, row, status=400)
    return _evaluated(request, project, number, name)


@for_project(VERB)
def run_baselines(request: LeadRequest, project: Project, number: int) -> HttpResponse:
    row = get_object_or_404(project.releases, number=number)
    try:
        evaluating.refuse_without_key(row)
    except Refused as error:
        messages.error(request, str(error))
    else:
        said = "The baselines are being run. Their scores appear here, for a large release after some minutes."
        jobs.start(request, tasks.run_baselines, row.pk, request.user.pk, said=said)
    return redirect("release", project.slug, number)


def _evaluated(request: LeadRequest, project: Project, number: int, name: str) -> HttpResponse:
    row = get_object_or_404(project.releases.select_related("created_by"), number=number)
    file = request.FILES.get("predictions")
    if file is None:
        messages.error(request, "Choose a file of predictions.")
        return _release_page(request, row, status=400)
    asked = request.POST.get("file", "")
    try:
        scored = evaluating.evaluate(row, cast(BinaryIO, file), file.name or "", asked, keep_as=name, user=request.user)
    except Refused as error:
        messages.error(request, str(error))
        return _release_page(request, row, status=400)
    except FormatErrors as error:
        return _release_page(request, row, status=400, faults=error)
    for score in scored["scores"]:
        score["title"] = release_folders.MEASURES.get(score["measure"], score["measure"])
    for one in scored["differences"]:
        one["points"] = minus(f"{100 * one['difference']:+.1f}")
    return _release_page(request, row, scored=scored, kept_as=name)


def _release_page(request: HttpRequest, row: Release, *, status: int = 200, **more: Any) -> HttpResponse:
    project = row.project
    files = row.files.select_related("blob")
    charts = [
        (file.name, _title(file.name.removesuffix(CHART).replace("-", "_"))) for file in files if _is_chart(file.name)
    ]
    context = {**_frame(project), "release": row, "files": files, "charts": charts, **described(row.manifest)}
    context["withdrawn"] = {"reason": row.withdrawn_reason, "successor": row.successor and row.successor.number}
    context |= more
    key = release_folders.key_of(project)
    scoring = evaluating.scoring_of(project)
    context |= {"systems": release_folders.tables(row), "compared_files": list(scoring.splits) if scoring else []}
    context["key_file"] = next((file for file in files if file.name == key), None)
    return render(request, "releases/detail.html", context, status=status)


@for_project(PAGE)
def archive(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """The folder, with `?without_keys` for publishing."""
    row = get_object_or_404(project.releases, number=number)
    made = release_folders.zipped(row, keys="without_keys" not in request.GET)
    return FileResponse(made, as_attachment=True, filename=f"{release_folders.name_of(row)}.zip")  # type: ignore[return-value]


def _is_chart(name: str) -> bool:
    return name.endswith(CHART)


@for_project(PAGE)
def download(request: HttpRequest, project: Project, number: int, name: str) -> HttpResponse:
    """The file to be kept, or with `?show` a chart to be seen; nothing in it may run or fetch anything."""
    owned = Release.objects.filter(project=project, number=number)
    file = get_object_or_404(ReleaseFile.objects.select_related("blob"), release__in=owned, name=name)
    response = StreamingHttpResponse(file.blob.read_chunks(), content_type="application/octet-stream")
    response["Content-Length"] = str(file.blob.size)
    if "show" in request.GET and _is_chart(name):
        response["Content-Type"] = "image/svg+xml"
        response["Content-Security-Policy"] = "default-src 'none'; sandbox"
        return response  # type: ignore[return-value]
    # Names come from the recipe, not from a visitor; quotes would still end the header's value early.
    saved_as = name.rpartition("/")[2].replace('"', "")
    response["Content-Disposition"] = f'attachment; filename="{saved_as}"'
    return response  # type: ignore[return-value]
