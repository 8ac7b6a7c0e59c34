"""Projects: the list, a new one, its page with members and budget, and importing files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Prefetch
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import content_disposition_header

from hits import tasks
from hits.accounts.rules.lead_limits import Room, narrowest, room_of
from hits.formats.files.faults import Fault, grouped
from hits.items.verbs import importing
from hits.models import BudgetExceededError, BudgetRequest, Item, Project, Stage, Upload
from hits.mturk.fees import unit_cost
from hits.notifications.jobs import needs
from hits.payments.rules.budget_requests import AboveLimitError, limit_of
from hits.payments.verbs import requesting_budget
from hits.projects.jobs import sample_crowd
from hits.projects.models import ProjectQuerySet
from hits.projects.pages import forms
from hits.projects.rules.plugins import faults_of, offered, usable_protocol, usable_recipe
from hits.projects.verbs import archiving, project_files
from hits.projects.verbs import projects as flow
from hits.protocols.optional import MediaProtocol
from hits.recipes import Recipe, StageSettings
from hits.refusals import Refused
from hits.stages.pages import overview
from hits.views import action_words, jobs, navigation, paging
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, for_project, guarded

SHOWN = 5
FEWEST_SEARCHED = 4
PRICED_ITEMS = 100


@guarded(PAGE)
def index(request: HttpRequest) -> HttpResponse:
    """The newest first, and of those on one page what waits for somebody and then what has items.

    Its number of queries does not grow with that of the projects.
    """
    mine = Project.objects.visible_to(request.user)
    form = forms.ProjectSearchForm(request.GET)
    wanted = form.cleaned_data if form.is_valid() else {}
    text, state = wanted.get("find", ""), wanted.get("state", "")
    page = paging.by_id(_with_stages(mine.matching(text, state)), request.GET, newest_first=True)
    context = {
        "page": page,
        "cards": sorted(_cards(page.rows), key=lambda card: 0 if card["needs"] else 1 if card["progress"].items else 2),
        "worker_site": settings.MTURK_SUBMIT_ORIGINS[0],
        "form": form,
        "searched": bool(text or state),
        "archived": 0 if state == Project.State.ARCHIVED else mine.matching("", Project.State.ARCHIVED).count(),
        # Fewer are seen at a glance.
        "can_search": bool(text or state) or mine.count() > FEWEST_SEARCHED,
    }
    return render(request, "projects/index.html", context)


@for_project(PAGE)
def card(request: HttpRequest, project: Project) -> HttpResponse:
    """The project as the list shows it, which is read again while a simulated crowd answers."""
    mine = Project.objects.visible_to(request.user)
    return render(request, "projects/_card.html", _cards(_with_stages(mine.filter(pk=project.pk)))[0])


def _with_stages(projects: ProjectQuerySet) -> ProjectQuerySet:
    stages = Stage.objects.select_related("summary").order_by("position")
    return projects.with_state().select_related("account").prefetch_related(Prefetch("stages", stages))


def _cards(projects: Iterable[Project]) -> list[dict[str, Any]]:
    rows = list(projects)
    decisions, crowds = needs.of_projects(rows), sample_crowd.under_way(rows)
    return [
        {
            "project": project,
            "progress": overview.progress_of(project),
            "needs": decisions.get(project.pk, []),
            "crowd_answers": project.pk in crowds,
            "crowd_may_answer": sample_crowd.is_open_to(project),
        }
        for project in rows
    ]


@guarded(FORM)
def new(request: LeadRequest) -> HttpResponse:
    there = offered()
    choices = [(recipe.name, recipe.title) for recipe in there.recipes]
    form = forms.NewProjectForm(request.POST or None, request.FILES or None, recipes=choices)
    if request.method == "POST" and form.is_valid():
        try:
            return _started(request, _create(form.cleaned_data, request.user))
        except Refused as refusal:
            _add_refusal(form, refusal)
    _say_room(form, room_of(request.user), request.user)
    context = {
        "form": form,
        "cards": [_recipe_card(recipe) for recipe in there.recipes],
        "priced_items": PRICED_ITEMS,
        "chosen": form["recipe"].value(),
        "faults": there.faults,
    }
    return render(request, "projects/new.html", context, status=400 if form.is_bound else 200)


@guarded(PAGE)
def recipe_sample(request: HttpRequest, name: str) -> HttpResponse:
    """The sample file of a recipe, before there is a project."""
    sample = next((recipe.sample for recipe in offered().recipes if recipe.name == name), None)
    if sample is None:
        raise Http404
    headers = {"Content-Disposition": content_disposition_header(True, sample.name) or "attachment"}
    return HttpResponse(sample.content, content_type="application/octet-stream", headers=headers)


def _create(given: Mapping[str, Any], owner: User) -> Project:
    """Raises Refused (project_file_refused, pool_refused, above_lead_limit)."""
    name, budget, email = given["name"], given["budget"], given["contact_email"]
    if given["file"]:
        file = project_files.read(given["file"].read(project_files.MOST_BYTES + 1))
        return project_files.create_from(file, name, budget, email, owner)
    return flow.create_project(name, given["recipe"], budget, email, owner)


def _started(request: HttpRequest, project: Project) -> HttpResponse:
    fill = "" if Item.objects.filter(stage__project=project).exists() else " Import a file to fill its first stage."
    messages.success(request, f"Project “{project.name}” created.{fill}")
    if project.qualification_tests.exists():
        said = "Its qualification test is being offered to workers."
        jobs.start(request, tasks.finish_tests, project.pk, said=said)
    return redirect("project", project.slug)


@for_project(FORM)
def clone(request: LeadRequest, project: Project) -> HttpResponse:
    """Another project with the settings of this one."""
    shown = {"name": f"{project.name[:110]} (copy)", "budget": f"{project.account.budget:.2f}"}
    form = forms.CloneForm(request.POST if request.method == "POST" else None, initial=shown)
    if form.is_valid():
        try:
            return _started(request, project_files.clone(project, owner=request.user, **form.cleaned_data))
        except Refused as refusal:
            # Of a file: the recipe has other stages than when this project began.
            _add_refusal(form, refusal)
    _say_room(form, room_of(request.user), request.user)
    status = 400 if form.is_bound else 200
    return render(request, "projects/clone.html", {"project": project, "form": form}, status=status)


def _add_refusal(form: Form, refusal: Refused) -> None:
    """Each of its faults beside the field that it is about, or above the form. A guest's is a page of its own."""
    if refusal.error_code == "guest":
        raise refusal
    field = refusal.field
    for fault in refusal.details().get("faults", [str(refusal)]):
        form.add_error(field if field in form.fields else None, fault)


