"""Pools: named sets of workers, who is in them, which stages ask for them, and the links that invite people."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from common import shown_once
from hits import forms, tasks
from hits.domain import pools
from hits.domain.grant_rows import WorkersRefusedError
from hits.flow.people import pooling
from hits.formats.worker_lists import MOST_BYTES
from hits.models import Grant, Pool, PoolLink, Project, WorkerStat
from hits.mturk.errors import MarketplaceError
from hits.refusals import Refusal
from hits.text.amounts import amount_is
from hits.views import action_words, jobs, paging
from hits.views.grants import SHOWN, WAITING
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, for_project

HISTORY = 20
NAMED_HERE = {
    **SHOWN,
    "": ("In the pool", SHOWN[""][1]),
    "withdrawn": ("Taken out", SHOWN["withdrawn"][1]),
}


def _usable(project: Project, key: str) -> Pool:
    """Of the project, or one that it uses."""
    return get_object_or_404(Pool.objects.usable_in(project).select_related("project"), key=key)


def _own(project: Project, key: str) -> Pool:
    """Of the project: through another one nobody changes it."""
    found = get_object_or_404(project.pools, key=key)
    found.project = project
    return found


def _back(project: Project, pool: Pool) -> HttpResponse:
    return redirect("pool", project.slug, pool.key)


@for_project(PAGE)
def index(request: HttpRequest, project: Project) -> HttpResponse:
    return _index(request, project)


def _index(request: HttpRequest, project: Project, form: forms.PoolForm | None = None) -> HttpResponse:
    rows = list(Pool.objects.usable_in(project).select_related("project"))
    counts, asked = pools.counts(rows), _asked_here(project)
    context = {
        "project": project,
        "pools": [(row, counts[row.pk], asked.get(row.key, [])) for row in rows if row.archived_at is None],
        "archived": [row for row in rows if row.archived_at],
        "form": form or forms.PoolForm(),
    }
    return render(request, "pools/index.html", context, status=400 if form else 200)


def _asked_here(project: Project) -> dict[str, list[str]]:
    """Key of a pool to the titles of the project's stages that ask for it."""
    found: dict[str, list[str]] = {}
    for stage in project.stages.order_by("position"):
        for key in pools.keys_in(stage.requirements):
            found.setdefault(key, []).append(stage.title)
    return found


@for_project(VERB)
def new(request: LeadRequest, project: Project) -> HttpResponse:
    form = forms.PoolForm(request.POST)
    if form.is_valid():
        try:
            made = pooling.create(project, form.cleaned_data["name"], request.user)
        except (pooling.PoolNameError, pooling.TooManyPoolsError) as refusal:
            form.add_error("name", str(refusal))
        else:
            messages.success(request, f"The pool “{made.name}” is made. Put workers in it, below.")
            return _back(project, made)
    return _index(request, project, form)


@for_project(PAGE)
def pool(request: HttpRequest, project: Project, pool: str) -> HttpResponse:
    return _page(request, project, _usable(project, pool), new=shown_once.taken(request))


def _page(request: HttpRequest, project: Project, row: Pool, status: int = 200, **bound: Any) -> HttpResponse:
    """`bound` puts a refused form in the place of the empty one."""
    show = request.GET.get("show", "")
    show = show if show in NAMED_HERE else ""
    members, is_own = pools.members(row), row.project_id == project.pk
    listed = pools.may_list_workers(row, project)
    context = {
        "project": project,
        "pool": row,
        "is_own": is_own,
        "listed": listed,
        "show": show,
        "filters": _filters(row),
        "waiting": members.filter(WAITING, error="").count(),
        "page": paging.by_id(_rows(row, project).filter(NAMED_HERE[show][1]), request.GET, newest_first=True)
        if listed
        else None,
        "numbers": {link.number: link for link in row.links.all()},
        "asking": pools.asking(row),
        "mine": set(Project.objects.visible_to(request.user).values_list("pk", flat=True)),
        "history": _history(project, row),
        **(_to_change(request, project, row) if is_own else {}),
        **bound,
    }
    return render(request, "pools/pool.html", context, status=status)


def _filters(row: Pool) -> list[tuple[str, str, int]]:
    members = pools.members(row)
    return [(name, label, members.filter(chosen).count()) for name, (label, chosen) in NAMED_HERE.items()]


