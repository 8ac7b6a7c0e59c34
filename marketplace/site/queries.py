"""What the pages read. Nothing here writes, and no function asks more queries when there are more HITs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import Any
from zoneinfo import ZoneInfo

from django.core.cache import cache
from django.db.models import (
    Count,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    IntegerField,
    Max,
    Min,
    OuterRef,
    Q,
    Subquery,
    Sum,
)
from django.db.models.functions import TruncDate
from django.utils import timezone

from marketplace.models import Assignment, Hit, HitType, Qualification, Worker
from marketplace.rules import lifecycle
from marketplace.site import words
from marketplace.verbs import qualifications

_Status = Assignment.Status
# Times and reputations are read from the newest answers of the whole marketplace, at most once a minute.
FACTS_SAMPLE = 5000
FACTS_SECONDS = 60
# Counting goes so far and no further: a page costs the same however large a group is.
MOST_COUNTED = 1000
_FACTS_KEY = "site:facts"
_NO_MONEY = Decimal("0.00")
_WORK_TIME = ExpressionWrapper(F("submitted_at") - F("accepted_at"), output_field=DurationField())


@dataclass(frozen=True)
class Need:
    """One requirement as a sentence, and whether the worker meets it."""

    sentence: str
    met: bool


@dataclass(frozen=True)
class Facts:
    """Measured: median seconds of work by HIT type, percent of judged answers approved by requester."""

    seconds: Mapping[int, float]
    approval: Mapping[int, int]


@dataclass(frozen=True)
class Group:
    """A group of HITs as one worker sees it. `available` counts HITs that this worker can take, to MOST_COUNTED."""

    hit_type: HitType
    available: int
    newest: int
    needs: Sequence[Need]
    may_preview: bool
    hidden: bool
    seconds: float | None
    approval: int | None

    @property
    def group_id(self) -> str:
        return self.hit_type.hit_group_id

    @property
    def title(self) -> str:
        return self.hit_type.title

    @property
    def description(self) -> str:
        return self.hit_type.description

    @property
    def requester(self) -> str:
        return self.hit_type.requester.name

    @property
    def reward(self) -> Decimal:
        return self.hit_type.reward

    @property
    def missing(self) -> list[str]:
        return [need.sentence for need in self.needs if not need.met]

    @property
    def amount(self) -> str:
        """The number of HITs in words, such as "1 HIT" or "1,000+ HITs"."""
        more = "+" if self.available == MOST_COUNTED else ""
        return f"{self.available:,}{more} HIT{'s' if self.available != 1 else ''}"

    @property
    def hourly(self) -> Decimal | None:
        """Dollars an hour at the median time; None before the first answer."""
        if self.seconds is None:
            return None
        return self.reward * 3600 / Decimal(self.seconds)

    @property
    def takes(self) -> str:
        return words.about(self.seconds or 0)

    @property
    def allowed(self) -> str:
        return words.span(self.hit_type.assignment_duration_seconds)

    @property
    def pays(self) -> str:
        delay = self.hit_type.auto_approval_delay_seconds
        return f"pays in {words.span(delay)}" if delay else "pays at once"

    @property
    def reputation(self) -> str:
        return "new requester" if self.approval is None else f"{self.approval} % approved"


def open_groups(worker: Worker) -> list[Group]:
    """Every group with a HIT for this worker, except those that hide from who does not qualify.

    Reads the stored state of HITs, which is exact after verbs.assignments.sweep.
    """
    open_hits = Hit.objects.filter(hit_type=OuterRef("pk"), state=lifecycle.ASSIGNABLE)
    types = (
        HitType.objects.filter(Exists(open_hits))
        .annotate(
            free=_RowCount(open_hits.for_worker(worker).order_by("-pk").values("pk")[:MOST_COUNTED]),
            newest=Subquery(open_hits.order_by("-pk").values("pk")[:1]),
        )
        .select_related("requester")
        .order_by("-pk")
    )
    groups = _as_groups(worker, {kind: kind.free for kind in types if kind.free})
    return [group for group in groups if not group.hidden]


class _RowCount(Subquery):
    """How many rows a query gives, its limit included."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()


