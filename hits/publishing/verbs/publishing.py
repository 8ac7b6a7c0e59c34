"""Publishing: price first, then intent rows and their reservation. The module `sending` makes the calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from hits.core.action_log import record
from hits.items.rules import unsuitable_items
from hits.judging.rules import aggregated_values, required_answers
from hits.judging.rules.required_answers import answers_needed, chunks, in_order, waiting
from hits.judging.rules.summaries import refresh_summary
from hits.model_assist.rules import suggestions
from hits.models import Batch, BudgetExceededError, BudgetRequest, Extension, Hit, Item, Stage
from hits.mturk import fees
from hits.payments.rules import answer_reserves, budget_requests, wages
from hits.payments.rules.commitments import BalanceTooLowError, planned_cost, short_of_money
from hits.people.rules import terms
from hits.projects.rules.memberships import hold
from hits.projects.rules.plugins import refuse_without_crowd, settings_of, stage_fault, usable_protocol
from hits.protocols.optional import KnownAnswersProtocol
from hits.publishing.rules import check_questions, hit_plans, restorations, stage_actions
from hits.publishing.rules.hit_items import without_hit
from hits.publishing.rules.marketplace_account import balance, refuse_beyond_balance
from hits.publishing.rules.restorations import why_calls_wait
from hits.recipes.stage_settings import LONGEST_SECONDS
from hits.refusals import Refused
from hits.workers.rules import screening
from hits.workers.rules.project_qualifications import refuse_unoffered, unoffered

# Items that a page looks at to say what holds them up; what holds for these holds for the rest.
LOOKED_AT = 200
LONGEST_LIFETIME = timedelta(seconds=LONGEST_SECONDS)
MOST_HOURS = LONGEST_SECONDS // 3600


@dataclass(frozen=True)
class Quote:
    """What publishing would do. Money in dollars; `problems` are sentences that stop it, `warnings` stop nothing.

    `hourly_wage` is None where nobody knows how long an answer takes, and `wage_assumed` until that is measured.

    `hits` are the HITs that ask about these items, and `answers` what they are asked for in all: each answer is about
    all items of its HIT. Beside the items, and among HITs, answers and `total`, there are so many `check_questions`
    with `check_answers` for `check_cost`.

    `balance` is what the marketplace account has available, `planned` what of it this installation has reserved
    for calls that are not carried out yet.

    `total` is the most that it can cost, and is reserved. `least` and `expected` are less where items get further
    answers only until they have enough: `expected` by the items that are decided, or by an assumed accuracy.
    """

    items: int
    hits: int
    answers: int
    reward: Decimal
    fee: Decimal
    unit_cost: Decimal
    total: Decimal
    least: Decimal
    expected: Decimal
    hourly_wage: Decimal | None
    wage_assumed: bool
    median_seconds: float | None
    budget_left: Decimal
    balance: Decimal | None
    planned: Decimal
    closes_at: datetime
    check_questions: int = 0
    check_answers: int = 0
    check_cost: Decimal = Decimal(0)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


# Price


def quote(stage: Stage, limit: int | None = None) -> Quote:
    """The price of the next `limit` waiting items, all of them by default. Raises Refused (no_crowd)."""
    refuse_without_crowd(stage)
    needs = _needed(stage, _waiting(stage, limit))
    checks = check_questions.plan(stage, needs)
    everything = {**needs, **checks.needs}
    hits = hit_plans.new_hits(stage, everything)
    unit = fees.unit_cost(stage.reward, stage.answers)
    summary = getattr(stage, "summary", None)
    time = wages.answer_time(stage)
    left = stage.project.account.left
    found = Quote(
        items=len(needs),
        hits=hits.total(),
        answers=sum(answers * count for answers, count in hits.items()),
        reward=stage.reward,
        fee=unit - stage.reward,
        unit_cost=unit,
        total=_price(stage, needs, checks),
        least=hit_plans.price(stage, everything),
        expected=_expected(stage, needs, checks),
        check_questions=len(checks.needs),
        check_answers=checks.answers,
        check_cost=hit_plans.price(stage, everything) - hit_plans.price(stage, needs),
        hourly_wage=time.hourly(stage.reward) if time else None,
        wage_assumed=time is not None and time.assumed,
        median_seconds=summary.median_seconds if summary else None,
        budget_left=left,
        balance=balance(),
        planned=planned_cost(),
        closes_at=timezone.now() + timedelta(seconds=stage.lifetime_seconds),
    )
    found.problems.extend([*_problems(found), *(one.sentence for one in unoffered(stage))])
    found.problems.extend(fault for fault in [stage_fault(stage)] if fault)
    found.problems.extend(_condition_faults(stage))
    found.problems.extend(unsuitable_items.sentences(unsuitable_items.of_waiting(stage)))
    found.problems.extend(suggestions.unfit(stage, unsuitable_items.LOOKED_AT))
    found.problems.extend(check_questions.faults(stage, checks))
    found.problems.extend(_test_faults(stage, list(needs)))
    found.warnings.extend([checks.too_few] if checks.too_few else [])
    found.warnings.extend(screening.unpublished(stage))
    found.warnings.extend(_unknown_answers(stage))
    found.warnings.extend(restorations.sentences(stage))
    found.warnings.extend(terms.warnings(stage))
    return found


def _unknown_answers(stage: Stage) -> Iterator[str]:
    """Known answers of the waiting items that the task, as it is now, does not offer."""
    protocol = usable_protocol(stage)
    if not isinstance(protocol, KnownAnswersProtocol):
        return
    options = settings_of(stage)
    count, first = 0, ""
    rows = stage.items.filter(state=Item.State.NEW).order_by("id").values_list("key", "data")
    for key, data in rows.iterator(chunk_size=2000):
        if faults := protocol.known_answer_faults(data, options):
            count += 1
            first = first or f"{key}: {faults[0]}"
    if count:
        have = "1 item has" if count == 1 else f"{count:,} items have"
        yield f"{have} a gold answer that nobody can choose, such as {first} Until then it counts for no accuracy."


def _problems(found: Quote) -> Iterator[str]:
    if not found.items:
        yield "Nothing waits to be published. Import a file, or wait for items from the stage before."
    if found.total > found.budget_left:
        yield (
            f"This needs ${found.total:,.2f} and ${found.budget_left:,.2f} of the budget is left. "
            "Raise the budget or publish fewer items."
        )
    if why := why_calls_wait():
        yield why
    if found.items and found.balance is not None and found.total > found.balance - found.planned:
        yield str(BalanceTooLowError(found.total, found.balance, found.planned))


def _price(stage: Stage, needs: Mapping[int, int], checks: check_questions.Plan) -> Decimal:
    """What is reserved for new HITs of these items and check questions: the answers that they want now, and those that
    the items may want later.
    """
    return hit_plans.price(stage, {**needs, **checks.needs}) + answer_reserves.price(stage, needs)


def _expected(stage: Stage, needs: Mapping[int, int], checks: check_questions.Plan) -> Decimal:
    least = hit_plans.price(stage, {**needs, **checks.needs})
    if stage.most_answers is None:
        return least
    share = (required_answers.expected(stage) - stage.answers) / (stage.most_answers - stage.answers)
    return (least + answer_reserves.price(stage, needs) * Decimal(share)).quantize(fees.CENT)


# Confirm


@dataclass(frozen=True)
class Approval:
    """The request whose batch is published now, and the owner who approves it; None: on the command line."""

    row: BudgetRequest
    by: User | None
    reason: str


def publish_requested(row: BudgetRequest, user: User | None, reason: str = "") -> Batch:
    """Approve a request for a batch: raise the budget as far as it needs, and publish it; all or nothing.

    Raises what `publish` raises, RoleRefusedError for somebody who is no owner now, and Refused (request_decided).
    """
    assert row.stage is not None and row.items is not None
    approval = Approval(row, user, reason)
    return publish(row.stage, row.items, row.total, f"request:{row.pk}", row.asked_by, approval)


def publish(
    stage: Stage, items: int, total: Decimal, confirmation: str, user: User | None, approval: Approval | None = None
) -> Batch:
    """Write the intent rows of the next `items` items and reserve their price, all or nothing.

    `confirmation` belongs to one opened page: confirming twice gives the same batch.
    Raises BudgetExceededError, BalanceTooLowError and Refused (not_offered, items_do_not_fit, check_questions_refused,
    unknown_unit, suggestions_do_not_fit, nothing_to_publish, quote_changed).
    """
    earlier = Batch.objects.filter(confirmation=confirmation).first()
    if earlier:
        return earlier
    refuse_without_crowd(stage)
    # Raises where workers could not be shown the task.
    settings_of(stage)
    refuse_unoffered(stage)
    required_answers.refuse(stage)
    aggregated_values.refuse(stage)
    unsuitable_items.refuse(stage, items)
    suggestions.refuse_unfit(stage, items)
    # Before the transaction, for it is a call. If two leads publish at once, the second batch waits in `sending`.
    refuse_beyond_balance(total)
    try:
        with transaction.atomic():
            return _publish(stage, items, total, confirmation, user, approval)
    except IntegrityError:
        winner = Batch.objects.filter(confirmation=confirmation).first()
        if winner is None:
            raise
        return winner


def _publish(
    stage: Stage, items: int, total: Decimal, confirmation: str, user: User | None, approval: Approval | None
) -> Batch:
    stage = hit_plans.locked(stage)
    if approval:
        # After the stage, as where a project is archived.
        hold(stage.project, approval.by)
    # A second click waited for the lock: what the first one made is there now.
    if earlier := Batch.objects.filter(confirmation=confirmation).first():
        return earlier
    if approval:
        budget_requests.grant(approval.row, approval.by, approval.reason)
    batch = _publish_items(stage, _waiting(stage, items), items, total, confirmation, user)
    if approval:
        BudgetRequest.objects.filter(pk=approval.row.pk).update(batch=batch)
    return batch


def _waiting(stage: Stage, limit: int | None) -> list[int]:
    if stage.screening_share:
        return screening.waiting(stage, limit)
    held = restorations.returned_items(stage)
    return [pk for pk in waiting(stage, limit and limit + len(held)) if pk not in held][:limit]


def _needed(stage: Stage, pks: list[int]) -> dict[int, int]:
    """Item to the answers that its new HIT has places for: of a test, one for each of its workers."""
    return dict.fromkeys(pks, stage.answers) if stage.screening_share else answers_needed(pks)


def _test_faults(stage: Stage, pks: list[int]) -> list[str]:
    """Why a stage that tests workers cannot be published with these items."""
    if not stage.screening_share:
        return []
    asked = check_questions.Plan(dict.fromkeys([*pks, *screening.practice(stage)], 1))
    return [*screening.faults(stage, len(pks)), *check_questions.faults(stage, asked)]


def _publish_items(
    stage: Stage, pks: list[int], items: int, total: Decimal, confirmation: str, user: User | None
) -> Batch:
    if not pks:
        raise Refused("nothing_to_publish", "Nothing waits to be published.")
    needs = _needed(stage, pks)
    checks = check_questions.plan(stage, needs)
    check_questions.refuse(stage, checks)
    if faults := _test_faults(stage, pks):
        raise Refused("screening_refused", " ".join(faults))
    everything = check_questions.mixed(stage, needs, checks)
    price = _price(stage, needs, checks)
    if len(pks) != items or price != total:
        raise Refused("quote_changed", f"It is now {len(pks):,} items for ${price:,.2f}. Please confirm again.")
    calls = hit_plans.new_hits(stage, everything).total()
    batch = Batch.objects.create(stage=stage, total=calls, confirmation=confirmation, created_by=user)
    if stage.screening_share:
        screening.keep_practice(stage)
    else:
        _claim(pks)
    hit_plans.plan_hits(stage, batch, everything)
    hit_plans.reserve(stage, batch, hit_plans.price(stage, everything))
    answer_reserves.put(stage, needs)
    Stage.objects.filter(pk=stage.pk).update(state=Stage.State.LIVE)
    record(stage.project, user, "published", [stage], {"items": len(pks), "price": f"{price:.2f}"})
    refresh_summary(stage)
    return batch


def _claim(pks: Sequence[int]) -> None:
    claimed = sum(
        Item.objects.filter(id__in=chunk, state=Item.State.NEW).update(state=Item.State.OPEN) for chunk in chunks(pks)
    )
    if claimed != len(pks):
        raise Refused("quote_changed", "Somebody published some of these items at the same moment. Please look again.")


def publish_arrivals(stage: Stage) -> Batch | None:
    """Publish what came from the stage before; None when nothing waits, or something forbids it: see `held_up`.

    Only for a stage that nobody has to confirm: its project was confirmed with its first publication. Items that
    had a HIT before wait for a lead, who perhaps closed it; so does everything while the stage is paused.
    """
    pks = in_order(_arrived(stage))
    if not pks or hit_plans.is_paused(stage) or unoffered(stage) or stage_fault(stage):
        return None
    if _condition_faults(stage):
        return None
    if unsuitable_items.of_items(stage, _arrived(stage), len(pks)):
        return None
    needs = answers_needed(pks)
    price = _price(stage, needs, check_questions.plan(stage, needs))
    confirmation = f"arrivals:{stage.pk}:{min(pks)}:{max(pks)}:{len(pks)}"
    try:
        refuse_beyond_balance(price)
        with transaction.atomic():
            return _publish_items(hit_plans.locked(stage), pks, len(pks), price, confirmation, None)
    except (BudgetExceededError, BalanceTooLowError, Refused, IntegrityError):
        # An IntegrityError is another process that publishes the same arrivals.
        return None


def _arrived(stage: Stage) -> QuerySet[Item]:
    arrived = stage.items.filter(state=Item.State.NEW, parent__isnull=False)
    return restorations.without_returned(stage, without_hit(arrived))


def publish_by_itself(stage: Stage, wanted: bool) -> None:
    """Whether what arrives from now on goes out by itself. Raises Refused (arrivals_wait): unseen prices."""
    if wanted and not stage.auto_publish and _arrived(stage).exists():
        raise Refused(
            "arrivals_wait", "Publish the items that wait first: then you see what they cost. Nothing was changed."
        )
    Stage.objects.filter(pk=stage.pk).update(auto_publish=wanted)
    stage.auto_publish = wanted


def held_up(stage: Stage) -> list[str]:
    """Why what came from the stage before is not published by itself, as sentences. Its cost is bounded."""
    if not stage.auto_publish:
        return []
    pks = list(_arrived(stage).order_by("id").values_list("id", flat=True)[:LOOKED_AT])
    if not pks:
        return []
    needs = answers_needed(pks)
    checks = check_questions.plan(stage, needs)
    price = _price(stage, needs, checks)
    found = [short_of_money(stage, len(pks), price, LOOKED_AT), *(one.sentence for one in unoffered(stage))]
    found += [*check_questions.faults(stage, checks), *_condition_faults(stage)]
    return [text for text in found if text] + unsuitable_items.sentences(
        unsuitable_items.of_items(stage, _arrived(stage))
    )


def _condition_faults(stage: Stage) -> list[str]:
    """What the condition for enough answers or the vote rule looks at and no answer can give, as sentences."""
    return [*required_answers.faults(stage), *aggregated_values.faults(stage)]


# Steer


def pause(stage: Stage) -> None:
    """No further call goes out; HITs that are at the marketplace stay there. What is sent already is not paused.

    Raises Refused (no_effect) where all of a live stage is done.
    """
    if stage.state == Stage.State.LIVE:
        stage_actions.refuse_without_effect(stage, "pause")
    _pause(stage)


def _pause(stage: Stage) -> None:
    going = stage.batches.filter(state__in=stage_actions.GOING)
    left = Q(Exists(_planned(Hit, Hit.State.PLANNED, Hit.State.SENT))) | Q(
        Exists(_planned(Extension, Extension.State.PLANNED))
    )
    of_plans = Q(kind__in=[Batch.Kind.FIRST, Batch.Kind.AGAIN])
    with transaction.atomic():
        refresh_summary(stage)
        going.filter(of_plans & ~left).update(state=Batch.State.PUBLISHED, finished_at=timezone.now())
        going.update(state=Batch.State.PAUSED)
    Stage.objects.filter(pk=stage.pk, state=Stage.State.LIVE).update(state=Stage.State.PAUSED)


def _planned(rows: type[Hit] | type[Extension], *states: str) -> QuerySet:
    return rows.objects.filter(batch=OuterRef("pk"), state__in=states)


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


def unpublished() -> list[int]:
    """Stages with arrivals that go out by themselves and have not: for want of money, or since a crash."""
    arrived = without_hit(Item.objects.filter(stage=OuterRef("pk"), state=Item.State.NEW, parent__isnull=False))
    stages = Stage.objects.buying().filter(Exists(arrived), auto_publish=True)
    return list(stages.order_by("pk").values_list("pk", flat=True))


def expire(stage: Stage, user: User | None) -> Batch:
    """Close every HIT of the stage now. Workers who have one open may still submit it.

    What a lead closed is not opened again by itself. Raises Refused (no_effect) where none is open.
    """
    stage_actions.refuse_without_effect(stage, "expire")
    _pause(stage)
    Stage.objects.filter(pk=stage.pk).update(state=Stage.State.LIVE)
    return _change_expiry(stage, Batch.Kind.EXPIRE, timezone.now(), user)


def latest_end(stage: Stage) -> datetime | None:
    """When the last of the stage's open HITs closes, with an extension that is on its way; None when none is open."""
    end: datetime | None = stage.hits.filter(state=Hit.State.LIVE).aggregate(end=Max("expires_at"))["end"]
    on_its_way = stage.batches.filter(kind=Batch.Kind.EXTEND, finished_at=None).aggregate(end=Max("until"))["end"]
    return max(end, on_its_way) if end and on_its_way else end


