"""Topping up: answers that items have come to want, and those that a block, a rejection, an invalid answer or an expiry
took away, are bought.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q

from hits.judging.rules.required_answers import answers_needed, answers_wanted, chunks
from hits.judging.rules.summaries import refresh_summary
from hits.models import Batch, BudgetExceededError, Extension, Hit, Item, Stage
from hits.mturk import fees
from hits.payments.rules import answer_reserves
from hits.payments.rules.commitments import BalanceTooLowError, counted, short_of_money
from hits.publishing.rules import hit_plans, restorations
from hits.publishing.rules.hit_items import by_item, hits_of, item_pks
from hits.publishing.rules.marketplace_account import refuse_beyond_balance
from hits.refusals import Refused

# Answers bought for one item beyond those wanted; past that a lead has to look at it.
SPARE_ANSWERS = 5
# Items that a page looks at to say what holds them up; what holds for these holds for the rest.
LOOKED_AT = 200


@dataclass(frozen=True)
class Growth:
    """A HIT that is opened again for all its `items`: `assignments` places more, `places` free ones with those that
    nobody took.
    """

    hit: Hit
    items: tuple[int, ...]
    assignments: int
    places: int

    @property
    def cost(self) -> Decimal:
        """Dollars to reserve. What nobody took was released when the HIT closed."""
        return self.hit.unit_cost * self.places


def top_up(stage: Stage) -> Batch | None:
    """Plan the answers that items lost; None when there is none or no money for it, and while the stage is paused.

    A HIT is opened again, and grows where the marketplace allows it; otherwise the item gets a new HIT.
    """
    pks = _to_ask_again(stage)
    needs = _within_spare(stage, answers_needed(pks))
    answer_reserves.give_up(stage, set(pks) - set(needs))
    if not needs or hit_plans.is_paused(stage):
        return None
    try:
        refuse_beyond_balance(_held_anew(stage, needs))
        with transaction.atomic():
            return _top_up(hit_plans.locked(stage), needs)
    except (BudgetExceededError, BalanceTooLowError, Refused):
        return None


def _to_ask_again(stage: Stage, limit: int | None = None) -> list[int]:
    again = stage.items.filter(state=Item.State.AGAIN).order_by("id")
    return list(again.values_list("id", flat=True)[:limit])


def _within_spare(stage: Stage, needs: dict[int, int]) -> dict[int, int]:
    bought: Counter[int] = Counter()
    for chunk in chunks(list(needs)):
        for item, hits in by_item(list(hits_of(chunk)), chunk).items():
            bought[item] = sum(hit.harvested for hit in hits)
    wanted = answers_wanted(stage, needs)
    return {pk: n for pk, n in needs.items() if bought[pk] + n <= wanted[pk] + SPARE_ANSWERS}


def _held_anew(stage: Stage, needs: dict[int, int]) -> Decimal:
    """Dollars that the marketplace will hold beyond what it holds: it never let go of places that nobody took.

    What is set aside for these items counts as planned already.
    """
    grown = _growths(needs)
    more = sum((growth.hit.unit_cost * growth.assignments for growth in grown), Decimal(0))
    return more + hit_plans.price(stage, _others(needs, grown)) - answer_reserves.drawn(stage, needs)


def _others(needs: dict[int, int], grown: Sequence[Growth]) -> dict[int, int]:
    asked = {pk for growth in grown for pk in growth.items}
    return {pk: n for pk, n in needs.items() if pk not in asked}


def _top_up(stage: Stage, needs: dict[int, int]) -> Batch:
    grown = _growths(needs)
    anew = _others(needs, grown)
    claimed = sum(
        Item.objects.filter(id__in=chunk, state=Item.State.AGAIN).update(state=Item.State.OPEN)
        for chunk in chunks(list(needs))
    )
    if claimed != len(needs):
        raise Refused("taken_meanwhile", "Another process plans the answers of these items.")
    calls = len(grown) + hit_plans.new_hits(stage, anew).total()
    batch = Batch.objects.create(stage=stage, kind=Batch.Kind.AGAIN, total=calls)
    hit_plans.plan_hits(stage, batch, anew)
    _plan_extensions(batch, grown)
    # First, so that the budget need not hold both at once.
    answer_reserves.draw(stage, needs)
    hit_plans.reserve(stage, batch, sum((growth.cost for growth in grown), hit_plans.price(stage, anew)))
    refresh_summary(stage)
    return batch


def _growths(needs: dict[int, int]) -> list[Growth]:
    """The items' newest HITs, of those that are over and may hold what the items need.

    A HIT is opened for all its items: where not all of them are wanted again, those that are get a new one.
    """
    tried = Extension.objects.filter(hit=OuterRef("pk")).filter(
        state__in=[Extension.State.PLANNED, Extension.State.REFUSED]
    )
    newest: dict[int, Hit] = {}
    for chunk in chunks(list(needs)):
        rows = list(hits_of(chunk).annotate(tried=Exists(tried)).order_by("slot"))
        newest |= {item: hits[-1] for item, hits in by_item(rows, chunk).items()}
    fresh = {hit.pk: hit for hit in newest.values() if not hit.tried}  # type: ignore[attr-defined]
    asked = item_pks(fresh.values())
    again = [hit for hit in fresh.values() if all(newest.get(pk) == hit for pk in asked[hit.pk])]
    return [growth for hit in again if (growth := _growth(hit, asked[hit.pk], needs))]


def _growth(hit: Hit, items: Sequence[int], needs: Mapping[int, int]) -> Growth | None:
    if hit.state != Hit.State.CLOSED or hit.hit_id is None or hit.deleted_at:
        return None
    free = max(0, hit.max_assignments - hit.harvested)
    more = max(0, max(needs[pk] for pk in items) - free)
    if more and not fees.can_grow(hit.created_with, hit.max_assignments, more):
        return None
    return Growth(hit, tuple(items), more, free + more)


def _plan_extensions(batch: Batch, growths: Sequence[Growth]) -> None:
    hits = [growth.hit.pk for growth in growths]
    numbers: dict[int, int] = {}
    for chunk in chunks(hits):
        rows = Extension.objects.filter(hit__in=chunk).values_list("hit").annotate(last=Max("number")).order_by()
        numbers.update(dict(rows))
    era = restorations.era()
    Extension.objects.bulk_create(
        (_extension(batch, era, growth, numbers.get(growth.hit.pk, 0) + 1) for growth in growths), batch_size=2000
    )


def _extension(batch: Batch, era: str, growth: Growth, number: int) -> Extension:
    return Extension(
        hit=growth.hit,
        batch=batch,
        number=number,
        assignments=growth.assignments,
        places=growth.places,
        token=f"{growth.hit.token}+{number}{era}",
    )


def unfinished() -> list[int]:
    """Stages with items that want another answer: for want of money, or since a crash."""
    again = Item.objects.filter(stage=OuterRef("pk"), state=Item.State.AGAIN)
    stages = Stage.objects.buying().filter(Exists(again))
    return list(stages.order_by("pk").values_list("pk", flat=True))


def held_up(stage: Stage) -> list[str]:
    """Why items are not asked again by themselves, as sentences for the stage's page. Its cost is bounded."""
    return [text for text in _reasons(stage) if text]


def _reasons(stage: Stage) -> Iterator[str]:
    pks = _to_ask_again(stage, LOOKED_AT)
    needs = _within_spare(stage, answers_needed(pks))
    if beyond := len(pks) - len(needs):
        yield (
            f"{counted(beyond, LOOKED_AT)} had {SPARE_ANSWERS} answers beyond those wanted and still no verdict: "
            "no further one is bought by itself."
        )
    grown = _growths(needs)
    price = sum((growth.cost for growth in grown), hit_plans.price(stage, _others(needs, grown)))
    price -= answer_reserves.drawn(stage, needs)
    yield short_of_money(stage, len(needs), price, LOOKED_AT)
    given_up = stage.hits.filter(~Q(error=""), state=Hit.State.CLOSED, item__state=Item.State.NEW)
    if count := len(given_up.values_list("pk")[:LOOKED_AT]):
        yield (
            f"{counted(count, LOOKED_AT)} closed again and again with places that nobody took: "
            "they are not opened by themselves any more. Publish them when workers are about."
        )
