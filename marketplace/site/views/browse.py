"""Finding work: the list of groups, and the preview of one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from csp.decorators import csp_update
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from marketplace.models import Worker
from marketplace.site import queries
from marketplace.site.frames import features, preview_frame
from marketplace.site.guards import worker_required
from marketplace.site.pages import kept_query, show
from marketplace.site.queries import Group
from marketplace.verbs import assignments, clock

GROUPS_PER_PAGE = 25
# Each puts the best first; groups without a measured time come after those with one.
SORTS: dict[str, tuple[str, Callable[[Group], Any]]] = {
    "hourly": ("Best paid an hour", lambda group: (group.hourly is None, -(group.hourly or 0), -group.reward)),
    "reward": ("Highest reward", lambda group: -group.reward),
    "newest": ("Newest", lambda group: -group.newest),
    "most": ("Most HITs", lambda group: -group.open_hits),
    "time": ("Shortest", lambda group: (group.seconds is None, group.seconds or 0, -group.reward)),
}


@dataclass(frozen=True)
class Filters:
    search: str
    sort: str
    qualified_only: bool


def _filters(request: HttpRequest) -> Filters:
    """From the address; an unticked box sends nothing, so `filtered` tells it from a first visit."""
    asked = request.GET
    sort = asked.get("sort", "")
    return Filters(
        search=asked.get("q", "").strip()[:100],
        sort=sort if sort in SORTS else "hourly",
        qualified_only="filtered" not in asked or "qualify" in asked,
    )


def _matching(groups: Sequence[Group], search: str) -> list[Group]:
    wanted = search.lower().split()
    return [group for group in groups if all(word in _searched_text(group) for word in wanted)]


def _searched_text(group: Group) -> str:
    return f"{group.title}\n{group.description}\n{group.hit_type.keywords}\n{group.requester}".lower()


@require_safe
@worker_required
def home(request: HttpRequest, worker: Worker) -> HttpResponse:
    assignments.sweep(clock.now())
    filters = _filters(request)
    found = _matching(queries.open_groups(worker), filters.search)
    shown = [group for group in found if not (filters.qualified_only and (group.unmet or group.returned))]
    shown.sort(key=SORTS[filters.sort][1])
    page = Paginator(shown, GROUPS_PER_PAGE).get_page(request.GET.get("page"))
    page.object_list = queries.counted(worker, list(page.object_list))
    context = {
        "page": page,
        "query": kept_query(request),
        "filters": filters,
        "sorts": [(key, label) for key, (label, _) in SORTS.items()],
        "hidden_by_qualification": sum(1 for group in found if group.unmet) if filters.qualified_only else 0,
        "hidden_as_returned": sum(1 for group in found if group.returned) if filters.qualified_only else 0,
    }
    return show(request, worker, "home", context, "hits")


@csp_update({"frame-src": ["'self'"]})  # type: ignore[arg-type]
@require_safe
@worker_required
def preview(request: HttpRequest, worker: Worker, group_id: str = "") -> HttpResponse:
    """One group, and a HIT of it in its frame: the very HIT `hitId` when the link names one that is still free."""
    now = clock.now()
    wanted = queries.hit_by_id(request.GET["hitId"]) if request.GET.get("hitId") else None
    hit_type = wanted.hit_type if wanted else queries.group_by_id(group_id or request.GET.get("groupId", ""))
    group = queries.visible_group(worker, hit_type) if hit_type else None
    if hit_type is None or group is None:
        raise Http404
    if wanted and (held := queries.held_by(worker, wanted)):
        return redirect("site:work", held.pk)
    taken = wanted is not None and not queries.is_free(worker, wanted, now)
    hit = None
    if group.may_preview:
        hit = wanted if wanted and not taken else queries.sample_hit(worker, hit_type, now)
    context = {
        "group": group,
        "needs": group.needs,
        "frame": preview_frame(hit, worker) if hit else None,
        "hit": hit,
        "wanted": wanted if not taken else None,
        "devices": [feature for feature in features(hit_type) if feature != "fullscreen"],
        "taken": taken,
    }
    return show(request, worker, "preview", context, "hits")