def later_by(end: datetime | None, seconds: int) -> datetime:
    """So many seconds after that end, and after now where it is over."""
    now = timezone.now()
    return max(end or now, now) + timedelta(seconds=seconds)


def extend(stage: Stage, seconds: int, user: User | None) -> Batch:
    """Keep every HIT of the stage open `seconds` longer than the last of them is now.

    Raises Refused (closing_time) when that is more than a year from now.
    """
    return extend_until(stage, later_by(latest_end(stage), seconds), user)


def extend_until(stage: Stage, until: datetime, user: User | None) -> Batch:
    """Keep every HIT of the stage open until then; asking again for the same moment changes nothing.

    Raises Refused (closing_time) for an end before the present one, and for one that the marketplace does not take,
    and Refused (no_effect) where no HIT is open.
    """
    stage_actions.refuse_without_effect(stage, "extend")
    end = latest_end(stage)
    # The wire carries whole seconds.
    if end and until.replace(microsecond=0) < end.replace(microsecond=0):
        raise Refused(
            "closing_time",
            f"The open HITs close at {end:%Y-%m-%d %H:%M} UTC, which is later than {until:%Y-%m-%d %H:%M} UTC, and "
            "extending only adds time. To end sooner, use Close early. Nothing was changed.",
        )
    if until > timezone.now() + LONGEST_LIFETIME:
        raise Refused(
            "closing_time",
            f"{until:%Y-%m-%d %H:%M} UTC is more than a year from now, and no HIT may stay open for longer. "
            "Extend by less. Nothing was changed.",
        )
    return _change_expiry(stage, Batch.Kind.EXTEND, until, user)