def visible_group(worker: Worker, hit_type: HitType) -> Group | None:
    """The group as the worker sees it, also without a free HIT; None when it hides from this worker."""
    group = group_for(worker, hit_type)
    return None if group.hidden else group


def group_for(worker: Worker, hit_type: HitType) -> Group:
    """The group for somebody who knows it already, such as one who has just submitted."""
    free = Hit.objects.filter(hit_type=hit_type).assignable(timezone.now()).for_worker(worker)
    return _as_groups(worker, {hit_type: free.order_by("-pk")[:MOST_COUNTED].count()})[0]


def _as_groups(worker: Worker, left: Mapping[HitType, int]) -> list[Group]:
    asked = [requirement for kind in left for requirement in kind.requirements]
    held = qualifications.held_values(worker) if asked else {}
    names = qualifications.type_names(asked) if asked else {}
    facts = market_facts()
    return [
        Group(
            hit_type=kind,
            available=count,
            newest=getattr(kind, "newest", 0),
            needs=_needs(worker, kind, held, names),
            may_preview=not qualifications.failing(worker, kind.requirements, "preview", held),
            hidden=bool(qualifications.failing(worker, kind.requirements, "discover", held)),
            seconds=facts.seconds.get(kind.pk),
            approval=facts.approval.get(kind.requester_id),
        )
        for kind, count in left.items()
    ]


def _needs(worker: Worker, kind: HitType, held: Mapping[str, int], names: Mapping[str, str]) -> list[Need]:
    failing = qualifications.failing(worker, kind.requirements, "accept", held)
    return [Need(qualifications.explain(need, names), need not in failing) for need in kind.requirements]


def group_by_id(group_id: str) -> HitType | None:
    """A HIT type by its own id or by its group id."""
    if not group_id:
        return None
    wanted = Q(hit_group_id=group_id) | Q(hit_type_id=group_id)
    return HitType.objects.filter(wanted).select_related("requester").first()


def sample_hit(worker: Worker, hit_type: HitType, now: datetime) -> Hit | None:
    """A HIT of the group to preview: one behind the worker's last, which accepting looks at first; else any."""
    free = Hit.objects.filter(hit_type=hit_type).assignable(now).order_by("pk")
    last = Assignment.objects.filter(worker=worker, hit__hit_type=hit_type).order_by("-pk").values("hit")[:1]
    return free.filter(pk__gt=Subquery(last)).first() or free.first()


def market_facts() -> Facts:
    """Measured times and reputations, at most FACTS_SECONDS old."""
    facts: Facts | None = cache.get(_FACTS_KEY)
    if facts is None:
        facts = _measure()
        cache.set(_FACTS_KEY, facts, FACTS_SECONDS)
    return facts


