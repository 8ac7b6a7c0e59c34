"""The pages of pools: who is in one, which stages ask for it, a stage's best, and the links that invite people.

Security behavior of `join`, the page behind an invitation link: it leads to the marketplace, where people join. Nobody
signs in here, opening a link changes nothing, and who has a link learns nothing of the project. Calls from one network
are limited, and each needs the whole link.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from common import shown_once
from hits.accounts.models import token_digest
from hits.accounts.verbs.sign_in import place
from hits.answers.pages.task import in_own_language
from hits.core import rate_limits
from hits.core.pages import fields_of
from hits.core.verbs import REGISTRY
from hits.models import Grant, Project, WorkerStat
from hits.mturk.errors import MarketplaceError
from hits.mturk.pool_links import Joining
from hits.pools import rules
from hits.pools.api import LINKS_SHOWN, POOL, POOLS, USABLE, BestQuery, best, links_of
from hits.pools.models import IN_IT, Pool, PoolLink
from hits.publishing.rules.marketplace_account import gateway
from hits.text.wording import _
from hits.views import action_words, paging
from hits.views.guard import PAGE, LeadRequest, for_project
from hits.workers.pages.grants import SHOWN, WAITING

HISTORY = 20
NAMED_HERE = {
    **SHOWN,
    "": ("In the pool", SHOWN[""][1]),
    "withdrawn": ("Taken out", SHOWN["withdrawn"][1]),
}
# What a lead who asks for a stage's best begins with.
FIRST_ASKED = {"least": 20, "top": 20}
# Of one network in a minute: a class may sit behind one address.
MOST_A_MINUTE = 120


@for_project(PAGE)
def index(request: HttpRequest, project: Project) -> HttpResponse:
    rows, asked = list(POOLS.rows(project)), _asked_here(project)
    context = {
        "project": project,
        "pools": [(row, asked.get(row.key, [])) for row in rows if row.archived_at is None],
        "archived": [row for row in rows if row.archived_at],
    }
    return render(request, "pools/index.html", context)


def _asked_here(project: Project) -> dict[str, list[str]]:
    """Key of a pool to the titles of the project's stages that ask for it."""
    found: dict[str, list[str]] = {}
    for stage in project.stages.order_by("position"):
        for key in rules.keys_in(stage.requirements):
            found.setdefault(key, []).append(stage.title)
    return found


@for_project(PAGE)
def pool(request: LeadRequest, project: Project, pool: str) -> HttpResponse:
    row = USABLE.find(project, pool=pool)
    show = request.GET.get("show", "")
    show = show if show in NAMED_HERE else ""
    is_own, listed = row.project_id == project.pk, rules.may_list_workers(row, project)
    page = paging.by_id(_rows(row, project).filter(NAMED_HERE[show][1]), request.GET, newest_first=True)
    for member in page.rows:
        member.project = row.project
    links = list(links_of(row)[:LINKS_SHOWN]) if is_own else []
    for link in links:
        link.pool = row
    words = {verb.words for verb in REGISTRY.values() if verb.name.startswith("pools.")}
    actions = project.actions.filter(verb__in=words, detail__key=row.key, assignment=None, label=None)
    context = {
        "project": project,
        "pool": row,
        "new": shown_once.taken(request),
        "is_own": is_own,
        "listed": listed,
        "show": show,
        "filters": [(name, label, row.members.filter(chosen).count()) for name, (label, chosen) in NAMED_HERE.items()],
        "waiting": row.members.filter(WAITING, error="").count(),
        "page": page if listed else None,
        "numbers": {link.number: link for link in row.links.all()},
        "asking": rules.asking(row),
        "mine": set(Project.objects.visible_to(request.user).values_list("pk", flat=True)),
        "history": action_words.told(project, actions.order_by("-id")[:HISTORY]),
        "links": links,
        "uses": list(row.uses.select_related("project").order_by("project__name")) if is_own else [],
        "best_fields": _best_fields(request, row) if is_own else [],
        "others": is_own and rules.managed_by(request.user).exclude(pk=project.pk).exists(),
    }
    return render(request, "pools/pool.html", context)


