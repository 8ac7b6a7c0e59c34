"""What the operator's pages read. Nothing here writes; the cost does not grow with the number of HITs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.core.cache import cache
from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.urls import reverse

from marketplace.models import (
    AccessKey,
    Assignment,
    Concern,
    Heartbeat,
    Hit,
    Invitation,
    MoneyEntry,
    Notification,
    OperatorAction,
    Panel,
    PanelEntry,
    Requester,
    Worker,
)
from marketplace.models.fields import money
from marketplace.rules import lifecycle
from marketplace.verbs import payouts

_Status = Assignment.Status
# Live counts go so far and no further.
MOST_COUNTED = 200_000
HOURS_SHOWN = 24
# A requester with less cannot publish much.
LOW_FUNDS = Decimal("1.00")
# The clock beats every five seconds.
SILENT_AFTER = timedelta(seconds=60)
LEDGER_ROWS = 50
LAYOUTS_SHOWN = 50
_HOUR = timedelta(hours=1)
_SETTLED = timedelta(minutes=2)
# So many names stand in one sentence.
NAMED = 5
_NO_MONEY = Decimal("0.00")


@dataclass(frozen=True)
class Amount:
    """A number that was counted up to MOST_COUNTED."""

    number: int

    def __str__(self) -> str:
        return f"{self.number:,}{'+' if self.number == MOST_COUNTED else ''}"


@dataclass(frozen=True)
class Hour:
    """Submissions of one hour, and its bar in a drawing that is 100 high."""

    start: datetime
    submissions: int
    bar: int
    x: int

    @property
    def top(self) -> int:
        return 103 - self.bar


def bounded(rows: QuerySet[Any]) -> Amount:
    """How many rows, up to MOST_COUNTED."""
    return Amount(rows.order_by()[:MOST_COUNTED].count())


def counts(now: datetime, midnight: datetime) -> dict[str, Any]:
    """HITs open, in hand and waiting; workers who have submitted since `midnight`."""
    today = Assignment.objects.filter(submitted_at__gte=midnight)
    return {
        "open": bounded(Hit.objects.assignable(now)),
        "in_hand": bounded(Assignment.objects.filter(status=_Status.ACCEPTED)),
        "waiting": bounded(Assignment.objects.filter(status=_Status.SUBMITTED)),
        "active_today": today.aggregate(workers=Count("worker", distinct=True))["workers"],
    }


def hours(now: datetime) -> Sequence[Hour]:
    """Submissions an hour over the last day, the oldest first."""
    first = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=HOURS_SHOWN - 1)
    starts = [first + timedelta(hours=number) for number in range(HOURS_SHOWN)]
    sums = _submissions(starts, now)
    most = max(*sums.values(), 1)
    return [
        # What happened is seen: one submission is a bar of at least two.
        Hour(start, sums[start], max(100 * sums[start] // most, 2) if sums[start] else 0, number * 20)
        for number, start in enumerate(starts)
    ]


def _submissions(starts: Sequence[datetime], now: datetime) -> dict[datetime, int]:
    """Submissions of each hour, with one query; hours that are over do not change and are counted once."""
    known: dict[str, int] = cache.get_many([_hour_key(start) for start in starts])
    unknown = [start for start in starts if _hour_key(start) not in known]
    each = {
        _hour_key(start): Count("pk", filter=Q(submitted_at__gte=start, submitted_at__lt=start + _HOUR))
        for start in unknown
    }
    counted = Assignment.objects.filter(submitted_at__gte=unknown[0]).aggregate(**each)
    # An answer may arrive a moment after the time that it bears.
    over = {_hour_key(start): counted[_hour_key(start)] for start in unknown if start + _HOUR < now - _SETTLED}
    cache.set_many(over, timeout=HOURS_SHOWN * 3600)
    return {start: (known | counted)[_hour_key(start)] for start in starts}


def _hour_key(start: datetime) -> str:
    return f"operator_submissions_{start:%Y%m%d%H}"


def money_sums() -> dict[str, Any]:
    """What requesters have left, on hold and spent; what workers are owed."""
    sums = Requester.objects.aggregate(funds=Sum("funds"), held=Sum("held"), charged=Sum("charged"))
    owed = payouts.owing().aggregate(earned=Sum("earned"), paid=Sum("paid"), workers=Count("pk"))
    amounts = {name: amount or _NO_MONEY for name, amount in sums.items()}
    return amounts | {
        "available": amounts["funds"] - amounts["held"] - amounts["charged"],
        "owed": (owed["earned"] or _NO_MONEY) - (owed["paid"] or _NO_MONEY),
        "owed_workers": owed["workers"],
    }


def open_concerns() -> dict[str, int]:
    """How many disputes and reports wait."""
    waiting = Concern.objects.filter(resolved_at=None)
    return waiting.aggregate(
        disputes=Count("pk", filter=Q(kind=Concern.Kind.DISPUTE)),
        reports=Count("pk", filter=Q(kind=Concern.Kind.REPORT)),
    )


def clock_silence(now: datetime) -> str:
    """A sentence when the program that does what is due seems not to run, else nothing."""
    beat = Heartbeat.objects.filter(name="tick").first()
    if beat is None:
        return "The clock has never run: start “python -m marketplace tick”."
    if now - beat.at > SILENT_AFTER:
        return "The clock stands still: look whether “python -m marketplace tick” runs."
    return ""


@dataclass(frozen=True)
class Attention:
    """Something that waits for the operator, and where to go."""

    text: str
    url: str = ""
    urgent: bool = False


def attention(now: datetime) -> list[Attention]:
    """What somebody should look at, the most pressing first."""
    found = []
    if silence := clock_silence(now):
        found.append(Attention(silence, urgent=True))
    concerns = open_concerns()
    for kind in ("disputes", "reports"):
        if number := concerns[kind]:
            noun = kind if number != 1 else kind[:-1]
            found.append(Attention(f"{number:,} open {noun}", reverse("operator:concerns") + f"?kind={kind[:-1]}"))
    given_up = bounded(notifications("given-up"))
    if given_up.number:
        text = f"Notifications that could not be delivered: {given_up}"
        found.append(Attention(text, reverse("operator:notifications")))
    # Those with HITs out or money spent, and next to nothing left.
    poor_requesters = Requester.objects.filter(funds__lt=F("held") + F("charged") + money(LOW_FUNDS))
    poor = list(poor_requesters.order_by("name", "pk")[: NAMED + 1])
    if poor:
        names = ", ".join(str(requester) for requester in poor[:NAMED])
        more = " and more" if len(poor) > NAMED else ""
        found.append(Attention(f"Out of funds: {names}{more}", reverse("operator:requesters") + "?sort=available"))
    return found


def actions() -> QuerySet[OperatorAction]:
    return OperatorAction.objects.select_related("requester", "worker").order_by("-pk")


def requesters(search: str) -> QuerySet[Requester]:
    """By name or customer id, or by the id of an access key as it stands."""
    rows = Requester.objects.annotate(
        key_count=Count("access_keys", filter=Q(access_keys__active=True)), last_used=Max("access_keys__last_used_at")
    )
    if search:
        by_key = AccessKey.objects.filter(access_key_id=search).values("requester")
        rows = rows.filter(Q(name__icontains=search) | Q(customer_id__istartswith=search) | Q(pk__in=by_key))
    return rows


def hits_of(requester: Requester, now: datetime) -> dict[str, Amount]:
    """HITs open, and answers that wait for the requester's decision."""
    mine = Hit.objects.filter(requester=requester, state=lifecycle.ASSIGNABLE, expires_at__gt=now)
    waiting = Assignment.objects.filter(hit__requester=requester, status=_Status.SUBMITTED)
    return {"open": bounded(mine), "waiting": bounded(waiting)}


