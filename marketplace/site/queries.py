"""What the pages read. Nothing here writes, and no function asks more queries when there are more HITs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db.models import (
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    IntegerField,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    Sum,
)
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common.prepared import Prepared
from marketplace.models import (
    Assignment,
    BonusPayment,
    Concern,
    GroupSummary,
    Hit,
    HitType,
    QualificationType,
    RequesterSummary,
    Worker,
)
from marketplace.models.assignments import REWARD
from marketplace.models.fields import MoneyField
from marketplace.rules import lifecycle
from marketplace.rules import qualifications as rules
from marketplace.rules.qualifications import Requirement
from marketplace.site import words
from marketplace.site.saying import said
from marketplace.verbs import assignments, blocks, clock, free_hits, qualifications, summaries

_Status = Assignment.Status
# Summaries are read again after so many seconds; the clock's program measures them anew as often.
FACTS_SECONDS = 5
# Counting for one worker goes so far and no further: a page costs the same however large a group is.
MOST_COUNTED = 100
_FACTS_KEY = "site:facts"
NO_MONEY = Decimal("0.00")
WORK_TIME = ExpressionWrapper(F("submitted_at") - F("accepted_at"), output_field=DurationField())


@dataclass(frozen=True)
class Need:
    """One requirement as a sentence, whether the worker meets it, and whether it can be asked for (with a test)."""

    type_id: str
    sentence: str
    met: bool
    offered: bool = False
    tested: bool = False


@dataclass(frozen=True)
class TypeFacts:
    """What a requirement's sentence and link need to know of its qualification type."""

    name: str
    offered: bool
    tested: bool


_UNKNOWN = TypeFacts("", offered=False, tested=False)


@dataclass(frozen=True)
class Facts:
    """Measured: by HIT type its open HITs and median seconds of work; by requester how answers are judged."""

    open_hits: Mapping[int, int]
    seconds: Mapping[int, float]
    approval: Mapping[int, int]
    decides: Mapping[int, float]


@dataclass(frozen=True)
class Group:
    """A group of HITs as one worker sees it.

    `available` counts the HITs that this worker can take, to MOST_COUNTED; None until counted.
    `open_hits` is about how many are open to anybody. `returned` says that all of them were returned by this worker.
    """

    hit_type: HitType
    newest: int
    unmet: Sequence[Requirement]
    facts: Facts
    types: Mapping[str, TypeFacts] = field(default_factory=dict)
    available: int | None = None
    returned: bool = False

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
    def hidden(self) -> bool:
        return any(rules.guards(requirement, "discover") for requirement in self.unmet)

    @property
    def may_preview(self) -> bool:
        return not any(rules.guards(requirement, "preview") for requirement in self.unmet)

    @property
    def needs(self) -> list[Need]:
        names = {type_id: kind.name for type_id, kind in self.types.items()}
        needs = []
        for asked in self.hit_type.requirements:
            kind = self.types.get(asked["QualificationTypeId"], _UNKNOWN)
            # Who must not hold a type is not sent to ask for it.
            wanted = asked not in self.unmet or asked["Comparator"] == "DoesNotExist"
            needs.append(
                Need(
                    type_id=asked["QualificationTypeId"],
                    sentence=said(qualifications.explain(asked, names)),
                    met=asked not in self.unmet,
                    offered=kind.offered and not wanted,
                    tested=kind.tested,
                )
            )
        return needs

    @property
    def lacking(self) -> list[Need]:
        return [need for need in self.needs if not need.met]

    @property
    def in_profile(self) -> bool:
        """Whether a worker can set something that is missing: a sandbox lets them, on the page of the profile."""
        return settings.MARKETPLACE_SANDBOX and any(need.type_id in rules.SYSTEM_TYPES for need in self.lacking)

    @property
    def missing(self) -> list[str]:
        return [need.sentence for need in self.lacking]

    @property
    def open_hits(self) -> int:
        return self.facts.open_hits.get(self.hit_type.pk, 0)

    @property
    def amount(self) -> str:
        """The number of HITs in words, such as "1 HIT", "100+ HITs" or "about 6,160 HITs"."""
        if self.available is not None and self.available < MOST_COUNTED:
            return ngettext("%(number)s HIT", "%(number)s HITs", self.available) % {"number": self.available}
        if self.open_hits > MOST_COUNTED:
            return _("about %(number)s HITs") % {"number": words.grouped(self.open_hits)}
        return _("%(number)s+ HITs") % {"number": MOST_COUNTED}

    @property
    def seconds(self) -> float | None:
        return self.facts.seconds.get(self.hit_type.pk)

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
    def pays_at_once(self) -> bool:
        return not self.hit_type.auto_approval_delay_seconds

    @property
    def pays(self) -> str:
        if self.pays_at_once:
            return _("pays at once")
        return _("pays in %(time)s") % {"time": words.span(self.hit_type.auto_approval_delay_seconds)}

    @property
    def reputation(self) -> str:
        percent = self.facts.approval.get(self.hit_type.requester_id)
        return _("new requester") if percent is None else _("%(percent)s %% approved") % {"percent": percent}

    @property
    def decides(self) -> str:
        """How long this requester takes to judge an answer, or nothing when it has judged none."""
        seconds = self.facts.decides.get(self.hit_type.requester_id)
        return "" if seconds is None else words.about(seconds)