def _change_expiry(stage: Stage, kind: Batch.Kind, until: datetime, user: User | None) -> Batch:
    # The wire carries whole seconds, and what is compared later must equal what was sent.
    until = until.replace(microsecond=0)
    hits = stage.hits.filter(state=Hit.State.LIVE)
    if kind == Batch.Kind.EXTEND:
        hits = hits.filter(unwanted=False)
    with transaction.atomic():
        # Two at once would undo each other's work for ever: the later one stands.
        earlier = stage.batches.filter(kind__in=[Batch.Kind.EXPIRE, Batch.Kind.EXTEND], finished_at=None)
        earlier.update(
            state=Batch.State.PUBLISHED, finished_at=timezone.now(), message="A later closing time took its place."
        )
        total = hits.update(closed_early=kind == Batch.Kind.EXPIRE)
        if kind == Batch.Kind.EXTEND:
            total = hits.exclude(expires_at__gte=until).count()
        return Batch.objects.create(stage=stage, kind=kind, until=until, total=total, created_by=user)


# Delete finished HITs


def delete_hits(stage: Stage, user: User | None) -> Batch:
    """Delete the stage's finished HITs at the marketplace, for good. Answers, verdicts and money stay here.

    Raises Refused (nothing_to_delete).
    """
    total = hit_plans.clearable(stage).count()
    if not total:
        raise Refused(
            "nothing_to_delete",
            "No HIT of this stage is over with all its answers decided. Collect and review the answers first.",
        )
    return Batch.objects.create(stage=stage, kind=Batch.Kind.DELETE, total=total, created_by=user)
