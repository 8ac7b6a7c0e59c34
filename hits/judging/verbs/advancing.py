"""Advancing: what a verdict leads to goes to the next stages of the recipe as it comes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from hits.core.action_log import record
from hits.core.jobs.failures import NOT_ADVANCED, not_advanced
from hits.items.rules.new_items import make_items
from hits.judging.rules.recipe_rows import judged, labels_of
from hits.judging.rules.summaries import refresh_summary
from hits.models import Assignment, Hit, Item, Label, Stage, Verdict
from hits.projects.rules.plugins import recipe_of
from hits.publishing.rules.hit_items import hits_of
from hits.recipes.inputs import items_for
from hits.recipes.source import JudgedItem, NextItem

CHUNK = 1000


def advance(stage: Stage) -> int:
    """Make later stages' items of the verdicts that nobody took up; returns how many items are new.

    Where a lead approves answers, an item waits until those that count are approved, unless the stage says
    otherwise. An item that its stage has already, by its key, is not made again. A verdict on
    which the recipe's code fails waits, says why on its item's newest HIT, and holds up no other.
    """
    recipe = recipe_of(stage.project)
    stages = {found.key: found for found in stage.project.stages.all()}
    # What is drawn from this stage does not come by itself.
    fed = [found for found in stages.values() if found.input.get("stage") == stage.key and not found.draws]
    waiting = _waiting().filter(item__stage=stage)
    new: dict[str, int] = defaultdict(int)
    behind: set[Stage] = set()
    after = 0
    while verdicts := list(waiting.filter(id__gt=after).select_related("item__document").order_by("id")[:CHUNK]):
        after = verdicts[-1].pk
        labels = labels_of([verdict.item_id for verdict in verdicts])
        to_come: dict[str, list[tuple[Item, NextItem]]] = defaultdict(list)
        taken_up: list[Verdict] = []
        for verdict in verdicts:
            try:
                said = judged(stage, verdict.item, verdict, labels.get(verdict.item_id, ()))
                made_next = [*recipe.next_items(said), *_own(fed, said)]
                leads_to = [(stages[made.stage].key, made) for made in made_next]
            except Exception as error:
                _say_why(verdict, error)
                continue
            for key, made in leads_to:
                to_come[key].append((verdict.item, made))
            taken_up.append(verdict)
        with transaction.atomic():
            for key, items in to_come.items():
                new[key] += make_items(stages[key], items)
            Verdict.objects.filter(id__in=[verdict.pk for verdict in taken_up]).update(advanced=True)
            cleared = hits_of(verdict.item_id for verdict in taken_up)
            cleared.filter(error__startswith=NOT_ADVANCED).update(error="")
            behind |= {stages[key] for key in to_come}
            if len(verdicts) < CHUNK:
                # With the last ones the figures: what is taken up is not looked at again.
                _refresh(behind)
    _refresh(behind)
    return sum(new.values())


def _own(fed: Sequence[Stage], said: JudgedItem) -> Iterator[NextItem]:
    for stage in fed:
        yield from items_for(stage.key, stage.input["each"], said)


def _refresh(behind: set[Stage]) -> None:
    while behind:
        refresh_summary(behind.pop())


def _say_why(verdict: Verdict, error: Exception) -> None:
    newest = hits_of([verdict.item_id]).order_by("-slot").first()
    why = not_advanced(error, f"verdict {verdict.pk}", newest.error if newest else "")
    if newest and newest.error != why:
        Hit.objects.filter(pk=newest.pk).update(error=why)


def unfinished() -> list[int]:
    """Stages with verdicts that nobody took up since a crash."""
    return sorted(set(_waiting().values_list("item__stage", flat=True)))


def _waiting() -> QuerySet[Verdict]:
    """Verdicts that nobody took up and that do not wait for the review of an answer."""
    answers = Label.objects.of_counting_answers().filter(item=OuterRef("item"))
    decided = [Assignment.State.APPROVED, Assignment.State.IMPORTED]
    unapproved = Exists(answers.exclude(assignment__state__in=decided))
    held = Q(item__stage__approval=Stage.Approval.REVIEW, item__stage__advance_approved=True)
    return Verdict.objects.filter(superseded_at=None, advanced=False).exclude(held & unapproved)


def only_approved(stage: Stage, wanted: bool, user: User | None) -> None:
    """Whether answers that a lead approves go on to later stages only once they are approved."""
    with transaction.atomic():
        if Stage.objects.filter(pk=stage.pk, advance_approved=not wanted).update(advance_approved=wanted):
            verb = "let only approved answers go on" if wanted else "let answers go on before their review"
            record(stage.project, user, verb, [stage])
    stage.advance_approved = wanted