def _say_room(form: Form, room: Room | None, reader: User) -> None:
    """What is left for budgets, beside the field for one; nothing where there is no limit."""
    if room is not None:
        field = form["budget"]
        field.help_text = f"{field.help_text} {room.said_to(reader)}".strip()


@for_project(VERB)
def archive(request: LeadRequest, project: Project) -> HttpResponse:
    try:
        archiving.archive(project, request.user)
    except Refused as refusal:
        return _page(request, project, 409, unfinished=refusal.details()["reasons"])
    messages.success(request, f"{project.name} is archived. Nothing in it changes until it is restored.")
    return redirect("project", project.slug)


@for_project(VERB)
def restore(request: LeadRequest, project: Project) -> HttpResponse:
    archiving.restore(project, request.user)
    messages.success(request, f"{project.name} is in use again.")
    return redirect("project", project.slug)


@for_project(VERB)
def change_tags(request: LeadRequest, project: Project) -> HttpResponse:
    form = forms.TagsForm(request.POST)
    if not form.is_valid():
        return _page(request, project, 400, tags_form=form)
    archiving.change_tags(project, form.cleaned_data["tags"], request.user)
    messages.success(request, "The tags are changed.")
    return redirect("project", project.slug)


@for_project(PAGE)
def recipe_file(request: HttpRequest, project: Project) -> HttpResponse:
    """The project's recipe as TOML, to start others from."""
    headers = {"Content-Disposition": content_disposition_header(True, f"{project.slug}.toml") or "attachment"}
    return HttpResponse(project_files.written(project), content_type="application/toml", headers=headers)


