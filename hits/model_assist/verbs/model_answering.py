"""Model answering: a model is given items of a stage for a time, and its answers are checked as those of workers are.

All of a call is stored, or nothing. What it stores are rows of its own tables: no answer of a person, no label, no cost
in the ledger.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import Count, Exists, F, Max, OuterRef, QuerySet
from django.template.loader import render_to_string
from django.utils import timezone

from common import request_id
from common.html_tags import Page as HtmlPage
from hits.answers.rules import item_answers, task_words
from hits.answers.rules.task_pages import page_of
from hits.core.jobs.failures import note
from hits.items.rules.media import with_media
from hits.judging.rules.crowd_answers import levels_of
from hits.model_assist.rules import model_leases
from hits.model_assist.rules.model_leases import MOST_TIMES
from hits.models import Hit, Item, ModelAnnotator, ModelAnswer, ModelLease, Stage
from hits.projects.rules.archived import refuse_archived
from hits.projects.rules.plugins import protocol_of, settings_of, usable_protocol
from hits.protocols.base import AnswerRefusedError, CheckedAnswer, Json, StepwiseProtocol
from hits.protocols.html_page.controls import Field, fields
from hits.publishing.rules.hit_questions import has_own_page, own_page
from hits.recipes.source import MODEL
from hits.refusals import Refused

MOST_ITEMS, USUAL_ITEMS = 100, 20
SHORTEST_LEASE, USUAL_LEASE, LONGEST_LEASE = 10, 600, 3600
MOST_FIELDS, LONGEST_FIELDS = 500, 100_000
# Of fields that the task does not have, in one fault.
MOST_NAMED = 10
# What the page of a worker posts beside what the task asks.
_BESIDE = frozenset({"page", "seconds_open", "step", item_answers.ON_SCREEN, request_id.HEADER})
# A page with a token is one with a form; nothing is posted with it.
_TOKEN = "model"


@dataclass(frozen=True)
class Given:
    """One answer as a model sends it. `confidence` is 0..1, `cost` in dollars; None: not stated."""

    item: int
    fields: Mapping[str, str]
    confidence: float | None = None
    milliseconds: int | None = None
    cost: Decimal | None = None


@dataclass(frozen=True)
class Lent:
    """An item that a model may answer now: what a worker's page shows, as data."""

    item: Item
    task: Json
    until: datetime | None = None


@dataclass(frozen=True)
class Stored:
    new: int
    unchanged: int


@dataclass(frozen=True)
class Described:
    """How an answer to a stage looks. `fields` are those of the page of a worker."""

    units: Mapping[str, str]
    fields: tuple[Field, ...]
    example: Lent | None


def worker_name(annotator: ModelAnnotator) -> str:
    """What stands where the page of a worker has the worker's id: it seeds what everybody sees in another order."""
    return f"{MODEL}{annotator.pk}"


def is_for_models(stage: Stage) -> bool:
    """Whether what the stage asks about an item can be given as a whole."""
    return not isinstance(usable_protocol(stage), StepwiseProtocol)


def refuse_several_screens(stage: Stage) -> None:
    """Raises Refused (several_screens)."""
    if not is_for_models(stage):
        raise Refused(
            "several_screens",
            f"“{stage.title}” asks on several screens, one after another, and models cannot answer those.",
        )


def answerable(stage: Stage) -> QuerySet[Item]:
    """The items that models are given: also check questions, and those that people answered."""
    return stage.items.exclude(state=Item.State.WITHDRAWN).filter(for_practice=False)


# Taking items


def take(annotator: ModelAnnotator, stage: Stage, count: int, seconds: int) -> list[Lent]:
    """Up to so many items that the model has not answered, which no other process of it is given for so many seconds.

    Those of which a lease ended unanswered come first, then the others in their order. Raises ArchivedError and
    SeveralScreensError.
    """
    refuse_archived(stage.project)
    refuse_several_screens(stage)
    until = timezone.now() + timedelta(seconds=seconds)
    with transaction.atomic():
        # Two processes of one model take one after the other.
        ModelAnnotator.objects.select_for_update(no_key=True).get(pk=annotator.pk)
        again = _ended(annotator, stage, count)
        ModelLease.objects.filter(annotator=annotator, item__in=again).update(until=until, times=F("times") + 1)
        new = _never_given(annotator, stage, count - len(again)) if len(again) < count else []
        ModelLease.objects.bulk_create(
            ModelLease(annotator=annotator, item_id=pk, stage=stage, until=until) for pk in new
        )
    found = lent(annotator, stage, [*again, *new], until)
    # What cannot be shown would be waited for in vain.
    hidden = {*again, *new} - {one.item.pk for one in found}
    ModelLease.objects.filter(annotator=annotator, item__in=hidden).update(times=MOST_TIMES)
    return found


