"""Money set aside for answers that items may want beyond those they want now: see `hits.stats.enough`.

The budget holds the price of the most answers from the beginning, so that no item stops halfway for want of money. A
further answer that is bought takes its part of that; what is not needed is released with the item's verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from django.db import transaction
from django.db.models import ExpressionWrapper, F, QuerySet, Sum

from hits.core.models.fields import DollarField
from hits.items.models import Item
from hits.judging.rules.required_answers import answers_wanted, chunks
from hits.mturk import fees
from hits.payments.models import LedgerEntry
from hits.stages.models import Stage

_TO_BE_ANSWERED = (Item.State.OPEN, Item.State.AGAIN)


def price(stage: Stage, needs: Mapping[int, int]) -> Decimal:
    """Dollars to set aside for items that are published, with the answers that each wants now."""
    return sum((cost * number for number, cost in _further(stage, needs).values()), Decimal(0))


def put(stage: Stage, needs: Mapping[int, int]) -> None:
    """Set that money aside; the items are published in the same transaction. Raises BudgetExceededError."""
    further = _further(stage, needs)
    if not further:
        return
    for (number, cost), pks in _alike(further).items():
        for chunk in chunks(pks):
            Item.objects.filter(pk__in=chunk).update(further=number, further_cost=cost)
    _post(stage, price(stage, needs), "for answers that the items may still want")


def _further(stage: Stage, needs: Mapping[int, int]) -> dict[int, tuple[int, Decimal]]:
    """Item to the answers beyond those that it wants now, and what one of them costs at most."""
    if stage.most_answers is None:
        return {}
    wanted = answers_wanted(stage, needs)
    return {
        pk: (stage.most_answers - wanted[pk], fees.unit_cost(stage.reward, number))
        for pk, number in needs.items()
        if stage.most_answers > wanted[pk]
    }


def drawn(stage: Stage, item_pks: Iterable[int]) -> Decimal:
    """Dollars that are set aside already for the answers that these items want now; changes nothing."""
    return sum((cost * number for number, cost in _drawn(stage, item_pks).values()), Decimal(0))


def draw(stage: Stage, item_pks: Iterable[int]) -> None:
    """Take that money from what is set aside: it is reserved for HITs or extensions in the same transaction."""
    taken = _drawn(stage, item_pks)
    for (number, _), pks in _alike(taken).items():
        for chunk in chunks(pks):
            Item.objects.filter(pk__in=chunk).update(further=F("further") - number)
    total = sum((cost * number for number, cost in taken.values()), Decimal(0))
    if total:
        _post(stage, -total, "bought as further answers")


def _drawn(stage: Stage, item_pks: Iterable[int]) -> dict[int, tuple[int, Decimal]]:
    """Item to the answers that it has come to want since money was set aside last, and what was set aside for one.

    Answers in place of others, such as those of a blocked worker, are none of them: they are reserved for anew.
    """
    if stage.most_answers is None:
        return {}
    found: dict[int, tuple[int, Decimal]] = {}
    for chunk in chunks(list(item_pks)):
        rows = Item.objects.filter(pk__in=chunk, further__gt=0).values_list("pk", "wanted", "further", "further_cost")
        for pk, wanted, further, cost in rows:
            bought = stage.most_answers - further
            if (number := (wanted or stage.answers) - bought) > 0:
                found[pk] = (number, cost)
    return found


def _alike(items: Mapping[int, tuple[int, Decimal]]) -> dict[tuple[int, Decimal], list[int]]:
    """(answers, cost of one) to the items that have them: few pairs, whatever the number of items."""
    found: dict[tuple[int, Decimal], list[int]] = {}
    for pk, pair in items.items():
        found.setdefault(pair, []).append(pk)
    return found


def release(stage: Stage, item_pks: Iterable[int]) -> None:
    """Give back what is set aside for those of the items of which no further answer will be bought."""
    for chunk in chunks(list(item_pks)):
        over = Item.objects.filter(pk__in=chunk).exclude(state__in=_TO_BE_ANSWERED)
        _release(stage, over, "further answers were not needed")


def give_up(stage: Stage, item_pks: Iterable[int]) -> None:
    """Give back what is set aside for items that wait to be asked again, and that nobody is asked about by itself."""
    for chunk in chunks(sorted(item_pks)):
        with transaction.atomic():
            waiting = Item.objects.filter(pk__in=chunk, state=Item.State.AGAIN, further__gt=0)
            locked = waiting.order_by("pk").select_for_update().values_list("pk", flat=True)
            _release(stage, Item.objects.filter(pk__in=list(locked)), "no further answers are bought")


def _release(stage: Stage, items: QuerySet[Item], note: str) -> None:
    over = items.filter(further__gt=0)
    if amount := total(over):
        over.update(further=0)
        _post(stage, -amount, note)


def total(items: QuerySet[Item]) -> Decimal:
    """Dollars that are set aside for these items."""
    cost = ExpressionWrapper(F("further_cost") * F("further"), output_field=DollarField())
    return items.filter(further__gt=0).aggregate(total=Sum(cost))["total"] or Decimal(0)


def _post(stage: Stage, amount: Decimal, note: str) -> None:
    kind = LedgerEntry.Kind.SET_ASIDE
    stage.project.account.post([LedgerEntry(stage=stage, kind=kind, reserved=amount, note=note)])
