"""Deciding: the stage's rule turns the labels of an item into a verdict that names the rule's version."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple, cast

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from hits.core.jobs.failures import UNJUDGED, note, unjudged
from hits.judging.rules import aggregated_values, required_answers
from hits.judging.rules.crowd_answers import Comparison
from hits.judging.rules.item_votes import disagreements
from hits.judging.rules.required_answers import answers_counted
from hits.judging.rules.summaries import refresh_summary
from hits.model_assist.rules import model_votes
from hits.models import (
    Assignment,
    ComputationRun,
    Extension,
    Hit,
    Item,
    Label,
    Stage,
    StageSummary,
    Verdict,
    Webhook,
    WebhookDelivery,
)
from hits.payments.rules import answer_reserves
from hits.projects.rules.plugins import protocol_of, settings_of
from hits.protocols.base import Json
from hits.protocols.optional import ItemwiseProtocol
from hits.publishing.rules.excess_hits import AT_THE_MARKETPLACE, excess, free_places, mark_unwanted, with_coming
from hits.publishing.rules.hit_items import all_item_pks, by_item, hits_of, lock_items
from hits.stats import enough
from hits.stats.vote_rules.conditions import Values
from hits.stats.vote_rules.votes import Outcome, Rule, Vote
from hits.stats.vote_rules.votes import decide as apply_rule
from hits.webhooks.rules import api_address

CHUNK = 1000
_WRITTEN = ["state", "conclusion", "ballots", "ballots_at", "disagreement", "waits_for_values", "wanted"]
_WAITING: Mapping[str, Any] = {"outcome": "open", "conclusion": "", "parts": {}, "waits": True}
# How often a HIT that closed with places nobody took is opened again without a person.
REOPENINGS = 3
NOBODY_CAME = (
    "It closed {times} times with places that nobody took, so it is not opened again by itself. "
    "Publish its item when workers are about."
)


def decide(stage: Stage) -> int:
    """Conclude every item that something happened to; returns how many were looked at.

    The same labels and the same rule give the same verdict, so running again changes nothing.
    """
    total, measured = 0, True
    stale = stage.items.filter(stale=True)
    while items := list(stale.order_by("id")[:CHUNK]):
        with transaction.atomic():
            _decide_chunk(stage, items)
            # With the last items the figures: whoever sees that nothing is left to be decided reads them next.
            if measured := not stale.exists():
                refresh_figures(stage)
        total += len(items)
    if not measured:
        # Another process decided the last ones.
        refresh_figures(stage)
    return total


def refresh_figures(stage: Stage) -> None:
    """Count the stage's figures and those that its task measures besides, unless they rest: see `refresh_summary`."""
    began = time.monotonic()
    if not refresh_summary(stage):
        return
    try:
        with transaction.atomic():
            scores = _measured(stage)
            if scores is not None:
                taken = time.monotonic() - began
                StageSummary.objects.filter(stage=stage).update(scores=scores, count_seconds=taken)
    except Exception as error:
        # The verdicts are written and stand; figures that a task measures besides are those of the last time.
        note(error, f"the measures of {stage}")


def unfinished() -> list[int]:
    """Stages with items that something happened to and that nobody looked at since."""
    return sorted(set(Item.objects.filter(stale=True).values_list("stage", flat=True)))