@for_project(PAGE)
def detail(request: HttpRequest, project: Project) -> HttpResponse:
    return _page(request, project)


def _page(request: HttpRequest, project: Project, status: int = 200, **bound: object) -> HttpResponse:
    """The project's page; `bound` puts a refused form in the place of the empty one."""
    stages = navigation.stages_of(project)
    reader = cast(User, request.user)
    budget_form = bound.pop("budget_form", None) or forms.BudgetForm(
        initial={"budget": f"{project.account.budget:.2f}"}
    )
    _say_room(cast(Form, budget_form), narrowest(project), reader)
    context = {
        **moving(project),
        "faults": faults_of(project, stages),
        "uploads": project.uploads.all()[:SHOWN],
        "shows_media": any(isinstance(usable_protocol(stage), MediaProtocol) for stage in stages),
        "members": project.memberships.with_users()[:SHOWN],
        "import_form": forms.ImportForm(),
        "sample": recipe.sample if (recipe := usable_recipe(project)) else None,
        "budget_changes": flow.budget_changes(project)[:1],
        "budget_form": budget_form,
        "limit": limit_of(project, reader),
        "asked": project.budget_requests.filter(state=BudgetRequest.State.WAITING).count(),
        "ask_form": forms.AskForm(),
        "tags": project.tags.split(),
        "tags_form": forms.TagsForm(initial={"tags": project.tags}),
        "done": action_words.told(project, project.actions.of_project().order_by("-id")[:SHOWN]),
        **bound,
    }
    return render(request, "projects/detail.html", context, status=status)


def moving(project: Project) -> dict[str, object]:
    """What changes on the project's page while answers come in."""
    feeders = overview.feeders(project)
    return {
        "project": project,
        "crowd": sample_crowd.progress_of(project),
        "worker_site": settings.MTURK_SUBMIT_ORIGINS[0],
        "pipeline": [
            (entry, [overview.pipeline_step(stage, feeders.get(stage.key, "")) for stage in entry.stages])
            for entry in navigation.entries(project)
        ],
        "money_bar": overview.money_bar(project.account),
        "releases": project.releases.all()[:SHOWN],
    }


@for_project(PAGE)
def done(request: HttpRequest, project: Project) -> HttpResponse:
    """Everything that was done in the project and its stages, newest first."""
    page = paging.by_id(project.actions.of_project(), request.GET, newest_first=True)
    return render(
        request, "projects/done.html", {"project": project, "page": page, "told": action_words.told(project, page.rows)}
    )


@for_project(VERB)
def change_budget(request: LeadRequest, project: Project) -> HttpResponse:
    form = forms.BudgetForm(request.POST)
    if not form.is_valid():
        return _page(request, project, 400, budget_form=form)
    budget = form.cleaned_data["budget"]
    as_shown = form.cleaned_data["before"] == project.account.budget
    try:
        flow.change_budget(project, budget, request.user, confirmed=budget if as_shown else None)
    except AboveLimitError:
        asked = forms.AskForm(request.POST)
        if not asked.is_valid():
            return _page(request, project, 400, budget_form=form, ask_form=asked)
        requesting_budget.ask_for_budget(project, request.user, budget, asked.cleaned_data["why"])
        messages.success(request, f"An owner was asked for a budget of ${budget:,.2f}. You get a notice of the answer.")
        return redirect("budget-requests", project.slug)
    except (Refused, BudgetExceededError) as error:
        if error.error_code == "budget_not_confirmed":
            context = {"project": project, "before": Decimal(error.details()["before"]), "budget": budget}
            return render(request, "projects/budget.html", context)
        form.add_error("budget", str(error))
        return _page(request, project, 400, budget_form=form)
    messages.success(request, f"The budget is now ${budget:,.2f}.")
    return redirect("project", project.slug)


