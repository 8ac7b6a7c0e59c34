"""A program sends suggestions, or rewrites priorities, while a lead publishes: what is out never changes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection

from hits import protocols
from hits.formats.files.faults import FormatErrors
from hits.formats.inputs.item_values import Place, PriorityRow, SuggestionRow
from hits.items.verbs import prioritizing
from hits.judging.rules.summaries import refresh_summary
from hits.model_assist.verbs import suggesting
from hits.models import Action, Stage, Suggestion
from hits.publishing.verbs import publishing
from tests.hits import factories as make
from tests.hits.market import Marketplace
from tests.hits.payments.test_two_leads import TwoLeads, database_with_connections, leads

__all__ = ["database_with_connections", "leads"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]
REPETITIONS = 40 if connection.vendor == "postgresql" else 5


def choosing() -> Stage:
    options = protocols.get("multiple_choice").settings({"question": "Which way?", "choices": ["North", "East"]})
    stage = make.stage(
        protocol="multiple_choice", settings=options, rule={"name": "measured", "version": 1, "params": {}}
    )
    document = make.document(stage.project, data={"text": "The flag moves."})
    for number in range(3):
        make.item(stage, key=f"flag-{number}", document=document, data={})
    refresh_summary(stage)
    return stage


def suggest(stage: Stage) -> Any:
    rows = [SuggestionRow(f"flag-{number}", "choice", "east", "", "", Place(number + 2)) for number in range(3)]
    return suggesting.suggest(stage, rows, None)


def prioritize(stage: Stage) -> Any:
    return prioritizing.prioritize(stage, [PriorityRow(f"flag-{number}", "1", Place(2)) for number in range(3)], None)


@pytest.mark.parametrize("change", [suggest, prioritize])
def test_either_it_came_before_or_all_of_it_is_refused(
    market: Marketplace, leads: TwoLeads, change: Callable[[Stage], Any]
) -> None:
    outcomes = Counter[str]()
    for number in range(REPETITIONS):
        stage = choosing()
        quote = publishing.quote(stage, 2)
        assert quote.problems == []

        def publish(stage: Stage = stage, price: Decimal = quote.total, name: str = f"race-{number}") -> Any:
            return publishing.publish(stage, 2, price, name, None)

        def change_later(stage: Stage = stage, seconds: float = number % 10 / 100) -> Any:
            # Publishing asks for its balance first: without waits the change would always be there before it.
            time.sleep(seconds)
            return change(stage)

        published, changed = leads.at_once(publish, change_later)
        assert not isinstance(published, Exception), published
        verbs = list(Action.objects.filter(project=stage.project).order_by("pk").values_list("verb", flat=True))
        kept = Suggestion.objects.filter(item__stage=stage).count() + stage.items.filter(priority=1).count()
        if isinstance(changed, FormatErrors):
            assert "published already" in str(changed) and kept == 0 and verbs == ["published"]
            outcomes["refused"] += 1
        else:
            assert not isinstance(changed, Exception), changed
            assert kept == 3 and verbs.index("published") == 1
            outcomes["before"] += 1
    assert outcomes.total() == REPETITIONS
    if connection.vendor == "postgresql":
        assert min(outcomes["refused"], outcomes["before"]) > 0, outcomes
