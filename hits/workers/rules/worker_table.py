"""The table of a stage's workers: its columns, their order, and each worker's row. Pages, files, the API and commands
show the same.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Avg, Case, Count, F, FloatField, Max, Min, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Cast, Coalesce, Floor, Least, NullIf

from hits.core import keyset
from hits.core.keyset import Order, Page
from hits.judging.rules import stage_statistics
from hits.stages.models import Stage
from hits.stats.intervals import wilson_of_share
from hits.workers.models import Block, WorkerStat
from hits.workers.rules.block_proposals import Named, named_in, why_blocked
from hits.workers.rules.competences import Estimates

Interval = tuple[float, float]


def _share(part: Any, whole: Any) -> Any:
    return Cast(part, FloatField()) / NullIf(Cast(whole, FloatField()), 0.0, output_field=FloatField())


# What the rows can be ordered by. Workers of whom a figure is not known come last in both directions.
ORDERS: dict[str, Any] = {
    "worker": F("worker__worker_id"),
    "answers": F("answers"),
    "known": _share(F("correct"), F("scored")),
    "agreement": _share(F("agreed"), F("compared")),
    "chance": _share(F("agreed") - F("agreed_by_chance"), F("compared") - F("agreed_by_chance")),
    "seconds": F("median_seconds"),
    "repeats": _share(F("repeats"), F("followed")),
    "run": F("longest_run"),
    "competence": F("competence"),
    "earned": F("earned"),
    "why": F("notices"),
}
FIRST = "-why"
# As lists that are paged by key have them.
KEYED = {
    "id": Order(),
    # A text is spelled in quotes.
    **{name: Order("place", read=literal_eval if name == "worker" else keyset.share) for name in ORDERS},
}
SORTS = tuple(sign + name for name in KEYED for sign in ("", "-"))
# In the place of a figure that is not known.
BEYOND_ALL = 1e308
COLUMNS = (
    "worker_id", "answers", "known_answers", "known_right", "known_share", "known_low", "known_high",
    "compared", "agreement", "agreement_low", "agreement_high", "beyond_chance", "median_seconds", "repeats",
    "longest_run", "competence", "competence_method", "competence_at", "competence_missing", "earned", "state", "why",
)  # fmt: skip

# More workers than these are grouped where they are drawn: by answers, each step from one of these on, and by tenths.
MOST_ALONE = 200
ANSWER_STEPS = tuple(step * 10**power for power in range(6) for step in (1, 2, 5))
SHARE_STEPS = 10


@dataclass(frozen=True)
class Place:
    """One worker, or a group with about as many answers and about the same share (0..1).

    `worker_id` is empty of a group, and `compared` says how many answers the shares are of.
    """

    worker_id: str
    workers: int
    compared: int
    fewest: int
    most: int
    mean: float
    lowest: float
    highest: float
    share: float


@dataclass(frozen=True)
class Accuracies:
    """Where workers stand by accuracy and answers, on known answers or, where there are none, beside one another."""

    known: bool
    workers: int
    places: tuple[Place, ...]

    @property
    def grouped(self) -> bool:
        return self.workers > MOST_ALONE


@dataclass(frozen=True)
class WorkerRow:
    """A worker's figures in one stage; shares are None where nothing was compared. `block` is the standing one,
    `estimates` says of which run the competence is, and `named` which policy would have the worker blocked.
    """

    stat: WorkerStat
    block: Block | None = None
    estimates: Estimates = Estimates()
    named: Named | None = None

    @property
    def known(self) -> float | None:
        return self.stat.correct / self.stat.scored if self.stat.scored else None

    @property
    def known_interval(self) -> Interval:
        return wilson_of_share(self.known or 0.0, self.stat.scored)

    @property
    def agreement(self) -> float | None:
        return min(1.0, self.stat.agreed / self.stat.compared) if self.stat.compared else None

    @property
    def agreement_interval(self) -> Interval:
        return wilson_of_share(self.agreement or 0.0, self.stat.compared)

    @property
    def beyond_chance(self) -> float | None:
        """1 for perfect agreement with the others, 0 for what chance gives, less for worse."""
        above = self.stat.compared - self.stat.agreed_by_chance
        return (self.stat.agreed - self.stat.agreed_by_chance) / above if self.stat.compared and above > 0 else None

    @property
    def repeats(self) -> float | None:
        """The share of answers that say what the one before said."""
        return self.stat.repeats / self.stat.followed if self.stat.followed else None

    @property
    def longest_run(self) -> int | None:
        """None until the worker was compared with the others: everybody has a run of one answer at least."""
        return self.stat.longest_run or None

    @property
    def competence(self) -> float | None:
        """0..1; None where the newest run has none of the worker, as `competence_missing` says."""
        return self.estimates.of(self.stat)

    @property
    def competence_missing(self) -> str:
        return self.estimates.missing(self.stat)

    @property
    def state(self) -> str:
        if self.block:
            return self.block.in_words.lower()
        if self.named:
            return "would be blocked"
        return "imported" if self.stat.worker.imported_into_id else "working"

    @property
    def why(self) -> str:
        """What stands out, as sentences, else why the worker is blocked; empty for most workers."""
        return self.stands_out or (why_blocked(self.block) if self.block else "")

    @property
    def stands_out(self) -> str:
        """What stands out of the figures now, as sentences; empty for most workers."""
        return " ".join(filter(None, (self.named.sentence if self.named else "", self.stat.why)))

    def cells(self) -> list[Any]:
        """In the order of COLUMNS; None for what is not known."""
        stat = self.stat
        low, high = self.known_interval if stat.scored else (None, None)
        agreed_low, agreed_high = self.agreement_interval if stat.compared else (None, None)
        competence: list[Any] = [None, None, None, self.competence_missing]
        if self.competence is not None:
            at = self.estimates.at
            competence = [round(self.competence, 6), self.estimates.method, at.isoformat() if at else None, ""]
        return [
            stat.worker.worker_id, stat.answers, stat.scored, stat.correct, self.known, low, high,
            stat.compared, self.agreement, agreed_low, agreed_high, self.beyond_chance, stat.median_seconds,
            self.repeats, self.longest_run, *competence, stat.earned, self.state, self.why,
        ]  # fmt: skip


def ordered(stage: Stage, order: str = FIRST, worker: str = "") -> QuerySet[WorkerStat]:
    """The stage's workers, those with a part of that id, in one of ORDERS; `-` before it turns it round."""
    name = order.removeprefix("-")
    if name not in ORDERS:
        order, name = FIRST, FIRST.removeprefix("-")
    rows = stage.worker_stats.select_related("worker").annotate(place=_place(stage, name))
    if worker:
        rows = rows.filter(worker__worker_id__icontains=worker)
    place = F("place")
    by = place.desc(nulls_last=True) if order.startswith("-") else place.asc(nulls_last=True)
    return rows.order_by(by, "-answers", "id")


