"""Notices are written once: each event, and each state when it begins, until it ends and begins again.

Rows go in together with the marks that say up to where something was told, so that a crash anywhere tells nothing twice
and loses nothing. Letters are another module's: `notice_letters` reads the rows that this one leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Prefetch
from django.utils import timezone

from hits.core.jobs.leases import lease
from hits.models import Membership, Notice, NoticeChoice, Project, Stage, WebhookDelivery
from hits.notifications.models import LONGEST_KEY
from hits.notifications.rules.notices import Due, one_line
from hits.refusals import Refused

LEASE_SECONDS = 60
# What passes by itself is told when it has lasted so long.
LASTED = timedelta(minutes=10)
AT_ONCE = 50
LONGEST_WORDS, LONGEST_MORE = 300, 1000
Finder = Callable[[Sequence[Project]], Iterable[Due]]


def write_all(find: Finder) -> int:
    """Write what is due in all projects that are in use; how many notices are new. One process at a time."""
    with lease("notices", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        new = 0
        for projects in _in_use():
            new += write(projects, find(projects))
            held.renew()
        return new


def _in_use() -> Iterator[list[Project]]:
    pks = iter(list(Project.objects.filter(archived_at=None).order_by("pk").values_list("pk", flat=True)))
    stages = Stage.objects.select_related("summary").order_by("position")
    while some := list(islice(pks, AT_ONCE)):
        found = Project.objects.filter(pk__in=some).with_state().select_related("account").order_by("pk")
        yield list(found.prefetch_related(Prefetch("stages", stages)))


@transaction.atomic
def write(projects: Sequence[Project], due: Iterable[Due]) -> int:
    """Of these projects, `due` is all that is to be told now: states not in it have ended. Returns how many are new."""
    now = timezone.now()
    found = {(one.project, one.kind, one.key[:LONGEST_KEY]): one for one in due}
    open_ = Notice.objects.filter(project__in=projects, ended_at=None)
    states = {(row.project_id, row.kind, row.key): row.pk for row in open_.filter(is_event=False)}
    _end(now, [pk for key, pk in states.items() if key not in found])
    fresh = [one for key, one in found.items() if key not in states and (one.mark is None or one.mark.move())]
    rows = [_row(one, now) for one in fresh if one.words]
    # The constraint holds what another process may have written meanwhile.
    Notice.objects.bulk_create(rows, ignore_conflicts=True, batch_size=200)
    for one in fresh:
        if one.event:
            WebhookDelivery.objects.announce(one.project, one.event, lambda facts=one.facts: [facts])  # type: ignore[misc]
    return len(rows)


def _end(now: datetime, pks: list[int]) -> None:
    for start in range(0, len(pks), 500):
        ended = Notice.objects.filter(pk__in=pks[start : start + 500])
        # It passed by itself before anybody was told.
        ended.filter(told_at__gt=now).delete()
        ended.update(ended_at=now)


def _row(due: Due, now: datetime) -> Notice:
    return Notice(
        project_id=due.project,
        stage_id=due.stage,
        kind=due.kind,
        key=due.key[:LONGEST_KEY],
        words=one_line(due.words)[:LONGEST_WORDS],
        more=one_line(due.more)[:LONGEST_MORE],
        address=due.address,
        is_event=due.is_event,
        told_at=now + LASTED if due.passes else now,
    )


def tell(due: Due) -> None:
    """Write down an event that leaves no other row, such as work that failed."""
    _row(due, timezone.now()).save(force_insert=True)


# What a person says of their notices


@transaction.atomic
def mark_seen(user: User, until: datetime, project: str = "") -> int:
    """The person has seen all notices up to `until`, which is not in the future; in how many projects that is news."""
    until = min(until, timezone.now())
    mine = Membership.objects.filter(user=user, notices_seen_at__lt=until)
    if project:
        mine = mine.filter(project__slug=project)
    return mine.update(notices_seen_at=until)


@transaction.atomic
def choose(user: User, choices: Mapping[str, tuple[bool, bool]]) -> None:
    """Where the person wants notices of these kinds: (on the page, by e-mail). Raises Refused (unknown_kind)."""
    if unknown := set(choices) - set(Notice.Kind.values):
        there = ", ".join(Notice.Kind.values)
        said = f"There is no kind {', '.join(sorted(unknown))}. There are: {there}. Nothing was changed."
        raise Refused("unknown_kind", said, status=400)
    for kind, (on_page, by_email) in choices.items():
        NoticeChoice.objects.update_or_create(user=user, kind=kind, defaults={"on_page": on_page, "by_email": by_email})
