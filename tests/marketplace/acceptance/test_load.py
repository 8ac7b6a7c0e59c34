"""Workers who keep their connections while they think lose no answer and no connection."""

from __future__ import annotations

import pytest

from tests.benchmarks.load import Load, labour, prepare, recorded


@pytest.mark.django_db(transaction=True)
def test_nothing_is_lost_and_every_connection_lasts_while_people_think(market: str) -> None:
    load = Load(workers=6, rounds=2, think=3.0)
    group, people = prepare(load, "load")
    tally = labour(load, market, group, people)
    assert (recorded(tally.submitted), tally.cut, tally.faults) == (12, {}, {})
    # One for the site and one for the task's frame each, from the first request to the last.
    assert tally.connections == 2 * load.workers