@for_project(VERB)
def import_file(request: LeadRequest, project: Project) -> HttpResponse:
    form = forms.ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, project, 400, import_form=form)
    try:
        name, content = importing.as_one(named(form.cleaned_data["file"]))
        media_files = named(form.cleaned_data["media_files"])
        origin = form.cleaned_data["origin"]
        upload = importing.create_upload(
            project, name, content, origin, request.user, ask=True, media_files=media_files
        )
    except Refused as error:
        form.add_error("file", str(error))
        return _page(request, project, 400, import_form=form)
    if upload.media:
        jobs.start(request, tasks.import_upload, upload.media.pk, said=f"{upload.media.name} is being read.")
    if upload.state == Upload.State.MAPPING:
        return redirect("upload-columns", project.slug, upload.pk)
    jobs.start(request, tasks.import_upload, upload.pk, said=f"{upload.name} is kept and is being read.")
    return redirect("upload", project.slug, upload.pk)


def named(files: Sequence[UploadedFile]) -> list[tuple[str, BinaryIO]]:
    """The names and streams of files that were sent in."""
    return [(str(file.name), cast(BinaryIO, file.file)) for file in files]


@for_project(PAGE)
def upload(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    waiting = project.uploads.filter(pk=pk, state=Upload.State.MAPPING).select_related("stage").first()
    if waiting and waiting.stage:
        return redirect("results-columns", project.slug, waiting.stage.key, pk)
    if waiting:
        return redirect("upload-columns", project.slug, pk)
    return render(request, "projects/upload.html", _upload_context(project, pk))


@for_project(PAGE)
def upload_progress(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    return render(request, "projects/_upload.html", _upload_context(project, pk))


@for_project(VERB)
def stop_import(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    row = get_object_or_404(project.uploads, pk=pk)
    if importing.stop(row):
        messages.success(request, "Stopped. Nothing of the file was imported.")
    else:
        messages.info(request, "It had ended already.")
    return redirect("upload", project.slug, row.pk)


def _upload_context(project: Project, pk: int) -> dict[str, object]:
    row = get_object_or_404(project.uploads.select_related("media", "stage"), pk=pk)
    running = row.is_running
    # What this file brought may be published by now; what is waiting is what there is to do.
    waiting = project.stages.filter(summary__waiting__gt=0).select_related("summary").order_by("position")
    return {
        "project": project,
        "upload": row,
        "running": running,
        "to_publish": [] if running else list(waiting),
        "first_stage": project.stages.filter(crowd=True).order_by("position").first(),
        "faults": grouped(Fault(**fault) for fault in row.faults),
    }


@dataclass(frozen=True)
class RecipeCard:
    """`cost` is what PRICED_ITEMS items cost in the first stage with a crowd, fees included; the `later` stages cost by
    what comes through.
    """

    recipe: Recipe
    stages: tuple[StageSettings, ...]
    first: StageSettings
    cost: Decimal
    later: int


def _recipe_card(recipe: Recipe) -> RecipeCard:
    first = next(stage for stage in recipe.stages if stage.crowd)
    hits = -(-PRICED_ITEMS // first.items_per_hit)
    cost = hits * first.answers * unit_cost(first.reward, first.answers)
    return RecipeCard(recipe, recipe.stages, first, cost, sum(stage.crowd for stage in recipe.stages) - 1)


@for_project(VERB)
def let_crowd_answer(request: LeadRequest, project: Project) -> HttpResponse:
    try:
        if sample_crowd.ask(project, request.user):
            jobs.start(request, tasks.let_crowd_answer, project.pk, said="A simulated crowd is on its way.")
    except Refused as refusal:
        if refusal.error_code == "no_sample":
            raise
        messages.warning(request, str(refusal))
    return redirect("project", project.slug)


@for_project(PAGE)
def crowd_progress(request: HttpRequest, project: Project) -> HttpResponse:
    """What moves on the project's page while the crowd works."""
    return render(request, "projects/_moving.html", {**moving(project), "polled": True})
