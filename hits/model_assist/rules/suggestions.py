"""Suggestions of a model: which values an item takes, which answers are given with them in sight, and which agree.

Where a stage shows them to half, the arm is drawn anew for each worker and item (`is_shown`). A draw for each worker
would compare different people; within one worker and one item the two arms differ in nothing but what the page showed,
so that fewer answers tell as much. Its price: a worker has seen suggestions on other items when one is hidden.

The arm hangs on the project's seed, the stage, the item and the worker, so a page that is opened again shows the same.
Nothing of it comes from the form: the harvest computes it again and writes it with the answer. The worker's id in a
page's address is a claim, so somebody could open the page in another worker's name to see what it shows there; that
person's own answer stays in its own arm.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hits.answers.models import Assignment, Label
from hits.formats.files.reading import unwanted
from hits.items.models import Item
from hits.judging.rules.required_answers import chunks, in_order
from hits.model_assist.models import SuggestedAnswer, Suggestion
from hits.projects.rules.plugins import protocol_of, settings_of, usable_protocol
from hits.protocols.base import AnswerRefusedError, Json
from hits.protocols.optional import KnownValuesProtocol, SuggestedProtocol
from hits.publishing.rules.hit_items import item_pks
from hits.recipes.source import SourceSuggestion
from hits.refusals import Refused
from hits.stages.models import Stage
from hits.text.cells import as_text

LONGEST_VALUE, LONGEST_MODEL = 16_000, 120
# Of a message about what is there instead.
NAMED = 10
Fault = tuple[str, str]
"""Which part of a suggestion is wrong (field, value, score or model), and the end of a sentence about it."""


def none_taken(stage: Stage) -> str:
    """The sentence about a stage whose task takes none."""
    protocol = usable_protocol(stage)
    return f"The task “{protocol.title if protocol else stage.protocol}” takes no suggestions."


def takes_suggestions(stage: Stage) -> bool:
    return isinstance(usable_protocol(stage), SuggestedProtocol)


def suggested_protocol(stage: Stage) -> SuggestedProtocol:
    """Raises Refused (no_suggestions)."""
    protocol = protocol_of(stage)
    if not isinstance(protocol, SuggestedProtocol):
        raise Refused("no_suggestions", f"{none_taken(stage)} Nothing was changed.")
    return protocol


# What is taken


@dataclass(frozen=True)
class GivenSuggestion:
    """As it was written: every part is a text, and an empty score is none."""

    field: str
    text: str
    score: str = ""
    model: str = ""


def checked(
    protocol: SuggestedProtocol, options: Json, document: Json, item: Json, given: GivenSuggestion
) -> tuple[SourceSuggestion | None, list[Fault]]:
    """The suggestion as it is kept, or None and everything that is wrong with it."""
    faults: list[Fault] = []
    score = _score(given.score, faults)
    if len(given.model) > LONGEST_MODEL:
        faults.append(("model", f"has {len(given.model):,} characters, the limit is {LONGEST_MODEL}"))
    if message := unwanted(given.model):
        faults.append(("model", message))
    fields = list(protocol.suggestible(document, item, options))
    value = None
    if given.field not in fields:
        there = ", ".join(fields[:NAMED]) + (" …" if len(fields) > NAMED else "")
        faults.append(("field", f"{given.field!r:.60} is no field that takes a suggestion; there are: {there}"))
    else:
        value = _value(protocol, options, document, item, given, faults)
    return (None if faults else SourceSuggestion(given.field, value, score, given.model)), faults


def _score(text: str, faults: list[Fault]) -> float | None:
    if not text:
        return None
    try:
        score = float(text)
    except ValueError:
        score = -1.0
    # Also where it is no number at all, such as nan.
    if not 0 <= score <= 1:
        faults.append(("score", f"must be a number from 0 to 1, or empty, not {text!r:.40}"))
    return score


def _value(
    protocol: SuggestedProtocol, options: Json, document: Json, item: Json, given: GivenSuggestion, faults: list[Fault]
) -> Any:
    message = "must not be empty" if not given.text.strip() else unwanted(given.text) or ""
    if len(given.text) > LONGEST_VALUE:
        message = f"has {len(given.text):,} characters, the limit is {LONGEST_VALUE:,}"
    if message:
        faults.append(("value", message))
        return None
    try:
        return protocol.suggestion(document, item, options, given.field, given.text)
    except AnswerRefusedError as refusal:
        faults += [("value", reason.rstrip(".")) for reason in refusal.reasons]
        return None


def rows_of(pairs: Iterable[tuple[Item, Iterable[SourceSuggestion]]]) -> list[Suggestion]:
    """Unsaved rows for items that are saved."""
    return [
        Suggestion(item=item, field=one.field, value=one.value, score=one.score, model=one.model)
        for item, suggestions in pairs
        for one in suggestions
    ]


# What a page shows


def is_shown(stage: Stage, item_key: str, worker_id: str) -> bool:
    """Whether the page of this item shows its suggestions to this worker; nobody's page is in no arm, so it hides them
    where half of the answers are given without.
    """
    if stage.suggestions != Stage.Suggestions.HALF:
        return stage.suggestions == Stage.Suggestions.SHOWN
    if not worker_id:
        return False
    seed = f"suggestion\0{stage.project.seed}\0{stage.key}\0{item_key}\0{worker_id}"
    return hashlib.sha256(seed.encode()).digest()[0] < 128


def shown_on(stage: Stage, item: Item, worker_id: str) -> dict[str, str]:
    """What the page of the item shows this worker: the words of each suggestion by its field. One query at most."""
    if stage.suggestions == Stage.Suggestions.HIDDEN or item.pk is None or not is_shown(stage, item.key, worker_id):
        return {}
    protocol = protocol_of(stage)
    if not isinstance(protocol, SuggestedProtocol):
        return {}
    options = settings_of(stage)
    return {one.field: in_words(protocol, options, item, one) for one in item.suggestions.order_by("pk")}


def in_words(protocol: SuggestedProtocol, options: Json, item: Item, suggestion: Suggestion) -> str:
    """The value as the page words an answer that says the same."""
    document, data = item.document.data, item.data
    labels = protocol.suggested_labels(document, data, options, suggestion.field, suggestion.value)
    return "; ".join(line.said for line in protocol.in_lines(document, data, options, labels))


def told(stage: Stage, item: Item) -> list[tuple[Suggestion, str]]:
    """Each suggestion for the item with its value in words, for leads."""
    rows = list(item.suggestions.order_by("pk"))
    protocol = usable_protocol(stage) if rows else None
    if not isinstance(protocol, SuggestedProtocol):
        return [(row, as_text(row.value)) for row in rows]
    options = settings_of(stage)
    return [(row, in_words(protocol, options, item, row)) for row in rows]


# What the task does not take any more


def unfit(stage: Stage, most: int | None = None) -> list[str]:
    """Why suggestions that workers are to see cannot be shown, as at most one sentence: the task has changed since.

    Of the items that are published next, so many at most. A suggestion that nobody sees keeps nothing up.
    """
    protocol = usable_protocol(stage)
    if stage.suggestions == Stage.Suggestions.HIDDEN or not isinstance(protocol, SuggestedProtocol):
        return []
    options, count, first = settings_of(stage), 0, ""
    pks = in_order(stage.items.filter(state=Item.State.NEW), most)
    for some in chunks(pks, 1000):
        rows = Suggestion.objects.filter(item__in=some).select_related("item__document").order_by("item", "pk")
        for row in rows:
            given = GivenSuggestion(row.field, as_text(row.value))
            found, faults = checked(protocol, options, row.item.document.data, row.item.data, given)
            if found is None or found.value != row.value:
                count += 1
                first = (
                    first or f"{row.item.key}: {row.field} {faults[0][1] if faults else 'means another answer now'}."
                )
    if not count:
        return []
    have = "1 suggestion is" if count == 1 else f"{count:,} suggestions are"
    return [f"{have} nothing that the task takes now, such as {first} Send others for these items, or hide them."]


def refuse_unfit(stage: Stage, items: int) -> None:
    """Raises Refused (suggestions_do_not_fit) where one of so many items, which are to be published next, has one."""
    if sentences := unfit(stage, items):
        raise Refused("suggestions_do_not_fit", sentences[0])


# What became of them


def keep(stage: Stage, answers: Sequence[Assignment]) -> None:
    """Write of these new answers, with their HITs and workers, what of suggestions their pages showed. To be called in
    the transaction that writes the answers.
    """
    pks = item_pks(answer.hit for answer in answers)
    by_item: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for some in chunks(sorted({pk for of_hit in pks.values() for pk in of_hit})):
        rows = Suggestion.objects.filter(item__in=some).order_by("pk").values_list("item", "pk", "item__key")
        for item, pk, key in rows:
            by_item[item].append((pk, key))
    SuggestedAnswer.objects.bulk_create(
        (
            SuggestedAnswer(
                stage_id=stage.pk,
                assignment=answer,
                suggestion_id=pk,
                shown=is_shown(stage, key, answer.worker.worker_id),
            )
            for answer in answers
            for item in pks[answer.hit.pk]
            for pk, key in by_item.get(item, ())
        ),
        batch_size=500,
    )


def compare(stage: Stage, answers: Sequence[Assignment], labels: Iterable[Label]) -> None:
    """Write whether these scored answers, with their new labels, agree with what was suggested, and whether that was
    right. To be called in the transaction that writes the labels.
    """
    protocol = protocol_of(stage)
    if not isinstance(protocol, SuggestedProtocol):
        return
    found = SuggestedAnswer.objects.filter(assignment__in=[answer.pk for answer in answers])
    rows = list(found.select_related("suggestion__item__document"))
    if not rows:
        return
    said: dict[tuple[int, int], Json] = defaultdict(dict)
    for label in labels:
        said[label.assignment_id, label.item_id][label.unit] = label.value
    options = settings_of(stage)
    for row in rows:
        item, suggestion = row.suggestion.item, row.suggestion
        document, data = item.document.data, item.data
        wanted = protocol.suggested_labels(document, data, options, suggestion.field, suggestion.value)
        row.agrees = _same(wanted, said[row.assignment_id, item.pk])
        known = protocol.known_values(document, data, options) if isinstance(protocol, KnownValuesProtocol) else {}
        row.right = _same(wanted, known, several_right=True)
    SuggestedAnswer.objects.bulk_update(rows, ["agrees", "right"], batch_size=500)


def _same(wanted: Mapping[str, Any], said: Mapping[str, Any], *, several_right: bool = False) -> bool | None:
    """Whether both say the same of the units that they share; None where they share none.

    `several_right`: a list stands for any of its values where one value is wanted.
    """
    shared = [unit for unit in wanted if unit in said]
    if not shared:
        return None
    return all(
        said[unit] == wanted[unit] or (several_right and isinstance(said[unit], list) and wanted[unit] in said[unit])
        for unit in shared
    )