def ledger(requester: Requester) -> QuerySet[MoneyEntry]:
    rows = MoneyEntry.objects.filter(requester=requester).select_related("hit", "assignment")
    return rows.defer("hit__question", "assignment__answer").order_by("-pk")


def search_workers(rows: QuerySet[Worker], search: str) -> QuerySet[Worker]:
    """By worker id, name, e-mail address, or the id that a panel knows them by."""
    if not search:
        return rows
    outside = PanelEntry.objects.filter(outside_id__iexact=search).values("worker")
    return rows.filter(
        Q(worker_id__istartswith=search)
        | Q(user__username__icontains=search)
        | Q(user__email__icontains=search)
        | Q(pk__in=outside)
    )


def concerns() -> QuerySet[Concern]:
    return whole_concerns().defer("hit__question", "assignment__answer").order_by("-pk")


def whole_concerns() -> QuerySet[Concern]:
    """With everything that the page of one shows, the answer included."""
    return Concern.objects.select_related("worker__user", "hit__hit_type", "hit__requester", "assignment")


def notifications(state: str) -> QuerySet[Notification]:
    """Notifications that were given up, or those that wait for another attempt."""
    rows = Notification.objects.select_related("requester").defer("body")
    if state == "waiting":
        return rows.filter(done_at=None).order_by("due_at", "pk")
    return rows.filter(delivered=False, done_at__isnull=False).order_by("-done_at", "-pk")


def invitations() -> QuerySet[Invitation]:
    return Invitation.objects.select_related("qualification_type", "created_by").order_by("-pk")


def panels() -> QuerySet[Panel]:
    return Panel.objects.select_related("hit_type").annotate(joined=Count("entries")).order_by("-pk")
