"""What a stage's page says beyond its summary row: derived figures, from rows whose number does not grow with the
batch (StageSummary, Account, WorkerStat, Batch)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Sum
from django.utils import timezone

from hits import charts
from hits.answers.verbs import reviewing
from hits.judging.rules import required_answers
from hits.models import Account, Assignment, Batch, Hit, Project, Stage, StageSummary
from hits.mturk import fees
from hits.mturk.errors import MarketplaceError
from hits.payments.rules import answer_reserves, wages
from hits.projects.rules.plugins import usable_recipe
from hits.publishing.rules import hit_plans
from hits.publishing.rules.marketplace_account import gateway
from hits.stats.blocking import KNOWN_ANSWERS, Policy

# Sentences of single rows on a stage's page.
ROWS_SHOWN = 5
MOST_COUNTED = 10_000
SLOWED_FOR = timedelta(minutes=1)
# In hours.
LONGEST_TIMELINE = 14 * 24


@dataclass(frozen=True)
class Money:
    """What a stage has cost, in dollars. `each_kept` is that of an item which people's answers keep: those that models
    decided cost nothing.
    """

    rewards: Decimal
    fees: Decimal
    paid: Decimal
    each_kept: Decimal | None


@dataclass(frozen=True)
class PayChoice:
    """One row of "what would it cost": dollars, for `answers` further answers; `hourly` is None without a time."""

    reward: Decimal
    hourly: Decimal | None
    unit_cost: Decimal
    total: Decimal
    current: bool


def money(stage: Stage) -> Money:
    """From the workers' rows: their number is that of the workers, not that of the answers."""
    sums = stage.worker_stats.aggregate(earned=Sum("earned"), fees=Sum("fees"))
    earned, fee = sums["earned"] or Decimal(0), sums["fees"] or Decimal(0)
    kept = stage.summary.kept_by_people
    return Money(earned, fee, earned + fee, (earned + fee) / kept if kept else None)


def pay(stage: Stage) -> dict[str, Any]:
    """What the pages say of the wage: `answer_time` (None where nobody knows it), `hourly`, `wage_floor`."""
    time, floor = wages.answer_time(stage), wages.wage_floor(stage)
    hourly = time.hourly(stage.reward) if time else None
    fair = max(time.reward_for(floor), stage.reward) if time else None
    return {
        "answer_time": time,
        "hourly": hourly,
        "wage_floor": floor,
        "below_floor": hourly is not None and hourly < floor,
        "fair_reward": fair,
    }


def pay_choices(stage: Stage, answers: int) -> list[PayChoice]:
    """The present reward, a few cents more, and the one that reaches the wage floor."""
    found = pay(stage)
    time: wages.AnswerTime | None = found["answer_time"]
    rewards = {stage.reward + cents * fees.CENT for cents in (0, 1, 2)} | {found["fair_reward"] or stage.reward}
    return [
        PayChoice(
            reward=reward,
            hourly=time.hourly(reward) if time else None,
            unit_cost=fees.unit_cost(reward, stage.answers),
            total=fees.unit_cost(reward, stage.answers) * answers,
            current=reward == stage.reward,
        )
        for reward in sorted(rewards)
    ]


def answers_to_buy(stage: Stage) -> int:
    """What a change of pay is reckoned on: the answers not yet published, or a thousand when there are none."""
    return hit_plans.hit_count(stage, stage.summary.waiting) * stage.answers or 1000


def expected_end(stage: Stage, summary: StageSummary) -> datetime | None:
    """When the answers still wanted would be in at the rate of the last busy hour; None before an hour is over."""
    hits_open, published = (hit_plans.hit_count(stage, items) for items in (summary.open, summary.published))
    wanted = max(hits_open, published * stage.answers - summary.answers) if summary.open else 0
    if not wanted or not summary.answers_an_hour or len(summary.timeline) < 2:
        return None
    hours = wanted / summary.answers_an_hour
    return timezone.now() + timedelta(hours=hours) if hours < 24 * 365 else None


def funnel_bar(summary: StageSummary) -> charts.Markup:
    """Kept, dropped, again and open as parts of everything imported."""
    at_workers = summary.open - summary.again
    parts = [
        ("kept", summary.kept, "good"),
        ("dropped", summary.dropped, "dropped"),
        ("to be answered again", summary.again, "warn"),
        ("open at workers", at_workers, "soft"),
    ]
    label = ", ".join(f"{name} {charts.share(amount, summary.items):.0f} %" for name, amount, _ in parts)
    return charts.stacked_bar(parts, summary.items, label[0].upper() + label[1:])