def _measure() -> Facts:
    # Annotated: the stubs take a path over two relations for text.
    newest: Any = (
        Assignment.objects.filter(status__in=Assignment.VISIBLE)
        .order_by("-pk")
        .values_list("hit__hit_type", "hit__requester", "status", "accepted_at", "submitted_at")[:FACTS_SAMPLE]
    )
    times: defaultdict[int, list[float]] = defaultdict(list)
    judged: defaultdict[int, list[bool]] = defaultdict(list)
    for hit_type, requester, status, accepted_at, submitted_at in newest:
        # A program can answer within the clock's grain; a wage cannot be infinite.
        times[hit_type].append(max(1.0, (submitted_at - accepted_at).total_seconds()))
        if status != _Status.SUBMITTED:
            judged[requester].append(status == _Status.APPROVED)
    return Facts(
        seconds={kind: median(values) for kind, values in times.items()},
        approval={requester: 100 * sum(kept) // len(kept) for requester, kept in judged.items()},
    )


@dataclass(frozen=True)
class Day:
    """The worker's day so far: submitted and not rejected, time spent on it, and HITs in hand."""

    earned: Decimal
    worked: str
    in_hand: int


def day_so_far(worker: Worker, since: datetime) -> Day:
    submitted = Q(status__in=Assignment.VISIBLE)
    rows = Assignment.objects.filter(Q(worker=worker), Q(status=_Status.ACCEPTED) | Q(submitted_at__gte=since))
    sums = rows.aggregate(
        earned=Sum("hit__hit_type__reward", filter=submitted & ~Q(status=_Status.REJECTED)),
        worked=Sum(_WORK_TIME, filter=submitted),
        in_hand=Count("pk", filter=Q(status=_Status.ACCEPTED)),
    )
    return Day(sums["earned"] or _NO_MONEY, words.worked(sums["worked"] or timedelta()), sums["in_hand"])


def assignment_of(worker: Worker, pk: int) -> Assignment | None:
    """The worker's own assignment with its HIT, HIT type and requester."""
    rows = Assignment.objects.select_related("hit__hit_type__requester", "hit__requester")
    return rows.filter(pk=pk, worker=worker).first()


def latest_assignment(assignment_id: str, worker_id: str) -> Assignment | None:
    """The row that a posted answer most likely speaks of: ids are used again after a return."""
    rows = Assignment.objects.filter(assignment_id=assignment_id).select_related("hit__hit_type")
    if worker_id:
        rows = rows.filter(worker__worker_id=worker_id)
    return rows.order_by("-pk").first()


def _with_hits(worker: Worker) -> Any:
    rows = Assignment.objects.filter(worker=worker).select_related("hit__hit_type", "hit__requester")
    return rows.defer("answer", "hit__question")


def in_hand(worker: Worker, now: datetime) -> Iterable[Assignment]:
    """Accepted and still in time, the most urgent first."""
    rows: Iterable[Assignment] = _with_hits(worker).filter(status=_Status.ACCEPTED, deadline__gte=now)
    return rows.order_by("deadline")  # type: ignore[attr-defined]


def handed_in(worker: Worker) -> Any:
    """Submitted answers, the newest first."""
    return _with_hits(worker).filter(status__in=Assignment.VISIBLE).order_by("-pk")


def earnings_totals(worker: Worker) -> dict[str, Any]:
    """Money approved and waiting, when the first and last of the waiting pay themselves, dollars an hour."""
    approved, waiting = Q(status=_Status.APPROVED), Q(status=_Status.SUBMITTED)
    sums = Assignment.objects.filter(worker=worker, status__in=Assignment.VISIBLE).aggregate(
        approved=Sum("hit__hit_type__reward", filter=approved),
        waiting=Sum("hit__hit_type__reward", filter=waiting),
        worked=Sum(_WORK_TIME, filter=approved),
        pays_first=Min("auto_approval_at", filter=waiting),
        pays_last=Max("auto_approval_at", filter=waiting),
    )
    approved_sum = sums["approved"] or _NO_MONEY
    seconds = (sums["worked"] or timedelta()).total_seconds()
    return sums | {
        "approved": approved_sum,
        "waiting": sums["waiting"] or _NO_MONEY,
        "hourly": approved_sum * 3600 / Decimal(max(1.0, seconds)) if approved_sum else None,
    }


def earnings_by_day(worker: Worker, zone: ZoneInfo) -> Any:
    """One row for each of the worker's days with submitted work, the newest first."""
    money = {
        name: Sum("hit__hit_type__reward", filter=Q(status=status), default=0)
        for name, status in (
            ("approved", _Status.APPROVED),
            ("waiting", _Status.SUBMITTED),
            ("rejected", _Status.REJECTED),
        )
    }
    return (
        Assignment.objects.filter(worker=worker, status__in=Assignment.VISIBLE)
        .annotate(day=TruncDate("submitted_at", tzinfo=zone))
        .values("day")
        .annotate(count=Count("pk"), work_time=Sum(_WORK_TIME), **money)
        .order_by("-day")
    )


def qualifications_held(worker: Worker) -> Any:
    granted = Qualification.objects.filter(worker=worker, status=Qualification.Status.GRANTED)
    return granted.select_related("type__requester").order_by("-granted_at", "-pk")
