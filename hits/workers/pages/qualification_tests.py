"""Qualification tests: build one, see it as workers do, offer it, withdraw it, and who passed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits.core.verbs import REGISTRY, perform
from hits.formats.files.faults import Fault
from hits.formats.inputs.qualification_test import MOST_BYTES, MOST_CHOICES, MOST_QUESTIONS, without_blanks
from hits.models import Project, QualificationTest, Stage
from hits.publishing.rules.hit_plans import is_published
from hits.refusals import Refused
from hits.text.language.amounts import amount
from hits.views import paging
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, for_project, for_stage
from hits.workers.pages import forms
from hits.workers.rules.project_qualifications import requiring
from hits.workers.verbs import qualification_tests

State = QualificationTest.State
CHOICES_SHOWN = 4
_PLACE = re.compile(r"question (\d+)")


def _found(project: Project, test: str) -> QualificationTest:
    row = get_object_or_404(project.qualification_tests.select_related("created_by"), key=test)
    row.project = project
    return row


def _page(
    request: HttpRequest, template: str, row: QualificationTest, status: int = 200, **more: object
) -> HttpResponse:
    context = {"project": row.project, "test": row, "required_by": requiring(row), **more}
    return render(request, f"workers/qualification_tests/{template}.html", context, status=status)


def _back(row: QualificationTest) -> HttpResponse:
    return redirect("qualification-test", row.project.slug, row.key)


@for_project(PAGE)
def index(request: HttpRequest, project: Project) -> HttpResponse:
    rows = list(project.qualification_tests.select_related("created_by"))
    for row in rows:
        row.project = project
    listed = [(row, requiring(row), qualification_tests.results(row)) for row in rows]
    return render(request, "workers/qualification_tests/index.html", {"project": project, "tests": listed})


# Build


@for_project(FORM)
def new(request: LeadRequest, project: Project) -> HttpResponse:
    """A draft of its details; its questions come on the next page."""
    initial = {"key": request.GET.get("key", "")[:60]}
    form = forms.QualificationTestForm(request.POST if request.method == "POST" else None, initial=initial)
    if form.is_valid():
        try:
            row = perform(REGISTRY["qualification_tests.create"], project, request.user, vars(form.details()))
        except qualification_tests.RefusedTestError as error:
            _put_on_fields(form, error.errors)
        else:
            messages.success(request, f"“{row.title}” is a draft that only members of the project see.")
            return _back(row)
    context = {"project": project, "form": form}
    return render(request, "workers/qualification_tests/new.html", context, status=400 if form.is_bound else 200)


def _put_on_fields(form: forms.QualificationTestForm, faults: Sequence[Fault]) -> None:
    for fault in faults:
        form.add_error(fault.place if fault.place in form.fields else None, fault.message)


@for_project(FORM)
def test(request: LeadRequest, project: Project, test: str) -> HttpResponse:
    """A draft is edited; what was offered is shown with its right answers."""
    row = _found(project, test)
    if request.method == "POST":
        return _save(request, row)
    return _edit(request, row) if row.state == State.DRAFT else _page(request, "detail", row)


def _save(request: LeadRequest, row: QualificationTest) -> HttpResponse:
    typed = _typed(request.POST)
    form = forms.QualificationTestForm(request.POST, key=row.key)
    if "add" in request.POST:
        # The way without a script: nothing is saved or judged yet.
        return _edit(
            request, row, form=forms.QualificationTestForm(initial=request.POST.dict(), key=row.key), typed=typed
        )
    faults: list[Fault] = []
    if form.is_valid():
        try:
            values = {**vars(form.details()), "questions": [_question(one) for one in typed]}
            perform(REGISTRY["qualification_tests.change"], row, request.user, values)
        except Refused as error:
            messages.error(request, str(error))
            return _back(row)
        except qualification_tests.RefusedTestError as error:
            faults = error.errors
            _put_on_fields(form, [fault for fault in faults if fault.place in form.fields])
        else:
            messages.success(request, f"Saved, with {amount(len(typed), 'question')}.")
            return _back(row)
    faults = [fault for fault in faults if fault.place not in form.fields]
    return _edit(request, row, 400, form=form, typed=typed, faults=faults)


def _edit(
    request: HttpRequest,
    row: QualificationTest,
    status: int = 200,
    *,
    form: forms.QualificationTestForm | None = None,
    typed: list[dict[str, Any]] | None = None,
    faults: Sequence[Fault] = (),
    from_file: str = "",
) -> HttpResponse:
    shown = [*(row.questions if typed is None else typed)]
    wrong = {int(found[1]) for fault in faults if (found := _PLACE.match(fault.place))} if not from_file else set()
    if len(shown) < MOST_QUESTIONS and (not shown or "add" in request.POST):
        shown.append({})
    return _page(
        request,
        "edit",
        row,
        status,
        form=form or forms.QualificationTestForm(initial=vars(row), key=row.key),
        rows=[_row(number, one, number in wrong) for number, one in enumerate(shown, start=1)],
        next_row=len(shown) + 1,
        most_questions=MOST_QUESTIONS,
        known=qualification_tests.known_items(row.project).exists(),
        faults=faults,
        from_file=from_file,
    )


def _row(number: int, one: Mapping[str, Any], is_wrong: bool = False) -> dict[str, Any]:
    """What the fields of a question show: the choices that it has and room for more."""
    choices = list(one.get("choices", ()))
    room = min(MOST_CHOICES, max(CHOICES_SHOWN, len(choices) + 1))
    return {
        **one,
        "number": number,
        "name": f"q{number}",
        "choices": [*choices, *[""] * (room - len(choices))],
        "is_wrong": is_wrong,
    }


def _typed(post: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The questions as they stand in the form, without those that are blank or ticked to be removed."""
    found = [_fields(post, number) for number in range(1, 2 * MOST_QUESTIONS) if f"q{number}-question" in post]
    kept = [one for one in found if not one.pop("remove")]
    return [one for one in kept if any(text.strip() for text in (one["text"], one["question"], *one["choices"]))]


