"""Publishing: price first, then intent rows and their reservation. The room `sending` makes the calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from hits.flow.common import gateway
from hits.models import Batch, BudgetExceededError, Extension, Hit, Item, LedgerEntry, Stage
from hits.models.needs import answers_needed, chunks, waiting
from hits.mturk import fees
from hits.mturk.errors import MarketplaceError

# Answers bought for one item beyond those wanted; past that a lead has to look at it.
SPARE_ANSWERS = 5


class NothingToPublishError(Exception):
    """No item of this stage waits to be published. Import a file or wait for the stage before."""


class QuoteChangedError(Exception):
    """Items, price or budget changed since the page was opened. Look at the new quote and confirm again."""


class PayFrozenError(Exception):
    """The HIT type is made: pay can no longer change for this stage."""


@dataclass(frozen=True)
class Quote:
    """What publishing would do. Money in dollars; `problems` are sentences that stop it."""

    items: int
    answers: int
    reward: Decimal
    fee: Decimal
    unit_cost: Decimal
    total: Decimal
    hourly_wage: Decimal | None
    median_seconds: float | None
    budget_left: Decimal
    balance: Decimal | None
    closes_at: datetime
    problems: list[str] = field(default_factory=list)


# Price


def quote(stage: Stage, limit: int | None = None) -> Quote:
    """The price of the next `limit` waiting items, all of them by default."""
    needs = answers_needed(waiting(stage, limit))
    answers = sum(needs.values())
    unit = fees.unit_cost(stage.reward, stage.answers)
    summary = getattr(stage, "summary", None)
    seconds = summary.median_seconds if summary else None
    left = stage.project.account.left
    balance = _balance()
    found = Quote(
        items=len(needs),
        answers=answers,
        reward=stage.reward,
        fee=unit - stage.reward,
        unit_cost=unit,
        total=unit * answers,
        hourly_wage=(stage.reward * 3600 / Decimal(seconds)).quantize(fees.CENT) if seconds else None,
        median_seconds=seconds,
        budget_left=left,
        balance=balance,
        closes_at=timezone.now() + timedelta(seconds=stage.lifetime_seconds),
    )
    found.problems.extend(_problems(found))
    return found


def _problems(found: Quote) -> Iterator[str]:
    if not found.items:
        yield "Nothing waits to be published. Import a file, or wait for items from the stage before."
    if found.total > found.budget_left:
        yield (
            f"This needs ${found.total:,.2f} and ${found.budget_left:,.2f} of the budget is left. "
            "Raise the budget or publish fewer items."
        )
    if found.balance is not None and found.total > found.balance:
        yield f"The marketplace account holds ${found.balance:,.2f}, this needs ${found.total:,.2f}. Add money first."


def _balance() -> Decimal | None:
    try:
        return gateway().balance().available
    except MarketplaceError:
        return None


# Confirm


def publish(stage: Stage, items: int, total: Decimal, confirmation: str, user: User | None) -> Batch:
    """Write the intent rows of the next `items` items and reserve their price, all or nothing.

    `confirmation` belongs to one opened page: confirming twice gives the same batch.
    Raises NothingToPublishError, QuoteChangedError, BudgetExceededError.
    """
    earlier = Batch.objects.filter(confirmation=confirmation).first()
    if earlier:
        return earlier
    try:
        with transaction.atomic():
            return _publish(stage, items, total, confirmation, user)
    except IntegrityError:
        winner = Batch.objects.filter(confirmation=confirmation).first()
        if winner is None:
            raise
        return winner


def _publish(stage: Stage, items: int, total: Decimal, confirmation: str, user: User | None) -> Batch:
    pks = waiting(stage, items)
    if not pks:
        raise NothingToPublishError("Nothing waits to be published.")
    needs = answers_needed(pks)
    price = fees.unit_cost(stage.reward, stage.answers) * sum(needs.values())
    if len(pks) != items or price != total:
        raise QuoteChangedError(f"It is now {len(pks):,} items for ${price:,.2f}. Please confirm again.")
    batch = Batch.objects.create(stage=stage, total=len(pks), confirmation=confirmation, created_by=user)
    _claim(pks)
    _plan_hits(stage, batch, needs)
    _reserve(stage, batch, price)
    Stage.objects.filter(pk=stage.pk).update(state=Stage.State.LIVE)
    return batch


def _claim(pks: Sequence[int]) -> None:
    claimed = sum(
        Item.objects.filter(id__in=chunk, state=Item.State.NEW).update(state=Item.State.OPEN) for chunk in chunks(pks)
    )
    if claimed != len(pks):
        raise QuoteChangedError("Somebody published some of these items at the same moment. Please look again.")


def _plan_hits(stage: Stage, batch: Batch, needs: dict[int, int]) -> None:
    namespace = stage.project.namespace
    unit = fees.unit_cost(stage.reward, stage.answers)
    slots = _next_slots(needs)
    Hit.objects.bulk_create(
        (
            Hit(
                item_id=pk,
                stage=stage,
                batch=batch,
                slot=slots[pk],
                token=Hit.token_for(namespace, pk, slots[pk]),
                max_assignments=answers,
                created_with=answers,
                unit_cost=unit,
            )
            for pk, answers in needs.items()
        ),
        batch_size=2000,
    )


def _next_slots(item_pks: Iterable[int]) -> dict[int, int]:
    pks = list(item_pks)
    used: dict[int, int] = {}
    for chunk in chunks(pks):
        rows = Hit.objects.filter(item__in=chunk).values_list("item").annotate(last=Max("slot")).order_by()
        used.update(dict(rows))
    return {pk: used.get(pk, 0) + 1 for pk in pks}


def _reserve(stage: Stage, batch: Batch, amount: Decimal) -> None:
    stage.project.account.post([LedgerEntry(stage=stage, kind=LedgerEntry.Kind.RESERVE, reserved=amount, batch=batch)])


def publish_arrivals(stage: Stage) -> Batch | None:
    """Publish what came from the stage before; None when nothing waits or the budget does not allow it.

    Only for a stage that nobody has to confirm: its project was confirmed with its first publication.
    """
    pks = waiting(stage, None)
    if not pks:
        return None
    price = fees.unit_cost(stage.reward, stage.answers) * sum(answers_needed(pks).values())
    try:
        return publish(stage, len(pks), price, f"arrivals:{stage.pk}:{pks[0]}:{pks[-1]}:{len(pks)}", None)
    except (BudgetExceededError, QuoteChangedError, NothingToPublishError):
        return None


# Again: answers that a block, a rejection or an invalid answer took away


def publish_again(stage: Stage) -> Batch | None:
    """Plan one more answer for each item that lost one; None when there is none or no money for it.

    A HIT may grow where the marketplace allows it; otherwise the item gets a new HIT.
    """
    pks = list(stage.items.filter(state=Item.State.AGAIN).order_by("id").values_list("id", flat=True))
    needs = _affordable(stage, answers_needed(pks))
    if not needs:
        return None
    try:
        with transaction.atomic():
            return _publish_again(stage, needs)
    except BudgetExceededError:
        return None


def _affordable(stage: Stage, needs: dict[int, int]) -> dict[int, int]:
    bought: Counter[int] = Counter()
    for chunk in chunks(list(needs)):
        for item, answers in Hit.objects.filter(item__in=chunk).values_list("item", "harvested"):
            bought[item] += answers
    return {pk: n for pk, n in needs.items() if bought[pk] + n <= stage.answers + SPARE_ANSWERS}


def _publish_again(stage: Stage, needs: dict[int, int]) -> Batch:
    full = _growing_hits(needs)
    batch = Batch.objects.create(stage=stage, kind=Batch.Kind.AGAIN, total=len(needs))
    claimed = Item.objects.filter(id__in=list(needs), state=Item.State.AGAIN).update(state=Item.State.OPEN)
    if claimed != len(needs):
        raise QuoteChangedError("Another process published these items.")
    _plan_hits(stage, batch, {pk: n for pk, n in needs.items() if pk not in full})
    _plan_extensions(batch, stage.project.namespace, full, needs)
    costs = sum((hit.unit_cost * needs[pk] for pk, hit in full.items()), Decimal(0))
    unit = fees.unit_cost(stage.reward, stage.answers)
    costs += unit * sum(n for pk, n in needs.items() if pk not in full)
    _reserve(stage, batch, costs)
    return batch


def _growing_hits(needs: dict[int, int]) -> dict[int, Hit]:
    """Of each item its newest HIT, if all its answers came and it may grow by what the item needs."""
    newest: dict[int, Hit] = {}
    for chunk in chunks(list(needs)):
        for hit in Hit.objects.filter(item__in=chunk, hit_id__isnull=False).order_by("slot"):
            newest[hit.item_id] = hit
    return {
        pk: hit
        for pk, hit in newest.items()
        if hit.harvested == hit.max_assignments
        and hit.state == Hit.State.CLOSED
        and fees.can_grow(hit.created_with, hit.max_assignments, needs[pk])
    }


def _plan_extensions(batch: Batch, namespace: str, full: dict[int, Hit], needs: dict[int, int]) -> None:
    numbers = dict(
        Extension.objects.filter(hit__in=list(full.values())).values_list("hit").annotate(last=Max("number")).order_by()
    )
    rows = []
    for pk, hit in full.items():
        number = numbers.get(hit.pk, 0) + 1
        token = f"{Hit.token_for(namespace, pk, hit.slot)}+{number}"
        rows.append(Extension(hit=hit, batch=batch, number=number, assignments=needs[pk], token=token))
    Extension.objects.bulk_create(rows, batch_size=2000)


# Steer


def pause(stage: Stage) -> None:
    """No further call goes out; HITs that are at the marketplace stay there."""
    stage.batches.filter(state__in=[Batch.State.PUBLISHING, Batch.State.WAITING]).update(state=Batch.State.PAUSED)
    Stage.objects.filter(pk=stage.pk, state=Stage.State.LIVE).update(state=Stage.State.PAUSED)


def resume(stage: Stage) -> list[int]:
    """Returns the batches to send."""
    Stage.objects.filter(pk=stage.pk, state=Stage.State.PAUSED).update(state=Stage.State.LIVE)
    paused = stage.batches.filter(state=Batch.State.PAUSED)
    pks = list(paused.values_list("pk", flat=True))
    paused.update(state=Batch.State.PUBLISHING)
    return pks


def unfinished() -> list[int]:
    """Batches that a crash or an absent marketplace left; sending them again is safe."""
    states = [Batch.State.PUBLISHING, Batch.State.WAITING]
    return list(Batch.objects.filter(state__in=states).order_by("pk").values_list("pk", flat=True))


def expire(stage: Stage, user: User | None) -> Batch:
    """Close every HIT of the stage now. Workers who have one open may still submit it."""
    pause(stage)
    Stage.objects.filter(pk=stage.pk).update(state=Stage.State.LIVE)
    return _change_expiry(stage, Batch.Kind.EXPIRE, timezone.now(), user)


def extend(stage: Stage, seconds: int, user: User | None) -> Batch:
    """Keep every HIT of the stage open until `seconds` from now."""
    return _change_expiry(stage, Batch.Kind.EXTEND, timezone.now() + timedelta(seconds=seconds), user)


def _change_expiry(stage: Stage, kind: Batch.Kind, until: datetime, user: User | None) -> Batch:
    # The wire carries whole seconds, and what is compared later must equal what was sent.
    total = stage.hits.filter(state=Hit.State.LIVE).count()
    return Batch.objects.create(
        stage=stage, kind=kind, until=until.replace(microsecond=0), total=total, created_by=user
    )


def change_pay(stage: Stage, reward: Decimal) -> None:
    """Raises PayFrozenError once anything of the stage is published: its money is reserved at the old pay."""
    unpublished = Stage.objects.filter(pk=stage.pk, hit_type_id="", hits=None)
    if not unpublished.update(reward=reward):
        raise PayFrozenError("This stage is published with its pay. It can no longer change for these HITs.")
    stage.refresh_from_db()