def _rows(row: Pool, project: Project) -> QuerySet[Grant]:
    """With `answered`, whether the worker has a page in this project, and `has_again`, whether somebody who was taken
    out is in the pool again.
    """
    answered = WorkerStat.objects.filter(stage__project=project, worker=OuterRef("worker"))
    again = pools.members(row).filter(~Q(state=Grant.State.WITHDRAWN), worker=OuterRef("worker"))
    rows = pools.members(row).select_related("worker", "created_by")
    return rows.annotate(answered=Exists(answered), has_again=Exists(again))


def _to_change(request: HttpRequest, project: Project, row: Pool) -> dict[str, Any]:
    used = row.uses.select_related("project").order_by("project__name")
    others = pools.managed_by(request.user).exclude(pk=project.pk)  # type: ignore[arg-type]
    return {
        "rename_form": forms.PoolForm(initial={"name": row.name}),
        "workers_form": forms.PoolWorkersForm(),
        "link_form": forms.PoolLinkForm(),
        "best_form": forms.BestForm(project),
        "links": _links(row),
        "uses": list(used),
        "others": list(others.exclude(pk__in=used.values("project")).order_by("name")[:200]),
    }


def _links(row: Pool) -> list[tuple[PoolLink, int]]:
    """The newest ones, each with how many are known to have joined by it."""
    listed = list(row.links.select_related("created_by")[:50])
    joined = pooling.joined(row)
    return [(link, joined.get(link.number, 0)) for link in listed]


def _history(project: Project, row: Pool) -> list[tuple[Any, str]]:
    actions = project.actions.filter(verb__in=pooling.VERBS, detail__key=row.key, assignment=None, label=None)
    return action_words.told(project, actions.order_by("-id")[:HISTORY])


@for_project(PAGE)
def progress(request: HttpRequest, project: Project, pool: str) -> HttpResponse:
    row = _usable(project, pool)
    waiting = pools.members(row).filter(WAITING, error="").count()
    return render(
        request, "pools/_progress.html", {"project": project, "pool": row, "waiting": waiting, "polled": True}
    )


@for_project(VERB)
def rename(request: LeadRequest, project: Project, pool: str) -> HttpResponse:
    row, form = _own(project, pool), forms.PoolForm(request.POST)
    if form.is_valid():
        try:
            pooling.rename(row, form.cleaned_data["name"], request.user)
        except pooling.PoolNameError as refusal:
            form.add_error("name", str(refusal))
        else:
            messages.success(request, "The pool has its new name.")
            return _back(project, row)
    return _page(request, project, row, 400, rename_form=form)


@for_project(VERB)
def archive(request: LeadRequest, project: Project, pool: str) -> HttpResponse:
    row = _own(project, pool)
    try:
        pooling.archive(row, request.user)
    except pooling.PoolInUseError as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, "The pool is archived. Who is in it stays, and its links let nobody in.")
    return _back(project, row)


@for_project(VERB)
def take_up(request: LeadRequest, project: Project, pool: str) -> HttpResponse:
    row = _own(project, pool)
    pooling.take_up(row, request.user)
    messages.success(request, "Stages can ask for the pool again. Make new links if you want some.")
    return _back(project, row)


@for_project(VERB)
def add(request: LeadRequest, project: Project, pool: str) -> HttpResponse:
    """The workers of the list and those of the file; who is in it already stays."""
    row = _own(project, pool)
    form = forms.PoolWorkersForm(request.POST, request.FILES)
    try:
        ids = form.ids()
        if form.errors:
            # Such as an empty file.
            return _page(request, project, row, 400, workers_form=form)
        if file := form.cleaned_data.get("file"):
            ids += pooling.ids_of_file(file.read(MOST_BYTES + 1))
        new = pooling.add(row, ids, request.user)
    except (WorkersRefusedError, pooling.ArchivedPoolError) as refusal:
        form.add_error("workers", str(refusal))
        return _page(request, project, row, 400, workers_form=form)
    return _told(request, project, row, new)


def _told(request: HttpRequest, project: Project, row: Pool, new: int) -> HttpResponse:
    said = (
        f"{amount_is(new, 'worker')} being put in the pool." if new else "All of these workers are in the pool already."
    )
    jobs.start(request, tasks.finish_grants, row.project_id, said=said)
    return _back(project, row)