def _ended(annotator: ModelAnnotator, stage: Stage, count: int) -> list[int]:
    ended = model_leases.ended(annotator, stage).order_by("item_id")
    return list(ended.values_list("item_id", flat=True)[:count])


def _never_given(annotator: ModelAnnotator, stage: Stage, count: int) -> list[int]:
    """Behind the newest item that it was given, while there are any: that costs the same however many it answered."""
    newest = max(
        rows.filter(stage=stage, annotator=annotator).aggregate(newest=Max("item_id"))["newest"] or 0
        for rows in (ModelLease.objects, ModelAnswer.objects)
    )
    rows = answerable(stage).order_by("pk").values_list("pk", flat=True)
    if behind := list(rows.filter(pk__gt=newest)[:count]):
        return behind
    # What was taken back when its turn came and is here again.
    seen = (model.objects.filter(annotator=annotator, item=OuterRef("pk")) for model in (ModelLease, ModelAnswer))
    leased, answered = (Exists(rows_of) for rows_of in seen)
    return list(rows.filter(~leased, ~answered)[:count])


def lent(annotator: ModelAnnotator, stage: Stage, pks: Sequence[int], until: datetime | None = None) -> list[Lent]:
    """What the page of a worker shows of these items, in their order; one whose task cannot be shown is left out."""
    protocol, options = protocol_of(stage), settings_of(stage)
    rows = Item.objects.select_related("document").in_bulk(pks)
    items = [rows[pk] for pk in pks if pk in rows]
    documents = with_media(protocol, stage.project_id, [(item.document.data, item.data) for item in items], options)
    found = []
    for item, document in zip(items, documents, strict=True):
        try:
            with task_words.english():
                task = protocol.page(document, item.data, options, worker_name(annotator))
        except Exception as error:
            note(error, f"item {item.pk} for a model")
            continue
        found.append(Lent(item, task, until))
    return found


# How an answer looks


def described(annotator: ModelAnnotator, stage: Stage) -> Described:
    """By the page of the stage's first item. Raises Refused (several_screens)."""
    refuse_several_screens(stage)
    first = answerable(stage).order_by("pk").values_list("pk", flat=True).first()
    example = next(iter(lent(annotator, stage, [first])), None) if first else None
    found = _fields(stage, example.item, worker_name(annotator)) if example else ()
    return Described(levels_of(stage), found, example)


def _fields(stage: Stage, item: Item, worker: str) -> tuple[Field, ...]:
    item.stage = stage
    try:
        with task_words.english():
            html = _html(Hit(stage=stage, item=item), worker)
    except Exception as error:
        # The code of a task; a model can read the task's data all the same.
        note(error, f"the page of {stage} for a model")
        return ()
    return tuple(one for one in fields(HtmlPage(html)).values() if one.name not in _BESIDE)


def _html(hit: Hit, worker: str) -> str:
    stage, item = hit.stage, hit.item
    if has_own_page(stage):
        return own_page(hit).html
    page = page_of(hit, item, worker_id=worker, token=_TOKEN)
    return render_to_string(page.template, {"page": page, "project": stage.project})


# Answering


@dataclass
class _Faults:
    """Each code and message once, with the items that have it, in their order."""

    found: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, code: str, message: str, item: int) -> None:
        self.found[code, message].append(item)

    def refuse(self) -> None:
        """Raises Refused (answered_otherwise, model_answers_refused)."""
        if not self.found:
            return
        count = len({item for items in self.found.values() for item in items})
        message = (
            f"{count:,} of the answers {'is' if count == 1 else 'are'} not accepted, so nothing was stored. Take out "
            "those that `faults` names, and send the rest."
        )
        faults = [{"code": code, "message": said, "items": items} for (code, said), items in self.found.items()]
        if any(code == "answered_otherwise" for code, _ in self.found):
            raise Refused("answered_otherwise", message, faults=faults)
        raise Refused("model_answers_refused", message, status=400, faults=faults)


