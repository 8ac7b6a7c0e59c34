"""What a stage's state leaves to do with its HITs: which of pausing, extending, closing and deleting has an effect now.

Pages offer these and no others; the verbs that change HITs ask the same before they write anything.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db.models import Q

from hits.models import Batch, Hit, Stage
from hits.projects.models import UNFINISHED
from hits.refusals import Refused

GOING = (Batch.State.PUBLISHING, Batch.State.WAITING)


def offered(stage: Stage) -> frozenset[str]:
    """Those of "pause", "resume", "extend", "expire", "delete-hits" and "publish" that change something. Five queries
    at most, and none that counts rows."""
    return frozenset(name for name, has_effect in _EFFECTS.items() if has_effect(stage))


def refuse_without_effect(stage: Stage, action: str) -> None:
    """Raises Refused (no_effect)."""
    if not _EFFECTS[action](stage):
        raise Refused("no_effect", f"{_WHY[action].format(stage.title)} Nothing was changed.")


def _pause(stage: Stage) -> bool:
    """Also where all is done here, while an earlier stage may still hand on items that would be published by itself."""
    if stage.state != Stage.State.LIVE:
        return False
    if stage.batches.filter(state__in=GOING).exists():
        return True
    if not Stage.objects.get(pk=stage.pk).summary.is_finished:
        return True
    under_way = Q(*(Q(**{f"summary__{name}__gt": 0}) for name in UNFINISHED), _connector=Q.OR)
    earlier = Stage.objects.filter(under_way, project=stage.project_id, position__lt=stage.position)
    return stage.auto_publish and earlier.exists()


def _expire(stage: Stage) -> bool:
    return stage.hits.filter(
        Q(state=Hit.State.LIVE, closed_early=False) | Q(state__in=[Hit.State.PLANNED, Hit.State.SENT])
    ).exists()


def _delete_hits(stage: Stage) -> bool:
    """Whether any HIT is over and there. Which of them have all answers decided, `hit_plans.clearable` says."""
    return stage.hits.filter(state=Hit.State.CLOSED, hit_id__isnull=False, deleted_at=None).exists()


_EFFECTS: dict[str, Callable[[Stage], bool]] = {
    "pause": _pause,
    "resume": lambda stage: stage.state == Stage.State.PAUSED,
    "extend": lambda stage: stage.hits.filter(state=Hit.State.LIVE, unwanted=False).exists(),
    "expire": _expire,
    "delete-hits": _delete_hits,
    "publish": lambda stage: bool(stage.summary.waiting),
}
_WHY = {
    "pause": "Nothing of “{}” is under way that could be paused.",
    "extend": "No HIT of “{}” is open that could be kept open longer.",
    "expire": "No HIT of “{}” is open that could be closed.",
}