@for_project(FORM)
def best(request: LeadRequest, project: Project, pool: str) -> HttpResponse:
    """GET shows whom it would be; the button adds those whose boxes are ticked."""
    row = _own(project, pool)
    form = forms.BestForm(project, request.POST if request.method == "POST" else (request.GET or None))
    found, status = [], 200
    if form.is_bound and form.is_valid():
        given = form.cleaned_data
        stage = project.stages.get(key=given["stage"], crowd=True)
        stage.project = project
        asked = (stage, given["by"], given["least"], given["top"])
        found = pooling.best(*asked)
        if request.method == "POST":
            try:
                new = pooling.add_best(row, *asked, request.user, request.POST.getlist("workers"))
            except Refusal as refusal:
                form.add_error(None, str(refusal))
                status = 400
            else:
                return _told(request, project, row, new)
    elif form.is_bound:
        status = 400
    inside = set(
        pools.members(row)
        .filter(SHOWN[""][1], worker__in=[one.stat.worker_id for one in found])
        .values_list("worker", flat=True)
    )
    context = {"project": project, "pool": row, "form": form, "found": found, "inside": inside}
    return render(request, "pools/best.html", context, status=status)


@for_project(VERB)
def remove(request: LeadRequest, project: Project, pool: str, pk: int) -> HttpResponse:
    row = _own(project, pool)
    member = get_object_or_404(pools.members(row).select_related("worker"), pk=pk)
    if pooling.remove(row, member, request.user):
        said = f"{member.worker.worker_id} is being taken out of the pool. You can put the worker in again at any time."
        jobs.start(request, tasks.finish_grants, row.project_id, said=said)
    else:
        messages.info(request, f"{member.worker.worker_id} is not in the pool any more.")
    return _back(project, row)


@for_project(VERB)
def share(request: LeadRequest, project: Project, pool: str) -> HttpResponse:
    row = _own(project, pool)
    form = forms.OtherProjectForm(pools.managed_by(request.user), request.POST)
    if not form.is_valid():
        messages.error(request, "Choose a project in which you are a manager or an owner. Nothing was changed.")
        return _back(project, row)
    other = form.cleaned_data["project"]
    try:
        pooling.share(row, other, request.user)
    except (pooling.NotShareableError, pooling.ArchivedPoolError) as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, f"Stages of {other.name} can ask for this pool now.")
    return _back(project, row)


@for_project(VERB)
def stop_sharing(request: LeadRequest, project: Project, pool: str) -> HttpResponse:
    """Of this project's own pool the use by the project that the form names; of another one's, the use by this one."""
    row = _usable(project, pool)
    is_own = row.project_id == project.pk
    other = (
        get_object_or_404(Project, used_pools__pool=row, slug=request.POST.get("project", "")) if is_own else project
    )
    try:
        pooling.stop_sharing(row, other, request.user)
    except pooling.PoolInUseError as refusal:
        messages.error(request, str(refusal))
        return _back(project, row)
    messages.success(request, f"Stages of {other.name} can ask for “{row.name}” no more.")
    return _back(project, row) if is_own else redirect("pools", project.slug)


@for_project(VERB)
def make_link(request: LeadRequest, project: Project, pool: str) -> HttpResponse:
    row, form = _own(project, pool), forms.PoolLinkForm(request.POST)
    if not form.is_valid():
        return _page(request, project, row, 400, link_form=form)
    given = form.cleaned_data
    try:
        made, token = pooling.make_link(row, given["uses"], given["days"], request.user, given["note"])
    except MarketplaceError as error:
        form.add_error(None, f"{error} No link was made.")
        return _page(request, project, row, 503, link_form=form)
    except Refusal as refusal:
        form.add_error(None, str(refusal))
        return _page(request, project, row, 409, link_form=form)
    link = settings.PUBLIC_URL + reverse("join-pool", args=[token])
    page = reverse("pool", args=[project.slug, row.key])
    expires = made.expires_at.isoformat()
    return shown_once.leading_to(request, page, link=link, uses=made.uses, expires_at=expires)


@for_project(VERB)
def revoke_link(request: LeadRequest, project: Project, pool: str, pk: int) -> HttpResponse:
    row = _own(project, pool)
    if pooling.revoke_link(row, pk, request.user):
        messages.success(request, "The link is revoked and lets nobody in. Who opened it just before may still join.")
    else:
        messages.info(request, "It had ended already.")
    return _back(project, row)


@for_project(VERB)
def fetch(request: LeadRequest, project: Project, pool: str) -> HttpResponse:
    row = _own(project, pool)
    jobs.start(
        request, tasks.fetch_pool, row.pk, said="The marketplace is being asked who joined. Look again in a moment."
    )
    return _back(project, row)