def _rows(row: Pool, project: Project) -> QuerySet[Grant]:
    """With `answered`, whether the worker has a page in this project, and `has_again`, whether somebody who was taken
    out is in the pool again.
    """
    answered = WorkerStat.objects.filter(stage__project=project, worker=OuterRef("worker"))
    again = row.members.filter(~Q(state=Grant.State.WITHDRAWN), worker=OuterRef("worker"))
    rows = row.members.select_related("worker", "created_by")
    return rows.annotate(answered=Exists(answered), has_again=Exists(again))


@for_project(PAGE)
def progress(request: HttpRequest, project: Project, pool: str) -> HttpResponse:
    row = USABLE.find(project, pool=pool)
    waiting = row.members.filter(WAITING, error="").count()
    return render(
        request, "pools/_progress.html", {"project": project, "pool": row, "waiting": waiting, "polled": True}
    )


@for_project(PAGE)
def show_best(request: LeadRequest, project: Project, pool: str) -> HttpResponse:
    """Whom adding the best would add, with boxes of which all are ticked."""
    row = POOL.find(project, pool=pool)
    query = BestQuery(data=request.GET)
    asked = bool(request.GET)
    found = best(row, **query.validated_data) if asked and query.is_valid() else []
    errors = {name: [str(one) for one in said] for name, said in query.errors.items()} if asked else {}
    inside = row.members.filter(state__in=IN_IT, worker__in=[one.stat.worker_id for one in found])
    context = {
        "project": project,
        "pool": row,
        "fields": _best_fields(request, row, errors),
        "asked": query.validated_data if asked and not errors else None,
        "found": found,
        "inside": set(inside.values_list("worker", flat=True)),
    }
    return render(request, "pools/best.html", context, status=400 if errors else 200)


def _best_fields(request: LeadRequest, row: Pool, errors: dict[str, list[str]] | None = None) -> list[Any]:
    """Of the form whose page shows the best; empty where no stage has a crowd."""
    fields = list(
        fields_of(BestQuery().fields, "best", {**FIRST_ASKED, **request.GET.dict()}, errors or {}, row, request.user)
    )
    return fields if fields[0].offered else []


@require_safe
@never_cache
@in_own_language
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Rendered without a request, so that no context processor touches a session."""
    if not rate_limits.allow(f"join:{place(request)}", MOST_A_MINUTE):
        return _refused(_("Too many people open such links from your network. Try again in a minute."), 429)
    living = PoolLink.objects.living().filter(pool__project__archived_at=None)
    link = living.filter(digest=token_digest(token)).first()
    if link is None:
        return _refused(_("It is wrong, has expired or was taken back."), 404)
    joining = Joining(link.qualification_type_id, link.name, link.uses, link.number, link.expires_at)
    try:
        # Made of the key pair here, without a call; good for an hour.
        address = gateway().joining_address(settings.MTURK_SUBMIT_ORIGINS[0], joining)
    except MarketplaceError:
        return _refused(_("It cannot be used at the moment. Try again later."), 503)
    response = HttpResponseRedirect(address)
    # The link itself stands in the address that was open here.
    response["Referrer-Policy"] = "no-referrer"
    return response


def _refused(why: str, status: int) -> HttpResponse:
    response = HttpResponse(render_to_string("answers/task/no_link.html", {"refusal": why}), status=status)
    if status == 429:
        response["Retry-After"] = str(rate_limits.WINDOW_SECONDS)
    return response


urls = [
    path("pools/", index, name="pools"),
    path("pools/<slug:pool>/", pool, name="pool"),
    path("pools/<slug:pool>/progress/", progress, name="pool-progress"),
    path("pools/<slug:pool>/best/", show_best, name="best-for-pool"),
]