_SHOWN = (
    "requester",
    "hit_group_id",
    "title",
    "description",
    "keywords",
    "reward",
    "assignment_duration_seconds",
    "auto_approval_delay_seconds",
    "requirements",
)


def open_groups(worker: Worker) -> list[Group]:
    """Every group with a HIT for this worker, except those that hide from who does not qualify; not yet counted.

    Reads the stored state of HITs, which is exact after verbs.assignments.sweep.
    """
    open_hits = Hit.objects.filter(hit_type=OuterRef("pk"), state=lifecycle.ASSIGNABLE)
    # The newest first: a worker who has answered much took the oldest, so the first look mostly finds one.
    newest = free_hits.for_worker(open_hits, worker).order_by("-pk").values("pk")[:1]
    fresh = Exists(free_hits.not_returned_by(free_hits.for_worker(open_hits, worker), worker))
    offers = HitType.objects.annotate(newest=Subquery(newest), fresh=fresh).order_by("-pk")
    offered = {pk: (hit, fresh) for pk, hit, fresh in offers.values_list("pk", "newest", "fresh") if hit is not None}
    # Prefetched, not joined: of hundreds of groups most have the same few requesters.
    types = HitType.objects.filter(pk__in=offered).only(*_SHOWN).prefetch_related("requester").order_by("-pk")
    groups = _as_groups(worker, {kind: offered[kind.pk][0] for kind in types})
    return [replace(group, returned=not offered[group.hit_type.pk][1]) for group in groups if not group.hidden]


def counted(worker: Worker, groups: Sequence[Group]) -> list[Group]:
    """The groups of one page, each with its number of HITs for this worker and the names of what it asks for."""
    assignable = Hit.objects.filter(hit_type=OuterRef("pk"), state=lifecycle.ASSIGNABLE)
    free = free_hits.for_worker(assignable, worker)
    count = _RowCount(free.order_by("-pk").values("pk")[:MOST_COUNTED])
    shown = HitType.objects.filter(pk__in=[group.hit_type.pk for group in groups])
    available = dict(shown.annotate(free=count).values_list("pk", "free"))
    types = _type_facts(group.hit_type for group in groups)
    return [replace(group, available=available[group.hit_type.pk], types=types) for group in groups]


class _RowCount(Subquery):
    """How many rows a query gives, its limit included."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()


def visible_group(worker: Worker, hit_type: HitType) -> Group | None:
    """The group as the worker sees it, also without a free HIT; None when it hides from this worker."""
    if hit_type.requester_id in blocks.blocking_requesters(worker):
        return None
    group = group_for(worker, hit_type)
    return None if group.hidden else group


def group_for(worker: Worker, hit_type: HitType) -> Group:
    """The group for somebody who knows it already, such as one who has just submitted."""
    free = free_hits.for_worker(Hit.objects.filter(hit_type=hit_type).assignable(clock.now()), worker)
    available = free.order_by("-pk").values("pk")[:MOST_COUNTED].count()
    (group,) = _as_groups(worker, {hit_type: 0})
    returned = bool(available) and not free_hits.not_returned_by(free, worker).exists()
    return replace(group, available=available, types=_type_facts([hit_type]), returned=returned)


def _as_groups(worker: Worker, newest: Mapping[HitType, int]) -> list[Group]:
    asked = any(_asks_for(kind) for kind in newest)
    held = qualifications.held_values(worker) if asked else {}
    facts = market_facts()
    return [
        Group(kind, hit, qualifications.failing(worker, kind.requirements, "accept", held), facts)
        for kind, hit in newest.items()
    ]


def _asks_for(kind: HitType) -> bool:
    """Whether the type asks for what requesters grant."""
    return any(need["QualificationTypeId"] not in rules.SYSTEM_TYPES for need in kind.requirements)


def _type_facts(kinds: Iterable[HitType]) -> Mapping[str, TypeFacts]:
    asked = {need["QualificationTypeId"] for kind in kinds for need in kind.requirements} - rules.SYSTEM_TYPES.keys()
    if not asked:
        return {}
    offered = Exists(QualificationType.objects.requestable().filter(pk=OuterRef("pk")))
    rows = QualificationType.objects.filter(qualification_type_id__in=asked).annotate(offered=offered)
    facts = rows.values_list("qualification_type_id", "name", "offered", "test")
    return {type_id: TypeFacts(name, offered, test is not None) for type_id, name, offered, test in facts}


def group_by_id(group_id: str) -> HitType | None:
    """A HIT type by its own id or by its group id."""
    return next(iter(_groups(group_id=group_id)), None) if group_id else None


@Prepared
def _groups(group_id: str) -> QuerySet[HitType]:
    wanted = Q(hit_group_id=group_id) | Q(hit_type_id=group_id)
    return HitType.objects.filter(wanted).select_related("requester").order_by("pk")[:1]


def hit_by_id(hit_id: str) -> Hit | None:
    """A HIT that is not deleted, with its type and requester."""
    rows = Hit.objects.filter(hit_id=hit_id, disposed_at__isnull=True)
    return rows.select_related("hit_type__requester", "requester").first()


def sample_hit(worker: Worker, hit_type: HitType, now: datetime) -> Hit | None:
    """A HIT of the group to preview: one behind the worker's last, which accepting looks at first; else any."""
    free = Hit.objects.filter(hit_type=hit_type).assignable(now).order_by("pk")
    behind = free.filter(pk__gt=Subquery(assignments.last_hit(worker, hit_type)))
    chosen = Coalesce(Subquery(behind.values("pk")[:1]), Subquery(free.values("pk")[:1]))
    return Hit.objects.filter(pk=chosen).first()


