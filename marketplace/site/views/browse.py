"""Finding work: the list of groups, and the preview of one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from csp.decorators import csp_update
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from marketplace.models import Hit, Worker
from marketplace.rules.qualifications import SYSTEM_TYPES
from marketplace.site import queries
from marketplace.site.frames import features, preview_frame
from marketplace.site.guards import worker_required
from marketplace.site.pages import kept_query, show
from marketplace.site.queries import Group
from marketplace.verbs import assignments, clock, free_hits

GROUPS_PER_PAGE = 25
MOST_BEHIND_TEST = 5
# Each puts the best first; groups without a measured time come after those with one.
SORTS: dict[str, tuple[Any, Callable[[Group], Any]]] = {
    "hourly": (_("Best paid an hour"), lambda group: (group.hourly is None, -(group.hourly or 0), -group.reward)),
    "reward": (_("Highest reward"), lambda group: -group.reward),
    "newest": (_("Newest"), lambda group: -group.newest),
    "most": (_("Most HITs"), lambda group: -group.open_hits),
    "time": (_("Shortest"), lambda group: (group.seconds is None, group.seconds or 0, -group.reward)),
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
    words, found = search.lower().split(), []
    for group in groups:
        text = f"{group.title}\n{group.description}\n{group.hit_type.keywords}\n{group.requester}".lower()
        if all(word in text for word in words):
            found.append(group)
    return found


def _behind_test(worker: Worker, found: Sequence[Group]) -> list[Group]:
    """Work of which all that is missing can be got: by a test, or by asking. Else nobody would know of it."""
    closed = [
        group
        for group in found
        if group.unmet and not any(need["QualificationTypeId"] in SYSTEM_TYPES for need in group.unmet)
    ]
    looked_at = queries.counted(worker, closed[:GROUPS_PER_PAGE]) if closed else []
    return [group for group in looked_at if all(need.offered for need in group.lacking)][:MOST_BEHIND_TEST]


@require_safe
@worker_required
def home(request: HttpRequest, worker: Worker) -> HttpResponse:
    assignments.sweep(clock.now())
    filters = _filters(request)
    found = _matching(queries.open_groups(worker), filters.search)
    found.sort(key=SORTS[filters.sort][1])
    shown = [group for group in found if not (filters.qualified_only and (group.unmet or group.returned))]
    page = Paginator(shown, GROUPS_PER_PAGE).get_page(request.GET.get("page"))
    page.object_list = queries.counted(worker, list(page.object_list))
    context = {
        "page": page,
        "query": kept_query(request),
        "filters": filters,
        "sorts": [(key, label) for key, (label, _) in SORTS.items()],
        "behind_test": _behind_test(worker, found) if filters.qualified_only and page.number == 1 else [],
        "hidden_by_qualification": sum(1 for group in found if group.unmet) if filters.qualified_only else 0,
        "hidden_as_returned": sum(1 for group in found if group.returned) if filters.qualified_only else 0,
    }
    return show(request, worker, "home", context, "hits")


def _devices(asked: Sequence[str]) -> Any:
    """What the task uses of the worker's computer, in words; nothing for none."""
    if "microphone" in asked and "camera" in asked:
        return _("your microphone and camera")
    if "microphone" in asked:
        return _("your microphone")
    return _("your camera") if "camera" in asked else ""


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
    taken = False
    if wanted:
        taken = not free_hits.for_worker(Hit.objects.filter(pk=wanted.pk).assignable(now), worker).exists()
    hit = None
    if group.may_preview:
        hit = wanted if wanted and not taken else queries.sample_hit(worker, hit_type, now)
    context = {
        "main_class": "page with-frame" if hit else "page",
        "group": group,
        "needs": group.needs,
        "frame": preview_frame(hit, worker) if hit else None,
        "hit": hit,
        "wanted": wanted if not taken else None,
        "devices": _devices(features(hit_type)),
        "taken": taken,
    }
    return show(request, worker, "preview", context, "hits")
