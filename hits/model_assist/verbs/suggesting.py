"""Suggestions for items that are there and not published: all of what is given is taken, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from hits.core.action_log import record
from hits.formats.files.faults import Faults
from hits.formats.inputs.item_values import MOST_ROWS, Place, SuggestionRow, double, too_many
from hits.items.rules.new_items import NamedItems, named
from hits.model_assist.rules import suggestions
from hits.model_assist.rules.suggestions import GivenSuggestion
from hits.models import Item, Stage, Suggestion
from hits.projects.rules.plugins import refuse_without_crowd, settings_of
from hits.protocols.optional import SuggestedProtocol
from hits.publishing.rules import hit_plans
from hits.recipes.source import SourceSuggestion

SUGGESTED = "added suggestions"


@dataclass(frozen=True)
class Suggested:
    """How many suggestions are new, and how many took the place of an earlier one for the same field."""

    new: int
    replaced: int


def suggest(stage: Stage, rows: Sequence[SuggestionRow], user: User | None) -> Suggested:
    """Give items these suggestions; one for a field that has one takes its place.

    Raises Refused (no_suggestions, no_crowd), ArchivedError, and FormatErrors with every fault: an item that is
    not there or published, a field that is not there, a value that it does not take, a score outside 0 to 1, two for
    one field.
    """
    refuse_without_crowd(stage)
    suggestions.suggested_protocol(stage)
    if len(rows) > MOST_ROWS:
        found = Faults()
        found.add(None, "", too_many(len(rows)))
        found.refuse()
    with transaction.atomic():
        locked = hit_plans.locked(stage)
        items = named(locked, (row.item for row in rows), documents=True)
        checked = _checked(locked, rows, items)
        result = _write(checked)
        if checked:
            detail = {"new": result.new, "replaced": result.replaced}
            record(stage.project, user, SUGGESTED, [stage], detail)
    return result


def _checked(stage: Stage, rows: Sequence[SuggestionRow], items: NamedItems) -> list[tuple[Item, SourceSuggestion]]:
    """Raises FormatErrors."""
    protocol, options = suggestions.suggested_protocol(stage), settings_of(stage)
    faults, found = Faults(), []
    first: dict[tuple[str, str], Place] = {}
    for row in rows:
        if (row.item, row.field) in first:
            again = double(first[row.item, row.field], f"a suggestion for {row.field!r:.60} of {row.item!r:.80}")
            row.place.say(faults, "field", again)
            continue
        first[row.item, row.field] = row.place
        if fault := items.fault(row.item):
            row.place.say(faults, "item", fault)
        else:
            found += _one(protocol, options, row, items.items[row.item], faults)
    faults.refuse()
    return found


def _one(
    protocol: SuggestedProtocol, options: dict, row: SuggestionRow, item: Item, faults: Faults
) -> list[tuple[Item, SourceSuggestion]]:
    """The suggestion, or none where something is wrong with it."""
    given = GivenSuggestion(row.field, row.value, row.score, row.model)
    suggestion, wrong = suggestions.checked(protocol, options, item.document.data, item.data, given)
    for part, message in wrong:
        row.place.say(faults, part, message)
    return [(item, suggestion)] if suggestion else []


def _write(given: Sequence[tuple[Item, SourceSuggestion]]) -> Suggested:
    pks = {item.pk for item, _ in given}
    known = {(one.item_id, one.field): one for one in _of_items(pks)}
    replaced = []
    for item, one in given:
        if row := known.get((item.pk, one.field)):
            row.value, row.score, row.model = one.value, one.score, one.model
            replaced.append(row)
    new = [(item, [one]) for item, one in given if (item.pk, one.field) not in known]
    Suggestion.objects.bulk_create(suggestions.rows_of(new), batch_size=1000)
    Suggestion.objects.bulk_update(replaced, ["value", "score", "model"], batch_size=500)
    return Suggested(len(new), len(replaced))


def _of_items(pks: set[int]) -> list[Suggestion]:
    found: list[Suggestion] = []
    for some in suggestions.chunks(sorted(pks)):
        found += Suggestion.objects.filter(item__in=some)
    return found