def _decide_chunk(stage: Stage, items: Sequence[Item]) -> None:
    with transaction.atomic():
        # Cleared before rule and labels are read: what happens from now on makes the item stale again.
        lock_items(item.pk for item in items)
        Item.objects.filter(id__in=[item.pk for item in items]).update(stale=False)
        # A check question has no verdict.
        items = [item for item in items if item.state != Item.State.CHECK]
        pks = [item.pk for item in items]
        stage.refresh_from_db(fields=["rule", "rule_edition"])
        rule = Rule.from_dict(stage.rule)
        withdrawn = _withdrawn(pks)
        comparison = Comparison.of(stage)
        votes = _votes([pk for pk in pks if pk not in withdrawn], rule.params["answers"], comparison)
        # To them no answer of people counts. Where the stage has come to go by values that are computed over people's
        # answers, these items wait for people again.
        unanswered = [pk for pk in pks if pk not in withdrawn and pk not in votes]
        by_people = not unanswered or aggregated_values.looked_at(stage)
        routed = {} if by_people else model_votes.of_items(unanswered)
        votes |= {pk: model_votes.votes(one.labels, rule.params["answers"]) for pk, one in routed.items()}
        votes = {pk: votes[pk] for pk in pks}
        _mark_changed(items, votes)
        computation, values = _values(stage, items)
        wanted, waiting = _wanted(stage, items, votes, values)
        votes = {pk: given[: wanted.get(pk)] for pk, given in votes.items()}
        hits = _hits(pks)
        by_pk = by_item(hits, pks)
        newest = {pk: rows[-1] for pk, rows in by_pk.items()}
        unscored = {pk for pk, rows in by_pk.items() if any(row.unscored for row in rows)}  # type: ignore[attr-defined]
        outcomes = _outcomes(rule, votes, newest, wanted, values)
        outcomes |= {pk: replace(outcomes[pk], **_WAITING) for pk in waiting if pk in outcomes}
        routings = {pk: one.routing for pk, one in routed.items()}
        changed = _write_verdicts(outcomes, stage.rule_edition, computation, routings)
        _announce(stage, [item for item in items if item.pk in changed], changed)
        apart = disagreements(
            comparison.levels, {pk: [vote.compared for vote in votes[pk]] for pk in outcomes if pk not in routed}
        )
        turned = [item.pk for item in items if (item.state == Item.State.WITHDRAWN) != (item.pk in withdrawn)]
        for item in (item for item in items if item.pk in outcomes):
            item.state = _state(outcomes[item.pk], newest.get(item.pk), item.pk in unscored)
            item.waits_for_values = outcomes[item.pk].waits
            if item.pk in withdrawn:
                item.state = Item.State.WITHDRAWN
            item.conclusion = outcomes[item.pk].conclusion
            item.ballots = ballots(votes[item.pk])
            item.disagreement = apart.get(item.pk)
            item.wanted = wanted.get(item.pk)
        Item.objects.bulk_update(items, _WRITTEN, batch_size=500)
        answer_reserves.release(stage, pks)
        # HITs whose items wait for a lead because nobody came say so.
        left = [newest[item.pk] for item in items if item.state == Item.State.NEW and item.pk in newest]
        left = [hit for hit in left if hit.state == Hit.State.CLOSED and not hit.closed_early and _nobody_comes(hit)]
        why = NOBODY_CAME.format(times=REOPENINGS + 1)
        Hit.objects.filter(id__in=[hit.pk for hit in left]).update(error=why)
        _mark_unwanted(stage, outcomes, hits, withdrawn)
        # What was drawn from them goes and comes with them.
        Item.objects.filter(parent__in=turned).update(stale=True)


def _withdrawn(pks: Sequence[int]) -> set[int]:
    """Those of the items that were made from an answer that does not count, and what was drawn from such items."""
    counts = Label.objects.of_counting_answers().filter(assignment=OuterRef("source"))
    of_source = Q(source__isnull=False) & ~Exists(counts)
    rows = Item.objects.filter(of_source | Q(parent__state=Item.State.WITHDRAWN), pk__in=pks)
    return set(rows.values_list("pk", flat=True))


def _mark_changed(items: Sequence[Item], votes: Mapping[int, Sequence[Vote]]) -> None:
    """Note when what is known of an item's answers became another thing."""
    now = timezone.now()
    for item in items:
        if item.ballots_at is None or ballots(votes[item.pk][: item.wanted]) != item.ballots:
            item.ballots_at = now


def _values(stage: Stage, items: Sequence[Item]) -> tuple[ComputationRun | None, Mapping[int, Values]]:
    """(the computation, item to its computed values where they hold); nothing where the stage does not go by any."""
    if not aggregated_values.looked_at(stage):
        return None, {}
    return aggregated_values.of_items(stage, {item.pk: item.ballots_at for item in items})


