"""Before a batch is published: the intent rows of its HITs, what they cost, and the reservation of that money."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal

from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from hits.domain.archived import refuse_archived
from hits.domain.wanted_answers import chunks
from hits.models.answers import Assignment
from hits.models.ledger import LedgerEntry
from hits.models.projects import Stage
from hits.models.publishing import Batch, Extension, Hit
from hits.mturk import fees


def price(stage: Stage, needs: Mapping[int, int]) -> Decimal:
    """Of one new HIT an item: the fee goes by the assignments that a HIT is made with."""
    counts = Counter(needs.values())
    return sum((fees.unit_cost(stage.reward, n) * n * items for n, items in counts.items()), Decimal(0))


def locked(stage: Stage) -> Stage:
    """Inside a transaction: one plan at a time for a stage, so that the second sees what the first one took.

    Raises ArchivedError where the project was archived meanwhile.
    """
    rows = Stage.objects.select_for_update(of=("self",), no_key=True).select_related("project__account")
    found = rows.get(pk=stage.pk)
    # A query of its own: a row that is joined here may be older than the lock.
    refuse_archived(found.project)
    return found


def is_published(stage: Stage) -> bool:
    """Whether something of the stage is published or about to be: workers have seen what it asks and offers."""
    return bool(stage.hit_types) or stage.hits.exists()


def is_paused(stage: Stage) -> bool:
    """Whether nothing goes out by itself: a lead paused the stage, or the project is archived."""
    return not Stage.objects.buying().filter(pk=stage.pk).exists()


def plan_hits(stage: Stage, batch: Batch, needs: dict[int, int]) -> None:
    namespace = stage.project.namespace
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
                reward=stage.reward,
                unit_cost=fees.unit_cost(stage.reward, answers),
                assignment_seconds=stage.assignment_seconds,
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


def reserve(stage: Stage, batch: Batch, amount: Decimal) -> None:
    stage.project.account.post([LedgerEntry(stage=stage, kind=LedgerEntry.Kind.RESERVE, reserved=amount, batch=batch)])


def clearable(stage: Stage) -> QuerySet[Hit]:
    """HITs that are over, with nothing to fetch, to decide or to pay."""
    answers = Assignment.objects.filter(hit=OuterRef("pk"))
    undecided = answers.filter(Q(state=Assignment.State.SUBMITTED) | ~Q(decision=""))
    growing = Extension.objects.filter(hit=OuterRef("pk"), state=Extension.State.PLANNED)
    over = stage.hits.filter(state=Hit.State.CLOSED, hit_id__isnull=False, deleted_at=None, due_at=None)
    return over.filter(~Exists(undecided), ~Exists(growing))