def answer(annotator: ModelAnnotator, stage: Stage, given: Sequence[Given]) -> Stored:
    """Store all of these answers, each checked by the stage's task as that of a worker is.

    The same answer again changes nothing. Raises Refused and ArchivedError; then nothing is stored.
    """
    refuse_archived(stage.project)
    faults = _Faults()
    _refuse_twice(given, faults)
    items = Item.objects.filter(stage=stage).select_related("document").in_bulk([one.item for one in given])
    checked = _checked(annotator, stage, given, items, faults)
    with transaction.atomic():
        ModelAnnotator.objects.select_for_update(no_key=True).get(pk=annotator.pk)
        pks = [one.item for one in given]
        before = {row.item_id: row for row in ModelAnswer.objects.filter(annotator=annotator, item__in=pks)}
        leased = set(ModelLease.objects.filter(annotator=annotator, item__in=pks).values_list("item_id", flat=True))
        new = []
        for one in given:
            if one.item in before:
                row = before[one.item]
                sent = (dict(one.fields), one.confidence, one.milliseconds, _cost(one, annotator))
                if sent != (row.fields, row.confidence, row.milliseconds, row.cost):
                    faults.add("answered_otherwise", "The model gave another answer to this item before.", one.item)
            elif one.item not in leased or one.item not in items:
                faults.add("not_given", "This item was not given to this model: take items first.", one.item)
            else:
                new.append(one)
        faults.refuse()
        ModelAnswer.objects.bulk_create(_row(annotator, stage, one, checked[one.item]) for one in new)
        ModelLease.objects.filter(annotator=annotator, item__in=[one.item for one in new]).delete()
    return Stored(len(new), len(given) - len(new))


def _refuse_twice(given: Sequence[Given], faults: _Faults) -> None:
    """Raises Refused (model_answers_refused): which of the two is meant, nobody can tell."""
    seen: set[int] = set()
    for one in given:
        if one.item in seen:
            faults.add("twice", "Two answers of this call are about this item: send one.", one.item)
        seen.add(one.item)
    faults.refuse()


def _checked(
    annotator: ModelAnnotator, stage: Stage, given: Sequence[Given], items: Mapping[int, Item], faults: _Faults
) -> dict[int, CheckedAnswer]:
    protocol, options, worker = protocol_of(stage), settings_of(stage), worker_name(annotator)
    found = {}
    for one in given:
        if one.item not in items:
            continue
        sent = _Sent(one.fields)
        try:
            with task_words.english():
                found[one.item] = item_answers.check_item(protocol, options, items[one.item], sent, worker)
        except AnswerRefusedError as refusal:
            faults.add("does_not_fit", str(refusal), one.item)
        except Exception as error:
            note(error, f"an answer of a model to item {one.item}")
            faults.add("does_not_fit", "The task's own code failed on this answer; the log says where.", one.item)
        if sent.unread:
            _refuse_unknown(stage, items[one.item], sent.unread, worker, faults)
    return found


class _Sent(Mapping[str, str]):
    """The fields of an answer, which notes those that a task does not read.

    No task has a list of all its fields: some are named by the item, others are made by scripts of the page.
    """

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = dict(fields)
        self.unread = list(self._fields)

    def __getitem__(self, name: str) -> str:
        value = self._fields[name]
        if name in self.unread:
            self.unread.remove(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


def _refuse_unknown(stage: Stage, item: Item, unread: Sequence[str], worker: str, faults: _Faults) -> None:
    """A field that the task did not read may still be one of its page, such as one that only another choice opens."""
    page = [one.name for one in _fields(stage, item, worker)]
    unknown = [name for name in unread if name not in page and name not in _BESIDE]
    if unknown and page:
        named = ", ".join(f"{name:.60}" for name in unknown[:MOST_NAMED]) + (" …" if len(unknown) > MOST_NAMED else "")
        faults.add("unknown_field", f"The task has no field {named}; it has: {', '.join(page)}.", item.pk)


def _cost(one: Given, annotator: ModelAnnotator) -> Decimal | None:
    return annotator.cost_per_answer if one.cost is None else one.cost


def _row(annotator: ModelAnnotator, stage: Stage, one: Given, checked: CheckedAnswer) -> ModelAnswer:
    compared = [label.correct for label in checked.labels if label.correct is not None]
    return ModelAnswer(
        annotator=annotator,
        item_id=one.item,
        stage=stage,
        fields=dict(one.fields),
        labels=[{"unit": label.unit, "value": label.value, "correct": label.correct} for label in checked.labels],
        scored=len(compared),
        correct=sum(compared),
        confidence=one.confidence,
        milliseconds=one.milliseconds,
        cost=_cost(one, annotator),
    )


def answered(annotator: ModelAnnotator, stages: Sequence[Stage]) -> dict[int, int]:
    """Stage to the answers of the model."""
    rows = ModelAnswer.objects.filter(stage__in=stages, annotator=annotator).order_by().values_list("stage_id")
    return dict(rows.annotate(n=Count("pk")))