def _wanted(
    stage: Stage, items: Sequence[Item], votes: Mapping[int, Sequence[Vote]], values: Mapping[int, Values]
) -> tuple[dict[int, int], set[int]]:
    """(item to the answers that it wants by what its first ones say, the items for which that hangs on values that are
    still to be computed); empty where the number cannot grow.

    The number of an item never falls where it goes by computed values: those of its earlier answers alone are gone.
    """
    most, text = stage.most_answers, stage.enough
    if most is None:
        return {}, set()
    stays = enough.looks_at_values(text, most)
    wanted, waiting = {}, set()
    for item in items:
        said, known = [vote.said for vote in votes[item.pk]], values.get(item.pk)
        least = max(stage.answers, item.wanted or 0) if stays else stage.answers
        wanted[item.pk] = enough.answers_wanted(said, least, most, text, known)
        if enough.waits(said, wanted[item.pk], most, text, known):
            waiting.add(item.pk)
    return wanted, waiting


def _outcomes(
    rule: Rule,
    votes: Mapping[int, Sequence[Vote]],
    newest: Mapping[int, Hit],
    wanted: Mapping[int, int],
    values: Mapping[int, Values],
) -> dict[int, Outcome]:
    """Of the items that the rule can judge; a HIT of each other one says why, and its verdict stays what it was."""
    outcomes: dict[int, Outcome] = {}
    for pk, given in votes.items():
        try:
            outcomes[pk] = apply_rule(rule, given, wanted.get(pk), values.get(pk))
        except Exception as error:
            why = unjudged(error, f"item {pk}")
            if pk in newest:
                Hit.objects.filter(pk=newest[pk].pk).update(error=why)
    cleared = [newest[pk].pk for pk in outcomes if pk in newest and newest[pk].error.startswith(UNJUDGED)]
    Hit.objects.filter(pk__in=cleared).update(error="")
    return outcomes


def _votes(pks: Sequence[int], wanted: int, comparison: Comparison) -> dict[int, list[Vote]]:
    """The first votes that count, in the order of their submission, one a worker; later ones are spare.

    An answer of which a lead took a label back is a vote all the same, and says nothing of that unit.
    """
    votes: dict[int, list[Vote]] = defaultdict(list)
    rows = Label.objects.of_counting_answers().filter(item__in=pks).order_by("assignment__submitted_at", "id")
    first: dict[tuple[int, int], tuple[int, Vote]] = {}
    columns = ("item", "worker__pk", "assignment", "unit", "value", "correct", "undone_at")
    for item, worker, assignment, unit, value, correct, undone_at in rows.values_list(*columns):
        if (item, worker) not in first:
            if len(votes[item]) == wanted:
                continue
            vote = Vote(str(worker), value, correct, said={}, compared={})
            first[item, worker] = (assignment, vote)
            votes[item].append(vote)
        # A second answer of the same worker is spare, one more label of the first answer is not.
        of, vote = first[item, worker]
        if of == assignment and undone_at is None:
            model_votes.say(cast(dict, vote.said), unit, value, correct)
            _compare(cast(dict, vote.compared), comparison, unit, value)
    return votes


def _compare(compared: dict[tuple[str, str], Hashable], comparison: Comparison, unit: str, value: Any) -> None:
    try:
        place = comparison.place(unit, value)
    except Exception as error:
        # No verdict goes by it: the item is decided all the same.
        note(error, f"comparing the label {unit!r}")
        return
    if place is not None:
        compared[place[0], place[1]] = place[2]


def ballots(votes: Sequence[Vote]) -> str:
    """What the votes say, in one spelling whatever their order; rules look at nothing else."""
    return json.dumps(sorted((dict(vote.said) for vote in votes), key=_spelled), sort_keys=True, ensure_ascii=False)


def _spelled(said: Mapping[str, Any]) -> str:
    return json.dumps(said, sort_keys=True, ensure_ascii=False)


def _write_verdicts(
    outcomes: dict[int, Outcome], edition: int, computation: ComputationRun | None, routings: Mapping[int, int]
) -> dict[int, Outcome]:
    """Returns the outcomes that are others than before. `routings` has the routing of each item that models decide."""
    standing = {v.item_id: v for v in Verdict.objects.filter(item__in=outcomes, superseded_at=None)}
    changed = {pk: outcome for pk, outcome in outcomes.items() if _differs(standing.get(pk), outcome, routings.get(pk))}
    Verdict.objects.filter(item__in=changed, superseded_at=None).update(superseded_at=timezone.now())
    Verdict.objects.bulk_create(
        Verdict(
            item_id=pk,
            outcome=outcome.outcome,
            rule=outcome.rule,
            rule_version=outcome.version,
            rule_edition=edition,
            conclusion=outcome.conclusion,
            parts=dict(outcome.parts),
            detail=_detail(outcome, routings.get(pk)),
            computation=computation,
            routing_id=routings.get(pk),
        )
        for pk, outcome in changed.items()
        if outcome.outcome != "open"
    )
    return changed


