"""Before a batch is published: the intent rows of its HITs, what they cost, and the reservation of that money."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from hits.answers.models import Assignment
from hits.items.models import Item
from hits.judging.rules.required_answers import chunks
from hits.mturk import fees
from hits.payments.models import LedgerEntry
from hits.projects.rules.archived import refuse_archived
from hits.publishing.models import Batch, Extension, Hit, HitItem
from hits.publishing.rules import hit_tokens, restorations
from hits.stages.models import Stage


def price(stage: Stage, needs: Mapping[int, int]) -> Decimal:
    """Of new HITs for these items: the fee goes by the assignments that a HIT is made with."""
    hits = new_hits(stage, needs)
    return sum((fees.unit_cost(stage.reward, n) * n * count for n, count in hits.items()), Decimal(0))


def new_hits(stage: Stage, needs: Mapping[int, int]) -> Counter[int]:
    """Assignments to how many HITs are made with so many, for these items and the answers that they want."""
    return Counter({n: hit_count(stage, items) for n, items in Counter(needs.values()).items()})


def hit_count(stage: Stage, items: int) -> int:
    """The HITs that ask about so many items; the last of them may ask about fewer than the others."""
    return -(-items // stage.items_per_hit)


def _grouped(stage: Stage, needs: Mapping[int, int]) -> list[tuple[list[int], int]]:
    """The items of each new HIT, which want the same number of answers, and that number; in the order of `needs`."""
    alike: dict[int, list[int]] = defaultdict(list)
    for pk, answers in needs.items():
        alike[answers].append(pk)
    groups = [(list(some), answers) for answers, pks in alike.items() for some in chunks(pks, stage.items_per_hit)]
    places = {pk: place for place, pk in enumerate(needs)}
    return sorted(groups, key=lambda group: places[group[0][0]])


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
    """Whether nothing goes out by itself: a lead paused the stage, the project is archived, or the database was
    restored and what seems to be missing may be at the marketplace.
    """
    return not Stage.objects.buying().filter(pk=stage.pk).exists() or bool(restorations.why_calls_wait())


def plan_hits(stage: Stage, batch: Batch, needs: dict[int, int]) -> None:
    groups = _grouped(stage, needs)
    slots = _next_slots(needs)
    marks, era = _marks(stage, [pks[0] for pks, _ in groups]), restorations.era()

    def planned(pks: list[int], answers: int) -> Hit:
        slot = max(slots[pk] for pk in pks)
        token = hit_tokens.token(stage.project.namespace, pks[0], slot, marks[pks[0]], era)
        return _planned(stage, batch, pks, answers, slot, token)

    made = Hit.objects.bulk_create((planned(pks, answers) for pks, answers in groups), batch_size=2000)
    further = (
        HitItem(hit=hit, item_id=pk, number=number)
        for hit, (pks, _) in zip(made, groups, strict=True)
        for number, pk in enumerate(pks[1:], 2)
    )
    HitItem.objects.bulk_create(further, batch_size=2000)


def _marks(stage: Stage, item_pks: Sequence[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for chunk in chunks(item_pks):
        keys = Item.objects.filter(pk__in=chunk).values_list("pk", "key")
        found |= {pk: hit_tokens.mark(stage.key, key) for pk, key in keys}
    return found


def _planned(stage: Stage, batch: Batch, item_pks: Sequence[int], answers: int, slot: int, token: str) -> Hit:
    return Hit(
        item_id=item_pks[0],
        item_count=len(item_pks),
        stage=stage,
        batch=batch,
        slot=slot,
        token=token,
        max_assignments=answers,
        created_with=answers,
        reward=stage.reward,
        unit_cost=fees.unit_cost(stage.reward, answers),
        assignment_seconds=stage.assignment_seconds,
    )


def _next_slots(item_pks: Iterable[int]) -> dict[int, int]:
    """Above those of every HIT that asks about the item, so that the newest has the highest."""
    pks = list(item_pks)
    used: Counter[int] = Counter()
    for chunk in chunks(pks):
        for hits, column in (
            (Hit.objects.filter(item__in=chunk), "item"),
            (Hit.objects.filter(further__item__in=chunk), "further__item"),
        ):
            for pk, last in hits.values_list(column).annotate(last=Max("slot")).order_by():
                used[pk] = max(used[pk], last)
    return {pk: used[pk] + 1 for pk in pks}


def reserve(stage: Stage, batch: Batch, amount: Decimal) -> None:
    stage.project.account.post([LedgerEntry(stage=stage, kind=LedgerEntry.Kind.RESERVE, reserved=amount, batch=batch)])


def clearable(stage: Stage) -> QuerySet[Hit]:
    """HITs that are over, with nothing to fetch, to decide or to pay."""
    answers = Assignment.objects.filter(hit=OuterRef("pk"))
    undecided = answers.filter(Q(state=Assignment.State.SUBMITTED) | ~Q(decision=""))
    growing = Extension.objects.filter(hit=OuterRef("pk"), state=Extension.State.PLANNED)
    over = stage.hits.filter(state=Hit.State.CLOSED, hit_id__isnull=False, deleted_at=None, due_at=None)
    return over.filter(~Exists(undecided), ~Exists(growing))
