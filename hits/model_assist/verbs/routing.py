"""Routing: items on which models agree, sure enough, are decided by them and not published; the rest goes to people.

A random share of those items, the audit, goes to people as any other: what they say shows how often the models are
wrong. `deciding` writes the verdicts, by the stage's own rule, as if every answer that is wanted said what the models
say. Where an answer of people counts, the models decide nothing.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from operator import attrgetter

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from hits.core.action_log import record
from hits.judging.rules import aggregated_values
from hits.judging.rules.crowd_answers import Comparison, is_compared
from hits.judging.rules.required_answers import chunks
from hits.judging.rules.summaries import refresh_summary
from hits.model_assist.rules import model_votes
from hits.model_assist.rules.model_agreement import said_by
from hits.models import Item, Label, ModelAnnotator, ModelAnswer, RoutedItem, Routing, Stage
from hits.projects.rules.plugins import refuse_without_crowd
from hits.publishing.rules import hit_plans, restorations
from hits.publishing.rules.hit_items import lock_items, without_hit
from hits.refusals import Refused
from hits.stats.vote_rules.votes import Rule
from hits.stats.vote_rules.votes import decide as apply_rule
from hits.text.language.amounts import agreeing, amount

LEAST_AUDIT, MOST_AUDIT, USUAL_AUDIT = 0.01, 0.9, 0.1
USUAL_CONFIDENCE = 0.9
WHY_AUDIT = "Models decide nothing without an audit: nobody would see how often they are wrong."
MOST_MODELS = 20


@dataclass(frozen=True)
class Condition:
    """When models decide: `least` of these `models` (ids) say the same, each with at least this confidence, 0..1."""

    models: tuple[int, ...]
    least: int
    confidence: float = USUAL_CONFIDENCE
    audit_share: float = USUAL_AUDIT


@dataclass(frozen=True)
class Agreed:
    """An item on which the models agree: the answer that is most sure, and the least confidence of them."""

    item: int
    answer: int
    confidence: float


@dataclass(frozen=True)
class Preview:
    """What routing would do now. `waiting` items could be published; the models answered `answered` of them as often as
    they have to, and agree, sure enough, on `decided` and `audited` together.

    `saved` is what publishing the decided items costs, $. `expected_error` is 1 less the mean confidence, None without
    an item.
    """

    waiting: int
    answered: int
    decided: int
    audited: int
    saved: Decimal
    expected_error: float | None

    @property
    def to_people(self) -> int:
        return self.waiting - self.decided


@dataclass(frozen=True)
class Undone:
    """Items that go to people now, and those that stay decided because later items were made of them."""

    returned: int
    used: int


@dataclass(frozen=True)
class _Plan:
    waiting: int
    answered: int
    audited: tuple[Agreed, ...]
    decided: tuple[Agreed, ...]
    saved: Decimal
    seed: str

    def preview(self) -> Preview:
        sure = [one.confidence for one in (*self.decided, *self.audited)]
        expected = 1 - sum(sure) / len(sure) if sure else None
        return Preview(self.waiting, self.answered, len(self.decided), len(self.audited), self.saved, expected)


def preview(stage: Stage, condition: Condition) -> Preview:
    """Raises Refused (routing_refused, no_crowd)."""
    refuse(stage, condition)
    return _plan(stage, condition).preview()


def refuse(stage: Stage, condition: Condition) -> None:
    """Raises Refused (routing_refused) with every fault, and Refused (no_crowd)."""
    refuse_without_crowd(stage)
    if faults := [*stage_faults(stage), *_faults(stage, condition)]:
        raise Refused("routing_refused", " ".join(faults), status=400, faults=faults)


def stage_faults(stage: Stage) -> list[str]:
    """Why models cannot decide items of the stage at all, as sentences."""
    found = []
    if not is_compared(stage):
        found.append("Answers here are texts, which cannot be compared, so models can agree on none of them.")
    if stage.screening_share:
        found.append("This stage tests workers: its items are for them.")
    if aggregated_values.looked_at(stage):
        found.append(
            "The rule, or the condition for enough answers, looks at values that are computed over people's answers. "
            "Choose one that looks at the answers themselves."
        )
    return found


def _faults(stage: Stage, condition: Condition) -> Iterator[str]:
    models = set(condition.models)
    there = set(ModelAnnotator.objects.filter(project=stage.project_id, pk__in=models).values_list("pk", flat=True))
    if not models:
        yield "Choose at least one model."
    if len(models) > MOST_MODELS:
        yield f"Choose at most {MOST_MODELS} models."
    if unknown := sorted(models - there)[:MOST_MODELS]:
        yield f"This project has no model with the id {', '.join(map(str, unknown))}."
    if models and not len(models) / 2 < condition.least <= len(models):
        least, most = len(models) // 2 + 1, len(models)
        between = f"{most}" if least == most else f"{least} to {most}"
        have = agreeing(most, "has", "have")
        why = ": with fewer, two values could both be agreed on" if condition.least < least else ""
        yield f"Of {amount(most, 'model')}, {between} {have} to agree, not {condition.least}{why}."
    if not 0 <= condition.confidence <= 1:
        yield "The confidence is a number from 0 to 1."
    if not LEAST_AUDIT <= condition.audit_share <= MOST_AUDIT:
        yield f"The share of the audit is a number from {LEAST_AUDIT} to {MOST_AUDIT}. {WHY_AUDIT}"


# What the models agree on


def _plan(stage: Stage, condition: Condition) -> _Plan:
    waiting = _waiting(stage)
    answered, agreed = _agreed(stage, condition, waiting)
    seed = f"{stage.project.seed}:{stage.key}:audit:{stage.routings.count() + 1}"
    count = max(1, round(condition.audit_share * len(agreed))) if agreed else 0
    drawn = set(random.Random(seed).sample(range(len(agreed)), count))
    audited = tuple(one for place, one in enumerate(agreed) if place in drawn)
    decided = tuple(one for place, one in enumerate(agreed) if place not in drawn)
    saved = hit_plans.price(stage, {one.item: stage.answers for one in decided})
    return _Plan(waiting.count(), answered, audited, decided, saved, seed)


def _waiting(stage: Stage) -> QuerySet[Item]:
    """Items that could be published, of which people and earlier routings have seen nothing."""
    said = Label.objects.of_counting_answers().filter(item=OuterRef("pk"))
    routed = RoutedItem.objects.standing().filter(item=OuterRef("pk"))
    rows = without_hit(stage.items.filter(~Exists(said), ~Exists(routed), state=Item.State.NEW))
    return restorations.without_returned(stage, rows)


def _agreed(stage: Stage, condition: Condition, waiting: QuerySet[Item]) -> tuple[int, list[Agreed]]:
    """(items that enough of the models answered, those on which they agree and which the rule can conclude)."""
    comparison, rule = Comparison.of(stage), Rule.from_dict(stage.rule)
    rows = ModelAnswer.objects.filter(
        stage=stage, annotator__in=condition.models, item__in=waiting.values("pk")
    ).order_by("item_id", "pk")
    answered, found = 0, []
    for item, group in groupby(rows.iterator(chunk_size=2000), key=attrgetter("item_id")):
        answers = list(group)
        answered += len(answers) >= condition.least
        if (agreeing := _agreeing(answers, condition, comparison)) is None:
            continue
        best = max(agreeing, key=lambda one: (one.confidence or 0.0, -one.pk))
        votes = model_votes.votes(best.labels, rule.params["answers"])
        # A rule that compares with a reference concludes nothing of an item that has none.
        if apply_rule(rule, votes).outcome != "open":
            found.append(Agreed(item, best.pk, min(one.confidence or 0.0 for one in agreeing)))
    return answered, found


def _agreeing(answers: Sequence[ModelAnswer], condition: Condition, comparison: Comparison) -> list[ModelAnswer] | None:
    """Those that say the same, sure enough; None where they are too few. An answer without a confidence is not sure."""
    same: dict[Hashable, list[ModelAnswer]] = defaultdict(list)
    for one in answers:
        said = said_by(one.labels, comparison)
        if said and one.confidence is not None and one.confidence >= condition.confidence:
            same[frozenset(said.items())].append(one)
    most = max(same.values(), key=len, default=[])
    return most if len(most) >= condition.least else None


# Confirm and undo


def route(stage: Stage, condition: Condition, decided: int, saved: Decimal, user: User | None) -> Routing:
    """Let the models decide these items. `decided` and `saved` are those of the preview that was confirmed.

    The verdicts are written by `deciding`, which the caller starts. Raises Refused (routing_refused, no_crowd),
    ArchivedError, Refused (nothing_to_route, routing_changed).
    """
    refuse(stage, condition)
    with transaction.atomic():
        # Publishing locks it too: no item is published and decided.
        stage = hit_plans.locked(stage)
        plan = _plan(stage, condition)
        if not plan.decided:
            raise Refused("nothing_to_route", _nothing(plan))
        if (len(plan.decided), plan.saved) != (decided, saved):
            raise Refused(
                "routing_changed",
                f"It is now {amount(len(plan.decided), 'item')}, which would cost ${plan.saved:,.2f}. Please confirm "
                "again.",
            )
        row = Routing.objects.create(
            stage=stage,
            least=condition.least,
            confidence=condition.confidence,
            audit_share=condition.audit_share,
            seed=plan.seed,
            decided=len(plan.decided),
            audited=len(plan.audited),
            saved=plan.saved,
            created_by=user,
        )
        row.annotators.set(condition.models)
        _write(row, plan)
        detail = {"routing": row.pk, "items": row.decided, "audited": row.audited, "saved": f"{row.saved:.2f}"}
        record(stage.project, user, "let models decide", [stage], detail)
        refresh_summary(stage)
    return row


def _nothing(plan: _Plan) -> str:
    if plan.audited:
        return "The models agree on one item alone, and that one is for the audit. Nothing was changed."
    if not plan.answered:
        return "The models have answered no item that waits to be published. Nothing was changed."
    return "There is no item on which the models agree with that confidence. Nothing was changed."


def _write(row: Routing, plan: _Plan) -> None:
    RoutedItem.objects.bulk_create(
        (
            RoutedItem(
                routing=row, item_id=one.item, answer_id=one.answer, confidence=one.confidence, is_audited=is_audited
            )
            for is_audited, agreed in ((False, plan.decided), (True, plan.audited))
            for one in agreed
        ),
        batch_size=1000,
    )
    for some in chunks([one.item for one in plan.decided]):
        lock_items(some)
        # No batch takes them until `deciding` has written their verdicts.
        Item.objects.filter(pk__in=some).update(state=Item.State.OPEN, stale=True)


def undo(row: Routing, user: User | None) -> Undone:
    """Send the items that these models decided to people, but for those of which later items were made.

    Audited items stay where they are. The caller starts `deciding`. Raises Refused (routing_used), ArchivedError.
    """
    with transaction.atomic():
        stage = hit_plans.locked(row.stage)
        standing = RoutedItem.objects.deciding().filter(routing=row)
        made = Item.objects.filter(parent=OuterRef("item"))
        returned = list(standing.filter(~Exists(made)).values_list("item_id", flat=True))
        used = standing.count() - len(returned)
        if not returned:
            raise Refused(
                "routing_used",
                "Later items were made of everything that these models decided. Nothing was changed."
                if used
                else "These items were sent to people already. Nothing was changed.",
            )
        now = timezone.now()
        for some in chunks(returned):
            lock_items(some)
            RoutedItem.objects.filter(routing=row, item__in=some).update(undone_at=now)
            Item.objects.filter(pk__in=some).update(stale=True)
        Routing.objects.filter(pk=row.pk).update(undone_at=now, undone_by=user)
        record(stage.project, user, "sent to people", [stage], {"routing": row.pk, "items": len(returned)})
    row.refresh_from_db()
    return Undone(len(returned), used)