def _announce(stage: Stage, items: Sequence[Item], changed: Mapping[int, Outcome]) -> None:
    """Tell webhooks what these items came to; what is open again is told too, for it was decided before."""

    def facts() -> Iterator[Json]:
        verdicts = Verdict.objects.filter(item__in=changed).order_by().values_list("item")
        numbers = dict(verdicts.annotate(n=Count("pk")))
        for item in items:
            outcome = changed[item.pk]
            yield {
                "stage": stage.key,
                "item": item.key,
                "id": item.pk,
                "outcome": outcome.outcome,
                "conclusion": outcome.conclusion,
                "parts": dict(outcome.parts),
                # Each verdict and each end of one is another step: the larger number is the later one.
                "revision": 2 * numbers[item.pk] - (outcome.outcome != "open"),
                "see": api_address("item", stage.project.slug, stage.key, item.pk),
            }

    if items:
        WebhookDelivery.objects.announce(stage.project_id, Webhook.Event.ITEM_DECIDED, facts)


def _differs(standing: Verdict | None, outcome: Outcome, routing: int | None) -> bool:
    if standing is None:
        return outcome.outcome != "open"
    if standing.routing_id != routing:
        return True
    said = (standing.outcome, standing.conclusion, standing.parts, standing.rule, standing.rule_version)
    says = (outcome.outcome, outcome.conclusion, dict(outcome.parts), outcome.rule, outcome.version)
    return said != says or standing.detail != _detail(outcome, routing)


def _detail(outcome: Outcome, routing: int | None) -> dict[str, int]:
    """What the answers were; nothing where models decided without any."""
    return outcome.counts.to_dict() if routing is None else {}


def _hits(pks: Sequence[int]) -> list[Hit]:
    """By slot, with `growing` (an extension is on its way), `reopened` (how often for places that nobody took) and
    `unscored` (answers that were harvested and are no labels yet).
    """
    for_free_places = Q(extensions__state=Extension.State.DONE, extensions__places__gt=F("extensions__assignments"))
    rows = with_coming(hits_of(pks)).annotate(
        growing=Count("extensions", filter=Q(extensions__state=Extension.State.PLANNED)),
        reopened=Count("extensions", filter=for_free_places),
        unscored=Exists(Assignment.objects.filter(hit=OuterRef("pk"), scored=False)),
    )
    return list(rows.order_by("slot"))


def _mark_unwanted(
    stage: Stage, outcomes: Mapping[int, Outcome], hits: Sequence[Hit], withdrawn: Collection[int]
) -> None:
    """An item that has its answers back, for instance since a block was undone, wants none in their place."""
    touched: dict[int, Hit] = {}
    for rows in by_item(hits, outcomes).values():
        if any(hit.unwanted or free_places(hit) > 0 for hit in rows):
            touched |= {hit.pk: hit for hit in rows}
    asked = all_item_pks(touched.values())
    needed = _still_wanted(stage, asked, outcomes, withdrawn)
    beside = asked - set(outcomes)
    known = {hit.pk for hit in hits}
    others = [hit for hit in with_coming(hits_of(beside)) if hit.pk not in known] if beside else []
    mark_unwanted(touched.values(), excess(by_item([*hits, *others], asked), needed))


def _still_wanted(
    stage: Stage, items: Set[int], outcomes: Mapping[int, Outcome], withdrawn: Collection[int]
) -> dict[int, int]:
    """Item to the answers that may still come: of those that were judged now by their outcome, else by their state."""
    counted = answers_counted(sorted(items))
    states = dict(Item.objects.filter(pk__in=items - set(outcomes)).values_list("pk", "state"))
    # Nothing is bought for a check question alone.
    alone = (Item.State.WITHDRAWN, Item.State.CHECK)
    gone = {*withdrawn, *(pk for pk, state in states.items() if state in alone)}
    ended = {pk for pk, state in states.items() if state in (Item.State.KEPT, Item.State.DROPPED)}
    ended |= {pk for pk, outcome in outcomes.items() if outcome.outcome != "open"}
    wanted = required_answers.answers_wanted(stage, items)
    return {pk: 0 if pk in gone else max(int(pk not in ended), wanted[pk] - counted[pk]) for pk in items}