def page(stage: Stage, sort: str, *, after: str | None, size: int) -> Page[WorkerStat]:
    """The stage's workers in one of SORTS."""
    name, is_falling = sort.removeprefix("-"), sort.startswith("-")
    rows = stage.worker_stats.select_related("worker")
    if name == "worker":
        rows = rows.annotate(place=ORDERS[name])
    elif name in ORDERS:
        last = Value(-BEYOND_ALL if is_falling else BEYOND_ALL)
        rows = rows.annotate(place=Coalesce(Cast(_place(stage, name), FloatField()), last))
    order = KEYED[name]
    return keyset.page(rows, order.turned() if is_falling else order, after=after, size=size)


def _place(stage: Stage, name: str) -> Any:
    """What orders the rows. Whom a policy names has one sentence more than the figures alone say."""
    if name != "why":
        return ORDERS[name]
    named = list(named_in([stage])[stage.pk])
    return ORDERS[name] + Case(When(worker__worker_id__in=named, then=Value(1)), default=Value(0))


def rows_of(stage: Stage, stats: Iterable[WorkerStat]) -> list[WorkerRow]:
    """With their standing blocks, the run that their competence is of and the policy that names them; a fixed number of
    queries.
    """
    listed: Sequence[WorkerStat] = list(stats)
    blocks = Block.objects.standing().filter(project=stage.project_id, worker__in=[stat.worker_id for stat in listed])
    standing = {block.worker_id: block for block in blocks}
    estimates = stage_statistics.estimates_of(stage)
    named = named_in([stage])[stage.pk]
    return [
        WorkerRow(stat, standing.get(stat.worker_id), estimates, named.get(stat.worker.worker_id)) for stat in listed
    ]


def alone(stat: WorkerStat, block: Block | None) -> WorkerRow:
    """The row of one worker, who has this block, without what a computation and the policies of the stage say, which
    look at all workers.
    """
    return WorkerRow(stat, block, Estimates(), None)


def all_rows(stage: Stage, order: str = FIRST) -> Iterator[WorkerRow]:
    """Every worker of the stage."""
    yield from rows_of(stage, ordered(stage, order))


def accuracies(stage: Stage) -> Accuracies:
    """From the workers' rows alone: two queries, at most MOST_ALONE workers or as many groups as there are steps."""
    stats = stage.worker_stats
    measured = stats.aggregate(
        known=Count("id", filter=Q(scored__gt=0)), agreement=Count("id", filter=Q(compared__gt=0))
    )
    known = bool(measured["known"])
    name, whole = ("known", "scored") if known else ("agreement", "compared")
    rows = stats.filter(**{f"{whole}__gt": 0}).annotate(share=Least(ORDERS[name], Value(1.0)))
    workers = measured[name]
    places = _groups(rows, whole) if workers > MOST_ALONE else _single(rows, whole)
    return Accuracies(known, workers, tuple(places))


def _single(rows: QuerySet[WorkerStat], whole: str) -> Iterator[Place]:
    columns = ("worker__worker_id", whole, "answers", "share")
    for worker, compared, answers, share in rows.order_by("-answers", "id").values_list(*columns):
        yield Place(worker, 1, compared, answers, answers, answers, share, share, share)


def _groups(rows: QuerySet[WorkerStat], whole: str) -> Iterator[Place]:
    step = Case(*(When(answers__gte=least, then=Value(least)) for least in reversed(ANSWER_STEPS)), default=Value(0))
    tenth = Least(Floor(F("share") * SHARE_STEPS + 1e-9), Value(float(SHARE_STEPS - 1)))
    groups = rows.annotate(step=step, tenth=tenth).values("step", "tenth").order_by("-step", "-tenth")
    figures = groups.annotate(
        workers=Count("id"), compared=Sum(whole), fewest=Min("answers"), most=Max("answers"), mean=Avg("answers"),
        lowest=Min("share"), highest=Max("share"), middle=Avg("share"),
    )  # fmt: skip
    columns = ("workers", "compared", "fewest", "most", "mean", "lowest", "highest", "middle")
    for figure in figures.values_list(*columns):
        yield Place("", *figure)