def filled_hours(timeline: Sequence[Sequence]) -> list[tuple[datetime, int]]:
    """[[ISO hour, answers], ...] with zeros for the hours in between; at most the last 14 days."""
    known = {datetime.fromisoformat(hour): int(answers) for hour, answers in timeline}
    if not known:
        return []
    last = max(known)
    first = max(min(known), last - timedelta(hours=LONGEST_TIMELINE - 1))
    steps = round((last - first) / timedelta(hours=1)) + 1
    hours = (first + timedelta(hours=step) for step in range(steps))
    return [(hour, known.get(hour, 0)) for hour in hours]


def answers_an_hour(timeline: Sequence[Sequence]) -> dict[str, Any]:
    """The chart and its rows."""
    hours = [(hour, float(answers)) for hour, answers in filled_hours(timeline)]
    plot = charts.curve(hours, "Answers an hour", "in the last hour")
    return {"timeline_plot": plot, "timeline_rows": charts.curve_rows(hours)}


def by_hour_of_the_day(timeline: Sequence[Sequence]) -> list[int]:
    """Answers in each of the 24 hours of the day in UTC, of all days together."""
    counts = [0] * 24
    for hour, answers in timeline:
        counts[datetime.fromisoformat(hour).astimezone(UTC).hour] += int(answers)
    return counts


def hours_of_the_day(counts: Sequence[int]) -> dict[str, Any]:
    """The chart, and its rows: (hour, answers, their share)."""
    total = sum(counts)
    rows = [(charts.hour_of_the_day(hour), answers, answers / total) for hour, answers in enumerate(counts) if total]
    return {"day_plot": charts.hours_of_the_day(counts, "Answers by hour of the day", "answer"), "day_rows": rows}


def workers_by_accuracy(counts: Sequence[int], floor: float | None, crowd: float | None) -> charts.Markup:
    """A histogram over equal steps of accuracy with the blocking floor and the crowd's average as lines."""
    marks = {name: value for name, value in (("floor", floor), ("crowd", crowd)) if value is not None}
    return charts.histogram(counts, "Workers by accuracy", "workers", marks, bad_to=floor)


def progress(stage: Stage) -> dict[str, Any]:
    """The moving parts of a stage: the newest batches and the funnel."""
    batches = list(stage.batches.order_by("-id")[:8])
    running = [batch for batch in batches if batch.state != Batch.State.PUBLISHED]
    return {
        "batches": [_pace(batch) for batch in running] or [_pace(batch) for batch in batches[:1]],
        "running": any(batch.state in (Batch.State.PUBLISHING, Batch.State.WAITING) for batch in running),
        "slowed_to": _slowed_to() if any(batch.state == Batch.State.PUBLISHING for batch in running) else None,
        "summary": stage.summary,
        "funnel_bar": funnel_bar(stage.summary),
        "expected_end": expected_end(stage, stage.summary),
    }


def _slowed_to() -> float | None:
    """Calls a second, when the marketplace said within the last minute that there were too many."""
    try:
        pace = gateway().pace()
    except MarketplaceError:
        return None
    slowed = pace.throttled_at and timezone.now() - pace.throttled_at < SLOWED_FOR
    return pace.rate if slowed else None


def _pace(batch: Batch) -> dict[str, Any]:
    seconds = ((batch.finished_at or timezone.now()) - batch.created_at).total_seconds()
    rate = batch.done / seconds if seconds > 0 else 0.0
    left = batch.total - batch.done
    return {"batch": batch, "rate": rate, "seconds_left": left / rate if rate and left > 0 else None}


def closing_time(stage: Stage) -> datetime | None:
    """When the newest open HIT closes: one row by index, whatever the number of HITs."""
    newest = stage.hits.filter(state=Hit.State.LIVE).order_by("-id").values_list("expires_at", flat=True)[:1]
    return newest[0] if newest else None