def _fields(post: Mapping[str, Any], number: int) -> dict[str, Any]:
    right = post.get(f"q{number}-right", "")
    slots = [post.get(f"q{number}-choice{slot}", "") for slot in range(MOST_CHOICES)]
    return {
        "text": post.get(f"q{number}-text", ""),
        "question": post.get(f"q{number}-question", ""),
        # Blank ones leave, wherever they stood: what is shown again is what is judged.
        **without_blanks(slots, int(right) if right.isascii() and right.isdigit() and len(right) < 3 else None),
        "remove": f"q{number}-remove" in post,
    }


def _question(typed: Mapping[str, Any]) -> dict[str, Any]:
    return {name: typed[name] for name in ("text", "question", "choices", "right")}


@for_project(PAGE)
def question_row(request: HttpRequest, project: Project, test: str) -> HttpResponse:
    """The fields of one more question, for pages with a script."""
    found = _found(project, test)
    number = request.GET.get("number", "")
    wanted = int(number) if number.isascii() and number.isdigit() and len(number) < 4 else 1
    wanted = min(max(wanted, 1), MOST_QUESTIONS)
    context = {"project": project, "test": found, "one": _row(wanted, {}), "next_row": wanted + 1}
    return render(request, "workers/qualification_tests/_more.html", {**context, "most_questions": MOST_QUESTIONS})


@for_project(VERB)
def fill(request: LeadRequest, project: Project, test: str) -> HttpResponse:
    """Put a file's questions in the place of the draft's."""
    row = _found(project, test)
    file = request.FILES.get("file")
    try:
        if file is None:
            raise qualification_tests.RefusedTestError([Fault(None, "", "Choose a file.")])
        count = qualification_tests.replace_by_file(row, file.read(MOST_BYTES + 1), request.user)
    except qualification_tests.RefusedTestError as error:
        return _edit(request, row, 400, faults=error.errors, from_file=getattr(file, "name", None) or "the file")
    except Refused as error:
        messages.error(request, str(error))
        return _back(row)
    messages.success(request, f"The draft now has {amount(count, 'question')}. Read them through.")
    return _back(row)


# Offer and withdraw


@for_project(PAGE)
def preview(request: HttpRequest, project: Project, test: str) -> HttpResponse:
    return _page(request, "preview", _found(project, test))


@for_project(PAGE)
def offer(request: HttpRequest, project: Project, test: str) -> HttpResponse:
    """Says what happens; its form offers exactly the test of that page."""
    row = _found(project, test)
    can_offer = bool(row.questions) and row.state in (State.DRAFT, State.WITHDRAWN)
    return _page(request, "offer", row, can_offer=can_offer)


# Results


@for_project(PAGE)
def results(request: HttpRequest, project: Project, test: str) -> HttpResponse:
    row = _found(project, test)
    show = request.GET.get("show", "")
    rows = row.scores.all()
    if show == "passed":
        rows = rows.filter(value__gte=row.pass_mark)
    elif show == "failed":
        rows = rows.filter(value__lt=row.pass_mark)
    found = qualification_tests.results(row)
    filters = [("", "All", found.workers), ("passed", "Passed", found.passed), ("failed", "Not passed", found.failed)]
    page = paging.by_id(rows, request.GET, newest_first=True)
    return _page(request, "results", row, results=found, filters=filters, show=show, page=page)


# Requirements of a stage


@for_stage(VERB)
def requirement(request: LeadRequest, stage: Stage) -> HttpResponse:
    """Require the test `add` of the stage's workers, or the test `remove` no longer."""
    adds = "add" in request.POST
    test = _found(stage.project, request.POST.get("add" if adds else "remove", ""))
    try:
        (qualification_tests.require if adds else qualification_tests.drop_requirement)(stage, test, request.user)
    except Refused as error:
        messages.error(request, str(error))
    else:
        told = "now have to pass" if adds else "no longer have to pass"
        messages.success(request, f"Workers of this stage {told} “{test.title}”.")
    return redirect("stage", stage.project.slug, stage.key)


def of_stage(stage: Stage) -> dict[str, Any]:
    """For the stage's page: the tests that it requires, those that it could, and whether that can still change."""
    required = {one["qualification"] for one in stage.requirements}
    rows = list(stage.project.qualification_tests.all())
    usable = [row for row in rows if row.state not in (State.WITHDRAWING, State.WITHDRAWN)]
    return {
        "tests_required": [row for row in rows if row.key in required],
        "tests_open": [row for row in usable if row.key not in required],
        "requirements_fixed": is_published(stage),
    }