def _state(outcome: Outcome, newest: Any, unscored: bool) -> str:
    """`newest` is a HIT of `_hits`. `unscored`: an answer on this HIT or an earlier one is no label yet."""
    if outcome.outcome != "open":
        return {"kept": Item.State.KEPT, "dropped": Item.State.DROPPED}[outcome.outcome]
    # Another process may harvest while this one decides: an answer that is not scored yet is not missing.
    if outcome.waits or unscored:
        return Item.State.OPEN
    if newest is None or newest.state == Hit.State.REFUSED:
        return Item.State.NEW
    if newest.state in AT_THE_MARKETPLACE or newest.growing:
        return Item.State.OPEN
    if newest.harvested >= newest.max_assignments:
        # Every place was answered, yet an answer does not count: buy it again.
        return Item.State.AGAIN
    # Places that nobody took are opened again, unless a lead closed the HIT or opening it did not help.
    return Item.State.NEW if newest.closed_early or _nobody_comes(newest) else Item.State.AGAIN


def _nobody_comes(newest: Any) -> bool:
    return newest.reopened >= REOPENINGS


def _measured(stage: Stage) -> Json | None:
    """What the protocol measures over the answers: of items, such as how often the majority is right, under any rule;
    of single answers, such as EM and F1, where the rule only measures; None where it measures nothing.

    Items are measured as soon as all wanted answers count, by all that do, also those that the rule drops: what a rule
    does with ties changes no figure.
    """
    protocol = protocol_of(stage)
    if stage.rule["name"] != "measured" and not isinstance(protocol, ItemwiseProtocol):
        return None
    labels = Label.objects.counting().filter(stage=stage).exclude(item__state=Item.State.CHECK)
    if isinstance(protocol, ItemwiseProtocol):
        return protocol.item_scores(_all_answers(labels, stage), settings_of(stage))
    return protocol.scores(_first_answers(labels.filter(item__state=Item.State.KEPT)))


def _first_answers(labels: QuerySet[Label]) -> Iterator[tuple[Json, Json, Any]]:
    rows = labels.order_by("item", "assignment__submitted_at", "id").values_list(
        "item", "item__document__data", "item__data", "value"
    )
    last = None
    for item, document, data, value in rows.iterator(chunk_size=1000):
        if item != last:
            yield document, data, value
        last = item


def _all_answers(labels: QuerySet[Label], stage: Stage) -> Iterator[tuple[Json, Json, list[Json]]]:
    """(document, item, what each of its answers that count says), one an item that has as many as are wanted.

    Answers beyond those are measured too: releases, agreement and aggregation read the same ones. Only the verdict goes
    by the first ones that are wanted.
    """
    usual: int = stage.rule["params"]["answers"]
    own = stage.items.filter(wanted__isnull=False) if stage.most_answers else stage.items.none()
    numbers = {pk: wanted or usual for pk, wanted in own.values_list("pk", "wanted")}
    answered = (item for item in _answered_items(labels) if item.workers >= numbers.get(item.pk, usual))
    # A stage may have millions of answers: never more than one part of them is held.
    while part := {item.pk: item.said for item in islice(answered, CHUNK)}:
        items = Item.objects.filter(pk__in=part).order_by("pk").values_list("pk", "document__data", "data")
        for pk, document, data in items:
            yield document, data, part[pk]


class _Answered(NamedTuple):
    """An item, how many workers answered it, and what each of its answers says."""

    pk: int
    workers: int
    said: list[Json]


def _answered_items(labels: QuerySet[Label]) -> Iterator[_Answered]:
    rows = labels.order_by("item", "assignment__submitted_at", "id")
    columns = ("item", "worker__pk", "assignment", "unit", "value", "correct")
    for pk, given in groupby(rows.values_list(*columns).iterator(chunk_size=1000), key=itemgetter(0)):
        answers: dict[tuple[int, int], Json] = defaultdict(dict)
        for _, worker, assignment, unit, value, correct in given:
            answers[worker, assignment] |= {unit: value} | ({} if correct is None else {f"{unit}.correct": correct})
        yield _Answered(pk, len({worker for worker, _ in answers}), list(answers.values()))