def clearable(stage: Stage) -> dict[str, Any]:
    """HITs that a deletion would take, and the rejections that could still be taken back before it.

    Both are counted up to MOST_COUNTED.
    """
    hits = hit_plans.clearable(stage)
    last = timezone.now() - reviewing.OVERRIDE
    rejected = stage.assignments.filter(state=Assignment.State.REJECTED, submitted_at__gt=last, hit__in=hits)
    return {
        "clearable": len(hits.values_list("pk")[:MOST_COUNTED]),
        "rejections": len(rejected.values_list("pk")[:MOST_COUNTED]),
        "most_counted": MOST_COUNTED,
    }


def figures(stage: Stage) -> dict[str, Any]:
    """Everything that the stage page shows above its workers."""
    summary = stage.summary
    crowd = summary.correct / summary.scored if summary.scored else None
    wanted = answers_to_buy(stage)
    return {
        **progress(stage),
        "money": money(stage),
        **pay(stage),
        "pay_choices": pay_choices(stage, wanted),
        "pay_answers": wanted,
        "money_bar": money_bar(stage.project.account),
        "crowd": crowd,
        "published_at": stage.batches.order_by("id").values_list("created_at", flat=True).first(),
        "closes_at": closing_time(stage),
        "refused": stage.batches.aggregate(sum=Sum("refused"))["sum"] or 0,
        **answers_an_hour(summary.timeline),
        **hours_of_the_day(by_hour_of_the_day(summary.timeline)),
        "histogram_plot": workers_by_accuracy(summary.histogram, _floor(stage), crowd),
        "histogram_rows": charts.histogram_rows(summary.histogram),
    }


def _floor(stage: Stage) -> float | None:
    """The accuracy below which a worker is named, where it is a fixed one."""
    policy = Policy.from_dict(stage.quality) if stage.quality else None
    return policy.floor if policy and policy.measure == KNOWN_ANSWERS and not policy.relative else None


def further(stage: Stage) -> dict[str, Any]:
    """What a growing number of answers has saved, and what is set aside for it; empty where the number is fixed."""
    if stage.most_answers is None:
        return {}
    saving = required_answers.saving(stage)
    rows = saving.rows if saving else ()
    return {
        "saving": saving,
        "saving_rows": [(answers, items, items / saving.items) for answers, items in rows] if saving else [],
        "saved": fees.unit_cost(stage.reward, stage.answers) * saving.fewer if saving else None,
        "set_aside": answer_reserves.total(stage.items.all()),
    }


def feeders(project: Project) -> dict[str, str]:
    """Keys of the stages that fill by themselves, each with the title of the stage that feeds it."""
    recipe = usable_recipe(project)
    found = {spec.feeds: spec.title for spec in recipe.stages if spec.feeds} if recipe else {}
    stages = {stage.key: stage for stage in project.stages.all()}
    of = {key: stages.get(stage.input.get("stage", "")) for key, stage in stages.items() if not stage.draws}
    return found | {key: source.title for key, source in of.items() if source}


def pipeline_step(stage: Stage, fed_by: str) -> dict[str, Any]:
    """A stage as one step of its project's pipeline; `fed_by` is the title of the stage that feeds it, if any."""
    summary = stage.summary
    return {
        "stage": stage,
        "fed_by": fed_by,
        "summary": summary,
        "money": money(stage),
        "bar": funnel_bar(summary),
        "expected_end": expected_end(stage, summary),
        "closes_at": closing_time(stage),
    }


@dataclass(frozen=True)
class Progress:
    """How far the items of all stages with a crowd are, together."""

    stages: int
    items: int
    kept: int
    dropped: int
    again: int
    open: int
    bar: charts.Markup


def progress_of(project: Project) -> Progress:
    """From the summaries of its stages, which are at hand."""
    summaries = [stage.summary for stage in project.stages.all() if stage.crowd]
    names = ("items", "kept", "dropped", "again", "open")
    sums = {name: sum(getattr(summary, name) for summary in summaries) for name in names}
    stages = sum(summary.items > 0 for summary in summaries)
    return Progress(stages, **sums, bar=funnel_bar(StageSummary(**sums)))


def money_bar(account: Account) -> charts.Markup:
    """Paid and reserved as parts of the budget."""
    label = f"Paid ${account.paid:,.2f}, reserved ${account.reserved:,.2f} of ${account.budget:,.2f}"
    parts = [("paid", float(account.paid), "accent"), ("reserved", float(account.reserved), "soft")]
    return charts.stacked_bar(parts, float(account.budget), label)