def market_facts() -> Facts:
    """What verbs.summaries measured, read at most every FACTS_SECONDS."""
    facts: Facts | None = cache.get(_FACTS_KEY)
    if facts is None:
        # The clock's program does this all the time; without it, a page must.
        summaries.refresh_when_older(summaries.LATE, clock.now())
        facts = _read_facts()
        cache.set(_FACTS_KEY, facts, FACTS_SECONDS)
    return facts


def _read_facts() -> Facts:
    # Annotated: the stubs take the key of a relation for text.
    groups: list[Any] = list(GroupSummary.objects.values_list("hit_type", "open_hits", "seconds"))
    requesters: list[Any] = list(RequesterSummary.objects.values_list("requester", "approval", "seconds"))
    return Facts(
        open_hits={kind: count for kind, count, _ in groups if count},
        seconds={kind: seconds for kind, _, seconds in groups if seconds is not None},
        approval={requester: percent for requester, percent, _ in requesters},
        decides={requester: seconds for requester, _, seconds in requesters},
    )


@dataclass(frozen=True)
class Day:
    """The worker's day so far: submitted and not rejected, time spent on it, and HITs in hand."""

    earned: Decimal
    worked: str
    in_hand: int


def day_so_far(worker: Worker, since: datetime, now: datetime) -> Day:
    submitted = Assignment.objects.filter(worker=worker, submitted_at__gte=since)
    sums = submitted.aggregate(
        earned=Sum(REWARD, filter=~Q(status=_Status.REJECTED), output_field=MoneyField()), worked=Sum(WORK_TIME)
    )
    return Day(
        earned=sums["earned"] or NO_MONEY,
        worked=words.worked(sums["worked"] or timedelta()),
        in_hand=_held(worker, now).count(),
    )


def _held(worker: Worker, now: datetime) -> Any:
    return Assignment.objects.filter(worker=worker, status=_Status.ACCEPTED, deadline__gte=now)


def assignment_of(worker: Worker, pk: int) -> Assignment | None:
    """The worker's own assignment with its HIT, HIT type and requester."""
    for found in _own(pk=pk, worker=worker.pk):
        # The type's requester is the HIT's.
        found.hit.hit_type.requester = found.hit.requester
        return found
    return None


@Prepared
def _own(pk: int, worker: int) -> QuerySet[Assignment]:
    return Assignment.objects.select_related("hit__hit_type", "hit__requester").filter(pk=pk, worker=worker)


def latest_assignment(assignment_id: str, worker_id: str) -> Assignment | None:
    """The row that a posted answer most likely speaks of: ids are used again after a return."""
    rows = Assignment.objects.filter(assignment_id=assignment_id).select_related("hit__hit_type")
    if worker_id:
        rows = rows.filter(worker__worker_id=worker_id)
    return rows.order_by("-pk").first()


def with_hits(rows: Any) -> Any:
    """With what a row of a list shows, and without the long texts."""
    return rows.select_related("hit__hit_type", "hit__requester").defer("answer", "hit__question")


def in_hand(worker: Worker, now: datetime) -> list[Assignment]:
    """Accepted and still in time, the most urgent first."""
    return list(with_hits(_held(worker, now)).order_by("deadline", "pk"))


def handed_in(worker: Worker, status: str | None = None) -> Any:
    """Submitted answers, the newest first, with `disputes` (at most one) and `bonuses`."""
    wanted = Assignment.VISIBLE if status is None else (status,)
    rows = Assignment.objects.filter(worker=worker, status__in=wanted).order_by("-pk")
    disputes = Concern.objects.filter(kind=Concern.Kind.DISPUTE)
    return with_hits(rows).prefetch_related(
        Prefetch("concerns", disputes, to_attr="disputes"),
        Prefetch("bonus_payments", BonusPayment.objects.order_by("pk"), to_attr="bonuses"),
    )


def held_by(worker: Worker, hit: Hit) -> Assignment | None:
    """The worker's open assignment of a HIT."""
    return Assignment.objects.filter(worker=worker, hit=hit, status=_Status.ACCEPTED).first()
